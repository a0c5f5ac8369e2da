/* kernels/layer_norm_rows.h: layer norm's statistics and its gradient, a row of x[n,c] to a warp or to a
 * block (rows.h).
 *
 *     kernel         of            reads         writes
 *     ln_stats       ln_stats      x
 *     ln_grad        ln_grad       x, dy         dx       x and dy a second time, from the caches
 *     ln_grad_more   ln_backward   x, dy, more   dx       as ln_grad
 */
#ifndef EBB_EXEC_CUDA_KERNELS_LAYER_NORM_ROWS_H
#define EBB_EXEC_CUDA_KERNELS_LAYER_NORM_ROWS_H

#include "exec/cuda/kernels/rows.h"
#include "exec/cuda/kernels/stats.h"

CUDA_BODY float cuda_ln_scale(const float *variance, float eps, int64_t row) {
    return 1 / sqrtf(variance[row] + eps);
}

/* ---- statistics: one sweep, as norm_stats --------------------------------------------------------- */

typedef struct cuda_ln_stats_args {
    cuda_rows rows;
    const void *x;
    float *mean, *variance;
} cuda_ln_stats_args;

/* Strips of a thread's next eight elements, relative to the row's first. */
CUDA_BODY void cuda_ln_moments(const cuda_row *r, const void *x, double *first, double *second,
                               cuda_element e) {
    const float center = r->left ? cuda_get1(e, x, r->base) : 0;
    for (int64_t j = 0; cuda_row_more(r, j); j += 2) {
        int32_t n, more;
        const cuda_f32x4 p = cuda_row_load(r, x, j, &n, e), q = cuda_row_load(r, x, j + 1, &more, e);
        float eight[CUDA_STRIP];
        CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
            eight[k] = p.v[k];
            eight[4 + k] = q.v[k];
        }
        cuda_strip_add(first, second, eight, n, more, center);
    }
}

CUDA_BODY void cuda_ln_stats_in(const cuda_ln_stats_args *a, int64_t block, int32_t thread, int32_t phase,
                                void *shared, cuda_element e) {
    const cuda_row r = cuda_row_of(&a->rows, block, thread);
    if (phase == 0) {
        double first = 0, second = 0;
        cuda_ln_moments(&r, a->x, &first, &second, e);
        cuda_row_put(shared, thread, 0, first);
        cuda_row_put(shared, thread, 1, second);
    } else if (phase == 1) {
        cuda_row_fold(2, thread, shared);
    } else if (r.thread == 0 && r.left > 0) {
        const double n = (double)r.left, first = cuda_row_sum(&r, 0, 2, shared) / n;
        const double variance = cuda_row_sum(&r, 1, 2, shared) / n - first * first;
        a->mean[r.row] = (float)(cuda_get1(e, a->x, r.base) + first);
        a->variance[r.row] = (float)(variance < 0 ? 0 : variance);
    }
}
CUDA_BODIES(ln_stats)

/* ---- gradient ------------------------------------------------------------------------------------- */

typedef struct cuda_ln_grad_args {
    cuda_rows rows;
    const void *x, *dy;
    const float *mean, *variance, *gamma;
    const void *more; /* ln_grad_more only */
    void *dx;
    float eps;
} cuda_ln_grad_args;
typedef cuda_ln_grad_args cuda_ln_grad_more_args;

/* What a thread needs of its row: g = dy * gamma and xhat are worked out again in the second look. */
typedef struct cuda_ln_view {
    float center, scale;
} cuda_ln_view;

CUDA_BODY void cuda_ln_grad_sums(const cuda_ln_grad_args *a, const cuda_row *r, cuda_ln_view v,
                                 double *plain, double *products, cuda_element e) {
    for (int64_t j = 0; cuda_row_more(r, j); j++) {
        int32_t n;
        const cuda_f32x4 x = cuda_row_load(r, a->x, j, &n, e), dy = cuda_row_load(r, a->dy, j, &n, e);
        const cuda_f32x4 gamma = cuda_row_columns(r, a->gamma, j);
        float g[4], p[4];
        CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
            g[k] = k < n ? dy.v[k] * gamma.v[k] : 0;
            p[k] = k < n ? g[k] * ((x.v[k] - v.center) * v.scale) : 0;
        }
        *plain += (g[0] + g[1]) + (g[2] + g[3]);
        *products += (p[0] + p[1]) + (p[2] + p[3]);
    }
}

/* In place over x, dy or more: the whole row was summed in an earlier phase, and an element is read before
 * it is written. */
CUDA_BODY void cuda_ln_grad_give(const cuda_ln_grad_args *a, const cuda_row *r, cuda_ln_view v, float shift,
                                 float slope, bool adds, cuda_element e) {
    for (int64_t j = 0; cuda_row_more(r, j); j++) {
        int32_t n;
        const cuda_f32x4 x = cuda_row_load(r, a->x, j, &n, e), dy = cuda_row_load(r, a->dy, j, &n, e);
        const cuda_f32x4 gamma = cuda_row_columns(r, a->gamma, j);
        const cuda_f32x4 more = adds ? cuda_row_load(r, a->more, j, &n, e) : cuda_zero4();
        cuda_f32x4 dx;
        CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
            dx.v[k] = v.scale * (dy.v[k] * gamma.v[k] - shift - (x.v[k] - v.center) * v.scale * slope);
            if (adds) dx.v[k] = more.v[k] + dx.v[k];
        }
        cuda_row_store(r, a->dx, j, dx, e);
    }
}

CUDA_BODY void cuda_ln_grad_phase(const cuda_ln_grad_args *a, bool adds, int64_t block, int32_t thread,
                                  int32_t phase, void *shared, cuda_element e) {
    const cuda_row r = cuda_row_of(&a->rows, block, thread);
    cuda_ln_view v = {0, 0};
    if (r.left > 0) {
        v.center = a->mean[r.row];
        v.scale = cuda_ln_scale(a->variance, a->eps, r.row);
    }
    if (phase == 0) {
        double plain = 0, products = 0;
        cuda_ln_grad_sums(a, &r, v, &plain, &products, e);
        cuda_row_put(shared, thread, 0, plain);
        cuda_row_put(shared, thread, 1, products);
    } else if (phase == 1) {
        cuda_row_fold(2, thread, shared);
    } else if (r.left > 0) {
        const double c = (double)r.left;
        cuda_ln_grad_give(a, &r, v, (float)(cuda_row_sum(&r, 0, 2, shared) / c),
                          (float)(cuda_row_sum(&r, 1, 2, shared) / c), adds, e);
    }
}

CUDA_BODY void cuda_ln_grad_in(const cuda_ln_grad_args *a, int64_t block, int32_t thread, int32_t phase,
                               void *shared, cuda_element e) {
    cuda_ln_grad_phase(a, false, block, thread, phase, shared, e);
}
CUDA_BODIES(ln_grad)

/* In f32, where dx needs no rounding before the sum. */
CUDA_BODY void cuda_ln_grad_more_body(const cuda_ln_grad_more_args *a, int64_t block, int32_t thread,
                                      int32_t phase, void *shared) {
    cuda_ln_grad_phase(a, true, block, thread, phase, shared, CUDA_F32);
}

#endif
