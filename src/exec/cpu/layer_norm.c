/* cpu/layer_norm.c: layer-norm of rows. A row's sums are in double (row.h) and one thread's. */
#include "exec/cpu/row.h"

#include <math.h>

typedef struct ln {
    const float *x, *mean, *variance, *gamma, *beta;
    float *y; /* the result */
    float *to_mean, *to_variance;
    int64_t c; /* numbers in a row */
    double eps;
} ln;

static ebb_status run_rows(ebb_backend *backend, const ebb_call *call, cpu_span *span, const ln *s) {
    cpu_spans(cpu_of(backend), call->in[0].dim[0], 1, 3 * ebb_type_bytes(&call->in[0]), span, s);
    return EBB_OK;
}

/* ---- ln_stats --------------------------------------------------------------------------------------- */

CPU_VECTOR static void stats_span(const void *ctx, int64_t begin, int64_t end) {
    const ln *s = ctx;
    for (int64_t row = begin; row < end; row++) {
        const float *x = s->x + row * s->c;
        const double center = cpu_row_moment(x, s->c, 0, false) / (double)s->c;
        s->to_mean[row] = (float)center;
        s->to_variance[row] = (float)(cpu_row_moment(x, s->c, center, true) / (double)s->c);
    }
}

static ebb_status ln_stats_launch(const ebb_kernel_run *run) {
    const ln s = {.x = run->launch->in[0],
                  .to_mean = run->launch->out[0],
                  .to_variance = run->launch->out[1],
                  .c = run->call->in[0].dim[1]};
    return run_rows(run->backend, run->call, stats_span, &s);
}

CPU_KERNEL(ln_stats, EBB_TAKES(F32), CPU_RATE(10000, 23000), .launch = ln_stats_launch);

/* ---- ln_apply --------------------------------------------------------------------------------------- */

CPU_VECTOR static void apply_span(const void *ctx, int64_t begin, int64_t end) {
    const ln *s = ctx;
    for (int64_t row = begin; row < end; row++) {
        const float *x = s->x + row * s->c, *gamma = s->gamma, *beta = s->beta;
        const float center = s->mean[row], scale = (float)(1 / sqrt(s->variance[row] + s->eps));
        float *y = s->y + row * s->c;
#pragma omp simd
        for (int64_t i = 0; i < s->c; i++) y[i] = (x[i] - center) * scale * gamma[i] + beta[i];
    }
}

static ebb_status ln_apply_launch(const ebb_kernel_run *run) {
    const ln s = {.x = run->launch->in[0],
                  .mean = run->launch->in[1],
                  .variance = run->launch->in[2],
                  .gamma = run->launch->in[3],
                  .beta = run->launch->in[4],
                  .y = run->launch->out[0],
                  .c = run->call->in[0].dim[1],
                  .eps = run->call->attr[EBB_LN_EPS].f};
    return run_rows(run->backend, run->call, apply_span, &s);
}

CPU_KERNEL(ln_apply, EBB_TAKES(F32), CPU_STREAM, .launch = ln_apply_launch);
