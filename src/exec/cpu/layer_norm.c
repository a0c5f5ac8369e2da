/* cpu/layer_norm.c: layer-norm of rows. A row's sums are in double (row.h) and one thread's. The sums over
 * rows go through sums.h. */
#include "exec/cpu/row.h"
#include "exec/cpu/sums.h"

#include <math.h>

typedef struct ln {
    const float *x, *mean, *variance, *gamma, *beta, *dy;
    float *y; /* the result */
    float *to_mean, *to_variance;
    int64_t c, lanes; /* numbers in a row; ln_grad_sums: lanes of its sums */
    double eps;
} ln;

static double inv_std(const ln *s, int64_t row) {
    return 1 / sqrt(s->variance[row] + s->eps);
}

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
        const float center = s->mean[row], scale = (float)inv_std(s, row);
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

/* ---- ln_grad ---------------------------------------------------------------------------------------- */

/* In place over x or dy: a row is summed before any of it is written, and each element read before that. */
CPU_VECTOR static void grad_span(const void *ctx, int64_t begin, int64_t end) {
    const ln *s = ctx;
    for (int64_t row = begin; row < end; row++) {
        const float *x = s->x + row * s->c, *dy = s->dy + row * s->c, *gamma = s->gamma;
        const float center = s->mean[row], scale = (float)inv_std(s, row);
        float *dx = s->y + row * s->c;
        double plain[CPU_ROW_LANES] = {0}, products[CPU_ROW_LANES] = {0};
        for (int64_t i = 0; i < s->c; i += CPU_ROW_LANES) {
            const int64_t width = ebb_min_i64(s->c - i, CPU_ROW_LANES);
#pragma omp simd
            for (int64_t k = 0; k < width; k++) {
                const double g = dy[i + k] * gamma[i + k];
                plain[k] += g;
                products[k] += g * ((x[i + k] - center) * scale);
            }
        }
        const float shift = (float)(cpu_row_join(plain) / (double)s->c);
        const float slope = (float)(cpu_row_join(products) / (double)s->c);
#pragma omp simd
        for (int64_t i = 0; i < s->c; i++)
            dx[i] = scale * (dy[i] * gamma[i] - shift - (x[i] - center) * scale * slope);
    }
}

static ebb_status ln_grad_launch(const ebb_kernel_run *run) {
    const ln s = {.x = run->launch->in[0],
                  .mean = run->launch->in[1],
                  .variance = run->launch->in[2],
                  .gamma = run->launch->in[3],
                  .dy = run->launch->in[4],
                  .y = run->launch->out[0],
                  .c = run->call->in[0].dim[1],
                  .eps = run->call->attr[EBB_LN_EPS].f};
    return run_rows(run->backend, run->call, grad_span, &s);
}

CPU_KERNEL(ln_grad, EBB_TAKES(F32), CPU_STREAM, .launch = ln_grad_launch);

/* ---- ln_grad_sums ----------------------------------------------------------------------------------- */

/* Sums of dy * xhat and of dy. A row of lanes is one row of x or more, each with statistics of its own: all
 * go to its first lanes, and the others stay zero. */
CPU_VECTOR static void sums_rows(const void *ctx, int64_t at, int64_t rows, int64_t width, double *sums) {
    const ln *s = ctx;
    for (int64_t first = at; first < at + rows * width; first += s->c) {
        const int64_t row = first / s->c;
        const float *x = s->x + first, *dy = s->dy + first;
        const double center = s->mean[row], scale = inv_std(s, row);
        double *products = sums, *plain = sums + s->lanes;
#pragma omp simd
        for (int64_t i = 0; i < s->c; i++) {
            const double g = dy[i];
            products[i] += g * ((x[i] - center) * scale);
            plain[i] += g;
        }
    }
}

typedef struct sums_to {
    const cpu_sums *sums;
    float *dgamma, *dbeta;
} sums_to;

static void sums_finish(const void *ctx, int64_t begin, int64_t end) {
    const sums_to *to = ctx;
    for (int64_t c = begin; c < end; c++) {
        to->dgamma[c] = (float)cpu_sums_total(to->sums, 0, c);
        to->dbeta[c] = (float)cpu_sums_total(to->sums, 1, c);
    }
}

static ebb_status ln_grad_sums_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    const cpu_sums sums = cpu_sums_of(&call->in[0], 2);
    const ebb_status status = cpu_sums_check(backend, call, &sums, 0);
    if (status == EBB_OK) *bytes = cpu_sums_bytes(&sums);
    return status;
}

static ebb_status ln_grad_sums_launch(const ebb_kernel_run *run) {
    cpu_sums sums = cpu_sums_of(&run->call->in[0], 2);
    sums.partial = run->launch->scratch;
    const ln s = {.x = run->launch->in[0],
                  .mean = run->launch->in[1],
                  .variance = run->launch->in[2],
                  .dy = run->launch->in[3],
                  .c = run->call->in[0].dim[1],
                  .lanes = sums.lanes.lanes,
                  .eps = run->call->attr[EBB_LN_EPS].f};
    cpu_sums_run(cpu_of(run->backend), &sums, 8, sums_rows, &s);
    const sums_to to = {&sums, run->launch->out[0], run->launch->out[1]};
    cpu_sums_finish(cpu_of(run->backend), &sums, sums_finish, &to);
    return EBB_OK;
}

CPU_KERNEL(ln_grad_sums, EBB_TAKES(F32), CPU_RATE(12000, 23000), .scratch = ln_grad_sums_scratch,
           .launch = ln_grad_sums_launch);
