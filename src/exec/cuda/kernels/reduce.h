/* kernels/reduce.h: plain sums: over all but channels, along an axis, of whole planes, of all squares.
 * Which kernel sums is decided by the shape (reduce.c):
 *
 *     kernel        where                                              reads  bytes an element of x
 *     bias_sums     bias_grad: per channel, float strips of four       dy     4
 *     column_sums   many places along an axis, for each place behind   x      4
 *     square_sums   of all elements: one channel                       x      4
 *     strip_sums    few places along an axis: a thread to each sum     x      4, and 4 a sum
 *     row_sums      the axis is innermost and short: a warp to a row   x      4, and 4 a sum
 *
 * All but bias_sums add doubles: their results may be as near to the exact ones as a float can tell. */
#ifndef EBB_EXEC_CUDA_KERNELS_REDUCE_H
#define EBB_EXEC_CUDA_KERNELS_REDUCE_H

#include "exec/cuda/kernels/rows.h"
#include "exec/cuda/kernels/sums.h"

/* ---- per channel ---------------------------------------------------------------------------------- */

typedef struct cuda_column_args {
    cuda_lanes lanes;
    const float *x;
    cuda_sums_to to;
} cuda_column_args;

typedef enum cuda_column_way { CUDA_COLUMN_FLOAT, CUDA_COLUMN_DOUBLE, CUDA_COLUMN_SQUARES } cuda_column_way;

/* Tensors of an odd size behind one another do not begin where 16 bytes can be read at once. */
CUDA_BODY cuda_f32x4 cuda_column_load(const cuda_lanes *l, const float *p) {
    if (l->aligned) return cuda_load4(p);
    cuda_f32x4 x;
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) x.v[k] = p[k];
    return x;
}

CUDA_BODY double cuda_column_term(float x, cuda_column_way way) {
    return way == CUDA_COLUMN_SQUARES ? (double)x * x : (double)x;
}

CUDA_BODY void cuda_column_rows(const cuda_lanes *l, const float *x, int64_t step, int32_t n_rows,
                                double sum[4], cuda_column_way way) {
    cuda_f32x4 rows[4];
    CUDA_UNROLL for (int32_t j = 0; j < 4; j++) {
        rows[j] = j < n_rows ? cuda_column_load(l, x + j * step) : cuda_zero4();
    }
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
        const float a = rows[0].v[k], b = rows[1].v[k], c = rows[2].v[k], d = rows[3].v[k];
        if (way == CUDA_COLUMN_FLOAT) {
            sum[k] += (a + b) + (c + d);
        } else {
            sum[k] += (cuda_column_term(a, way) + cuda_column_term(b, way)) +
                      (cuda_column_term(c, way) + cuda_column_term(d, way));
        }
    }
}

CUDA_BODY void cuda_column_sweep(const cuda_column_args *a, int64_t block, int32_t thread, void *shared,
                                 cuda_column_way way) {
    const cuda_lanes *l = &a->lanes;
    const cuda_spot s = cuda_spot_of(l, block, thread);
    if (s.lane >= l->width) return;
    double sum[4] = {0, 0, 0, 0};
    const float *x = a->x + s.at;
    for (int64_t row = s.row; row < s.end; row += 4 * CUDA_LANES_Y, x += 4 * s.step) {
        const int32_t left = cuda_rows_left(&s, row, 4);
        if (left == 4) {
            cuda_column_rows(l, x, s.step, 4, sum, way);
        } else {
            cuda_column_rows(l, x, s.step, left, sum, way);
        }
    }
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
        if (k < s.tail) sum[k] += cuda_column_term(a->x[s.last + k], way);
    }
    cuda_sums_put(shared, thread, 0, sum);
}

#define CUDA_COLUMN(name, way)                                                                  \
    typedef cuda_column_args cuda_##name##_args;                                                \
    CUDA_BODY void cuda_##name##_body(const cuda_column_args *a, int64_t block, int32_t thread, \
                                      int32_t phase, void *shared) {                            \
        if (phase == 0) {                                                                       \
            cuda_column_sweep(a, block, thread, shared, way);                                   \
        } else {                                                                                \
            cuda_sums_fold(&a->lanes, 1, a->to, block, thread, phase, shared);                  \
        }                                                                                       \
    }

CUDA_COLUMN(bias_sums, CUDA_COLUMN_FLOAT)
CUDA_COLUMN(column_sums, CUDA_COLUMN_DOUBLE)
CUDA_COLUMN(square_sums, CUDA_COLUMN_SQUARES)

/* ---- a thread to a sum, or to four ---------------------------------------------------------------- */

#define CUDA_STRIP_THREADS 256

typedef struct cuda_strip_sums_args {
    const float *x;
    float *y;
    int64_t outer, size, inner; /* elements: x[(o * size + i) * inner + k] */
    int32_t wide;               /* inner is a multiple of 4: four sums to a thread */
    double factor;              /* y = sum * factor: a quotient costs more than the sum */
} cuda_strip_sums_args;

CUDA_BODY int64_t cuda_strip_total(const cuda_strip_sums_args *a) {
    return a->outer * (a->wide ? a->inner / 4 : a->inner);
}

CUDA_BODY void cuda_strip_wide(const cuda_strip_sums_args *a, int64_t i) {
    const int64_t quads = a->inner / 4, o = i / quads, k = 4 * (i % quads);
    const float *x = a->x + o * a->size * a->inner + k;
    double sum[4] = {0, 0, 0, 0};
    for (int64_t place = 0; place < a->size; place++, x += a->inner) {
        const cuda_f32x4 q = cuda_load4(x);
        CUDA_UNROLL for (int32_t e = 0; e < 4; e++) sum[e] += q.v[e];
    }
    cuda_f32x4 y;
    CUDA_UNROLL for (int32_t e = 0; e < 4; e++) y.v[e] = (float)(sum[e] * a->factor);
    cuda_store4(a->y + 4 * i, y);
}

CUDA_BODY void cuda_strip_single(const cuda_strip_sums_args *a, int64_t i) {
    const float *x = a->x + i / a->inner * a->size * a->inner + i % a->inner;
    double sum = 0;
    for (int64_t place = 0; place < a->size; place++, x += a->inner) sum += *x;
    a->y[i] = (float)(sum * a->factor);
}

CUDA_BODY void cuda_strip_sums_body(const cuda_strip_sums_args *a, int64_t block, int32_t thread,
                                    int32_t phase, void *shared) {
    const int64_t i = block * CUDA_STRIP_THREADS + thread;
    (void)phase, (void)shared;
    if (i >= cuda_strip_total(a)) return;
    if (a->wide) {
        cuda_strip_wide(a, i);
    } else {
        cuda_strip_single(a, i);
    }
}

/* ---- a warp to a row ------------------------------------------------------------------------------ */

typedef struct cuda_row_sums_args {
    cuda_rows rows;
    const float *x;
    float *y;
    double divisor;
} cuda_row_sums_args;

CUDA_BODY void cuda_row_sums_body(const cuda_row_sums_args *a, int64_t block, int32_t thread, int32_t phase,
                                  void *shared) {
    const cuda_row r = cuda_row_of(&a->rows, block, thread);
    if (phase == 0) {
        double sum = 0;
        for (int64_t j = 0; cuda_row_more(&r, j); j++) {
            int32_t n;
            const cuda_f32x4 x = cuda_row_load(&r, a->x, j, &n);
            CUDA_UNROLL for (int32_t k = 0; k < 4; k++) sum += k < n ? (double)x.v[k] : 0;
        }
        cuda_row_put(shared, thread, 0, sum);
    } else if (phase == 1) {
        cuda_row_fold(1, thread, shared);
    } else if (r.thread == 0 && r.left > 0) {
        a->y[r.row] = (float)(cuda_row_sum(&r, 0, 1, shared) / a->divisor);
    }
}

#endif
