/* kernels/reduce.h: plain sums: over all but channels, along an axis, of whole planes, of all squares.
 * Which kernel sums is decided by the shape (reduce.c):
 *
 *     kernel        where (each reads all elements once)
 *     bias_sums     bias_grad: per channel, float strips of four
 *     column_sums   many places along an axis, for each place behind
 *     square_sums   of all elements, into f32: one channel
 *     strip_sums    few places along an axis: a thread to each sum
 *     row_sums      the axis is innermost and short: a warp to a row
 *
 * All but bias_sums add doubles: their results may be as near to the exact ones as a float can tell. */
#ifndef EBB_EXEC_CUDA_KERNELS_REDUCE_H
#define EBB_EXEC_CUDA_KERNELS_REDUCE_H

#include "exec/cuda/kernels/rows.h"
#include "exec/cuda/kernels/sums.h"

/* ---- per channel ---------------------------------------------------------------------------------- */

typedef struct cuda_column_args {
    cuda_lanes lanes;
    const void *x;
    cuda_sums_to to;
} cuda_column_args;

typedef enum cuda_column_way { CUDA_COLUMN_FLOAT, CUDA_COLUMN_DOUBLE, CUDA_COLUMN_SQUARES } cuda_column_way;

/* Tensors of an odd size behind one another do not begin where four elements can be read at once. */
CUDA_BODY cuda_f32x4 cuda_column_load(const cuda_lanes *l, const void *p, int64_t at, cuda_element e) {
    if (l->aligned) return cuda_get4(e, p, at);
    cuda_f32x4 x;
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) x.v[k] = cuda_get1(e, p, at + k);
    return x;
}

CUDA_BODY double cuda_column_term(float x, cuda_column_way way) {
    return way == CUDA_COLUMN_SQUARES ? (double)x * x : (double)x;
}

CUDA_BODY void cuda_column_rows(const cuda_lanes *l, const void *x, int64_t at, int64_t step,
                                int32_t n_rows, double sum[4], cuda_column_way way, cuda_element e) {
    cuda_f32x4 rows[4];
    CUDA_UNROLL for (int32_t j = 0; j < 4; j++) {
        rows[j] = j < n_rows ? cuda_column_load(l, x, at + j * step, e) : cuda_zero4();
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
                                 cuda_column_way way, cuda_element e) {
    const cuda_lanes *l = &a->lanes;
    const cuda_spot s = cuda_spot_of(l, block, thread, 4);
    if (s.lane >= l->width) return;
    double sum[4] = {0, 0, 0, 0};
    int64_t at = s.at;
    for (int64_t row = s.row; row < s.end; row += 4 * CUDA_LANES_Y, at += 4 * s.step) {
        const int32_t left = cuda_rows_left(&s, row, 4);
        if (left == 4) {
            cuda_column_rows(l, a->x, at, s.step, 4, sum, way, e);
        } else {
            cuda_column_rows(l, a->x, at, s.step, left, sum, way, e);
        }
    }
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
        if (k < s.tail) sum[k] += cuda_column_term(cuda_get1(e, a->x, s.last + k), way);
    }
    cuda_sums_put(shared, thread, 0, sum);
}

#define CUDA_COLUMN(name, way)                                                                \
    typedef cuda_column_args cuda_##name##_args;                                              \
    CUDA_BODY void cuda_##name##_in(const cuda_column_args *a, int64_t block, int32_t thread, \
                                    int32_t phase, void *shared, cuda_element e) {            \
        if (phase == 0) {                                                                     \
            cuda_column_sweep(a, block, thread, shared, way, e);                              \
        } else {                                                                              \
            cuda_sums_fold(&a->lanes, 1, a->to, block, thread, phase, shared);                \
        }                                                                                     \
    }                                                                                         \
    CUDA_BODIES(name)

CUDA_COLUMN(bias_sums, CUDA_COLUMN_FLOAT)
CUDA_COLUMN(column_sums, CUDA_COLUMN_DOUBLE)
CUDA_COLUMN(square_sums, CUDA_COLUMN_SQUARES)

/* ---- a thread to a sum, or to four ---------------------------------------------------------------- */

#define CUDA_STRIP_THREADS 256

typedef struct cuda_strip_sums_args {
    const void *x;
    void *y;
    int64_t outer, size, inner; /* elements: x[(o * size + i) * inner + k] */
    int32_t wide;               /* inner is a multiple of 4: four sums to a thread */
    double factor;              /* y = sum * factor: a quotient costs more than the sum */
} cuda_strip_sums_args;

CUDA_BODY int64_t cuda_strip_total(const cuda_strip_sums_args *a) {
    return a->outer * (a->wide ? a->inner / 4 : a->inner);
}

CUDA_BODY void cuda_strip_wide(const cuda_strip_sums_args *a, int64_t i, cuda_element from,
                               cuda_element to) {
    const int64_t quads = a->inner / 4, o = cuda_divide(i, quads);
    int64_t at = o * a->size * a->inner + 4 * (i - o * quads);
    double sum[4] = {0, 0, 0, 0};
    for (int64_t place = 0; place < a->size; place++, at += a->inner) {
        const cuda_f32x4 q = cuda_get4(from, a->x, at);
        CUDA_UNROLL for (int32_t k = 0; k < 4; k++) sum[k] += q.v[k];
    }
    cuda_f32x4 y;
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) y.v[k] = (float)(sum[k] * a->factor);
    cuda_put4(to, a->y, 4 * i, y);
}

CUDA_BODY void cuda_strip_single(const cuda_strip_sums_args *a, int64_t i, cuda_element from,
                                 cuda_element to) {
    const int64_t o = cuda_divide(i, a->inner);
    int64_t at = o * a->size * a->inner + i - o * a->inner;
    double sum = 0;
    for (int64_t place = 0; place < a->size; place++, at += a->inner) sum += cuda_get1(from, a->x, at);
    cuda_put1(to, a->y, i, (float)(sum * a->factor));
}

CUDA_BODY void cuda_strip_sums_do(const cuda_strip_sums_args *a, int64_t block, int32_t thread,
                                  cuda_element from, cuda_element to) {
    const int64_t i = block * CUDA_STRIP_THREADS + thread;
    if (i >= cuda_strip_total(a)) return;
    if (a->wide) {
        cuda_strip_wide(a, i, from, to);
    } else {
        cuda_strip_single(a, i, from, to);
    }
}

CUDA_BODY void cuda_strip_sums_in(const cuda_strip_sums_args *a, int64_t block, int32_t thread,
                                  int32_t phase, void *shared, cuda_element e) {
    (void)phase, (void)shared;
    cuda_strip_sums_do(a, block, thread, e, e);
}
CUDA_BODIES(strip_sums)

/* Of f32, into 16 bits: parts of a product, which stand in scratch. */
typedef cuda_strip_sums_args cuda_part_sums_args;
typedef cuda_strip_sums_args cuda_part_sums_f16_args;
typedef cuda_strip_sums_args cuda_part_sums_bf16_args;
CUDA_BODY void cuda_part_sums_in(const cuda_part_sums_args *a, int64_t block, int32_t thread, int32_t phase,
                                 void *shared, cuda_element e) {
    (void)phase, (void)shared;
    cuda_strip_sums_do(a, block, thread, CUDA_F32, e);
}
CUDA_BODY_OF(part_sums, part_sums_f16, CUDA_F16)
CUDA_BODY_OF(part_sums, part_sums_bf16, CUDA_BF16)

/* ---- a warp to a row ------------------------------------------------------------------------------ */

typedef struct cuda_row_sums_args {
    cuda_rows rows;
    const void *x;
    void *y;
    double divisor;
} cuda_row_sums_args;

CUDA_BODY void cuda_row_sums_in(const cuda_row_sums_args *a, int64_t block, int32_t thread, int32_t phase,
                                void *shared, cuda_element e) {
    const cuda_row r = cuda_row_of(&a->rows, block, thread);
    if (phase == 0) {
        double sum = 0;
        for (int64_t j = 0; cuda_row_more(&r, j); j++) {
            int32_t n;
            const cuda_f32x4 x = cuda_row_load(&r, a->x, j, &n, e);
            CUDA_UNROLL for (int32_t k = 0; k < 4; k++) sum += k < n ? (double)x.v[k] : 0;
        }
        cuda_row_put(shared, thread, 0, sum);
    } else if (phase == 1) {
        cuda_row_fold(1, thread, shared);
    } else if (r.thread == 0 && r.left > 0) {
        cuda_put1(e, a->y, r.row, (float)(cuda_row_sum(&r, 0, 1, shared) / a->divisor));
    }
}
CUDA_BODIES(row_sums)

#endif
