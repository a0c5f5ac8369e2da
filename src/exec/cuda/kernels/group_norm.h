/* kernels/group_norm.h: group norm of images whose channels are stored last: a group of an image to a
 * block, and its sums over all images by columns (lanes.h).
 *
 *     kernel     of             reads   writes
 *     gn_stats   gn_stats       x
 *     gn_apply   gn_apply       x       y
 *     gn_sums    gn_grad_sums   x, dy   the partials
 *     gn_grad    gn_grad        x, dy   dx      x and dy a second time, from the caches
 */
#ifndef EBB_EXEC_CUDA_KERNELS_GROUP_NORM_H
#define EBB_EXEC_CUDA_KERNELS_GROUP_NORM_H

#include "exec/cuda/kernels/rows.h"
#include "exec/cuda/kernels/sums.h"

/* x as images of `places` times c channels, in groups of `each`. */
typedef struct cuda_groups {
    int64_t images, places, c, groups, each;
} cuda_groups;

/* A block's group as a row whose elements are all the block's threads'. */
CUDA_BODY cuda_row cuda_group_row(const cuda_groups *s, int64_t block) {
    cuda_row r;
    r.row = block;
    r.base = block / s->groups * s->places * s->c + block % s->groups * s->each;
    r.left = s->places * s->each;
    r.thread = 0;
    r.threads = CUDA_ROWS_THREADS;
    r.wide = 0;
    return r;
}

/* Element i of the group: of the tensor; its channel in the group. */
CUDA_BODY int64_t cuda_group_at(const cuda_groups *s, const cuda_row *r, int64_t i, int64_t *channel) {
    const int64_t place = cuda_divide(i, s->each);
    *channel = i - place * s->each;
    return r->base + place * s->c + *channel;
}

CUDA_BODY float cuda_gn_scale(const float *variance, float eps, int64_t at) {
    return 1 / sqrtf(variance[at] + eps);
}

typedef struct cuda_gn_args {
    cuda_groups s;
    cuda_lanes lanes; /* gn_sums */
    const void *x, *dy;
    const float *mean, *variance, *gamma, *beta;
    void *to;
    float *to_mean, *to_variance;
    float eps;
    cuda_sums_to sums; /* gn_sums */
} cuda_gn_args;
typedef cuda_gn_args cuda_gn_stats_args;
typedef cuda_gn_args cuda_gn_apply_args;
typedef cuda_gn_args cuda_gn_sums_args;
typedef cuda_gn_args cuda_gn_grad_args;

/* ---- statistics: in double, relative to the group's first element ---------------------------------- */

CUDA_BODY void cuda_gn_stats_in(const cuda_gn_args *a, int64_t block, int32_t thread, int32_t phase,
                                void *shared, cuda_element e) {
    const cuda_row r = cuda_group_row(&a->s, block);
    const double center = cuda_get1(e, a->x, r.base);
    if (phase == 0) {
        double first = 0, second = 0;
        CUDA_AHEAD for (int64_t i = thread; i < r.left; i += CUDA_ROWS_THREADS) {
            int64_t channel;
            const double d = cuda_get1(e, a->x, cuda_group_at(&a->s, &r, i, &channel)) - center;
            first += d;
            second += d * d;
        }
        cuda_row_put(shared, thread, 0, first);
        cuda_row_put(shared, thread, 1, second);
    } else if (phase == 1) {
        cuda_row_fold(2, thread, shared);
    } else if (thread == 0) {
        const double n = (double)r.left, first = cuda_row_sum(&r, 0, 2, shared) / n;
        const double variance = cuda_row_sum(&r, 1, 2, shared) / n - first * first;
        a->to_mean[block] = (float)(center + first);
        a->to_variance[block] = (float)(variance < 0 ? 0 : variance);
    }
}
CUDA_BODIES(gn_stats)

/* ---- apply: four elements to a thread --------------------------------------------------------------- */

#define CUDA_GN_EACH (INT64_C(4) * CUDA_ROWS_THREADS)

CUDA_BODY void cuda_gn_apply_in(const cuda_gn_args *a, int64_t block, int32_t thread, int32_t phase,
                                void *shared, cuda_element e) {
    const int64_t n = a->s.images * a->s.places * a->s.c;
    const int64_t begin = block * CUDA_GN_EACH + 4 * (int64_t)thread, left = n - begin;
    (void)phase, (void)shared;
    if (left <= 0) return;
    cuda_f32x8 x = cuda_get_some(e, 4, a->x, begin, left);
    const int64_t row = cuda_divide(begin, a->s.c);
    int64_t image = cuda_divide(row, a->s.places), c = begin - row * a->s.c;
    int64_t place = row - image * a->s.places;
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
        if (k >= left) continue;
        const int64_t at = image * a->s.groups + cuda_divide(c, a->s.each);
        const float xhat = (x.v[k] - a->mean[at]) * cuda_gn_scale(a->variance, a->eps, at);
        x.v[k] = xhat * a->gamma[c] + a->beta[c];
        if (++c < a->s.c) continue;
        c = 0;
        if (++place < a->s.places) continue;
        place = 0;
        image++;
    }
    cuda_put_some(e, 4, a->to, begin, x, left);
}
CUDA_BODIES(gn_apply)

/* ---- gradient --------------------------------------------------------------------------------------- */

CUDA_BODY void cuda_gn_grad_add(const cuda_gn_args *a, const cuda_row *r, int32_t thread, double *plain,
                                double *products, cuda_element e) {
    const float center = a->mean[r->row], scale = cuda_gn_scale(a->variance, a->eps, r->row);
    const int64_t first = r->row % a->s.groups * a->s.each;
    CUDA_AHEAD for (int64_t i = thread; i < r->left; i += CUDA_ROWS_THREADS) {
        int64_t channel;
        const int64_t at = cuda_group_at(&a->s, r, i, &channel);
        const float g = cuda_get1(e, a->dy, at) * a->gamma[first + channel];
        *plain += g;
        *products += g * ((cuda_get1(e, a->x, at) - center) * scale);
    }
}

/* In place over x or dy: the whole group was summed in an earlier phase, and an element is read before it
 * is written. */
CUDA_BODY void cuda_gn_grad_give(const cuda_gn_args *a, const cuda_row *r, int32_t thread, float shift,
                                 float slope, cuda_element e) {
    const float center = a->mean[r->row], scale = cuda_gn_scale(a->variance, a->eps, r->row);
    const int64_t first = r->row % a->s.groups * a->s.each;
    for (int64_t i = thread; i < r->left; i += CUDA_ROWS_THREADS) {
        int64_t channel;
        const int64_t at = cuda_group_at(&a->s, r, i, &channel);
        const float g = cuda_get1(e, a->dy, at) * a->gamma[first + channel];
        cuda_put1(e, a->to, at, scale * (g - shift - (cuda_get1(e, a->x, at) - center) * scale * slope));
    }
}

CUDA_BODY void cuda_gn_grad_in(const cuda_gn_args *a, int64_t block, int32_t thread, int32_t phase,
                               void *shared, cuda_element e) {
    const cuda_row r = cuda_group_row(&a->s, block);
    if (phase == 0) {
        double plain = 0, products = 0;
        cuda_gn_grad_add(a, &r, thread, &plain, &products, e);
        cuda_row_put(shared, thread, 0, plain);
        cuda_row_put(shared, thread, 1, products);
    } else if (phase == 1) {
        cuda_row_fold(2, thread, shared);
    } else {
        const double n = (double)r.left;
        cuda_gn_grad_give(a, &r, thread, (float)(cuda_row_sum(&r, 0, 2, shared) / n),
                          (float)(cuda_row_sum(&r, 1, 2, shared) / n), e);
    }
}
CUDA_BODIES(gn_grad)

/* ---- sums of dy * xhat and of dy -------------------------------------------------------------------- */

/* Adds one element, of channel c in a row of all images' places. */
CUDA_BODY void cuda_gn_sums_add(const cuda_gn_args *a, int64_t row, int64_t c, float x, float dy,
                                double *products, double *plain) {
    const int64_t at = cuda_divide(row, a->s.places) * a->s.groups + cuda_divide(c, a->s.each);
    *products += dy * ((x - a->mean[at]) * cuda_gn_scale(a->variance, a->eps, at));
    *plain += dy;
}

CUDA_BODY void cuda_gn_sums_sweep(const cuda_gn_args *a, int64_t block, int32_t thread, void *shared,
                                  cuda_element e) {
    const cuda_lanes *l = &a->lanes;
    const cuda_spot s = cuda_spot_of(l, block, thread, 4);
    if (s.lane >= l->width) return;
    const int64_t each = l->width / l->channels; /* rows of channels in a row of lanes */
    double products[4] = {0, 0, 0, 0}, plain[4] = {0, 0, 0, 0};
    int64_t at = s.at;
    for (int64_t row = s.row; row < s.end; row += CUDA_LANES_Y, at += s.step) {
        const cuda_f32x4 x = cuda_get4(e, a->x, at), dy = cuda_get4(e, a->dy, at);
        CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
            const int64_t repeat = cuda_divide(s.lane + k, l->channels);
            cuda_gn_sums_add(a, row * each + repeat, s.lane + k - repeat * l->channels, x.v[k], dy.v[k],
                             &products[k], &plain[k]);
        }
    }
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
        if (k >= s.tail) continue;
        const int64_t repeat = cuda_divide(s.lane + k, l->channels);
        cuda_gn_sums_add(a, l->rows * each + repeat, s.lane + k - repeat * l->channels,
                         cuda_get1(e, a->x, s.last + k), cuda_get1(e, a->dy, s.last + k), &products[k],
                         &plain[k]);
    }
    cuda_sums_put(shared, thread, 0, products);
    cuda_sums_put(shared, thread, 1, plain);
}

CUDA_BODY void cuda_gn_sums_in(const cuda_gn_args *a, int64_t block, int32_t thread, int32_t phase,
                               void *shared, cuda_element e) {
    if (phase == 0) {
        cuda_gn_sums_sweep(a, block, thread, shared, e);
    } else {
        cuda_sums_fold(&a->lanes, 2, a->sums, block, thread, phase, shared);
    }
}
CUDA_BODIES(gn_sums)

#endif
