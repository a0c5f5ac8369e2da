/* kernels/layer_norm.h: layer norm's sweeps over x[n,c] by columns (lanes.h): a thread's four lanes are the
 * same columns in every row. A row of lanes may hold several rows of x, each with statistics of its own.
 *
 *     kernel     of             reads   writes
 *     ln_apply   ln_apply       x       y
 *     ln_sums    ln_grad_sums   x, dy   the partials
 */
#ifndef EBB_EXEC_CUDA_KERNELS_LAYER_NORM_H
#define EBB_EXEC_CUDA_KERNELS_LAYER_NORM_H

#include "exec/cuda/kernels/layer_norm_rows.h"

/* ---- apply ---------------------------------------------------------------------------------------- */

/* Where the row of x is that each of a thread's four lanes belongs to, in one row of lanes, and how many
 * rows of x there are in one. */
typedef struct cuda_ln_lanes {
    int32_t row[4], each;
    bool same; /* all four the same */
} cuda_ln_lanes;

CUDA_BODY cuda_ln_lanes cuda_ln_lanes_of(const cuda_lanes *l, int32_t lane) {
    const int32_t channels = (int32_t)l->channels;
    cuda_ln_lanes n;
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) n.row[k] = (lane + k) / channels;
    n.each = (int32_t)l->width / channels;
    n.same = l->channels % 4 == 0;
    return n;
}

typedef struct cuda_ln4 {
    cuda_f32x4 center, scale;
} cuda_ln4;

/* The statistics of four lanes in a row of lanes. */
CUDA_BODY cuda_ln4 cuda_ln4_of(const cuda_ln_lanes *n, const float *mean, const float *variance, float eps,
                               int64_t row) {
    cuda_ln4 s;
    const int64_t first = row * n->each;
    s.center.v[0] = mean[first + n->row[0]];
    s.scale.v[0] = cuda_ln_scale(variance, eps, first + n->row[0]);
    CUDA_UNROLL for (int32_t k = 1; k < 4; k++) {
        s.center.v[k] = n->same ? s.center.v[0] : mean[first + n->row[k]];
        s.scale.v[k] = n->same ? s.scale.v[0] : cuda_ln_scale(variance, eps, first + n->row[k]);
    }
    return s;
}

typedef struct cuda_ln_args {
    cuda_lanes lanes;
    const void *x, *dy;
    const float *mean, *variance, *gamma, *beta;
    void *y;
    float eps;
    cuda_sums_to to; /* ln_sums */
} cuda_ln_args;
typedef cuda_ln_args cuda_ln_apply_args;
typedef cuda_ln_args cuda_ln_sums_args;

CUDA_BODY float cuda_ln_xhat(const cuda_ln4 *s, int32_t k, float x) {
    return (x - s->center.v[k]) * s->scale.v[k];
}

/* Two rows at a time: both are read before one is written. */
CUDA_BODY void cuda_ln_apply_rows(const cuda_ln_args *a, const cuda_ln_lanes *n, cuda_f32x4 gamma,
                                  cuda_f32x4 beta, int64_t row, int64_t at, int64_t step, int32_t n_rows,
                                  cuda_element e) {
    cuda_f32x4 x[2];
    CUDA_UNROLL for (int32_t j = 0; j < 2; j++) {
        x[j] = cuda_zero4();
        if (j < n_rows) x[j] = cuda_get4(e, a->x, at + j * step);
    }
    CUDA_UNROLL for (int32_t j = 0; j < 2; j++) {
        if (j >= n_rows) continue;
        const cuda_ln4 s = cuda_ln4_of(n, a->mean, a->variance, a->eps, row + j * CUDA_LANES_Y);
        CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
            x[j].v[k] = cuda_ln_xhat(&s, k, x[j].v[k]) * gamma.v[k] + beta.v[k];
        }
        cuda_put4(e, a->y, at + j * step, x[j]);
    }
}

CUDA_BODY void cuda_ln_apply_in(const cuda_ln_args *a, int64_t block, int32_t thread, int32_t phase,
                                void *shared, cuda_element e) {
    const cuda_lanes *l = &a->lanes;
    const cuda_spot s = cuda_spot_of(l, block, thread, 4);
    (void)phase, (void)shared;
    if (s.lane >= l->width) return;
    const cuda_ln_lanes n = cuda_ln_lanes_of(l, s.lane);
    const cuda_f32x4 gamma = cuda_channels4(l, a->gamma, s.lane), beta = cuda_channels4(l, a->beta, s.lane);
    int64_t at = s.at;
    for (int64_t row = s.row; row < s.end; row += 2 * CUDA_LANES_Y, at += 2 * s.step)
        cuda_ln_apply_rows(a, &n, gamma, beta, row, at, s.step, cuda_rows_left(&s, row, 2), e);
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
        if (k >= s.tail) continue;
        const int64_t row = l->rows * n.each + n.row[k];
        const float scale = cuda_ln_scale(a->variance, a->eps, row);
        const float x = cuda_get1(e, a->x, s.last + k);
        cuda_put1(e, a->y, s.last + k, (x - a->mean[row]) * scale * gamma.v[k] + beta.v[k]);
    }
}
CUDA_BODIES(ln_apply)

/* ---- sums of dy * xhat and of dy ------------------------------------------------------------------ */

CUDA_BODY void cuda_ln_sums_rows(const cuda_ln_args *a, const cuda_ln_lanes *n, int64_t row, int64_t at,
                                 int64_t step, int32_t n_rows, double products[4], double plain[4],
                                 cuda_element e) {
    cuda_f32x4 x[2], dy[2];
    CUDA_UNROLL for (int32_t j = 0; j < 2; j++) {
        x[j] = j < n_rows ? cuda_get4(e, a->x, at + j * step) : cuda_zero4();
        dy[j] = j < n_rows ? cuda_get4(e, a->dy, at + j * step) : cuda_zero4();
    }
    CUDA_UNROLL for (int32_t j = 0; j < 2; j++) {
        if (j >= n_rows) continue;
        const cuda_ln4 s = cuda_ln4_of(n, a->mean, a->variance, a->eps, row + j * CUDA_LANES_Y);
        CUDA_UNROLL for (int32_t k = 0; k < 4; k++) x[j].v[k] = dy[j].v[k] * cuda_ln_xhat(&s, k, x[j].v[k]);
    }
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
        products[k] += x[0].v[k] + x[1].v[k];
        plain[k] += dy[0].v[k] + dy[1].v[k];
    }
}

CUDA_BODY void cuda_ln_sums_sweep(const cuda_ln_args *a, int64_t block, int32_t thread, void *shared,
                                  cuda_element e) {
    const cuda_lanes *l = &a->lanes;
    const cuda_spot s = cuda_spot_of(l, block, thread, 4);
    if (s.lane >= l->width) return;
    const cuda_ln_lanes n = cuda_ln_lanes_of(l, s.lane);
    double products[4] = {0, 0, 0, 0}, plain[4] = {0, 0, 0, 0};
    int64_t at = s.at;
    for (int64_t row = s.row; row < s.end; row += 2 * CUDA_LANES_Y, at += 2 * s.step)
        cuda_ln_sums_rows(a, &n, row, at, s.step, cuda_rows_left(&s, row, 2), products, plain, e);
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
        if (k >= s.tail) continue;
        const int64_t row = l->rows * n.each + n.row[k];
        const float dy = cuda_get1(e, a->dy, s.last + k);
        const float off = cuda_get1(e, a->x, s.last + k) - a->mean[row];
        products[k] += dy * (off * cuda_ln_scale(a->variance, a->eps, row));
        plain[k] += dy;
    }
    cuda_sums_put(shared, thread, 0, products);
    cuda_sums_put(shared, thread, 1, plain);
}

CUDA_BODY void cuda_ln_sums_in(const cuda_ln_args *a, int64_t block, int32_t thread, int32_t phase,
                               void *shared, cuda_element e) {
    if (phase == 0) {
        cuda_ln_sums_sweep(a, block, thread, shared, e);
    } else {
        cuda_sums_fold(&a->lanes, 2, a->to, block, thread, phase, shared);
    }
}
CUDA_BODIES(ln_sums)

#endif
