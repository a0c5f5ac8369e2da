/* cpu/made.c: places counted, and draws. */
#include "exec/cpu/cpu.h"
#include "exec/draws.h"

#include <math.h>

/* Elements of y by a walk whose operand 0 says what each is made of. */
typedef struct made {
    const ebb_walk *walk;
    void *y;
    uint64_t key, step;
    const ebb_attr *attr;
    float most; /* of uniform */
} made;

/* ---- iota --------------------------------------------------------------------------------------- */

static void iota_span(const void *ctx, int64_t begin, int64_t end) {
    const made *m = ctx;
    const uint32_t last = m->walk->n_dims - 1;
    ebb_walk_place at = ebb_walk_place_of(m->walk, begin);
    while (begin < end) {
        const int64_t n = ebb_min_i64(m->walk->size[last] - at.at[last], end - begin);
        for (int64_t i = 0; i < n; i++)
            ((int32_t *)m->y)[begin + i] = (int32_t)(at.element[0] + i * m->walk->stride[0][last]);
        begin += n;
        ebb_walk_on(m->walk, &at, n);
    }
}

static ebb_status iota_launch(const ebb_kernel_run *run) {
    const ebb_type *y = &run->call->out[0];
    const uint32_t axis = (uint32_t)run->call->attr[EBB_IOTA_AXIS].i[0];
    const ebb_type line = {.dtype = EBB_I32, .rank = 1, .dim = {y->dim[axis]}};
    uint32_t along[EBB_MAX_RANK];
    for (uint32_t d = 0; d < EBB_MAX_RANK; d++) along[d] = d == axis ? 0 : EBB_NONE;
    ebb_walk walk;
    ebb_walk_begin(&walk, y);
    ebb_walk_operand(&walk, &line, along, NULL, NULL);
    ebb_walk_end(&walk);
    const made m = {.walk = &walk, .y = run->launch->out[0]};
    cpu_spans(cpu_of(run->backend), ebb_type_count(y), CPU_ALIGNMENT, ebb_type_bytes(y), iota_span, &m);
    return EBB_OK;
}
CPU_KERNEL(iota, EBB_TAKES(I32), CPU_STREAM, .launch = iota_launch);

/* ---- draws: operand 0 is the logical index ------------------------------------------------------- */

static float uniform_of(ebb_u32x4 words, uint32_t i, const made *m) {
    const double low = m->attr[EBB_UNIFORM_LOW].f;
    return fminf((float)(low + (m->attr[EBB_UNIFORM_HIGH].f - low) * ebb_draw_unit(words.v[i])), m->most);
}

static float normal_of(ebb_u32x4 words, uint32_t i, const made *m) {
    const float angle = (float)ebb_draw_angle(words, i),
                radius = sqrtf(-2 * logf((float)ebb_draw_radius(words, i)));
    return (float)(m->attr[EBB_NORMAL_MEAN].f +
                   m->attr[EBB_NORMAL_STD].f * (radius * (i % 2 ? sinf(angle) : cosf(angle))));
}

#define DRAWS_SPAN(name)                                                                               \
    static void name##_span(const void *ctx, int64_t begin, int64_t end) {                             \
        const made *m = ctx;                                                                           \
        ebb_walk_place at = ebb_walk_place_of(m->walk, begin);                                         \
        uint64_t block = UINT64_MAX;                                                                   \
        ebb_u32x4 words = {{0}};                                                                       \
        for (int64_t i = begin; i < end; i++, ebb_walk_on(m->walk, &at, 1)) {                          \
            const uint64_t logical = (uint64_t)at.element[0];                                          \
            if (logical / 4 != block) words = ebb_dropout_block(m->key, m->step, block = logical / 4); \
            ((float *)m->y)[i] = name##_of(words, (uint32_t)(logical % 4), m);                         \
        }                                                                                              \
    }
DRAWS_SPAN(uniform)
DRAWS_SPAN(normal)

static ebb_status draws_launch(const ebb_kernel_run *run, cpu_span *span, double most) {
    const ebb_type *y = &run->call->out[0];
    ebb_walk walk;
    ebb_walk_begin_logical(&walk, y);
    const made m = {&walk,
                    run->launch->out[0],
                    ebb_dropout_key(run->launch->seed, run->seed_key),
                    ebb_dropout_step(run->seed_key, run->launch->step),
                    run->call->attr,
                    (float)most};
    cpu_spans(cpu_of(run->backend), ebb_type_count(y), CPU_ALIGNMENT, 16 * ebb_type_count(y), span, &m);
    return EBB_OK;
}

static ebb_status uniform_launch(const ebb_kernel_run *run) {
    return draws_launch(run, uniform_span, ebb_uniform_most(run->call->attr));
}
CPU_KERNEL(uniform, EBB_TAKES(F32), CPU_RATE(1500, 25000), .launch = uniform_launch);

static ebb_status normal_launch(const ebb_kernel_run *run) {
    return draws_launch(run, normal_span, 0);
}
CPU_KERNEL(normal, EBB_TAKES(F32), CPU_RATE(1500, 25000), .launch = normal_launch);
