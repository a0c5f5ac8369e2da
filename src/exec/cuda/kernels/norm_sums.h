/* kernels/norm_sums.h: what batch norm's gradients sum per channel (sums.h).
 *
 *     kernel              of                 reads             writes  elements moved (and the partials)
 *     norm_sums_plain     bn_grad_sums       x, dy                     2
 *     norm_sums_act       bn_act_grad_sums   x, dy                     2
 *     norm_sums_add       bn_add_grad_sums   x, y, dy          dskip   4
 *     norm_sums_add_two   with two parts     x, y, dy, more    dskip   5
 *     norm_sums_bits      bn_add_bits_grad_sums  x, bits, dy   dskip   3, and 1/8 byte
 *     norm_sums_bits_two  with two parts     x, bits, dy, more dskip   4, and 1/8 byte
 *
 * Fused ones make the sums of their parts, in the order of norm_sums_plain: fusing changes no bit. */
#ifndef EBB_EXEC_CUDA_KERNELS_NORM_SUMS_H
#define EBB_EXEC_CUDA_KERNELS_NORM_SUMS_H

#include "exec/cuda/kernels/norm.h"
#include "exec/cuda/kernels/stats.h"

/* ---- sums of du * (x - mean) and of du ------------------------------------------------------------ */

typedef struct cuda_norm_sums_args {
    cuda_lanes lanes;
    const void *x, *y, *dy, *more;               /* y: _add; more: those with two parts */
    const float *mean, *variance, *gamma, *beta; /* variance, gamma, beta: _act */
    const uint8_t *bits;                         /* _bits: set where dy passes */
    void *du;                                    /* _add, _bits: may be dy, more or y */
    float eps;
    cuda_bounds bounds;
    cuda_sums_to to;
} cuda_norm_sums_args;

typedef enum cuda_sums_way {
    CUDA_SUMS_PLAIN,
    CUDA_SUMS_ACT,
    CUDA_SUMS_ADD,
    CUDA_SUMS_ADD_TWO,
    CUDA_SUMS_BITS,
    CUDA_SUMS_BITS_TWO
} cuda_sums_way;

/* What a way does: the kernels are made of one body, and all of this is known when they are compiled. */
CUDA_BODY bool cuda_sums_two(cuda_sums_way way) {
    return way == CUDA_SUMS_ADD_TWO || way == CUDA_SUMS_BITS_TWO;
}
CUDA_BODY bool cuda_sums_by_y(cuda_sums_way way) {
    return way == CUDA_SUMS_ADD || way == CUDA_SUMS_ADD_TWO;
}
CUDA_BODY bool cuda_sums_by_bits(cuda_sums_way way) {
    return way == CUDA_SUMS_BITS || way == CUDA_SUMS_BITS_TWO;
}
CUDA_BODY bool cuda_sums_writes(cuda_sums_way way) {
    return cuda_sums_by_y(way) || cuda_sums_by_bits(way);
}

typedef struct cuda_sums4 {
    cuda_f32x4 center, scale, shift; /* scale, shift: _act */
    double products[4], plain[4];
} cuda_sums4;

/* The bits from an element on that begins a half of its byte. */
CUDA_BODY uint32_t cuda_sums_bits4(const uint8_t *bits, int64_t at) {
    return (uint32_t)bits[at / 8] >> at % 8;
}

/* Lane k's du, as it is stored; bit: _bits's. */
CUDA_BODY float cuda_sums_du1(const cuda_norm_sums_args *a, const cuda_sums4 *n, int32_t k, float x,
                              float y, uint32_t bit, float dy, float more, cuda_sums_way way,
                              cuda_element e) {
    const float whole = cuda_sums_two(way) ? cuda_rounded(e, dy + more) : dy;
    if (way == CUDA_SUMS_PLAIN) return whole;
    if (cuda_sums_by_bits(way)) return bit ? whole : 0;
    const float applied = (x - n->center.v[k]) * n->scale.v[k] + n->shift.v[k];
    return cuda_pass(a->bounds, way == CUDA_SUMS_ACT ? cuda_rounded(e, applied) : y, whole);
}

/* A strip of the first n_rows of two rows, more of which would take the registers of other threads: all are
 * read before any is written. What is not there adds zeros. */
CUDA_BODY void cuda_sums_strip(const cuda_norm_sums_args *a, cuda_sums4 *n, int64_t at, int64_t step,
                               int32_t n_rows, cuda_sums_way way, cuda_element e) {
    cuda_f32x4 x[2], y[2], dy[2], more[2];
    uint32_t bits[2];
    CUDA_UNROLL for (int32_t j = 0; j < 2; j++) {
        const int64_t from = at + j * step;
        const bool there = j < n_rows;
        x[j] = there ? cuda_get4(e, a->x, from) : n->center;
        dy[j] = there ? cuda_get4(e, a->dy, from) : cuda_zero4();
        y[j] = cuda_sums_by_y(way) && there ? cuda_get4(e, a->y, from) : cuda_zero4();
        bits[j] = cuda_sums_by_bits(way) && there ? cuda_sums_bits4(a->bits, from) : 0;
        more[j] = cuda_sums_two(way) && there ? cuda_get4(e, a->more, from) : cuda_zero4();
    }
    CUDA_UNROLL for (int32_t j = 0; j < 2; j++) {
        CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
            dy[j].v[k] = cuda_sums_du1(a, n, k, x[j].v[k], y[j].v[k], bits[j] >> k & 1, dy[j].v[k],
                                       more[j].v[k], way, e);
        }
        if (cuda_sums_writes(way) && j < n_rows) cuda_put4(e, a->du, at + j * step, dy[j]);
        CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
            x[j].v[k] = j < n_rows ? dy[j].v[k] * (x[j].v[k] - n->center.v[k]) : 0;
            dy[j].v[k] = j < n_rows ? dy[j].v[k] : 0;
        }
    }
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
        n->products[k] += x[0].v[k] + x[1].v[k];
        n->plain[k] += dy[0].v[k] + dy[1].v[k];
    }
}

/* Element k of what is behind the last row. */
CUDA_BODY void cuda_sums_last(const cuda_norm_sums_args *a, cuda_sums4 *n, int64_t at, int32_t k,
                              cuda_sums_way way, cuda_element e) {
    const float x = cuda_get1(e, a->x, at), dy = cuda_get1(e, a->dy, at);
    const float y = cuda_sums_by_y(way) ? cuda_get1(e, a->y, at) : 0;
    const float more = cuda_sums_two(way) ? cuda_get1(e, a->more, at) : 0;
    const uint32_t bit = cuda_sums_by_bits(way) ? cuda_sums_bits4(a->bits, at) & 1 : 0;
    const float du = cuda_sums_du1(a, n, k, x, y, bit, dy, more, way, e);
    if (cuda_sums_writes(way)) cuda_put1(e, a->du, at, du);
    n->products[k] += du * (x - n->center.v[k]);
    n->plain[k] += du;
}

CUDA_BODY void cuda_sums_sweep(const cuda_norm_sums_args *a, int64_t block, int32_t thread, void *shared,
                               cuda_sums_way way, cuda_element e) {
    const cuda_lanes *l = &a->lanes;
    const cuda_spot s = cuda_spot_of(l, block, thread, 4);
    if (s.lane >= l->width) return;
    cuda_sums4 n;
    n.center = cuda_channels4(l, a->mean, s.lane);
    n.scale = n.shift = cuda_zero4();
    if (way == CUDA_SUMS_ACT) {
        const cuda_f32x4 gamma = cuda_channels4(l, a->gamma, s.lane);
        const cuda_f32x4 variance = cuda_channels4(l, a->variance, s.lane);
        n.shift = cuda_channels4(l, a->beta, s.lane);
        CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
            n.scale.v[k] = gamma.v[k] * cuda_inv_std(variance.v[k], a->eps);
        }
    }
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) n.products[k] = n.plain[k] = 0;
    int64_t at = s.at;
    for (int64_t row = s.row; row < s.end; row += 2 * CUDA_LANES_Y, at += 2 * s.step) {
        const int32_t left = cuda_rows_left(&s, row, 2);
        if (left == 2) {
            cuda_sums_strip(a, &n, at, s.step, 2, way, e);
        } else {
            cuda_sums_strip(a, &n, at, s.step, 1, way, e);
        }
    }
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
        if (k < s.tail) cuda_sums_last(a, &n, s.last + k, k, way, e);
    }
    cuda_sums_put(shared, thread, 0, n.products);
    cuda_sums_put(shared, thread, 1, n.plain);
}

#define CUDA_NORM_SUMS(name, way)                                                               \
    typedef cuda_norm_sums_args cuda_##name##_args;                                             \
    CUDA_BODY void cuda_##name##_in(const cuda_##name##_args *a, int64_t block, int32_t thread, \
                                    int32_t phase, void *shared, cuda_element e) {              \
        if (phase == 0) {                                                                       \
            cuda_sums_sweep(a, block, thread, shared, way, e);                                  \
        } else {                                                                                \
            cuda_sums_fold(&a->lanes, 2, a->to, block, thread, phase, shared);                  \
        }                                                                                       \
    }                                                                                           \
    CUDA_BODIES(name)

CUDA_NORM_SUMS(norm_sums_plain, CUDA_SUMS_PLAIN)
CUDA_NORM_SUMS(norm_sums_act, CUDA_SUMS_ACT)
CUDA_NORM_SUMS(norm_sums_add, CUDA_SUMS_ADD)
CUDA_NORM_SUMS(norm_sums_add_two, CUDA_SUMS_ADD_TWO)
CUDA_NORM_SUMS(norm_sums_bits, CUDA_SUMS_BITS)
CUDA_NORM_SUMS(norm_sums_bits_two, CUDA_SUMS_BITS_TWO)

#endif
