/* kernels/stats.h: mean and variance per channel, in one sweep of memory.
 *
 *     kernel       of         reads
 *     norm_stats   bn_stats   x, once (and the partials)
 *
 * A strip of eight elements is held in registers: its mean, then the squares around it, as two sweeps
 * would, in float. Strips are joined by their means and squares in double (Chan, Golub and LeVeque, 1983),
 * relative to the channel's first element. So a mean far from zero costs nothing, and what is rounded is a
 * strip's squares and its distance from the first element: 6e-8 of each, of either sign, and there are n /
 * 8 of them. */
#ifndef EBB_EXEC_CUDA_KERNELS_STATS_H
#define EBB_EXEC_CUDA_KERNELS_STATS_H

#include "exec/cuda/kernels/sums.h"

enum { CUDA_STRIP = 8 };

/* Adds n elements of a mean that is relative to the center, and the sum of their squares around it, to the
 * moments of all. */
CUDA_BODY void cuda_moments_add(double *first, double *second, float mean, float squares, int32_t n) {
    const double sum = n * (double)mean;
    *first += sum;
    *second += (double)squares + sum * mean;
}

/* Of the first n (>= 1) of x's first four elements and `more` of its others. They are looked at relative to
 * their own first, so that what is far away rounds only those beside it. */
CUDA_BODY void cuda_strip_add(double *first, double *second, const float x[8], int32_t n, int32_t more,
                              float center) {
    float d[8];
    CUDA_UNROLL for (int32_t i = 0; i < CUDA_STRIP; i++) {
        d[i] = (i < 4 ? i < n : i - 4 < more) ? x[i] - x[0] : 0;
    }
    const float sum = ((d[0] + d[1]) + (d[2] + d[3])) + ((d[4] + d[5]) + (d[6] + d[7]));
    const float mean = n + more == CUDA_STRIP ? sum * 0.125f : sum / (float)(n + more);
    CUDA_UNROLL for (int32_t i = 0; i < CUDA_STRIP; i++) {
        const float off = d[i] - mean;
        d[i] = (i < 4 ? i < n : i - 4 < more) ? off * off : 0;
    }
    const float squares = ((d[0] + d[1]) + (d[2] + d[3])) + ((d[4] + d[5]) + (d[6] + d[7]));
    cuda_moments_add(first, second, (x[0] - center) + mean, squares, n + more);
}

typedef struct cuda_norm_stats_args {
    cuda_lanes lanes;
    const void *x;
    cuda_sums_to to;
} cuda_norm_stats_args;

CUDA_BODY void cuda_stats_rows(const void *x, int64_t at, int64_t step, int32_t n_rows,
                               const cuda_f32x4 *center, double first[4], double second[4],
                               cuda_element e) {
    cuda_f32x4 rows[CUDA_STRIP];
    CUDA_UNROLL for (int32_t j = 0; j < CUDA_STRIP; j++) {
        rows[j] = j < n_rows ? cuda_get4(e, x, at + j * step) : cuda_zero4();
    }
    const int32_t n = n_rows < 4 ? n_rows : 4;
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
        float lane[CUDA_STRIP];
        CUDA_UNROLL for (int32_t j = 0; j < CUDA_STRIP; j++) lane[j] = rows[j].v[k];
        cuda_strip_add(&first[k], &second[k], lane, n, n_rows - n, center->v[k]);
    }
}

CUDA_BODY void cuda_stats_sweep(const cuda_norm_stats_args *a, int64_t block, int32_t thread, void *shared,
                                cuda_element e) {
    const cuda_spot s = cuda_spot_of(&a->lanes, block, thread, 4);
    const int32_t channels = (int32_t)a->lanes.channels;
    if (s.lane >= a->lanes.width) return;
    cuda_f32x4 center;
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) center.v[k] = cuda_get1(e, a->x, (s.lane + k) % channels);
    double first[4] = {0, 0, 0, 0}, second[4] = {0, 0, 0, 0};
    int64_t at = s.at;
    for (int64_t row = s.row; row < s.end; row += CUDA_STRIP * CUDA_LANES_Y, at += CUDA_STRIP * s.step) {
        const int32_t left = cuda_rows_left(&s, row, CUDA_STRIP);
        if (left == CUDA_STRIP) {
            cuda_stats_rows(a->x, at, s.step, CUDA_STRIP, &center, first, second, e);
        } else {
            cuda_stats_rows(a->x, at, s.step, left, &center, first, second, e);
        }
    }
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
        if (k < s.tail)
            cuda_moments_add(&first[k], &second[k], cuda_get1(e, a->x, s.last + k) - center.v[k], 0, 1);
    }
    cuda_sums_put(shared, thread, 0, first);
    cuda_sums_put(shared, thread, 1, second);
}

CUDA_BODY void cuda_norm_stats_in(const cuda_norm_stats_args *a, int64_t block, int32_t thread,
                                  int32_t phase, void *shared, cuda_element e) {
    if (phase == 0) {
        cuda_stats_sweep(a, block, thread, shared, e);
    } else {
        cuda_sums_fold(&a->lanes, 2, a->to, block, thread, phase, shared);
    }
}
CUDA_BODIES(norm_stats)

#endif
