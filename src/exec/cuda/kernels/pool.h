/* kernels/pool.h: pooling over windows, and pictures upsampled. A thread has one place of the result, and
 * four of its channels where c is a multiple of 4, else one.
 *
 *     kernel        of            reads   writes
 *     max_pool      max_pool      x       y
 *                   max_pool_at   x       y, places (a byte each)
 *     avg_pool      avg_pool      x       y
 *     upsample      upsample      x       y
 *
 * Windows that overlap are read again from the caches. A block is of one image, so that all but the first
 * element of an image is counted in 32 bits, which a device divides several times faster than 64. */
#ifndef EBB_EXEC_CUDA_KERNELS_POOL_H
#define EBB_EXEC_CUDA_KERNELS_POOL_H

#include "exec/cuda/kernels/lanes.h"

#define CUDA_POOL_THREADS 256

/* Sizes are so that what a thread counts fits in 31 bits (cuda_pool_fits). */
typedef struct cuda_pool {
    int64_t n;
    int32_t c, h, w, oh, ow; /* of x and y */
    int32_t kernel[2], stride[2], pad[2];
    int32_t wide;      /* c is a multiple of 4 */
    int32_t count_pad; /* averages are of the whole kernel, cut or not */
} cuda_pool;

typedef struct cuda_window {
    int32_t h0, h1, w0, w1; /* half-open, inside x */
} cuda_window;

/* A place of a picture of h x w, and the first of a thread's channels there. */
typedef struct cuda_place {
    int64_t n;
    int32_t h, w, c;
} cuda_place;

CUDA_BODY int32_t cuda_pool_min(int32_t a, int32_t b) {
    return a < b ? a : b;
}

CUDA_BODY int32_t cuda_pool_max(int32_t a, int32_t b) {
    return a > b ? a : b;
}

/* Of x and y, or of x alone where it is as large: with room for a block's last threads and a window's
 * reach.
 */
CUDA_BODY bool cuda_pool_fits(int64_t c, int64_t h, int64_t w, int64_t kernel, int64_t pad) {
    const int64_t most = INT64_C(1) << 30;
    return h < most && w < most && kernel < most && pad < most && h * w < most && c < most &&
           h * w * c < most;
}

/* Blocks of an image's picture of h x w. */
CUDA_BODY int32_t cuda_pool_blocks(const cuda_pool *s, int32_t h, int32_t w) {
    return (h * w * (s->wide ? s->c / 4 : s->c) + CUDA_POOL_THREADS - 1) / CUDA_POOL_THREADS;
}

/* Thread i of an image; false: there is no such place. */
CUDA_BODY bool cuda_place_of(const cuda_pool *s, int32_t h, int32_t w, int64_t block, int32_t thread,
                             cuda_place *p) {
    const int32_t parts = s->wide ? s->c / 4 : s->c, blocks = cuda_pool_blocks(s, h, w);
    const int32_t image = (int32_t)block / blocks;
    const int32_t i = ((int32_t)block - image * blocks) * CUDA_POOL_THREADS + thread;
    const int32_t place = i / parts;
    p->n = image;
    p->c = (i - place * parts) * (s->wide ? 4 : 1);
    p->h = place / w;
    p->w = place - p->h * w;
    return p->h < h;
}

/* The element of a picture of h x w at row h and column w of a place. */
CUDA_BODY int64_t cuda_pixel(const cuda_pool *s, const cuda_place *p, int32_t rows, int32_t columns,
                             int32_t h, int32_t w) {
    return p->n * rows * columns * s->c + ((h * columns + w) * s->c + p->c);
}

CUDA_BODY cuda_window cuda_window_of(const cuda_pool *s, int32_t p, int32_t q) {
    const int32_t h = p * s->stride[0] - s->pad[0], w = q * s->stride[1] - s->pad[1];
    cuda_window v;
    v.h0 = cuda_pool_max(h, 0);
    v.h1 = cuda_pool_min(h + s->kernel[0], s->h);
    v.w0 = cuda_pool_max(w, 0);
    v.w1 = cuda_pool_min(w + s->kernel[1], s->w);
    return v;
}

/* The place of an element in a window is counted over the whole kernel, padding too. */
CUDA_BODY uint32_t cuda_in_window(const cuda_pool *s, int32_t p, int32_t q, int32_t h, int32_t w) {
    return (uint32_t)(h - p * s->stride[0] + s->pad[0]) * (uint32_t)s->kernel[1] +
           (uint32_t)(w - q * s->stride[1] + s->pad[1]);
}

/* What an average is multiplied by is its divisor's inverse. */
CUDA_BODY float cuda_average_factor(const cuda_pool *s, const cuda_window *v) {
    const int64_t all = (int64_t)s->kernel[0] * s->kernel[1];
    const int64_t inside = (int64_t)(v->h1 - v->h0) * (v->w1 - v->w0);
    return 1 / (float)(s->count_pad ? all : inside);
}

/* Four channels, or one and zeros. */
CUDA_BODY cuda_f32x4 cuda_pool_load(const void *p, int64_t at, bool wide, cuda_element e) {
    if (wide) return cuda_get4(e, p, at);
    cuda_f32x4 x = cuda_zero4();
    x.v[0] = cuda_get1(e, p, at);
    return x;
}

CUDA_BODY void cuda_pool_store(void *p, int64_t at, cuda_f32x4 x, bool wide, cuda_element e) {
    if (wide) {
        cuda_put4(e, p, at, x);
    } else {
        cuda_put1(e, p, at, x.v[0]);
    }
}

typedef struct cuda_pool_args {
    cuda_pool s;
    const void *x, *dy; /* dy: of gradients */
    void *to;           /* y or dx */
    uint8_t *place;     /* written by max_pool_at, NULL in max_pool; read by the gradient */
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

/* A kernel of which a thread does a part of its result, by `each`. */
#define CUDA_POOL(name, of_y, each)                                                                        \
    typedef cuda_pool_args cuda_##name##_args;                                                             \
    CUDA_BODY void cuda_##name##_in(const cuda_pool_args *a, int64_t block, int32_t thread, int32_t phase, \
                                    void *shared, cuda_element e) {                                        \
        const int32_t h = (of_y) ? a->s.oh : a->s.h, w = (of_y) ? a->s.ow : a->s.w;                        \
        cuda_place p;                                                                                      \
        (void)phase, (void)shared;                                                                         \
        if (!cuda_place_of(&a->s, h, w, block, thread, &p)) return;                                        \
        if (a->s.wide) {                                                                                   \
            each(a, &p, true, e);                                                                          \
        } else {                                                                                           \
            each(a, &p, false, e);                                                                         \
        }                                                                                                  \
    }                                                                                                      \
    CUDA_BODIES(name)

/* ---- maximum -------------------------------------------------------------------------------------- */

/* Whether x takes the maximum's place: a NaN is above every number, and nothing is above a NaN. */
CUDA_BODY bool cuda_above(float x, float best) {
    return !(x <= best) & (best == best);
}

/* The window's first maxima in the order h, w, and where they stand. */
CUDA_BODY cuda_f32x4 cuda_max4(const cuda_pool_args *a, const cuda_place *p, uint32_t at[4], bool wide,
                               cuda_element e) {
    const cuda_pool *s = &a->s;
    const cuda_window v = cuda_window_of(s, p->h, p->w);
    int64_t line = cuda_pixel(s, p, s->h, s->w, v.h0, v.w0);
    cuda_f32x4 best = cuda_pool_load(a->x, line, wide, e);
    const uint32_t first = cuda_in_window(s, p->h, p->w, v.h0, v.w0);
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) at[k] = first;
    for (int32_t h = v.h0; h < v.h1; h++, line += s->w * s->c) {
        int64_t x = line;
        uint32_t here = cuda_in_window(s, p->h, p->w, h, v.w0);
        for (int32_t w = v.w0; w < v.w1; w++, x += s->c, here++) {
            const cuda_f32x4 q = cuda_pool_load(a->x, x, wide, e);
            CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
                const bool above = cuda_above(q.v[k], best.v[k]);
                best.v[k] = above ? q.v[k] : best.v[k];
                at[k] = above ? here : at[k];
            }
        }
    }
    return best;
}

/* Places, where they are asked for. (That one body does for both is not for its length alone: without them
 * the assembler saves registers until it spills.) */
CUDA_BODY void cuda_max_pool_each(const cuda_pool_args *a, const cuda_place *p, bool wide, cuda_element e) {
    const int64_t to = cuda_pixel(&a->s, p, a->s.oh, a->s.ow, p->h, p->w);
    uint32_t at[4];
    cuda_pool_store(a->to, to, cuda_max4(a, p, at, wide, e), wide, e);
    if (!a->place) return;
    if (wide) {
        cuda_store_places(a->place + to, at);
    } else {
        a->place[to] = (uint8_t)at[0];
    }
}

CUDA_POOL(max_pool, true, cuda_max_pool_each)

/* ---- average -------------------------------------------------------------------------------------- */

/* The sum of each row of the window, then of these: the error is that of h + w additions, not of h * w. */
CUDA_BODY void cuda_avg_pool_each(const cuda_pool_args *a, const cuda_place *p, bool wide, cuda_element e) {
    const cuda_pool *s = &a->s;
    const cuda_window v = cuda_window_of(s, p->h, p->w);
    const float factor = cuda_average_factor(s, &v);
    cuda_f32x4 sum = cuda_zero4();
    for (int32_t h = v.h0; h < v.h1; h++) {
        int64_t x = cuda_pixel(s, p, s->h, s->w, h, v.w0);
        cuda_f32x4 row = cuda_zero4();
        for (int32_t w = v.w0; w < v.w1; w++, x += s->c) {
            const cuda_f32x4 q = cuda_pool_load(a->x, x, wide, e);
            CUDA_UNROLL for (int32_t k = 0; k < 4; k++) row.v[k] += q.v[k];
        }
        CUDA_UNROLL for (int32_t k = 0; k < 4; k++) sum.v[k] += row.v[k];
    }
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) sum.v[k] *= factor;
    cuda_pool_store(a->to, cuda_pixel(s, p, s->oh, s->ow, p->h, p->w), sum, wide, e);
}

CUDA_POOL(avg_pool, true, cuda_avg_pool_each)

/* ---- upsample: x is the smaller picture, and stride is the factor --------------------------------- */

CUDA_BODY void cuda_upsample_each(const cuda_pool_args *a, const cuda_place *p, bool wide, cuda_element e) {
    const cuda_pool *s = &a->s;
    const int64_t from = cuda_pixel(s, p, s->h, s->w, p->h / s->stride[0], p->w / s->stride[1]);
    cuda_pool_store(a->to, cuda_pixel(s, p, s->oh, s->ow, p->h, p->w), cuda_pool_load(a->x, from, wide, e),
                    wide, e);
}

CUDA_POOL(upsample, true, cuda_upsample_each)

#endif
