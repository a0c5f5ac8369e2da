/* kernels/stats.h: mean and variance per channel, in one sweep of memory.
 *
 *     kernel       of         reads   bytes an element (and the partials)
 *     norm_stats   bn_stats   x       4
 *
 * A strip of eight elements is held in registers: its mean, then the squares around it, as two sweeps
 * would. Strips are joined by their means and squares in double (Chan, Golub and LeVeque, 1983), relative
 * to the channel's first element, so that neither a mean far from zero nor a first element far from the
 * mean costs the variance more than a float's own rounding of x - first. */
#ifndef EBB_EXEC_CUDA_KERNELS_STATS_H
#define EBB_EXEC_CUDA_KERNELS_STATS_H

#include "exec/cuda/kernels/sums.h"

enum { CUDA_STRIP = 8 };

/* Adds n elements of a mean, whose squares around it are sum to `squares`, to the moments of all. */
CUDA_BODY void cuda_moments_add(double *first, double *second, float mean, float squares, int32_t n) {
    const double sum = n * (double)mean;
    *first += sum;
    *second += (double)squares + sum * mean;
}

/* Of the first n of d's first four elements and `more` of its others; the rest are 0. */
CUDA_BODY void cuda_strip_add(double *first, double *second, const float d[8], int32_t n, int32_t more) {
    const float sum = ((d[0] + d[1]) + (d[2] + d[3])) + ((d[4] + d[5]) + (d[6] + d[7]));
    const float mean = n + more == CUDA_STRIP ? sum * 0.125f : sum / (float)(n + more);
    float e[8];
    CUDA_UNROLL for (int32_t i = 0; i < CUDA_STRIP; i++) {
        const float off = d[i] - mean;
        e[i] = (i < 4 ? i < n : i - 4 < more) ? off * off : 0;
    }
    const float squares = ((e[0] + e[1]) + (e[2] + e[3])) + ((e[4] + e[5]) + (e[6] + e[7]));
    cuda_moments_add(first, second, mean, squares, n + more);
}

typedef struct cuda_norm_stats_args {
    cuda_lanes lanes;
    const float *x;
    cuda_sums_to to;
} cuda_norm_stats_args;

CUDA_BODY void cuda_stats_rows(const float *x, int64_t step, int32_t n_rows, const cuda_f32x4 *center,
                               double first[4], double second[4]) {
    cuda_f32x4 rows[CUDA_STRIP];
    CUDA_UNROLL for (int32_t j = 0; j < CUDA_STRIP; j++) {
        rows[j] = j < n_rows ? cuda_load4(x + j * step) : *center;
    }
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
        float d[CUDA_STRIP];
        CUDA_UNROLL for (int32_t j = 0; j < CUDA_STRIP; j++) {
            d[j] = j < n_rows ? rows[j].v[k] - center->v[k] : 0;
        }
        cuda_strip_add(&first[k], &second[k], d, n_rows < 4 ? n_rows : 4, n_rows < 4 ? 0 : n_rows - 4);
    }
}

CUDA_BODY void cuda_stats_sweep(const cuda_norm_stats_args *a, int64_t block, int32_t thread,
                                void *shared) {
    const cuda_spot s = cuda_spot_of(&a->lanes, block, thread);
    if (s.lane >= a->lanes.width) return;
    const cuda_f32x4 center = cuda_channels4(&a->lanes, a->x, s.lane);
    double first[4] = {0, 0, 0, 0}, second[4] = {0, 0, 0, 0};
    const float *x = a->x + s.at;
    for (int64_t row = s.row; row < s.end; row += CUDA_STRIP * CUDA_LANES_Y, x += CUDA_STRIP * s.step) {
        const int32_t left = cuda_rows_left(&s, row, CUDA_STRIP);
        if (left == CUDA_STRIP) {
            cuda_stats_rows(x, s.step, CUDA_STRIP, &center, first, second);
        } else {
            cuda_stats_rows(x, s.step, left, &center, first, second);
        }
    }
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
        if (k < s.tail) cuda_moments_add(&first[k], &second[k], a->x[s.last + k] - center.v[k], 0, 1);
    }
    cuda_sums_put(shared, thread, 0, first);
    cuda_sums_put(shared, thread, 1, second);
}

CUDA_BODY void cuda_norm_stats_body(const cuda_norm_stats_args *a, int64_t block, int32_t thread,
                                    int32_t phase, void *shared) {
    if (phase == 0) {
        cuda_stats_sweep(a, block, thread, shared);
    } else {
        cuda_sums_fold(&a->lanes, 2, a->to, block, thread, phase, shared);
    }
}

#endif
