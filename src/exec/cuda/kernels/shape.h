/* kernels/shape.h: ops that move elements, and bias, which is like them: what a thread reads depends on
 * where its elements stand. Elements of f32 and i32 are words of 32 bits to those that move them; so are
 * two of 16 bits where all rows and offsets are even (shape.c), and else there is a kernel for single ones.
 *
 * A block has CUDA_MOVE_EACH elements of what it writes. Where all rows and offsets are whole quads
 * (`quads`), a thread has one of them; otherwise it has 4 elements, a block's width apart, so that
 * neighbours still read neighbours.
 *
 * Elements moved for each of the result: 2 (expand: 1 and what it reads; the zeros of slice_grad: 1). */
#ifndef EBB_EXEC_CUDA_KERNELS_SHAPE_H
#define EBB_EXEC_CUDA_KERNELS_SHAPE_H

#include "exec/cuda/kernels/elements.h"

#define CUDA_MOVE_THREADS 256
#define CUDA_MOVE_EACH    (INT64_C(4) * CUDA_MOVE_THREADS)

/* ---- rows into rows: concat, slice, slice_grad ------------------------------------------------------ */

/* Row r of `to`, from to_first on, gets `width` elements of row r of `from`, from from_first on. */
typedef struct cuda_copy_rows_args {
    const void *from;
    void *to;
    int64_t width, from_row, from_first, to_row, to_first;
    int64_t n; /* rows * width; embed_rows: rows * to_row */
    int32_t quads;
} cuda_copy_rows_args;

CUDA_BODY void cuda_copy_rows_body(const cuda_copy_rows_args *args, int64_t block, int32_t thread,
                                   int32_t phase, void *shared) {
    const float *from = (const float *)args->from + args->from_first;
    float *to = (float *)args->to + args->to_first;
    (void)phase, (void)shared;
    if (args->quads) {
        const int64_t i = block * CUDA_MOVE_EACH + 4 * (int64_t)thread;
        const int64_t row = cuda_divide(i, args->width), at = i - row * args->width;
        if (i < args->n)
            cuda_store4(to + row * args->to_row + at, cuda_load4(from + row * args->from_row + at));
        return;
    }
    CUDA_UNROLL for (int k = 0; k < 4; k++) {
        const int64_t i = block * CUDA_MOVE_EACH + thread + k * CUDA_MOVE_THREADS;
        const int64_t row = cuda_divide(i, args->width), at = i - row * args->width;
        if (i < args->n) to[row * args->to_row + at] = from[row * args->from_row + at];
    }
}

/* The same where elements are bytes, or of 16 bits. */
#define CUDA_COPY_ROWS(name, T)                                                                      \
    typedef cuda_copy_rows_args cuda_##name##_args;                                                  \
    CUDA_BODY void cuda_##name##_body(const cuda_##name##_args *args, int64_t block, int32_t thread, \
                                      int32_t phase, void *shared) {                                 \
        const T *from = (const T *)args->from + args->from_first;                                    \
        T *to = (T *)args->to + args->to_first;                                                      \
        (void)phase, (void)shared;                                                                   \
        CUDA_UNROLL for (int k = 0; k < 4; k++) {                                                    \
            const int64_t i = block * CUDA_MOVE_EACH + thread + k * CUDA_MOVE_THREADS;               \
            const int64_t row = cuda_divide(i, args->width), at = i - row * args->width;             \
            if (i < args->n) to[row * args->to_row + at] = from[row * args->from_row + at];          \
        }                                                                                            \
    }
CUDA_COPY_ROWS(copy_byte_rows, uint8_t)
CUDA_COPY_ROWS(copy_half_rows, uint16_t)

/* As copy_rows, and zeros in the rest of each row of `to`. */
typedef cuda_copy_rows_args cuda_embed_rows_args;
CUDA_BODY void cuda_embed_rows_body(const cuda_embed_rows_args *args, int64_t block, int32_t thread,
                                    int32_t phase, void *shared) {
    (void)phase, (void)shared;
    if (args->quads) {
        const int64_t i = block * CUDA_MOVE_EACH + 4 * (int64_t)thread;
        const int64_t row = cuda_divide(i, args->to_row), at = i - row * args->to_row - args->to_first;
        cuda_f32x4 x;
        CUDA_UNROLL for (int k = 0; k < 4; k++) x.v[k] = 0;
        if (i >= args->n) return;
        if (at >= 0 && at < args->width)
            x = cuda_load4((const float *)args->from + row * args->from_row + at);
        cuda_store4((float *)args->to + i, x);
        return;
    }
    CUDA_UNROLL for (int k = 0; k < 4; k++) {
        const int64_t i = block * CUDA_MOVE_EACH + thread + k * CUDA_MOVE_THREADS;
        const int64_t row = cuda_divide(i, args->to_row), at = i - row * args->to_row - args->to_first;
        const bool inside = at >= 0 && at < args->width;
        if (i < args->n)
            ((float *)args->to)[i] = inside ? ((const float *)args->from)[row * args->from_row + at] : 0;
    }
}

#define CUDA_EMBED_ROWS(name, T)                                                                     \
    typedef cuda_copy_rows_args cuda_##name##_args;                                                  \
    CUDA_BODY void cuda_##name##_body(const cuda_##name##_args *args, int64_t block, int32_t thread, \
                                      int32_t phase, void *shared) {                                 \
        const T *from = (const T *)args->from;                                                       \
        (void)phase, (void)shared;                                                                   \
        CUDA_UNROLL for (int k = 0; k < 4; k++) {                                                    \
            const int64_t i = block * CUDA_MOVE_EACH + thread + k * CUDA_MOVE_THREADS;               \
            const int64_t row = cuda_divide(i, args->to_row),                                        \
                          at = i - row * args->to_row - args->to_first;                              \
            const bool inside = at >= 0 && at < args->width;                                         \
            if (i < args->n) ((T *)args->to)[i] = inside ? from[row * args->from_row + at] : 0;      \
        }                                                                                            \
    }
CUDA_EMBED_ROWS(embed_byte_rows, uint8_t)
CUDA_EMBED_ROWS(embed_half_rows, uint16_t)

/* ---- along an axis: expand, bias -------------------------------------------------------------------- */

typedef struct cuda_expand_args {
    const void *x;
    void *y;        /* bias: may be x */
    const float *b; /* bias only */
    int64_t size, inner, n;
    int32_t quads;
} cuda_expand_args;

/* y[(o * size + s) * inner + k] = x[o * inner + k] */
CUDA_BODY void cuda_expand_body(const cuda_expand_args *args, int64_t block, int32_t thread, int32_t phase,
                                void *shared) {
    const int64_t each = args->size * args->inner, inner = args->inner;
    const float *x = (const float *)args->x;
    float *y = (float *)args->y;
    (void)phase, (void)shared;
    if (args->quads) {
        const int64_t i = block * CUDA_MOVE_EACH + 4 * (int64_t)thread;
        const int64_t k = i - cuda_divide(i, inner) * inner;
        if (i < args->n) cuda_store4(y + i, cuda_load4(x + cuda_divide(i, each) * inner + k));
        return;
    }
    CUDA_UNROLL for (int q = 0; q < 4; q++) {
        const int64_t i = block * CUDA_MOVE_EACH + thread + q * CUDA_MOVE_THREADS;
        const int64_t k = i - cuda_divide(i, inner) * inner;
        if (i < args->n) y[i] = x[cuda_divide(i, each) * inner + k];
    }
}

#define CUDA_EXPAND(name, T)                                                                             \
    typedef cuda_expand_args cuda_##name##_args;                                                         \
    CUDA_BODY void cuda_##name##_body(const cuda_##name##_args *args, int64_t block, int32_t thread,     \
                                      int32_t phase, void *shared) {                                     \
        const int64_t each = args->size * args->inner, inner = args->inner;                              \
        (void)phase, (void)shared;                                                                       \
        CUDA_UNROLL for (int q = 0; q < 4; q++) {                                                        \
            const int64_t i = block * CUDA_MOVE_EACH + thread + q * CUDA_MOVE_THREADS;                   \
            const int64_t k = i - cuda_divide(i, inner) * inner;                                         \
            if (i < args->n) ((T *)args->y)[i] = ((const T *)args->x)[cuda_divide(i, each) * inner + k]; \
        }                                                                                                \
    }
CUDA_EXPAND(expand_byte, uint8_t)
CUDA_EXPAND(expand_half, uint16_t)

/* Elements of a block of bias. */
CUDA_BODY int64_t cuda_bias_each(cuda_element e) {
    return (int64_t)cuda_side(e) * CUDA_MOVE_THREADS;
}

/* y = x + b[c]: channels are innermost. quads: there is a whole number of what a thread takes. */
typedef cuda_expand_args cuda_bias_args;
CUDA_BODY void cuda_bias_in(const cuda_bias_args *args, int64_t block, int32_t thread, int32_t phase,
                            void *shared, cuda_element e) {
    const int32_t side = cuda_side(e);
    const int64_t size = args->size, first = block * cuda_bias_each(e);
    (void)phase, (void)shared;
    if (args->quads) {
        const int64_t i = first + side * (int64_t)thread;
        if (i >= args->n) return;
        const cuda_f32x8 b = cuda_get(CUDA_F32, side, args->b, i - cuda_divide(i, size) * size);
        cuda_f32x8 x = cuda_get(e, side, args->x, i);
        CUDA_UNROLL for (int32_t k = 0; k < side; k++) x.v[k] += b.v[k];
        cuda_put(e, side, args->y, i, x);
        return;
    }
    CUDA_UNROLL for (int32_t k = 0; k < side; k++) {
        const int64_t i = first + thread + k * CUDA_MOVE_THREADS;
        const int64_t c = i - cuda_divide(i, size) * size;
        if (i < args->n) cuda_put1(e, args->y, i, cuda_get1(e, args->x, i) + args->b[c]);
    }
}
CUDA_BODIES(bias)

/* ---- planes: each image's matrix the other way round ------------------------------------------------ */

#define CUDA_PLANES_TILE    32
#define CUDA_PLANES_THREADS 256
#define CUDA_PLANES_ROWS    (CUDA_PLANES_THREADS / CUDA_PLANES_TILE) /* of a tile at once */
#define CUDA_PLANES_STRIDE  (CUDA_PLANES_TILE + 1)                   /* columns lie in different banks */
#define CUDA_PLANES_SHARED  (4 * CUDA_PLANES_TILE * CUDA_PLANES_STRIDE)

/* from[image][rows][columns] -> to[image][columns][rows], a tile to a block, through shared bytes so that
 * both are read and written along their rows. */
typedef struct cuda_planes_args {
    const void *from;
    void *to;
    int64_t rows, columns, tiles_down, tiles_across;
} cuda_planes_args;

#define CUDA_PLANES(name, T)                                                                       \
    typedef cuda_planes_args cuda_##name##_args;                                                   \
    CUDA_BODY void cuda_##name##_body(const cuda_planes_args *args, int64_t block, int32_t thread, \
                                      int32_t phase, void *shared) {                               \
        T *tile = (T *)shared;                                                                     \
        const int64_t down = cuda_divide(block, args->tiles_across),                               \
                      image = cuda_divide(down, args->tiles_down);                                 \
        const int64_t row = (down - image * args->tiles_down) * CUDA_PLANES_TILE;                  \
        const int64_t column = (block - down * args->tiles_across) * CUDA_PLANES_TILE;             \
        const T *from = (const T *)args->from + image * args->rows * args->columns;                \
        T *to = (T *)args->to + image * args->rows * args->columns;                                \
        const int32_t x = thread % CUDA_PLANES_TILE;                                               \
        CUDA_UNROLL for (int k = 0; k < CUDA_PLANES_TILE / CUDA_PLANES_ROWS; k++) {                \
            const int32_t y = thread / CUDA_PLANES_TILE + k * CUDA_PLANES_ROWS;                    \
            if (phase == 0 && row + y < args->rows && column + x < args->columns)                  \
                tile[y * CUDA_PLANES_STRIDE + x] = from[(row + y) * args->columns + column + x];   \
            if (phase == 1 && column + y < args->columns && row + x < args->rows)                  \
                to[(column + y) * args->rows + row + x] = tile[x * CUDA_PLANES_STRIDE + y];        \
        }                                                                                          \
    }
CUDA_PLANES(planes, uint32_t)
CUDA_PLANES(half_planes, uint16_t)
CUDA_PLANES(byte_planes, uint8_t)

/* ---- pixels apart: conv2d_dgrad of filters of one pixel --------------------------------------------- */

/* to[n,h,w,c] = from[n,h/stride,w/stride,c] where the strides fall, which is inside: from's height is
 * (height - 1) / stride + 1, and so its width; zero elsewhere. A block has a row [n,h]; channels are whole
 * quads. Bytes: 4 an element of either. */
typedef struct cuda_spread_args {
    const float *from;
    float *to;
    int64_t height, from_height, width, from_width, channels; /* channels * width < 2^31 */
    int32_t stride[2];
} cuda_spread_args;

CUDA_BODY void cuda_spread_body(const cuda_spread_args *args, int64_t block, int32_t thread, int32_t phase,
                                void *shared) {
    const int64_t n = block / args->height, h = block - n * args->height;
    const int64_t from_h = h / args->stride[0];
    const bool row_falls = from_h * args->stride[0] == h;
    const float *from = args->from + (n * args->from_height + from_h) * args->from_width * args->channels;
    float *to = args->to + block * args->width * args->channels;
    const int32_t quads = (int32_t)(args->channels / 4), all = quads * (int32_t)args->width;
    (void)phase, (void)shared;
    for (int32_t i = thread; i < all; i += CUDA_MOVE_THREADS) {
        const int32_t w = i / quads, from_w = w / args->stride[1];
        const int64_t at = INT64_C(4) * ((int64_t)from_w * quads + i - w * quads);
        const bool falls = row_falls && from_w * args->stride[1] == w;
        cuda_f32x4 x;
        CUDA_UNROLL for (int k = 0; k < 4; k++) x.v[k] = 0;
        if (falls) x = cuda_load4(from + at);
        cuda_store4(to + INT64_C(4) * i, x);
    }
}

#endif
