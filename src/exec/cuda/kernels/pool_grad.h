/* kernels/pool_grad.h: the gradients of pooling. Each element of dx gathers from the windows that contain
 * it, in the order p, q: no two threads write to one place, and the order of additions is the shape's.
 *
 *     kernel             of                     reads
 *     max_pool_grad      max_pool_grad          x, dy; windows of x again from the caches
 *     max_pool_at_grad   max_pool_at_grad       dy, places
 *     avg_pool_grad      avg_pool_grad          dy
 *     plane_grad         global_avg_pool_grad   dy
 *     upsample_grad      upsample_grad          dy
 */
#ifndef EBB_EXEC_CUDA_KERNELS_POOL_GRAD_H
#define EBB_EXEC_CUDA_KERNELS_POOL_GRAD_H

#include "exec/cuda/kernels/pool.h"

/* The windows [p0, p1) x [q0, q1) that contain a place of x. */
typedef struct cuda_readers {
    int32_t p0, p1, q0, q1;
} cuda_readers;

CUDA_BODY int32_t cuda_first_reader(const cuda_pool *s, int32_t axis, int32_t i) {
    const int32_t reach = i + s->pad[axis] - s->kernel[axis] + 1;
    return reach <= 0 ? 0 : (reach - 1) / s->stride[axis] + 1;
}

CUDA_BODY cuda_readers cuda_readers_of(const cuda_pool *s, const cuda_place *p) {
    cuda_readers r;
    r.p0 = cuda_first_reader(s, 0, p->h);
    r.q0 = cuda_first_reader(s, 1, p->w);
    r.p1 = cuda_pool_min((p->h + s->pad[0]) / s->stride[0] + 1, s->oh);
    r.q1 = cuda_pool_min((p->w + s->pad[1]) / s->stride[1] + 1, s->ow);
    return r;
}

/* ---- maximum -------------------------------------------------------------------------------------- */

/* Which of a thread's channels have the window's first maximum at place p, where they are `self`: those
 * that are above all before them, while none behind is above them. */
CUDA_BODY void cuda_is_max(const cuda_pool_args *a, const cuda_place *p, const cuda_window *v,
                           cuda_f32x4 self, bool is[4], bool wide, cuda_element e) {
    const cuda_pool *s = &a->s;
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) is[k] = true;
    for (int32_t h = v->h0; h < v->h1; h++) {
        int64_t x = cuda_pixel(s, p, s->h, s->w, h, v->w0);
        for (int32_t w = v->w0; w < v->w1; w++, x += s->c) {
            const bool before = h < p->h || (h == p->h && w < p->w), here = h == p->h && w == p->w;
            const cuda_f32x4 q = cuda_pool_load(a->x, x, wide, e);
            CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
                const bool yes = before ? cuda_above(self.v[k], q.v[k]) : !cuda_above(q.v[k], self.v[k]);
                is[k] = is[k] & (here | yes);
            }
        }
    }
}

CUDA_BODY void cuda_max_pool_grad_each(const cuda_pool_args *a, const cuda_place *p, bool wide,
                                       cuda_element e) {
    const cuda_pool *s = &a->s;
    const cuda_readers r = cuda_readers_of(s, p);
    const int64_t to = cuda_pixel(s, p, s->h, s->w, p->h, p->w);
    const cuda_f32x4 self = cuda_pool_load(a->x, to, wide, e);
    cuda_f32x4 sum = cuda_zero4();
    for (int32_t i = r.p0; i < r.p1; i++) {
        for (int32_t j = r.q0; j < r.q1; j++) {
            const cuda_window v = cuda_window_of(s, i, j);
            const cuda_f32x4 dy = cuda_pool_load(a->dy, cuda_pixel(s, p, s->oh, s->ow, i, j), wide, e);
            bool is[4];
            cuda_is_max(a, p, &v, self, is, wide, e);
            CUDA_UNROLL for (int32_t k = 0; k < 4; k++) sum.v[k] += is[k] ? dy.v[k] : 0;
        }
    }
    cuda_pool_store(a->to, to, sum, wide, e);
}

CUDA_POOL(max_pool_grad, false, cuda_max_pool_grad_each)

CUDA_BODY void cuda_max_pool_at_grad_each(const cuda_pool_args *a, const cuda_place *p, bool wide,
                                          cuda_element e) {
    const cuda_pool *s = &a->s;
    const cuda_readers r = cuda_readers_of(s, p);
    cuda_f32x4 sum = cuda_zero4();
    for (int32_t i = r.p0; i < r.p1; i++) {
        for (int32_t j = r.q0; j < r.q1; j++) {
            const int64_t from = cuda_pixel(s, p, s->oh, s->ow, i, j);
            const uint32_t here = cuda_in_window(s, i, j, p->h, p->w);
            uint32_t at[4] = {0, 0, 0, 0};
            if (wide) {
                cuda_load_places(a->place + from, at);
            } else {
                at[0] = a->place[from];
            }
            const cuda_f32x4 dy = cuda_pool_load(a->dy, from, wide, e);
            CUDA_UNROLL for (int32_t k = 0; k < 4; k++) sum.v[k] += at[k] == here ? dy.v[k] : 0;
        }
    }
    cuda_pool_store(a->to, cuda_pixel(s, p, s->h, s->w, p->h, p->w), sum, wide, e);
}

CUDA_POOL(max_pool_at_grad, false, cuda_max_pool_at_grad_each)

/* ---- average -------------------------------------------------------------------------------------- */

CUDA_BODY void cuda_avg_pool_grad_each(const cuda_pool_args *a, const cuda_place *p, bool wide,
                                       cuda_element e) {
    const cuda_pool *s = &a->s;
    const cuda_readers r = cuda_readers_of(s, p);
    cuda_f32x4 sum = cuda_zero4();
    for (int32_t i = r.p0; i < r.p1; i++) {
        cuda_f32x4 row = cuda_zero4();
        for (int32_t j = r.q0; j < r.q1; j++) {
            const cuda_window v = cuda_window_of(s, i, j);
            const float factor = cuda_average_factor(s, &v);
            const cuda_f32x4 dy = cuda_pool_load(a->dy, cuda_pixel(s, p, s->oh, s->ow, i, j), wide, e);
            CUDA_UNROLL for (int32_t k = 0; k < 4; k++) row.v[k] += dy.v[k] * factor;
        }
        CUDA_UNROLL for (int32_t k = 0; k < 4; k++) sum.v[k] += row.v[k];
    }
    cuda_pool_store(a->to, cuda_pixel(s, p, s->h, s->w, p->h, p->w), sum, wide, e);
}

CUDA_POOL(avg_pool_grad, false, cuda_avg_pool_grad_each)

/* Of whole planes: y has one place. */
CUDA_BODY void cuda_plane_grad_each(const cuda_pool_args *a, const cuda_place *p, bool wide,
                                    cuda_element e) {
    const cuda_pool *s = &a->s;
    const float divisor = (float)(s->h * s->w);
    cuda_f32x4 dx = cuda_pool_load(a->dy, cuda_pixel(s, p, 1, 1, 0, 0), wide, e);
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) dx.v[k] = dx.v[k] / divisor;
    cuda_pool_store(a->to, cuda_pixel(s, p, s->h, s->w, p->h, p->w), dx, wide, e);
}

CUDA_POOL(plane_grad, false, cuda_plane_grad_each)

/* ---- upsample: dy is the larger picture, and stride is the factor --------------------------------- */

CUDA_BODY void cuda_upsample_grad_each(const cuda_pool_args *a, const cuda_place *p, bool wide,
                                       cuda_element e) {
    const cuda_pool *s = &a->s;
    const int32_t top = p->h * s->stride[0], left = p->w * s->stride[1];
    double sum[4] = {0, 0, 0, 0};
    cuda_f32x4 dx;
    for (int32_t i = 0; i < s->stride[0]; i++) {
        int64_t dy = cuda_pixel(s, p, s->oh, s->ow, top + i, left);
        for (int32_t j = 0; j < s->stride[1]; j++, dy += s->c) {
            const cuda_f32x4 q = cuda_pool_load(a->dy, dy, wide, e);
            CUDA_UNROLL for (int32_t k = 0; k < 4; k++) sum[k] += q.v[k];
        }
    }
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) dx.v[k] = (float)sum[k];
    cuda_pool_store(a->to, cuda_pixel(s, p, s->h, s->w, p->h, p->w), dx, wide, e);
}

CUDA_POOL(upsample_grad, false, cuda_upsample_grad_each)

#endif
