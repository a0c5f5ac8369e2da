/* ref/made.c: places counted, and draws. */
#include "exec/draws.h"
#include "exec/ref/ref.h"

#include <math.h>

REF_KERNEL(iota) {
    const ref_tensor y = ref_out(run, 0);
    const int64_t axis = run->call->attr[EBB_IOTA_AXIS].i[0];
    int64_t p[EBB_MAX_RANK] = {0};
    do ref_set(&y, ref_at(y.type, p), (double)p[axis]);
    while (ref_next(y.type, p));
    return EBB_OK;
}

typedef double draw(ebb_u32x4 words, uint32_t i, const ebb_attr *attr);

static ebb_status draws(const ebb_kernel_run *run, draw *of) {
    const ref_tensor y = ref_out(run, 0);
    const uint64_t key = ebb_dropout_key(run->launch->seed, run->seed_key),
                   step = ebb_dropout_step(run->seed_key, run->launch->step);
    int64_t p[EBB_MAX_RANK] = {0};
    uint64_t logical = 0;
    do {
        const ebb_u32x4 words = ebb_dropout_block(key, step, logical / 4);
        ref_set(&y, ref_at(y.type, p), of(words, (uint32_t)(logical % 4), run->call->attr));
        logical++;
    } while (ref_next(y.type, p));
    return EBB_OK;
}

static double uniform(ebb_u32x4 words, uint32_t i, const ebb_attr *attr) {
    const double low = attr[EBB_UNIFORM_LOW].f;
    return fmin(low + (attr[EBB_UNIFORM_HIGH].f - low) * ebb_draw_unit(words.v[i]), ebb_uniform_most(attr));
}

static double normal(ebb_u32x4 words, uint32_t i, const ebb_attr *attr) {
    const double angle = ebb_draw_angle(words, i), radius = sqrt(-2 * log(ebb_draw_radius(words, i)));
    return attr[EBB_NORMAL_MEAN].f + attr[EBB_NORMAL_STD].f * radius * (i % 2 ? sin(angle) : cos(angle));
}

REF_KERNEL(uniform) {
    return draws(run, uniform);
}
REF_KERNEL(normal) {
    return draws(run, normal);
}
