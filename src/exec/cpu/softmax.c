/* cpu/softmax.c: softmax of rows, each one thread's. In place: a row's sums are taken before it is written.
 */
#include "exec/cpu/functions.h"
#include "exec/cpu/row.h"

#include <math.h>

typedef struct rows {
    const float *x, *dy; /* softmax_grad: x is y */
    float *to;
    int64_t n, k; /* of a group */
    bool causal;
} rows;

static ebb_status run_rows(const ebb_kernel_run *run, cpu_span *span) {
    const ebb_type *x = &run->call->in[0];
    const rows r = {.x = run->launch->in[0],
                    .dy = run->call->n_in > 1 ? run->launch->in[1] : NULL,
                    .to = run->launch->out[0],
                    .n = x->dim[x->rank - 2],
                    .k = x->dim[x->rank - 1],
                    .causal = run->call->n_in == 1 && run->call->attr[EBB_SOFTMAX_CAUSAL].i[0]};
    cpu_spans(cpu_of(run->backend), ebb_type_count(x) / r.k, 1, 5 * ebb_type_bytes(x), span, &r);
    return EBB_OK;
}

/* A NaN is passed over by the maximum and comes back by its exponential. */
CPU_VECTOR static void softmax_span(const void *ctx, int64_t begin, int64_t end) {
    const rows *r = ctx;
    for (int64_t row = begin; row < end; row++) {
        const float *x = r->x + row * r->k;
        float *y = r->to + row * r->k;
        const int64_t seen = r->causal ? row % r->n + 1 + r->k - r->n : r->k;
        const float max = cpu_row_max(x, seen, -INFINITY);
#pragma omp simd
        for (int64_t j = 0; j < seen; j++) y[j] = cpu_exp_full(x[j] - max);
        const float sum = cpu_row_sum(y, seen);
#pragma omp simd
        for (int64_t j = 0; j < seen; j++) y[j] /= sum;
        for (int64_t j = seen; j < r->k; j++) y[j] = 0;
    }
}

static ebb_status softmax_launch(const ebb_kernel_run *run) {
    return run_rows(run, softmax_span);
}

CPU_KERNEL(softmax, EBB_TAKES(F32), CPU_RATE(45000, 25000), .launch = softmax_launch);

CPU_VECTOR static void softmax_grad_span(const void *ctx, int64_t begin, int64_t end) {
    const rows *r = ctx;
    for (int64_t row = begin; row < end; row++) {
        const float *y = r->x + row * r->k, *dy = r->dy + row * r->k;
        float *dx = r->to + row * r->k;
        double lanes[CPU_ROW_LANES] = {0};
        for (int64_t j = 0; j < r->k; j += CPU_ROW_LANES) {
            const int64_t width = ebb_min_i64(r->k - j, CPU_ROW_LANES);
#pragma omp simd
            for (int64_t i = 0; i < width; i++) lanes[i] += (double)y[j + i] * dy[j + i];
        }
        const float inner = (float)cpu_row_join(lanes);
#pragma omp simd
        for (int64_t j = 0; j < r->k; j++) dx[j] = y[j] * (dy[j] - inner);
    }
}

static ebb_status softmax_grad_launch(const ebb_kernel_run *run) {
    return run_rows(run, softmax_grad_span);
}

CPU_KERNEL(softmax_grad, EBB_TAKES(F32), CPU_STREAM, .launch = softmax_grad_launch);
