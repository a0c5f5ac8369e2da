/* kernels/embedding.h: rows of a table by their ids, and the gradient: sums of rows with one id, in their
 * order.
 *
 * The gradient sorts the numbers of dy's rows by their ids (a radix sort, which leaves equal ones in their
 * order), fills the table's gradient with zeros, and adds up each run of one id, in double: no atomics, one
 * writer a number. Onto another gradient it is the same over a copy of that, or over that itself.
 *
 * Bytes moved: embedding two elements' for each number of y; the gradient one for each of the table
 * (zeros; onto another two, or none over it), one or two for each of dy, onto another one more, and 16 an
 * id and digit. */
#ifndef EBB_EXEC_CUDA_KERNELS_EMBEDDING_H
#define EBB_EXEC_CUDA_KERNELS_EMBEDDING_H

#include "exec/cuda/kernels/elements.h"

#define CUDA_EMBEDDING_THREADS 256
#define CUDA_EMBEDDING_EACH    (INT64_C(4) * CUDA_EMBEDDING_THREADS) /* numbers of y in a block */

typedef struct cuda_embedding_args {
    const void *table;
    const int32_t *ids;
    void *y;
    cuda_scalars *scalars;
    int64_t rows, c, n; /* of the table; numbers of a row, and of y */
    int32_t quads;      /* rows are whole quads */
} cuda_embedding_args;

/* Where number i of y is in the table; -1: the id names no row. */
CUDA_BODY int64_t cuda_embedding_from(const cuda_embedding_args *args, int64_t i) {
    const int64_t row = cuda_divide(i, args->c), id = args->ids[row];
    if (id >= 0 && id < args->rows) return id * args->c + (i - row * args->c);
    cuda_fault(args->scalars, CUDA_FAULT_EMBEDDING, id, args->rows);
    return -1;
}

CUDA_BODY void cuda_embedding_in(const cuda_embedding_args *args, int64_t block, int32_t thread,
                                 int32_t phase, void *shared, cuda_element e) {
    (void)phase, (void)shared;
    if (args->quads) {
        const int64_t i = block * CUDA_EMBEDDING_EACH + 4 * (int64_t)thread;
        const int64_t from = i < args->n ? cuda_embedding_from(args, i) : -1;
        cuda_f32x4 x;
        CUDA_UNROLL for (int k = 0; k < 4; k++) x.v[k] = 0;
        if (from >= 0) x = cuda_get4(e, args->table, from);
        if (i < args->n) cuda_put4(e, args->y, i, x);
        return;
    }
    CUDA_UNROLL for (int k = 0; k < 4; k++) {
        const int64_t i = block * CUDA_EMBEDDING_EACH + thread + k * CUDA_EMBEDDING_THREADS;
        const int64_t from = i < args->n ? cuda_embedding_from(args, i) : -1;
        if (i < args->n) cuda_put1(e, args->y, i, from >= 0 ? cuda_get1(e, args->table, from) : 0);
    }
}
CUDA_BODIES(embedding)

/* ---- the sort: one block, which goes round for every 4 bits of the ids ------------------------------ */

#define CUDA_SORT_THREADS 512
#define CUDA_SORT_BITS    4
#define CUDA_SORT_DIGITS  (1 << CUDA_SORT_BITS)
#define CUDA_SORT_JOIN    32 /* strips whose counts are joined at once */
#define CUDA_SORT_SHARED \
    (4 * (CUDA_SORT_DIGITS * CUDA_SORT_THREADS + CUDA_SORT_THREADS + CUDA_SORT_THREADS / CUDA_SORT_JOIN))
enum {
    CUDA_SORT_COUNT,
    CUDA_SORT_STRIPS,
    CUDA_SORT_GROUPS,
    CUDA_SORT_BASES,
    CUDA_SORT_PLACE,
    CUDA_SORT_STEPS
};

typedef struct cuda_sort_args {
    const int32_t *ids;
    int32_t from_end; /* ids below 0 count from the last row: they are indices (take_grad) */
    /* [2] tables that rounds go from one to the other: ids in order, and which rows they are of; table
     * n_rounds % 2 is the answer. Ids that name no row are `rows`, behind all others. */
    int32_t *key[2], *row[2];
    cuda_scalars *scalars;
    int64_t n, rows;
    int32_t n_rounds;
} cuda_sort_args;

typedef struct cuda_sort_keep {
    int32_t nothing;
} cuda_sort_keep;

CUDA_BODY int32_t cuda_sort_phases(const cuda_sort_args *args, int64_t block) {
    (void)block;
    return args->n_rounds * CUDA_SORT_STEPS;
}

CUDA_BODY int32_t cuda_sort_key(const cuda_sort_args *args, int32_t round, int64_t i) {
    if (round > 0) return args->key[round % 2][i];
    const int32_t given = args->ids[i];
    const int64_t id = args->from_end && given < 0 ? given + args->rows : given;
    if (id >= 0 && id < args->rows) return (int32_t)id;
    cuda_fault(args->scalars, args->from_end ? CUDA_FAULT_INDEX : CUDA_FAULT_EMBEDDING, given, args->rows);
    return (int32_t)args->rows;
}

/* Counts become places: those of lower digits, and of this digit in lower strips, come before. */
CUDA_BODY void cuda_sort_bases(uint32_t *counts, const uint32_t *strips, const uint32_t *groups,
                               int32_t thread) {
    uint32_t base = 0;
    for (int32_t i = 0; i < thread / CUDA_SORT_JOIN; i++) base += groups[i];
    for (int32_t i = thread / CUDA_SORT_JOIN * CUDA_SORT_JOIN; i < thread; i++) base += strips[i];
    for (int32_t i = 0; i < CUDA_SORT_DIGITS; i++) {
        const uint32_t count = counts[thread * CUDA_SORT_DIGITS + i];
        counts[thread * CUDA_SORT_DIGITS + i] = base;
        base += count;
    }
}

/* A thread has a strip of ids; counts[digit][thread]. */
CUDA_BODY void cuda_sort_body(const cuda_sort_args *args, int64_t block, int32_t thread, int32_t phase,
                              void *shared, cuda_sort_keep *keep) {
    uint32_t *counts = (uint32_t *)shared, *strips = counts + CUDA_SORT_DIGITS * CUDA_SORT_THREADS;
    uint32_t *groups = strips + CUDA_SORT_THREADS;
    const int32_t round = phase / CUDA_SORT_STEPS, step = phase % CUDA_SORT_STEPS;
    const int64_t each = cuda_blocks_of(args->n, CUDA_SORT_THREADS), begin = thread * each;
    const int64_t end = begin + each < args->n ? begin + each : args->n;
    (void)block, (void)keep;
    if (step == CUDA_SORT_COUNT) {
        for (int32_t d = 0; d < CUDA_SORT_DIGITS; d++) counts[d * CUDA_SORT_THREADS + thread] = 0;
        for (int64_t i = begin; i < end; i++) {
            const int32_t digit =
                cuda_sort_key(args, round, i) >> (round * CUDA_SORT_BITS) & (CUDA_SORT_DIGITS - 1);
            counts[digit * CUDA_SORT_THREADS + thread]++;
        }
    } else if (step == CUDA_SORT_STRIPS) {
        uint32_t sum = 0;
        for (int32_t i = 0; i < CUDA_SORT_DIGITS; i++) sum += counts[thread * CUDA_SORT_DIGITS + i];
        strips[thread] = sum;
    } else if (step == CUDA_SORT_GROUPS && thread < CUDA_SORT_THREADS / CUDA_SORT_JOIN) {
        uint32_t sum = 0;
        for (int32_t i = 0; i < CUDA_SORT_JOIN; i++) sum += strips[thread * CUDA_SORT_JOIN + i];
        groups[thread] = sum;
    } else if (step == CUDA_SORT_BASES) {
        cuda_sort_bases(counts, strips, groups, thread);
    } else if (step == CUDA_SORT_PLACE) {
        for (int64_t i = begin; i < end; i++) {
            const int32_t key = cuda_sort_key(args, round, i);
            const int32_t digit = key >> (round * CUDA_SORT_BITS) & (CUDA_SORT_DIGITS - 1);
            const uint32_t to = counts[digit * CUDA_SORT_THREADS + thread]++;
            args->key[(round + 1) % 2][to] = key;
            args->row[(round + 1) % 2][to] = round > 0 ? args->row[round % 2][i] : (int32_t)i;
        }
    }
}

/* ---- the sums: a block for each sorted row and CUDA_RUNS_EACH of its numbers ------------------------ */

#define CUDA_RUNS_THREADS 64
#define CUDA_RUNS_EACH    (INT64_C(4) * CUDA_RUNS_THREADS)
#define CUDA_RUNS_AHEAD                                                               \
    8 /* rows whose loads are on their way at once: a run may be as long as all of dy \
       */

typedef struct cuda_embedding_runs_args {
    const void *dy;
    const int32_t *key, *row; /* sorted */
    void *to;
    int64_t n, rows, c, slices; /* slices: blocks of a row */
    int32_t quads, onto;        /* onto: what `to` has is added to; else it is written over */
} cuda_embedding_runs_args;

/* 4 numbers of a row of dy, side by side or a block's width apart; the first is at `at`. */
CUDA_BODY cuda_f32x4 cuda_runs_load(const cuda_embedding_runs_args *args, cuda_element e, int64_t at,
                                    int64_t left) {
    cuda_f32x4 y;
    if (args->quads) return cuda_get4(e, args->dy, at);
    CUDA_UNROLL for (int k = 0; k < 4; k++) y.v[k] =
        k * CUDA_RUNS_THREADS < left ? cuda_get1(e, args->dy, at + k * CUDA_RUNS_THREADS) : 0;
    return y;
}

/* Adds what the rows from i on have, as far as they are of the run; false where it ends. No load waits for
 * another but that of a row for its number. */
CUDA_BODY bool cuda_runs_add(const cuda_embedding_runs_args *args, cuda_element e, int64_t i, int32_t id,
                             int64_t at, double *sum) {
    int32_t key[CUDA_RUNS_AHEAD], row[CUDA_RUNS_AHEAD];
    cuda_f32x4 x[CUDA_RUNS_AHEAD];
    bool in = true;
    CUDA_UNROLL for (int a = 0; a < CUDA_RUNS_AHEAD; a++) {
        const int64_t j = i + a < args->n ? i + a : args->n - 1;
        key[a] = i + a < args->n ? args->key[j] : -1;
        row[a] = args->row[j];
    }
    CUDA_UNROLL for (int a = 0; a < CUDA_RUNS_AHEAD; a++) {
        in = in && key[a] == id;
        CUDA_UNROLL for (int k = 0; k < 4; k++) x[a].v[k] = 0;
        if (in) x[a] = cuda_runs_load(args, e, row[a] * args->c + at, args->c - at);
    }
    CUDA_UNROLL for (int a = 0; a < CUDA_RUNS_AHEAD; a++) {
        CUDA_UNROLL for (int k = 0; k < 4; k++) sum[k] += (double)x[a].v[k];
    }
    return in;
}

/* What was there plus a run's sum, which is rounded before. */
CUDA_BODY float cuda_runs_sum(const cuda_embedding_runs_args *args, cuda_element e, float was, double sum) {
    return args->onto ? was + cuda_rounded(e, (float)sum) : (float)sum;
}

/* Only the first row of a run has work. */
CUDA_BODY void cuda_embedding_runs_in(const cuda_embedding_runs_args *args, int64_t block, int32_t thread,
                                      int32_t phase, void *shared, cuda_element e) {
    const int64_t first = cuda_divide(block, args->slices), slice = block - first * args->slices;
    const int64_t at = slice * CUDA_RUNS_EACH + (args->quads ? 4 * thread : thread), left = args->c - at;
    const int32_t id = args->key[first];
    double sum[4] = {0, 0, 0, 0};
    (void)phase, (void)shared;
    if (id >= args->rows || (first > 0 && args->key[first - 1] == id) || left <= 0) return;
    for (int64_t i = first; cuda_runs_add(args, e, i, id, at, sum); i += CUDA_RUNS_AHEAD) {
    }
    const int64_t to = id * args->c + at;
    if (args->quads) {
        cuda_f32x4 x, was;
        CUDA_UNROLL for (int k = 0; k < 4; k++) was.v[k] = 0;
        if (args->onto) was = cuda_get4(e, args->to, to);
        CUDA_UNROLL for (int k = 0; k < 4; k++) x.v[k] = cuda_runs_sum(args, e, was.v[k], sum[k]);
        cuda_put4(e, args->to, to, x);
    } else {
        CUDA_UNROLL for (int k = 0; k < 4; k++) {
            const int64_t at_k = to + k * CUDA_RUNS_THREADS;
            if (k * CUDA_RUNS_THREADS >= left) continue;
            const float was = args->onto ? cuda_get1(e, args->to, at_k) : 0;
            cuda_put1(e, args->to, at_k, cuda_runs_sum(args, e, was, sum[k]));
        }
    }
}
CUDA_BODIES(embedding_runs)

#endif
