/* kernels/rows.h: a matrix [n,c] as rows that are summed each by itself: a warp to a row, or, where rows
 * are long, a block. Sums of a row go thread by thread into doubles, then eight threads' at a time through
 * shared bytes, then the rest: an order that only the shape fixes.
 *
 * A thread takes four elements at a time: at once where c is a multiple of 4, else one here and three
 * further on, so that a warp's reads lie side by side. */
#ifndef EBB_EXEC_CUDA_KERNELS_ROWS_H
#define EBB_EXEC_CUDA_KERNELS_ROWS_H

#include "exec/cuda/kernels/lanes.h"

#define CUDA_ROWS_THREADS        256
#define CUDA_ROWS_GROUPS         32   /* of eight threads */
#define CUDA_ROWS_SHORT          2048 /* elements of a row that is a warp's */
#define CUDA_ROWS_SHARED(n_sums) ((n_sums) * (CUDA_ROWS_THREADS + CUDA_ROWS_GROUPS) * 8)

typedef struct cuda_rows {
    int64_t n, c;
} cuda_rows;

/* One thread's view of its row. */
typedef struct cuda_row {
    int64_t row, base;       /* the row, and its first element */
    int64_t left;            /* elements in it; 0: there is no such row */
    int32_t thread, threads; /* of the row's */
    int32_t wide;            /* four side by side */
} cuda_row;

CUDA_BODY int32_t cuda_rows_each(int64_t c) {
    return c <= CUDA_ROWS_SHORT ? 32 : CUDA_ROWS_THREADS;
}

CUDA_BODY int64_t cuda_rows_blocks(const cuda_rows *rows) {
    return cuda_blocks_of(rows->n, CUDA_ROWS_THREADS / cuda_rows_each(rows->c));
}

CUDA_BODY cuda_row cuda_row_of(const cuda_rows *rows, int64_t block, int32_t thread) {
    cuda_row r;
    r.threads = cuda_rows_each(rows->c);
    r.thread = thread % r.threads;
    r.row = block * (CUDA_ROWS_THREADS / r.threads) + thread / r.threads;
    r.base = r.row * rows->c;
    r.left = r.row < rows->n ? rows->c : 0;
    r.wide = rows->c % 4 == 0;
    return r;
}

/* A thread's j-th four elements: the first of them in the row, and from one to the next. */
CUDA_BODY int64_t cuda_row_at(const cuda_row *r, int64_t j) {
    return r->wide ? 4 * (r->thread + r->threads * j) : r->thread + 4 * j * r->threads;
}

CUDA_BODY int64_t cuda_row_step(const cuda_row *r) {
    return r->wide ? 1 : r->threads;
}

CUDA_BODY bool cuda_row_more(const cuda_row *r, int64_t j) {
    return cuda_row_at(r, j) < r->left;
}

/* How many of them there are: the first so many. */
CUDA_BODY int32_t cuda_row_count(const cuda_row *r, int64_t j) {
    const int64_t at = cuda_row_at(r, j), step = cuda_row_step(r);
    return (int32_t)cuda_max(cuda_min((r->left - at + step - 1) / step, 4), 0);
}

/* Of x, a tensor like the matrix; *n of the four are there, the others 0. */
CUDA_BODY cuda_f32x4 cuda_row_load(const cuda_row *r, const void *x, int64_t j, int32_t *n,
                                   cuda_element e) {
    const int64_t at = cuda_row_at(r, j);
    *n = cuda_row_count(r, j);
    if (r->wide) return *n ? cuda_get4(e, x, r->base + at) : cuda_zero4();
    cuda_f32x4 q;
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) q.v[k] =
        k < *n ? cuda_get1(e, x, r->base + at + (int64_t)k * r->threads) : 0;
    return q;
}

/* Of a table with a number for each column. */
CUDA_BODY cuda_f32x4 cuda_row_columns(const cuda_row *r, const float *table, int64_t j) {
    cuda_row first = *r;
    int32_t n;
    first.base = 0;
    return cuda_row_load(&first, table, j, &n, CUDA_F32);
}

CUDA_BODY void cuda_row_store(const cuda_row *r, void *y, int64_t j, cuda_f32x4 x, cuda_element e) {
    const int64_t at = cuda_row_at(r, j);
    const int32_t n = cuda_row_count(r, j);
    if (r->wide) {
        if (n) cuda_put4(e, y, r->base + at, x);
        return;
    }
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
        if (k < n) cuda_put1(e, y, r->base + at + (int64_t)k * r->threads, x.v[k]);
    }
}

/* ---- sums of a row: put, and in the next phase fold, and in the one after that sum ---------------- */

CUDA_BODY void cuda_row_put(void *shared, int32_t thread, int32_t k, double sum) {
    ((double *)shared)[k * CUDA_ROWS_THREADS + thread] = sum;
}

CUDA_BODY void cuda_row_fold(int32_t n_sums, int32_t thread, void *shared) {
    double *all = (double *)shared, *groups = all + (int64_t)n_sums * CUDA_ROWS_THREADS;
    if (thread >= n_sums * CUDA_ROWS_GROUPS) return;
    double sum = 0;
    CUDA_UNROLL for (int32_t i = 0; i < 8; i++) sum += all[thread * 8 + i];
    groups[thread] = sum;
}

/* Sum k of the thread's row. */
CUDA_BODY double cuda_row_sum(const cuda_row *r, int32_t k, int32_t n_sums, const void *shared) {
    const int32_t n = r->threads / 8, first = r->threads == 32 ? (int32_t)(r->row % 8) * n : 0;
    const int32_t at = n_sums * CUDA_ROWS_THREADS + k * CUDA_ROWS_GROUPS + first;
    const double *groups = (const double *)shared + at;
    double sum = 0;
    for (int32_t i = 0; i < n; i++) sum += groups[i];
    return sum;
}

#endif
