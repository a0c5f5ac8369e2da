/* kernels/norm.h: batch norm's sweeps over elements, with what is fused behind them. Each operation is
 * rounded to float on its own, and to 16 bits where the parts would have stored it, as if they ran one
 * after another: fusing changes no bit.
 *
 *     kernel            of                  reads             writes  elements moved for each
 *     norm_apply        bn_apply, bn_act    x                 y       2
 *     norm_apply_add    bn_add              x, skip           y       3
 *     norm_add_bits     bn_add_bits         x, skip           y, bits 3, and 1/8 byte
 *     norm_grad         bn_grad             x, dy             dx      3
 *     norm_grad_act     bn_act_grad         x, dy             dx      3
 *     norm_track        bn_track            4 of each channel 2       6 a channel
 *
 * A thread's four or eight lanes are the same channels in every row, whose numbers it works out once. In
 * place: a thread reads all it needs of its elements before it writes them, and looks at no others. */
#ifndef EBB_EXEC_CUDA_KERNELS_NORM_H
#define EBB_EXEC_CUDA_KERNELS_NORM_H

#include "exec/cuda/kernels/bounds.h"
#include "exec/cuda/kernels/lanes.h"

typedef struct cuda_norm_args {
    cuda_lanes lanes;
    const void *x, *other; /* other: skip, or dy */
    const float *mean, *variance, *gamma, *beta, *dgamma, *dbeta;
    void *to;
    uint8_t *bits;   /* norm_add_bits */
    float eps, each; /* elements of a channel */
    cuda_bounds bounds;
} cuda_norm_args;

/* Of a thread's lanes. Applied: (x - center) * scale + shift. dx = scale * (du - from - (x - center) *
 * slope).
 */
typedef struct cuda_norm8 {
    cuda_f32x8 center, scale, shift, from, slope;
} cuda_norm8;

/* Square roots and quotients of floats are the same on every side: IEEE asks for it. */
CUDA_BODY float cuda_inv_std(float variance, float eps) {
    return 1 / sqrtf(variance + eps);
}

/* apply: shift is wanted; grad: from and slope are. */
CUDA_BODY cuda_norm8 cuda_norm8_of(const cuda_norm_args *a, int32_t lane, int32_t side, bool apply,
                                   bool grad) {
    const cuda_lanes *l = &a->lanes;
    cuda_norm8 n;
    const cuda_f32x8 variance = cuda_channels(l, a->variance, lane, side);
    const cuda_f32x8 gamma = cuda_channels(l, a->gamma, lane, side);
    n.center = cuda_channels(l, a->mean, lane, side);
    n.scale = cuda_zero8();
    n.shift = apply ? cuda_channels(l, a->beta, lane, side) : cuda_zero8();
    n.from = grad ? cuda_channels(l, a->dbeta, lane, side) : cuda_zero8();
    n.slope = grad ? cuda_channels(l, a->dgamma, lane, side) : cuda_zero8();
    CUDA_UNROLL for (int32_t k = 0; k < side; k++) {
        const float inv = cuda_inv_std(variance.v[k], a->eps);
        n.scale.v[k] = gamma.v[k] * inv;
        n.from.v[k] = n.from.v[k] / a->each;
        n.slope.v[k] = inv * (n.slope.v[k] / a->each);
    }
    return n;
}

/* As bn_apply stores it. */
CUDA_BODY float cuda_norm_apply1(const cuda_norm8 *n, int32_t k, float x, cuda_element e) {
    return cuda_rounded(e, (x - n->center.v[k]) * n->scale.v[k] + n->shift.v[k]);
}

/* ---- sweeps --------------------------------------------------------------------------------------- */

typedef enum cuda_norm_way {
    CUDA_NORM_APPLY,
    CUDA_NORM_APPLY_ADD,
    CUDA_NORM_GRAD,
    CUDA_NORM_GRAD_ACT /* what the activation cut is found from x again */
} cuda_norm_way;

/* Lane k. */
CUDA_BODY float cuda_norm_do1(const cuda_norm_args *a, const cuda_norm8 *n, int32_t k, float x, float other,
                              cuda_norm_way way, cuda_element e) {
    const bool forward = way == CUDA_NORM_APPLY || way == CUDA_NORM_APPLY_ADD;
    const float u = way == CUDA_NORM_GRAD ? 0 : cuda_norm_apply1(n, k, x, e);
    if (forward) return cuda_bound(a->bounds, way == CUDA_NORM_APPLY ? u : cuda_rounded(e, u + other));
    const float du = way == CUDA_NORM_GRAD ? other : cuda_pass(a->bounds, u, other);
    return n->scale.v[k] * (du - n->from.v[k] - (x - n->center.v[k]) * n->slope.v[k]);
}

CUDA_BODY cuda_f32x8 cuda_norm_do(const cuda_norm_args *a, const cuda_norm8 *n, cuda_f32x8 x,
                                  cuda_f32x8 other, cuda_norm_way way, cuda_element e) {
    CUDA_UNROLL for (int32_t k = 0; k < cuda_side(e); k++) {
        x.v[k] = cuda_norm_do1(a, n, k, x.v[k], other.v[k], way, e);
    }
    return x;
}

/* Rows that a thread takes at once: four reads of 16 bytes are under way, and few registers taken, so that
 * many threads are. Eight lanes' numbers are so many that two reads are. */
CUDA_BODY int32_t cuda_norm_batch(cuda_norm_way way, cuda_element e) {
    return (way == CUDA_NORM_APPLY ? 4 : 2) / (e == CUDA_F32 ? 1 : 2);
}

/* The first n_rows of a batch: all are read before any is written. */
CUDA_BODY void cuda_norm_rows(const cuda_norm_args *a, const cuda_norm8 *n, int64_t at, int64_t step,
                              int32_t n_rows, cuda_norm_way way, cuda_element e) {
    const int32_t side = cuda_side(e), batch = cuda_norm_batch(way, e);
    cuda_f32x8 x[4], other[4];
    CUDA_UNROLL for (int32_t j = 0; j < batch; j++) {
        const bool there = j < n_rows;
        x[j] = there ? cuda_get(e, side, a->x, at + j * step) : cuda_zero8();
        other[j] =
            there && way != CUDA_NORM_APPLY ? cuda_get(e, side, a->other, at + j * step) : cuda_zero8();
    }
    CUDA_UNROLL for (int32_t j = 0; j < batch; j++) {
        if (j < n_rows) cuda_put(e, side, a->to, at + j * step, cuda_norm_do(a, n, x[j], other[j], way, e));
    }
}

CUDA_BODY void cuda_norm_sweep(const cuda_norm_args *a, int64_t block, int32_t thread, cuda_norm_way way,
                               cuda_element e) {
    const cuda_spot s = cuda_spot_of(&a->lanes, block, thread, cuda_side(e));
    const bool act = way != CUDA_NORM_GRAD, grad = way == CUDA_NORM_GRAD || way == CUDA_NORM_GRAD_ACT;
    if (s.lane >= a->lanes.width) return;
    const cuda_norm8 n = cuda_norm8_of(a, s.lane, cuda_side(e), act, grad);
    const int32_t batch = cuda_norm_batch(way, e);
    int64_t at = s.at;
    for (int64_t row = s.row; row < s.end; row += batch * s.y, at += batch * s.step) {
        const int32_t left = cuda_rows_left(&s, row, batch);
        if (left == batch) {
            cuda_norm_rows(a, &n, at, s.step, batch, way, e);
        } else {
            cuda_norm_rows(a, &n, at, s.step, left, way, e);
        }
    }
    CUDA_UNROLL for (int32_t k = 0; k < cuda_side(e); k++) {
        if (k >= s.tail) continue;
        const float x = cuda_get1(e, a->x, s.last + k);
        const float other = way == CUDA_NORM_APPLY ? 0 : cuda_get1(e, a->other, s.last + k);
        cuda_put1(e, a->to, s.last + k, cuda_norm_do1(a, &n, k, x, other, way, e));
    }
}

#define CUDA_NORM_SWEEP(name, way)                                                             \
    typedef cuda_norm_args cuda_##name##_args;                                                 \
    CUDA_BODY void cuda_##name##_in(const cuda_norm_args *args, int64_t block, int32_t thread, \
                                    int32_t phase, void *shared, cuda_element e) {             \
        (void)phase, (void)shared;                                                             \
        cuda_norm_sweep(args, block, thread, way, e);                                          \
    }                                                                                          \
    CUDA_BODIES(name)

CUDA_NORM_SWEEP(norm_apply, CUDA_NORM_APPLY)
CUDA_NORM_SWEEP(norm_apply_add, CUDA_NORM_APPLY_ADD)
CUDA_NORM_SWEEP(norm_grad, CUDA_NORM_GRAD)
CUDA_NORM_SWEEP(norm_grad_act, CUDA_NORM_GRAD_ACT)

/* ---- forward, with a bit for each element that passes: channels are a multiple of 8 ---------------- */

/* Eight lanes of a thread are a byte of bits, in either size of element. All rows are read before any is
 * written: the first n_rows of two. */
CUDA_BODY void cuda_norm_bits_rows(const cuda_norm_args *a, const cuda_norm8 *n, int64_t at, int64_t step,
                                   int32_t n_rows, cuda_element e) {
    cuda_f32x8 x[2], skip[2];
    CUDA_UNROLL for (int32_t j = 0; j < 2; j++) {
        x[j] = j < n_rows ? cuda_get(e, 8, a->x, at + j * step) : cuda_zero8();
        skip[j] = j < n_rows ? cuda_get(e, 8, a->other, at + j * step) : cuda_zero8();
    }
    CUDA_UNROLL for (int32_t j = 0; j < 2; j++) {
        const int64_t to = at + j * step;
        uint32_t bits = 0;
        if (j >= n_rows) break;
        CUDA_UNROLL for (int32_t k = 0; k < 8; k++) {
            x[j].v[k] = cuda_norm_do1(a, n, k, x[j].v[k], skip[j].v[k], CUDA_NORM_APPLY_ADD, e);
            bits |= cuda_is_cut(a->bounds, x[j].v[k]) ? 0 : UINT32_C(1) << k;
        }
        cuda_put(e, 8, a->to, to, x[j]);
        a->bits[to / 8] = (uint8_t)bits;
    }
}

typedef cuda_norm_args cuda_norm_add_bits_args;
CUDA_BODY void cuda_norm_add_bits_in(const cuda_norm_args *a, int64_t block, int32_t thread, int32_t phase,
                                     void *shared, cuda_element e) {
    const cuda_spot s = cuda_spot_of(&a->lanes, block, thread, 8);
    (void)phase, (void)shared;
    if (s.lane >= a->lanes.width) return;
    const cuda_norm8 n = cuda_norm8_of(a, s.lane, 8, true, false);
    int64_t row = s.row, at = s.at;
    for (; row + s.y < s.end; row += 2 * s.y, at += 2 * s.step)
        cuda_norm_bits_rows(a, &n, at, s.step, 2, e);
    if (row < s.end) cuda_norm_bits_rows(a, &n, at, s.step, 1, e);
    if (s.tail > 0) cuda_norm_bits_rows(a, &n, s.last, s.step, 1, e); /* behind the last whole row */
}
CUDA_BODIES(norm_add_bits)

/* ---- running statistics --------------------------------------------------------------------------- */

#define CUDA_TRACK_THREADS 128

typedef struct cuda_norm_track_args {
    const cuda_scalars *scalars;
    const void *batch[2], *old[2]; /* mean, variance */
    const uint8_t *apply;          /* NULL: always; false: to is old */
    void *to[2];                   /* may be old */
    int64_t channels;
    float keep, take[2]; /* take[1]: for the unbiased variance */
} cuda_norm_track_args;

CUDA_BODY void cuda_norm_track_in(const cuda_norm_track_args *a, int64_t block, int32_t thread,
                                  int32_t phase, void *shared, cuda_element e) {
    const int64_t c = block * CUDA_TRACK_THREADS + thread;
    (void)phase, (void)shared;
    if (c >= a->channels || a->scalars->fault) return;
    const bool held = a->apply && !*a->apply;
    CUDA_UNROLL for (int32_t k = 0; k < 2; k++) {
        const float old = cuda_get1(e, a->old[k], c), batch = cuda_get1(e, a->batch[k], c);
        cuda_put1(e, a->to[k], c, held ? old : a->keep * old + a->take[k] * batch);
    }
}
CUDA_BODIES(norm_track)

#endif
