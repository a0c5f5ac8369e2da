/* cpu/norm_act.h: computes batch norm's apply and the following activation, element by element, for the
 * fused kernels. */
#ifndef EBB_EXEC_CPU_NORM_ACT_H
#define EBB_EXEC_CPU_NORM_ACT_H

#include "exec/cpu/lanes.h"

typedef struct cpu_act {
    cpu_lanes lanes;
    const float *center, *scale, *shift; /* per lane, in scratch */
    float min, max;                      /* NaN: no bound */
} cpu_act;

enum { CPU_ACT_TABLES = 3 };

/* Fills CPU_ACT_TABLES tables at scratch from operands mean, variance, gamma and beta, as bn_apply does. */
static inline cpu_act cpu_act_of(const ebb_kernel_run *run, float *scratch) {
    const ebb_bounds bounds = ebb_bn_act_bounds(run->call->attr);
    cpu_act a = {
        .lanes = cpu_lanes_of(&run->call->in[0]), .min = (float)bounds.min, .max = (float)bounds.max};
    float *center = scratch, *scale = center + a.lanes.lanes, *shift = scale + a.lanes.lanes;
    const float *variance = run->launch->in[2], *gamma = run->launch->in[3];
    const double eps = run->call->attr[EBB_BN_ACT_EPS].f;
    cpu_lanes_fill(&a.lanes, run->launch->in[1], center);
    cpu_lanes_fill(&a.lanes, run->launch->in[4], shift);
    for (int64_t c = 0; c < a.lanes.channels; c++) scale[c] = (float)(gamma[c] / sqrt(variance[c] + eps));
    cpu_lanes_repeat(&a.lanes, scale);
    a.center = center;
    a.scale = scale;
    a.shift = shift;
    return a;
}

CPU_INLINE float cpu_act_apply(const cpu_act *a, float x, int64_t lane) {
    return (x - a->center[lane]) * a->scale[lane] + a->shift[lane];
}

/* The tests are for values that are cut, so that a NaN shows in the loss. */
CPU_INLINE float cpu_act_bound(const cpu_act *a, float u) {
    const float above = u < a->min ? a->min : u;
    return above > a->max ? a->max : above;
}

/* The gradient that passes: +0 where u, the value before or after the bounds, was cut. Done on the bits,
 * since a select of floats that are then summed keeps gcc from vectorizing. */
CPU_INLINE float cpu_act_pass(const cpu_act *a, float u, float dy) {
    union {
        float number;
        uint32_t bits;
    } g = {dy};
    const uint32_t cut = (u <= a->min) | (u >= a->max);
    g.bits &= cut - 1;
    return g.number;
}

#endif
