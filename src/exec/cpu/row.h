/* cpu/row.h: reduces a row of floats in a fixed number of lanes that are joined in order, so that vectors
 * of any width give the same bits. */
#ifndef EBB_EXEC_CPU_ROW_H
#define EBB_EXEC_CPU_ROW_H

#include "exec/cpu/cpu.h"

enum { CPU_ROW_LANES = 16 };

CPU_INLINE float cpu_row_sum(const float *x, int64_t n) {
    float lanes[CPU_ROW_LANES] = {0}, sum = 0;
    int64_t j = 0;
    for (; j + CPU_ROW_LANES <= n; j += CPU_ROW_LANES) {
#pragma omp simd
        for (int k = 0; k < CPU_ROW_LANES; k++) lanes[k] += x[j + k];
    }
    for (int k = 0; j + k < n; k++) lanes[k] += x[j + k];
    for (int k = 0; k < CPU_ROW_LANES; k++) sum += lanes[k];
    return sum;
}

CPU_INLINE double cpu_row_join(const double lanes[CPU_ROW_LANES]) {
    double sum = 0;
    for (int k = 0; k < CPU_ROW_LANES; k++) sum += lanes[k];
    return sum;
}

/* The sum, in double, of x - center, or of its squares. */
CPU_INLINE double cpu_row_moment(const float *x, int64_t n, double center, bool squares) {
    double lanes[CPU_ROW_LANES] = {0};
    for (int64_t i = 0; i < n; i += CPU_ROW_LANES) {
        const int64_t width = ebb_min_i64(n - i, CPU_ROW_LANES);
#pragma omp simd
        for (int64_t k = 0; k < width; k++) {
            const double d = x[i + k] - center;
            lanes[k] += squares ? d * d : d;
        }
    }
    return cpu_row_join(lanes);
}

/* The maximum, at least `least`. NaNs are skipped. */
CPU_INLINE float cpu_row_max(const float *x, int64_t n, float least) {
    float lanes[CPU_ROW_LANES], max = least;
    int64_t j = 0;
    for (int k = 0; k < CPU_ROW_LANES; k++) lanes[k] = least;
    for (; j + CPU_ROW_LANES <= n; j += CPU_ROW_LANES) {
#pragma omp simd
        for (int k = 0; k < CPU_ROW_LANES; k++) lanes[k] = x[j + k] > lanes[k] ? x[j + k] : lanes[k];
    }
    for (int k = 0; j + k < n; k++) lanes[k] = x[j + k] > lanes[k] ? x[j + k] : lanes[k];
    for (int k = 0; k < CPU_ROW_LANES; k++) max = lanes[k] > max ? lanes[k] : max;
    return max;
}

#endif
