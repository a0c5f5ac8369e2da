/* cpu/layer_norm_grad.c: layer norm's gradients. A row's sums are in double (row.h) and one thread's. The
 * sums over rows go through sums.h; where rows' gradients are made with them, a row is still in a cache. */
#include "exec/cpu/row.h"
#include "exec/cpu/sums.h"

#include <math.h>

typedef struct ln {
    const float *x, *mean, *variance, *gamma, *dy;
    const float *more; /* added to dx, or NULL */
    float *dx;
    int64_t c, lanes; /* numbers in a row; lanes of the sums over rows */
    double eps;
} ln;

static double inv_std(const ln *s, int64_t row) {
    return 1 / sqrt(s->variance[row] + s->eps);
}

/* ---- parts ------------------------------------------------------------------------------------------ */

/* In place over x, dy or more: a row is summed before any of it is written, and each element read before
 * that. */
CPU_INLINE void grad_row(const ln *s, int64_t row) {
    const float *x = s->x + row * s->c, *dy = s->dy + row * s->c, *gamma = s->gamma;
    const float center = s->mean[row], scale = (float)inv_std(s, row);
    float *dx = s->dx + row * s->c;
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
    if (s->more) {
        const float *more = s->more + row * s->c;
#pragma omp simd
        for (int64_t i = 0; i < s->c; i++)
            dx[i] = more[i] + scale * (dy[i] * gamma[i] - shift - (x[i] - center) * scale * slope);
    } else {
#pragma omp simd
        for (int64_t i = 0; i < s->c; i++)
            dx[i] = scale * (dy[i] * gamma[i] - shift - (x[i] - center) * scale * slope);
    }
}

/* Sums of dy * xhat and of dy. A row of lanes is one row of x or more, each with statistics of its own: all
 * go to its first lanes, and the others stay zero. */
CPU_INLINE void sums_row(const ln *s, int64_t row, double *sums) {
    const float *x = s->x + row * s->c, *dy = s->dy + row * s->c;
    const double center = s->mean[row], scale = inv_std(s, row);
    double *products = sums, *plain = sums + s->lanes;
#pragma omp simd
    for (int64_t i = 0; i < s->c; i++) {
        const double g = dy[i];
        products[i] += g * ((x[i] - center) * scale);
        plain[i] += g;
    }
}

/* ---- ln_grad ---------------------------------------------------------------------------------------- */

CPU_VECTOR static void grad_span(const void *ctx, int64_t begin, int64_t end) {
    const ln *s = ctx;
    for (int64_t row = begin; row < end; row++) grad_row(s, row);
}

static ln grad_of(const ebb_kernel_run *run) {
    return (ln){.x = run->launch->in[0],
                .mean = run->launch->in[1],
                .variance = run->launch->in[2],
                .gamma = run->launch->in[3],
                .dy = run->launch->in[4],
                .dx = run->launch->out[0],
                .c = run->call->in[0].dim[1],
                .eps = run->call->attr[EBB_LN_EPS].f};
}

static ebb_status ln_grad_launch(const ebb_kernel_run *run) {
    const ln s = grad_of(run);
    const ebb_type *x = &run->call->in[0];
    cpu_spans(cpu_of(run->backend), x->dim[0], 1, 3 * ebb_type_bytes(x), grad_span, &s);
    return EBB_OK;
}

CPU_KERNEL(ln_grad, EBB_TAKES(F32), CPU_STREAM, .launch = ln_grad_launch);

/* ---- sums over rows --------------------------------------------------------------------------------- */

typedef struct sums_to {
    const cpu_sums *sums;
    float *to[3]; /* dgamma, dbeta, perhaps db */
} sums_to;

static void sums_finish(const void *ctx, int64_t begin, int64_t end) {
    const sums_to *to = ctx;
    for (int64_t c = begin; c < end; c++)
        for (int64_t k = 0; k < to->sums->n_sums; k++) to->to[k][c] = (float)cpu_sums_total(to->sums, k, c);
}

/* A call's sums: all its results but dx. */
static cpu_sums sums_of(const ebb_call *call) {
    return cpu_sums_of(&call->in[0], call->op->code == EBB_OP_ln_backward_bias ? 3 : 2);
}

static ebb_status sums_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    const cpu_sums sums = sums_of(call);
    const ebb_status status = cpu_sums_check(backend, call, &sums, 0);
    if (status == EBB_OK) *bytes = cpu_sums_bytes(&sums);
    return status;
}

/* first: the number of the first sum among the results. */
static ebb_status sums_run(const ebb_kernel_run *run, ln *s, cpu_sum_rows *rows, int64_t element_bytes,
                           uint32_t first) {
    cpu_sums sums = sums_of(run->call);
    sums_to to = {.sums = &sums};
    sums.partial = run->launch->scratch;
    s->lanes = sums.lanes.lanes;
    for (uint32_t k = first; k < run->call->n_out; k++) to.to[k - first] = run->launch->out[k];
    cpu_sums_run(cpu_of(run->backend), &sums, element_bytes, rows, s);
    cpu_sums_finish(cpu_of(run->backend), &sums, sums_finish, &to);
    return EBB_OK;
}

/* ---- ln_grad_sums ----------------------------------------------------------------------------------- */

CPU_VECTOR static void sums_rows(const void *ctx, int64_t at, int64_t rows, int64_t width, double *sums) {
    const ln *s = ctx;
    for (int64_t row = at / s->c; row < (at + rows * width) / s->c; row++) sums_row(s, row, sums);
}

static ebb_status ln_grad_sums_launch(const ebb_kernel_run *run) {
    ln s = {.x = run->launch->in[0],
            .mean = run->launch->in[1],
            .variance = run->launch->in[2],
            .dy = run->launch->in[3],
            .c = run->call->in[0].dim[1],
            .eps = run->call->attr[EBB_LN_EPS].f};
    return sums_run(run, &s, sums_rows, 8, 0);
}

CPU_KERNEL(ln_grad_sums, EBB_TAKES(F32), CPU_RATE(12000, 23000), .scratch = sums_scratch,
           .launch = ln_grad_sums_launch);

/* ---- ln_backward, ln_backward_bias ------------------------------------------------------------------ */

CPU_INLINE void backward(const ln *s, int64_t at, int64_t n, double *sums) {
    for (int64_t row = at / s->c; row < (at + n) / s->c; row++) {
        sums_row(s, row, sums);
        grad_row(s, row);
    }
}

CPU_VECTOR static void backward_rows(const void *ctx, int64_t at, int64_t rows, int64_t width,
                                     double *sums) {
    backward(ctx, at, rows * width, sums);
}

/* By fours of rows of lanes, as bias_grad adds them. */
CPU_VECTOR static void backward_bias_rows(const void *ctx, int64_t at, int64_t rows, int64_t width,
                                          double *sums) {
    const ln *s = ctx;
    for (int64_t row = 0; row < rows; row += CPU_SUMS_FOUR) {
        const int64_t n = ebb_min_i64(rows - row, CPU_SUMS_FOUR);
        backward(s, at + row * width, n * width, sums);
        cpu_sums_plain(s->dx, at + row * width, n, width, sums + 2 * s->lanes);
    }
}

static ebb_status backward_run(const ebb_kernel_run *run, cpu_sum_rows *rows) {
    ln s = grad_of(run);
    s.more = run->call->n_in > 5 ? run->launch->in[5] : NULL;
    return sums_run(run, &s, rows, 4 * (int64_t)(s.more ? 4 : 3), 1);
}

static ebb_status ln_backward_launch(const ebb_kernel_run *run) {
    return backward_run(run, backward_rows);
}
CPU_KERNEL(ln_backward, EBB_TAKES(F32), CPU_RATE(18000, 24000), .scratch = sums_scratch,
           .launch = ln_backward_launch);

static ebb_status ln_backward_bias_launch(const ebb_kernel_run *run) {
    return backward_run(run, backward_bias_rows);
}
CPU_KERNEL(ln_backward_bias, EBB_TAKES(F32), CPU_RATE(18000, 24000), .scratch = sums_scratch,
           .launch = ln_backward_bias_launch);
