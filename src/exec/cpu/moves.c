/* cpu/moves.c: elements at other places: repeated (broadcast_to, expand), or with their axes in another
 * order (permute). */
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
CPU_BY_BYTES(MOVE)

static ebb_status move_launch(const ebb_kernel_run *run, const uint32_t along[EBB_MAX_RANK],
                              const int64_t *begin, const int64_t *step) {
    ebb_walk walk;
    ebb_walk_begin(&walk, &run->call->out[0]);
    ebb_walk_operand(&walk, &run->call->in[0], along, begin, step);
    ebb_walk_end(&walk);
    const ebb_dtype dtype = run->call->in[0].dtype;
    return cpu_places_run(run, &walk, CPU_OF_BYTES(move, dtype), 2 * ebb_dtype_bytes(dtype));
}

static const uint32_t same_axes[EBB_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};

static ebb_status broadcast_to_launch(const ebb_kernel_run *run) {
    uint32_t along[EBB_MAX_RANK];
    (void)ebb_broadcast_to_along(&run->call->in[0], &run->call->out[0], run->call->attr, along);
    return move_launch(run, along, NULL, NULL);
}
CPU_KERNEL(broadcast_to, EBB_TAKES_ALL, CPU_STREAM, .launch = broadcast_to_launch);

/* An axis of one place stays where it is (ebb_walk_operand): what is repeated along it. */
static ebb_status expand_launch(const ebb_kernel_run *run) {
    return move_launch(run, same_axes, NULL, NULL);
}
CPU_KERNEL(expand, EBB_TAKES_ALL, CPU_STREAM, .launch = expand_launch);

static ebb_status permute_launch(const ebb_kernel_run *run) {
    uint32_t along[EBB_MAX_RANK];
    ebb_permute_along(&run->call->out[0], run->call->attr, along);
    return move_launch(run, along, NULL, NULL);
}
CPU_KERNEL(permute, EBB_TAKES_ALL, CPU_RATE(20000, 8000), .launch = permute_launch);

/* ---- strided_slice -------------------------------------------------------------------------------- */

static ebb_status strided_slice_launch(const ebb_kernel_run *run) {
    const ebb_attr *attr = run->call->attr;
    return move_launch(run, same_axes, attr[EBB_STRIDED_BEGIN].i, attr[EBB_STRIDED_STEP].i);
}
CPU_KERNEL(strided_slice, EBB_TAKES_ALL, CPU_RATE(20000, 8000), .launch = strided_slice_launch);

typedef struct spread {
    const ebb_walk *walk; /* over dy; operand 0: dx */
    const void *dy;
    void *dx;
} spread;

/* begin and end in bytes of dx: in every dtype, nothing but zeros is 0. */
static void zero_span(const void *ctx, int64_t begin, int64_t end) {
    const spread *s = ctx;
    memset((char *)s->dx + begin, 0, (size_t)(end - begin));
}

/* begin and end in elements of dy, each of which has a place of its own in dx. */
#define SPREAD(T)                                                                           \
    static void spread_##T(const void *ctx, int64_t begin, int64_t end) {                   \
        const spread *s = ctx;                                                              \
        const T *dy = s->dy;                                                                \
        T *dx = s->dx;                                                                      \
        const uint32_t last = s->walk->n_dims - 1;                                          \
        const int64_t stride = s->walk->stride[0][last];                                    \
        ebb_walk_place at = ebb_walk_place_of(s->walk, begin);                              \
        while (begin < end) {                                                               \
            const int64_t n = ebb_min_i64(s->walk->size[last] - at.at[last], end - begin);  \
            for (int64_t i = 0; i < n; i++) dx[at.element[0] + i * stride] = dy[begin + i]; \
            begin += n;                                                                     \
            ebb_walk_on(s->walk, &at, n);                                                   \
        }                                                                                   \
    }
CPU_BY_BYTES(SPREAD)

static ebb_status strided_slice_grad_launch(const ebb_kernel_run *run) {
    const ebb_type *dy = &run->call->in[0], *dx = &run->call->out[0];
    ebb_walk walk;
    ebb_walk_begin(&walk, dy);
    ebb_walk_operand(&walk, dx, same_axes, run->call->attr[EBB_STRIDED_BEGIN].i,
                     run->call->attr[EBB_STRIDED_STEP].i);
    ebb_walk_end(&walk);
    const spread s = {&walk, run->launch->in[0], run->launch->out[0]};
    cpu_backend *cpu = cpu_of(run->backend);
    cpu_spans(cpu, ebb_type_bytes(dx), CPU_ALIGNMENT, ebb_type_bytes(dx), zero_span, &s);
    cpu_spans(cpu, ebb_type_count(dy), CPU_ALIGNMENT, 2 * ebb_type_bytes(dy),
              CPU_OF_BYTES(spread, dy->dtype), &s);
    return EBB_OK;
}
CPU_KERNEL(strided_slice_grad, EBB_TAKES_ALL, CPU_RATE(20000, 8000), .launch = strided_slice_grad_launch);
