/* cpu/norm.c: batch-norm's two passes over elements. Numbers per channel are worked out in double first,
 * then each element is a few float operations; in place over any input as the ops allow. */
#include "exec/cpu/lanes.h"

#include <math.h>

/* y = (x - center) * scale + shift;  dx = scale * (dy - shift - (x - center) * slope), all per lane. */
typedef struct affine {
    cpu_lanes lanes;
    const float *x, *dy;
    float *y;
    float *center, *scale, *shift, *slope; /* in scratch */
} affine;

enum { APPLY_TABLES = 3, GRAD_TABLES = 4 };

static affine affine_of(const ebb_kernel_run *run) {
    affine a = {
        .lanes = cpu_lanes_of(&run->call->in[0]), .x = run->launch->in[0], .y = run->launch->out[0]};
    a.center = run->launch->scratch;
    a.scale = a.center + a.lanes.lanes;
    a.shift = a.scale + a.lanes.lanes;
    a.slope = a.shift + a.lanes.lanes; /* where there is one */
    return a;
}

/* ---- bn_apply ------------------------------------------------------------------------------------ */

/* begin and end in rows of lanes. */
CPU_VECTOR static void apply_span(const void *ctx, int64_t begin, int64_t end) {
    const affine *a = ctx;
    const int64_t lanes = a->lanes.lanes;
    const float *center = a->center, *scale = a->scale, *shift = a->shift;
    for (int64_t row = begin; row < end; row++) {
        const float *x = a->x + row * lanes;
        float *y = a->y + row * lanes;
        const int64_t width = row < a->lanes.rows ? lanes : a->lanes.tail;
#pragma omp simd
        for (int64_t i = 0; i < width; i++) y[i] = (x[i] - center[i]) * scale[i] + shift[i];
    }
}

static ebb_status bn_apply_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    return cpu_lanes_scratch(backend, call, APPLY_TABLES, bytes);
}

static ebb_status bn_apply_launch(const ebb_kernel_run *run) {
    const affine a = affine_of(run);
    const float *variance = run->launch->in[2], *gamma = run->launch->in[3];
    const double eps = run->call->attr[EBB_BN_EPS].f;
    cpu_lanes_fill(&a.lanes, run->launch->in[1], a.center);
    cpu_lanes_fill(&a.lanes, run->launch->in[4], a.shift);
    for (int64_t c = 0; c < a.lanes.channels; c++) a.scale[c] = (float)(gamma[c] / sqrt(variance[c] + eps));
    cpu_lanes_repeat(&a.lanes, a.scale);
    cpu_spans(cpu_of(run->backend), a.lanes.rows + (a.lanes.tail > 0), 1, 8 * a.lanes.count, apply_span,
              &a);
    return EBB_OK;
}

CPU_KERNEL(bn_apply, EBB_TAKES(F32), CPU_STREAM, .scratch = bn_apply_scratch, .launch = bn_apply_launch);

/* ---- bn_grad ------------------------------------------------------------------------------------- */

CPU_VECTOR static void grad_span(const void *ctx, int64_t begin, int64_t end) {
    const affine *a = ctx;
    const int64_t lanes = a->lanes.lanes;
    const float *center = a->center, *scale = a->scale, *shift = a->shift, *slope = a->slope;
    for (int64_t row = begin; row < end; row++) {
        const float *x = a->x + row * lanes, *dy = a->dy + row * lanes;
        float *dx = a->y + row * lanes;
        const int64_t width = row < a->lanes.rows ? lanes : a->lanes.tail;
#pragma omp simd
        for (int64_t i = 0; i < width; i++) {
            dx[i] = scale[i] * (dy[i] - shift[i] - (x[i] - center[i]) * slope[i]);
        }
    }
}

static ebb_status bn_grad_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    return cpu_lanes_scratch(backend, call, GRAD_TABLES, bytes);
}

static ebb_status bn_grad_launch(const ebb_kernel_run *run) {
    affine a = affine_of(run);
    a.dy = run->launch->in[6];
    const float *variance = run->launch->in[2], *gamma = run->launch->in[3];
    const float *dgamma = run->launch->in[4], *dbeta = run->launch->in[5];
    const double eps = run->call->attr[EBB_BN_EPS].f, m = (double)cpu_lanes_each(&a.lanes);
    cpu_lanes_fill(&a.lanes, run->launch->in[1], a.center);
    for (int64_t c = 0; c < a.lanes.channels; c++) {
        const double inv_std = 1 / sqrt(variance[c] + eps);
        a.scale[c] = (float)(gamma[c] * inv_std);
        a.shift[c] = (float)(dbeta[c] / m);
        a.slope[c] = (float)(inv_std * dgamma[c] / m);
    }
    cpu_lanes_repeat(&a.lanes, a.scale);
    cpu_lanes_repeat(&a.lanes, a.shift);
    cpu_lanes_repeat(&a.lanes, a.slope);
    cpu_spans(cpu_of(run->backend), a.lanes.rows + (a.lanes.tail > 0), 1, 12 * a.lanes.count, grad_span,
              &a);
    return EBB_OK;
}

CPU_KERNEL(bn_grad, EBB_TAKES(F32), CPU_STREAM, .scratch = bn_grad_scratch, .launch = bn_grad_launch);
