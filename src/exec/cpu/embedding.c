/* cpu/embedding.c: rows of a table by their ids, and the gradient. For the gradient the rows of dy are
 * sorted by their ids first (a counting sort, which keeps equal ones in order), so that each row of the
 * result is summed by one thread, in double and in the order in which dy has its parts, and added to its
 * row of another gradient once. Scratch: | where
 * each id ends: rows + 1 | sorted rows: n |, whole numbers of 8 bytes. */
#include "exec/cpu/cpu.h"

static ebb_status ids_check(ebb_backend *backend, const ebb_call *call, const int32_t *ids, int64_t rows) {
    const int64_t n = call->in[1].dim[0];
    for (int64_t i = 0; i < n; i++) {
        if (ids[i] >= 0 && ids[i] < rows) continue;
        return ebb_fail(backend->env, EBB_BAD_INPUT,
                        "%s: id %d of row %lld is outside [0, %lld): correct the ids", call->op->name,
                        ids[i], (long long)i, (long long)rows);
    }
    return EBB_OK;
}

typedef struct gather {
    const float *table;
    const int32_t *ids;
    float *y;
    int64_t c;
} gather;

/* begin and end in rows of y. */
static void gather_span(const void *ctx, int64_t begin, int64_t end) {
    const gather *g = ctx;
    for (int64_t i = begin; i < end; i++)
        memcpy(g->y + i * g->c, g->table + g->ids[i] * g->c, (size_t)g->c * sizeof *g->y);
}

static ebb_status embedding_launch(const ebb_kernel_run *run) {
    const ebb_status status =
        ids_check(run->backend, run->call, run->launch->in[1], run->call->in[0].dim[0]);
    if (status != EBB_OK) return status;
    const gather g = {run->launch->in[0], run->launch->in[1], run->launch->out[0], run->call->in[0].dim[1]};
    cpu_spans(cpu_of(run->backend), run->call->out[0].dim[0], 1, 2 * ebb_type_bytes(&run->call->out[0]),
              gather_span, &g);
    return EBB_OK;
}

CPU_KERNEL(embedding, EBB_TAKES(F32, I32), CPU_STREAM, .launch = embedding_launch);

/* ---- the gradient, by itself and onto another -------------------------------------------------------- */

typedef struct scatter {
    const float *dy;
    const int64_t *ends; /* the sorted rows of id v are [v ? ends[v - 1] : 0, ends[v]) */
    const int64_t *sorted;
    const float *base; /* NULL: zeros; may be `to` */
    float *to;
    int64_t c;
} scatter;

enum { TILE = 64 };

/* The row of an id that some rows of dy have: tiles that stay in registers. */
CPU_INLINE void sum_row(const scatter *s, int64_t v, int64_t first, int64_t next) {
    float *to = s->to + v * s->c;
    for (int64_t e = 0; e < s->c; e += TILE) {
        const int64_t width = ebb_min_i64(s->c - e, TILE);
        double sum[TILE] = {0};
        for (int64_t k = first; k < next; k++) {
            const float *dy = s->dy + s->sorted[k] * s->c + e;
#pragma omp simd
            for (int64_t i = 0; i < width; i++) sum[i] += dy[i];
        }
        if (s->base) {
            const float *base = s->base + v * s->c + e;
            for (int64_t i = 0; i < width; i++) to[e + i] = base[i] + (float)sum[i];
        } else {
            for (int64_t i = 0; i < width; i++) to[e + i] = (float)sum[i];
        }
    }
}

/* begin and end in rows of the table. */
CPU_VECTOR static void scatter_span(const void *ctx, int64_t begin, int64_t end) {
    const scatter *s = ctx;
    for (int64_t v = begin; v < end; v++) {
        const int64_t first = v ? s->ends[v - 1] : 0, next = s->ends[v];
        const size_t bytes = (size_t)s->c * sizeof *s->to;
        float *to = s->to + v * s->c;
        if (first < next)
            sum_row(s, v, first, next);
        else if (!s->base)
            memset(to, 0, bytes);
        else if (s->base != s->to)
            memcpy(to, s->base + v * s->c, bytes);
    }
}

/* ends[v] is where id v begins until its rows are put there one by one, and ends behind them. */
static void sort_rows(const int32_t *ids, int64_t n, int64_t rows, int64_t *ends, int64_t *sorted) {
    memset(ends, 0, (size_t)(rows + 1) * sizeof *ends);
    for (int64_t i = 0; i < n; i++) ends[ids[i] + 1]++;
    for (int64_t v = 0; v < rows; v++) ends[v + 1] += ends[v];
    for (int64_t i = 0; i < n; i++) sorted[ends[ids[i]]++] = i;
}

static ebb_status scatter_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    const int64_t count = call->out[0].dim[0] + 1 + call->in[1].dim[0];
    const ebb_status status = cpu_scratch_check(backend, call, count, sizeof(int64_t));
    if (status == EBB_OK) *bytes = count * (int64_t)sizeof(int64_t);
    return status;
}

static ebb_status scatter_launch(const ebb_kernel_run *run) {
    const int64_t rows = run->call->out[0].dim[0], n = run->call->in[1].dim[0];
    const ebb_status status = ids_check(run->backend, run->call, run->launch->in[1], rows);
    if (status != EBB_OK) return status;
    int64_t *ends = run->launch->scratch, *sorted = ends + rows + 1;
    sort_rows(run->launch->in[1], n, rows, ends, sorted);
    const scatter s = {.dy = run->launch->in[0],
                       .ends = ends,
                       .sorted = sorted,
                       .base = run->call->n_in > 2 ? run->launch->in[2] : NULL,
                       .to = run->launch->out[0],
                       .c = run->call->out[0].dim[1]};
    int64_t bytes = ebb_type_bytes(&run->call->in[0]);
    bytes += s.base == s.to ? 2 * bytes : (s.base ? 2 : 1) * ebb_type_bytes(&run->call->out[0]);
    cpu_spans(cpu_of(run->backend), rows, 1, bytes, scatter_span, &s);
    return EBB_OK;
}

CPU_KERNEL(embedding_grad, EBB_TAKES(F32, I32), CPU_RATE(20000, 12500), .scratch = scatter_scratch,
           .launch = scatter_launch);
CPU_KERNEL(embedding_grad_onto, EBB_TAKES(F32, I32), CPU_RATE(20000, 12500), .scratch = scatter_scratch,
           .launch = scatter_launch);
