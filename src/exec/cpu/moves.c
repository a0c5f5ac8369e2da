/* cpu/moves.c: elements at other places: repeated (broadcast_to), or with their axes in another order
 * (permute). */
#include "exec/cpu/places.h"

#define MOVE(T)                                              \
    static void move_##T(const cpu_places_row *row) {        \
        const T *const x = row->in[0];                       \
        T *y = row->y;                                       \
        const int64_t n = row->n, s = row->stride[0];        \
        if (s == 1) {                                        \
            memcpy(y, x, (size_t)n * sizeof *y);             \
        } else if (s == 0) {                                 \
            for (int64_t i = 0; i < n; i++) y[i] = *x;       \
        } else {                                             \
            for (int64_t i = 0; i < n; i++) y[i] = x[i * s]; \
        }                                                    \
    }
MOVE(uint32_t)
MOVE(uint8_t)

static ebb_status move_launch(const ebb_kernel_run *run, const uint32_t along[EBB_MAX_RANK],
                              const int64_t *begin, const int64_t *step) {
    ebb_walk walk;
    ebb_walk_begin(&walk, &run->call->out[0]);
    ebb_walk_operand(&walk, &run->call->in[0], along, begin, step);
    ebb_walk_end(&walk);
    const bool byte = ebb_dtype_bytes(run->call->in[0].dtype) == 1;
    return cpu_places_run(run, &walk, byte ? move_uint8_t : move_uint32_t, byte ? 2 : 8);
}

static ebb_status broadcast_to_launch(const ebb_kernel_run *run) {
    uint32_t along[EBB_MAX_RANK];
    (void)ebb_broadcast_to_along(&run->call->in[0], &run->call->out[0], run->call->attr, along);
    return move_launch(run, along, NULL, NULL);
}
CPU_KERNEL(broadcast_to, EBB_TAKES(F32, I32, U8, BOOL), CPU_STREAM, .launch = broadcast_to_launch);

static ebb_status permute_launch(const ebb_kernel_run *run) {
    uint32_t along[EBB_MAX_RANK];
    ebb_permute_along(&run->call->out[0], run->call->attr, along);
    return move_launch(run, along, NULL, NULL);
}
CPU_KERNEL(permute, EBB_TAKES(F32, I32, U8, BOOL), CPU_RATE(20000, 8000), .launch = permute_launch);

/* ---- strided_slice -------------------------------------------------------------------------------- */

static ebb_status strided_slice_launch(const ebb_kernel_run *run) {
    uint32_t along[EBB_MAX_RANK];
    for (uint32_t d = 0; d < EBB_MAX_RANK; d++) along[d] = d;
    const ebb_attr *attr = run->call->attr;
    return move_launch(run, along, attr[EBB_STRIDED_BEGIN].i, attr[EBB_STRIDED_STEP].i);
}
CPU_KERNEL(strided_slice, EBB_TAKES(F32, I32, U8, BOOL), CPU_RATE(20000, 8000),
           .launch = strided_slice_launch);

typedef struct spread {
    const ebb_walk *walk; /* over dy; operand 0: dx */
    const uint32_t *dy;
    uint32_t *dx;
} spread;

static void zero_span(const void *ctx, int64_t begin, int64_t end) {
    const spread *s = ctx;
    memset(s->dx + begin, 0, (size_t)(end - begin) * sizeof *s->dx);
}

/* begin and end in elements of dy, each of which has a place of its own in dx. */
static void spread_span(const void *ctx, int64_t begin, int64_t end) {
    const spread *s = ctx;
    const uint32_t last = s->walk->n_dims - 1;
    const int64_t stride = s->walk->stride[0][last];
    ebb_walk_place at = ebb_walk_place_of(s->walk, begin);
    while (begin < end) {
        const int64_t n = ebb_min_i64(s->walk->size[last] - at.at[last], end - begin);
        for (int64_t i = 0; i < n; i++) s->dx[at.element[0] + i * stride] = s->dy[begin + i];
        begin += n;
        ebb_walk_on(s->walk, &at, n);
    }
}

static ebb_status strided_slice_grad_launch(const ebb_kernel_run *run) {
    const ebb_type *dy = &run->call->in[0], *dx = &run->call->out[0];
    uint32_t along[EBB_MAX_RANK];
    for (uint32_t d = 0; d < EBB_MAX_RANK; d++) along[d] = d;
    ebb_walk walk;
    ebb_walk_begin(&walk, dy);
    ebb_walk_operand(&walk, dx, along, run->call->attr[EBB_STRIDED_BEGIN].i,
                     run->call->attr[EBB_STRIDED_STEP].i);
    ebb_walk_end(&walk);
    const spread s = {&walk, run->launch->in[0], run->launch->out[0]};
    cpu_backend *cpu = cpu_of(run->backend);
    cpu_spans(cpu, ebb_type_count(dx), CPU_ALIGNMENT, ebb_type_bytes(dx), zero_span, &s);
    cpu_spans(cpu, ebb_type_count(dy), CPU_ALIGNMENT, 2 * ebb_type_bytes(dy), spread_span, &s);
    return EBB_OK;
}
CPU_KERNEL(strided_slice_grad, EBB_TAKES(F32, I32), CPU_RATE(20000, 8000),
           .launch = strided_slice_grad_launch);
