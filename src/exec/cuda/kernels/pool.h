/* kernels/pool.h: pooling over windows, and pictures upsampled. A thread has one place of the result, and
 * four of its channels where c is a multiple of 4, else one.
 *
 *     kernel        of            reads   writes      bytes for n elements of x and m of y
 *     max_pool      max_pool      x       y           4n + 4m
 *     max_pool_at   max_pool_at   x       y, places   4n + 5m
 *     avg_pool      avg_pool      x       y           4n + 4m
 *     upsample      upsample      x       y           4n + 4m
 *
 * Windows that overlap are read again from the caches. */
#ifndef EBB_EXEC_CUDA_KERNELS_POOL_H
#define EBB_EXEC_CUDA_KERNELS_POOL_H

#include "exec/cuda/kernels/lanes.h"

#define CUDA_POOL_THREADS 256

typedef struct cuda_pool {
    int64_t n, c, h, w, oh, ow; /* of x and y */
    int64_t kernel[2], stride[2], pad[2];
    int32_t wide;      /* c is a multiple of 4 */
    int32_t count_pad; /* averages are of the whole kernel, cut or not */
} cuda_pool;

typedef struct cuda_window {
    int64_t h0, h1, w0, w1; /* half-open, inside x */
} cuda_window;

/* A place of a picture of h x w, and the first of a thread's channels there. */
typedef struct cuda_place {
    int64_t n, h, w, c;
} cuda_place;

/* Threads for a picture of h x w. */
CUDA_BODY int64_t cuda_pool_threads(const cuda_pool *s, int64_t h, int64_t w) {
    return s->n * h * w * (s->wide ? s->c / 4 : s->c);
}

CUDA_BODY cuda_place cuda_place_of(const cuda_pool *s, int64_t h, int64_t w, int64_t i) {
    const int64_t parts = s->wide ? s->c / 4 : s->c;
    cuda_place p;
    p.c = i % parts * (s->wide ? 4 : 1);
    i /= parts;
    p.w = i % w;
    i /= w;
    p.h = i % h;
    p.n = i / h;
    return p;
}

/* The element of a picture of h x w at row h and column w of a place. */
CUDA_BODY int64_t cuda_pixel(const cuda_pool *s, const cuda_place *p, int64_t rows, int64_t columns,
                             int64_t h, int64_t w) {
    return ((p->n * rows + h) * columns + w) * s->c + p->c;
}

CUDA_BODY cuda_window cuda_window_of(const cuda_pool *s, int64_t p, int64_t q) {
    const int64_t h = p * s->stride[0] - s->pad[0], w = q * s->stride[1] - s->pad[1];
    cuda_window v;
    v.h0 = cuda_max(h, 0);
    v.h1 = cuda_min(h + s->kernel[0], s->h);
    v.w0 = cuda_max(w, 0);
    v.w1 = cuda_min(w + s->kernel[1], s->w);
    return v;
}

/* The place of an element in a window is counted over the whole kernel, padding too. */
CUDA_BODY uint32_t cuda_in_window(const cuda_pool *s, int64_t p, int64_t q, int64_t h, int64_t w) {
    return (uint32_t)((h - p * s->stride[0] + s->pad[0]) * s->kernel[1] +
                      (w - q * s->stride[1] + s->pad[1]));
}

/* What an average is multiplied by is its divisor's inverse. */
CUDA_BODY float cuda_average_factor(const cuda_pool *s, const cuda_window *v) {
    const int64_t places = s->count_pad ? s->kernel[0] * s->kernel[1] : (v->h1 - v->h0) * (v->w1 - v->w0);
    return 1 / (float)places;
}

/* Four channels, or one and zeros. */
CUDA_BODY cuda_f32x4 cuda_pool_load(const float *p, bool wide) {
    return wide ? cuda_load4(p) : cuda_load1(p);
}

CUDA_BODY void cuda_pool_store(float *p, cuda_f32x4 x, bool wide) {
    if (wide) {
        cuda_store4(p, x);
    } else {
        *p = x.v[0];
    }
}

typedef struct cuda_pool_args {
    cuda_pool s;
    const float *x, *dy; /* dy: of gradients */
    float *to;           /* y or dx */
    uint8_t *place;      /* written by max_pool_at, read by its gradient */
} cuda_pool_args;

/* Four places at once; p is 4-byte aligned. */
CUDA_BODY void cuda_load_places(const uint8_t *p, uint32_t at[4]) {
#ifdef __CUDA_ARCH__
    const uchar4 q = *(const uchar4 *)p;
    at[0] = q.x, at[1] = q.y, at[2] = q.z, at[3] = q.w;
#else
    for (int k = 0; k < 4; k++) at[k] = p[k];
#endif
}

CUDA_BODY void cuda_store_places(uint8_t *p, const uint32_t at[4]) {
#ifdef __CUDA_ARCH__
    *(uchar4 *)p = make_uchar4(at[0], at[1], at[2], at[3]);
#else
    for (int k = 0; k < 4; k++) p[k] = (uint8_t)at[k];
#endif
}

/* A kernel of which a thread does the i-th part of its result, by `each`. */
#define CUDA_POOL(name, of_y, each)                                                           \
    typedef cuda_pool_args cuda_##name##_args;                                                \
    CUDA_BODY void cuda_##name##_body(const cuda_pool_args *a, int64_t block, int32_t thread, \
                                      int32_t phase, void *shared) {                          \
        const int64_t h = (of_y) ? a->s.oh : a->s.h, w = (of_y) ? a->s.ow : a->s.w;           \
        const int64_t i = block * CUDA_POOL_THREADS + thread;                                 \
        (void)phase, (void)shared;                                                            \
        if (i >= cuda_pool_threads(&a->s, h, w)) return;                                      \
        const cuda_place p = cuda_place_of(&a->s, h, w, i);                                   \
        if (a->s.wide) {                                                                      \
            each(a, &p, true);                                                                \
        } else {                                                                              \
            each(a, &p, false);                                                               \
        }                                                                                     \
    }

/* ---- maximum -------------------------------------------------------------------------------------- */

/* Whether x takes the maximum's place: a NaN is above every number, and nothing is above a NaN. */
CUDA_BODY bool cuda_above(float x, float best) {
    return !(x <= best) & (best == best);
}

/* The window's first maxima in the order h, w, and where they stand. */
CUDA_BODY cuda_f32x4 cuda_max4(const cuda_pool_args *a, const cuda_place *p, uint32_t at[4], bool wide) {
    const cuda_pool *s = &a->s;
    const cuda_window v = cuda_window_of(s, p->h, p->w);
    cuda_f32x4 best = cuda_pool_load(a->x + cuda_pixel(s, p, s->h, s->w, v.h0, v.w0), wide);
    const uint32_t first = cuda_in_window(s, p->h, p->w, v.h0, v.w0);
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) at[k] = first;
    for (int64_t h = v.h0; h < v.h1; h++) {
        const float *x = a->x + cuda_pixel(s, p, s->h, s->w, h, v.w0);
        uint32_t here = cuda_in_window(s, p->h, p->w, h, v.w0);
        for (int64_t w = v.w0; w < v.w1; w++, x += s->c, here++) {
            const cuda_f32x4 q = cuda_pool_load(x, wide);
            CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
                const bool above = cuda_above(q.v[k], best.v[k]);
                best.v[k] = above ? q.v[k] : best.v[k];
                at[k] = above ? here : at[k];
            }
        }
    }
    return best;
}

CUDA_BODY void cuda_max_pool_each(const cuda_pool_args *a, const cuda_place *p, bool wide) {
    uint32_t at[4];
    const cuda_f32x4 y = cuda_max4(a, p, at, wide);
    cuda_pool_store(a->to + cuda_pixel(&a->s, p, a->s.oh, a->s.ow, p->h, p->w), y, wide);
}

CUDA_BODY void cuda_max_pool_at_each(const cuda_pool_args *a, const cuda_place *p, bool wide) {
    const int64_t to = cuda_pixel(&a->s, p, a->s.oh, a->s.ow, p->h, p->w);
    uint32_t at[4];
    cuda_pool_store(a->to + to, cuda_max4(a, p, at, wide), wide);
    if (!wide) {
        a->place[to] = (uint8_t)at[0];
        return;
    }
    cuda_store_places(a->place + to, at);
}

CUDA_POOL(max_pool, true, cuda_max_pool_each)
CUDA_POOL(max_pool_at, true, cuda_max_pool_at_each)

/* ---- average -------------------------------------------------------------------------------------- */

/* The sum of each row of the window, then of these: the error is that of h + w additions, not of h * w. */
CUDA_BODY void cuda_avg_pool_each(const cuda_pool_args *a, const cuda_place *p, bool wide) {
    const cuda_pool *s = &a->s;
    const cuda_window v = cuda_window_of(s, p->h, p->w);
    const float factor = cuda_average_factor(s, &v);
    cuda_f32x4 sum = cuda_zero4();
    for (int64_t h = v.h0; h < v.h1; h++) {
        const float *x = a->x + cuda_pixel(s, p, s->h, s->w, h, v.w0);
        cuda_f32x4 row = cuda_zero4();
        for (int64_t w = v.w0; w < v.w1; w++, x += s->c) {
            const cuda_f32x4 q = cuda_pool_load(x, wide);
            CUDA_UNROLL for (int32_t k = 0; k < 4; k++) row.v[k] += q.v[k];
        }
        CUDA_UNROLL for (int32_t k = 0; k < 4; k++) sum.v[k] += row.v[k];
    }
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) sum.v[k] *= factor;
    cuda_pool_store(a->to + cuda_pixel(s, p, s->oh, s->ow, p->h, p->w), sum, wide);
}

CUDA_POOL(avg_pool, true, cuda_avg_pool_each)

/* ---- upsample: x is the smaller picture, and stride is the factor --------------------------------- */

CUDA_BODY void cuda_upsample_each(const cuda_pool_args *a, const cuda_place *p, bool wide) {
    const cuda_pool *s = &a->s;
    const int64_t from = cuda_pixel(s, p, s->h, s->w, p->h / s->stride[0], p->w / s->stride[1]);
    cuda_pool_store(a->to + cuda_pixel(s, p, s->oh, s->ow, p->h, p->w), cuda_pool_load(a->x + from, wide),
                    wide);
}

CUDA_POOL(upsample, true, cuda_upsample_each)

#endif
