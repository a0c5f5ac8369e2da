/* cpu/pool.h: computes the geometry of pooling for the forward and gradient kernels. Windows are clipped to
 * the input: padding has no elements, and every window has at least one input element. */
#ifndef EBB_EXEC_CPU_POOL_H
#define EBB_EXEC_CPU_POOL_H

#include "exec/cpu/cpu.h"

/* Channels processed together: their running values stay in the first-level cache. */
enum { CPU_POOL_BLOCK = 64 };

typedef struct cpu_pool {
    int64_t n, c, h, w, oh, ow;
    int64_t kernel[2], stride[2], pad[2];
    bool count_pad; /* avg_pool: divide by the kernel's size, even if the window is clipped */
} cpu_pool;

typedef struct cpu_window {
    int64_t h0, h1, w0, w1; /* half-open, inside the input */
} cpu_window;

CPU_INLINE cpu_pool cpu_pool_of(const ebb_type *x, const ebb_type *y, const ebb_attr *attr) {
    cpu_pool s = {.n = x->dim[0], .c = x->dim[1], .h = x->dim[2], .w = x->dim[3]};
    s.oh = y->dim[2];
    s.ow = y->dim[3];
    for (uint32_t axis = 0; axis < 2; axis++) {
        s.kernel[axis] = attr[EBB_POOL_KERNEL].i[axis];
        s.stride[axis] = ebb_pool_stride(attr, axis);
        s.pad[axis] = attr[EBB_POOL_PAD].i[axis];
    }
    return s;
}

CPU_INLINE cpu_window cpu_window_of(const cpu_pool *s, int64_t p, int64_t q) {
    const int64_t h = p * s->stride[0] - s->pad[0], w = q * s->stride[1] - s->pad[1];
    return (cpu_window){ebb_max_i64(h, 0), ebb_min_i64(h + s->kernel[0], s->h), ebb_max_i64(w, 0),
                        ebb_min_i64(w + s->kernel[1], s->w)};
}

/* The output positions [*first, *end) along an axis whose windows meet the inputs [from, to). */
CPU_INLINE void cpu_pool_readers(const cpu_pool *s, int axis, int64_t from, int64_t to, int64_t *first,
                                 int64_t *end) {
    const int64_t reach = from + s->pad[axis] - s->kernel[axis] + 1;
    *first = reach <= 0 ? 0 : cpu_ceil_div(reach, s->stride[axis]);
    *end = ebb_min_i64((to - 1 + s->pad[axis]) / s->stride[axis] + 1, axis ? s->ow : s->oh);
}

/* The divisor of an average. */
CPU_INLINE double cpu_pool_divisor(const cpu_pool *s, const cpu_window *v) {
    if (s->count_pad) return (double)s->kernel[0] * (double)s->kernel[1];
    return (double)(v->h1 - v->h0) * (double)(v->w1 - v->w0);
}

#endif
