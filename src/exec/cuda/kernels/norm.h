/* kernels/norm.h: batch norm's sweeps over elements, with what is fused behind them. Each operation is
 * rounded to float on its own, as if the parts ran one after another: fusing changes no bit.
 *
 *     kernel            of                  reads             writes  bytes an element
 *     norm_apply        bn_apply, bn_act    x                 y       8
 *     norm_apply_add    bn_add              x, skip           y       12
 *     norm_add_bits     bn_add_bits         x, skip           y, bits 12 1/8
 *     norm_grad         bn_grad             x, dy             dx      12
 *     norm_grad_act     bn_act_grad         x, dy             dx      12
 *     norm_track        bn_track            4 of each channel 2       24 a channel
 *
 * A thread's four lanes are the same channels in every row, whose numbers it works out once. In place: a
 * thread reads all it needs of its elements before it writes them, and looks at no others. */
#ifndef EBB_EXEC_CUDA_KERNELS_NORM_H
#define EBB_EXEC_CUDA_KERNELS_NORM_H

#include "exec/cuda/kernels/bounds.h"
#include "exec/cuda/kernels/lanes.h"

typedef struct cuda_norm_args {
    cuda_lanes lanes;
    const float *x, *mean, *variance, *gamma, *beta, *dgamma, *dbeta;
    const float *other; /* skip, or dy */
    float *to;
    uint8_t *bits;   /* norm_add_bits */
    float eps, each; /* elements of a channel */
    cuda_bounds bounds;
} cuda_norm_args;

/* Of four lanes. Applied: (x - center) * scale + shift. dx = scale * (du - from - (x - center) * slope). */
typedef struct cuda_norm4 {
    cuda_f32x4 center, scale, shift, from, slope;
} cuda_norm4;

/* Square roots and quotients of floats are the same on every side: IEEE asks for it. */
CUDA_BODY cuda_f32x4 cuda_inv_std4(const cuda_lanes *l, const float *variance, float eps, int64_t lane) {
    cuda_f32x4 x = cuda_channels4(l, variance, lane);
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) x.v[k] = 1 / sqrtf(x.v[k] + eps);
    return x;
}

/* apply: shift is wanted; grad: from and slope are. */
CUDA_BODY cuda_norm4 cuda_norm4_of(const cuda_norm_args *a, int64_t lane, bool apply, bool grad) {
    const cuda_lanes *l = &a->lanes;
    cuda_norm4 n;
    const cuda_f32x4 inv = cuda_inv_std4(l, a->variance, a->eps, lane);
    const cuda_f32x4 gamma = cuda_channels4(l, a->gamma, lane);
    n.center = cuda_channels4(l, a->mean, lane);
    n.shift = apply ? cuda_channels4(l, a->beta, lane) : cuda_zero4();
    n.from = grad ? cuda_channels4(l, a->dbeta, lane) : cuda_zero4();
    n.slope = grad ? cuda_channels4(l, a->dgamma, lane) : cuda_zero4();
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
        n.scale.v[k] = gamma.v[k] * inv.v[k];
        n.from.v[k] = n.from.v[k] / a->each;
        n.slope.v[k] = inv.v[k] * (n.slope.v[k] / a->each);
    }
    return n;
}

CUDA_BODY float cuda_norm_apply1(const cuda_norm4 *n, int32_t k, float x) {
    return (x - n->center.v[k]) * n->scale.v[k] + n->shift.v[k];
}

/* ---- forward -------------------------------------------------------------------------------------- */

CUDA_BODY cuda_f32x4 cuda_norm_forward4(const cuda_norm_args *a, const cuda_norm4 *n, cuda_f32x4 x,
                                        cuda_f32x4 skip, bool add) {
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
        const float u = cuda_norm_apply1(n, k, x.v[k]);
        x.v[k] = cuda_bound(a->bounds, add ? u + skip.v[k] : u);
    }
    return x;
}

/* dx of four lanes; cut: what the activation cut is found from x again. */
CUDA_BODY cuda_f32x4 cuda_norm_backward4(const cuda_norm_args *a, const cuda_norm4 *n, cuda_f32x4 x,
                                         cuda_f32x4 dy, bool cut) {
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
        const float du = cut ? cuda_pass(a->bounds, cuda_norm_apply1(n, k, x.v[k]), dy.v[k]) : dy.v[k];
        x.v[k] = n->scale.v[k] * (du - n->from.v[k] - (x.v[k] - n->center.v[k]) * n->slope.v[k]);
    }
    return x;
}

typedef enum cuda_norm_way {
    CUDA_NORM_APPLY,
    CUDA_NORM_APPLY_ADD,
    CUDA_NORM_GRAD,
    CUDA_NORM_GRAD_ACT
} cuda_norm_way;

CUDA_BODY cuda_f32x4 cuda_norm_do4(const cuda_norm_args *a, const cuda_norm4 *n, cuda_f32x4 x,
                                   cuda_f32x4 other, cuda_norm_way way) {
    if (way == CUDA_NORM_APPLY || way == CUDA_NORM_APPLY_ADD)
        return cuda_norm_forward4(a, n, x, other, way == CUDA_NORM_APPLY_ADD);
    return cuda_norm_backward4(a, n, x, other, way == CUDA_NORM_GRAD_ACT);
}

/* Rows that a thread takes at once: four reads of 16 bytes are under way, and few registers taken, so that
 * many threads are. */
CUDA_BODY int32_t cuda_norm_batch(cuda_norm_way way) {
    return way == CUDA_NORM_APPLY ? 4 : 2;
}

/* The first n_rows of a batch: all are read before any is written. */
CUDA_BODY void cuda_norm_rows(const cuda_norm_args *a, const cuda_norm4 *n, int64_t at, int64_t step,
                              int32_t n_rows, cuda_norm_way way) {
    cuda_f32x4 x[4], other[4];
    CUDA_UNROLL for (int32_t j = 0; j < cuda_norm_batch(way); j++) {
        x[j] = j < n_rows ? cuda_load4(a->x + at + j * step) : cuda_zero4();
        other[j] =
            j < n_rows && way != CUDA_NORM_APPLY ? cuda_load4(a->other + at + j * step) : cuda_zero4();
    }
    CUDA_UNROLL for (int32_t j = 0; j < cuda_norm_batch(way); j++) {
        if (j < n_rows) cuda_store4(a->to + at + j * step, cuda_norm_do4(a, n, x[j], other[j], way));
    }
}

/* Lane k alone of the numbers, first. */
CUDA_BODY cuda_norm4 cuda_norm4_lane(const cuda_norm4 *n, int32_t k) {
    cuda_norm4 one = *n;
    one.center.v[0] = n->center.v[k];
    one.scale.v[0] = n->scale.v[k];
    one.shift.v[0] = n->shift.v[k];
    one.from.v[0] = n->from.v[k];
    one.slope.v[0] = n->slope.v[k];
    return one;
}

CUDA_BODY void cuda_norm_sweep(const cuda_norm_args *a, int64_t block, int32_t thread, cuda_norm_way way) {
    const cuda_spot s = cuda_spot_of(&a->lanes, block, thread);
    const bool act = way != CUDA_NORM_GRAD, grad = way == CUDA_NORM_GRAD || way == CUDA_NORM_GRAD_ACT;
    if (s.lane >= a->lanes.width) return;
    const cuda_norm4 n = cuda_norm4_of(a, s.lane, act, grad);
    const int32_t batch = cuda_norm_batch(way);
    int64_t at = s.at;
    for (int64_t row = s.row; row < s.end; row += batch * CUDA_LANES_Y, at += batch * s.step) {
        const int32_t left = cuda_rows_left(&s, row, batch);
        if (left == batch) {
            cuda_norm_rows(a, &n, at, s.step, batch, way);
        } else {
            cuda_norm_rows(a, &n, at, s.step, left, way);
        }
    }
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
        if (k >= s.tail) continue;
        const cuda_norm4 one = cuda_norm4_lane(&n, k);
        const cuda_f32x4 x = cuda_load1(a->x + s.last + k);
        const cuda_f32x4 other = way == CUDA_NORM_APPLY ? cuda_zero4() : cuda_load1(a->other + s.last + k);
        a->to[s.last + k] = cuda_norm_do4(a, &one, x, other, way).v[0];
    }
}

#define CUDA_NORM_SWEEP(name, way)                                                               \
    typedef cuda_norm_args cuda_##name##_args;                                                   \
    CUDA_BODY void cuda_##name##_body(const cuda_norm_args *args, int64_t block, int32_t thread, \
                                      int32_t phase, void *shared) {                             \
        (void)phase, (void)shared;                                                               \
        cuda_norm_sweep(args, block, thread, way);                                               \
    }

CUDA_NORM_SWEEP(norm_apply, CUDA_NORM_APPLY)
CUDA_NORM_SWEEP(norm_apply_add, CUDA_NORM_APPLY_ADD)
CUDA_NORM_SWEEP(norm_grad, CUDA_NORM_GRAD)
CUDA_NORM_SWEEP(norm_grad_act, CUDA_NORM_GRAD_ACT)

/* ---- forward, with a bit for each element that passes: channels are a multiple of 8 ---------------- */

/* Half the threads side by side, with two quads each: a byte of bits is one thread's. */
#define CUDA_BITS_X    (CUDA_LANES_X / 2)
#define CUDA_BITS_ROWS (CUDA_LANES_THREADS / CUDA_BITS_X)

/* The first n_rows of two: all are read before any is written. */
CUDA_BODY void cuda_norm_bits_rows(const cuda_norm_args *a, const cuda_norm4 n[2], int64_t at, int64_t step,
                                   int32_t n_rows) {
    cuda_f32x4 x[4], skip[4];
    CUDA_UNROLL for (int32_t j = 0; j < 4; j++) {
        const int64_t from = at + j / 2 * step + 4 * (j % 2);
        x[j] = j / 2 < n_rows ? cuda_load4(a->x + from) : cuda_zero4();
        skip[j] = j / 2 < n_rows ? cuda_load4(a->other + from) : cuda_zero4();
    }
    CUDA_UNROLL for (int32_t row = 0; row < 2; row++) {
        const int64_t to = at + row * step;
        uint32_t bits = 0;
        if (row >= n_rows) break;
        CUDA_UNROLL for (int32_t half = 0; half < 2; half++) {
            const int32_t j = 2 * row + half;
            const cuda_f32x4 y = cuda_norm_forward4(a, &n[half], x[j], skip[j], true);
            cuda_store4(a->to + to + 4 * half, y);
            CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
                bits |= cuda_is_cut(a->bounds, y.v[k]) ? 0 : UINT32_C(1) << (4 * half + k);
            }
        }
        a->bits[to / 8] = (uint8_t)bits;
    }
}

typedef cuda_norm_args cuda_norm_add_bits_args;
CUDA_BODY void cuda_norm_add_bits_body(const cuda_norm_args *a, int64_t block, int32_t thread,
                                       int32_t phase, void *shared) {
    const cuda_lanes *l = &a->lanes;
    const int64_t chunk = block / l->tiles, units = cuda_blocks_of(l->rows, l->unit);
    const int64_t lane = block % l->tiles * CUDA_LANES_TILE + 8 * (int64_t)(thread % CUDA_BITS_X);
    const int64_t end = cuda_min(cuda_cut(units, l->chunks, chunk + 1) * l->unit, l->rows);
    const int64_t step = CUDA_BITS_ROWS * l->width;
    int64_t row = cuda_cut(units, l->chunks, chunk) * l->unit + thread / CUDA_BITS_X;
    (void)phase, (void)shared;
    if (lane >= l->width) return;
    const cuda_norm4 n[2] = {cuda_norm4_of(a, lane, true, false), cuda_norm4_of(a, lane + 4, true, false)};
    int64_t at = row * l->width + lane;
    for (; row + CUDA_BITS_ROWS < end; row += 2 * CUDA_BITS_ROWS, at += 2 * step)
        cuda_norm_bits_rows(a, n, at, step, 2);
    if (row < end) cuda_norm_bits_rows(a, n, at, step, 1);
    const int64_t last = l->rows * l->width + lane; /* behind the last whole row: the last chunk's */
    if (chunk == l->chunks - 1 && thread < CUDA_BITS_X && last < l->count)
        cuda_norm_bits_rows(a, n, last, step, 1);
}

/* ---- running statistics --------------------------------------------------------------------------- */

#define CUDA_TRACK_THREADS 128

typedef struct cuda_norm_track_args {
    const cuda_scalars *scalars;
    const float *batch[2], *old[2]; /* mean, variance */
    const uint8_t *apply;           /* NULL: always; false: to is old */
    float *to[2];                   /* may be old */
    int64_t channels;
    float keep, take[2]; /* take[1]: for the unbiased variance */
} cuda_norm_track_args;

CUDA_BODY void cuda_norm_track_body(const cuda_norm_track_args *a, int64_t block, int32_t thread,
                                    int32_t phase, void *shared) {
    const int64_t c = block * CUDA_TRACK_THREADS + thread;
    (void)phase, (void)shared;
    if (c >= a->channels || a->scalars->fault) return;
    const bool held = a->apply && !*a->apply;
    CUDA_UNROLL for (int32_t k = 0; k < 2; k++) {
        const float old = a->old[k][c];
        a->to[k][c] = held ? old : a->keep * old + a->take[k] * a->batch[k][c];
    }
}

#endif
