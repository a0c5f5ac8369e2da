/* cpu/tiles.c: weights and images into the places of transformed tiles, and back (tiles.h). Vectors run
 * over channels. */
#include "exec/cpu/tiles.h"

#include "base/half.h"

#include <string.h>

enum { PIXELS = CPU_TILE_OUT * CPU_TILE_OUT };

/* ---- along one axis ------------------------------------------------------------------------------- */

/* B^T, A^T, A, G and G^T: of rows of `width` channels, from one row to the next `step` floats. All numbers
 * but the quotients are exact. */

#define TILE_A    0.625F
#define TILE_B    1.5F
#define TILE_A2   (TILE_A * TILE_A)
#define TILE_B2   (TILE_B * TILE_B)
/* What G divides by at 0, A and B: the products of the differences to the other points. */
#define TILE_AT_0 (TILE_A2 * TILE_B2)
#define TILE_AT_A (2 * TILE_A2 * (TILE_A2 - TILE_B2))
#define TILE_AT_B (2 * TILE_B2 * (TILE_B2 - TILE_A2))

typedef void along(const float *x, int64_t x_step, float *y, int64_t y_step, int64_t width);

/* B^T: 6 to 6. */
CPU_INLINE void along_image(const float *x, int64_t x_step, float *y, int64_t y_step, int64_t width) {
#pragma omp simd
    for (int64_t c = 0; c < width; c++) {
        const float x0 = x[c], x1 = x[x_step + c], x2 = x[2 * x_step + c], x3 = x[3 * x_step + c],
                    x4 = x[4 * x_step + c], x5 = x[5 * x_step + c];
        const float a = x4 - TILE_B2 * x2, a_odd = TILE_A * (x3 - TILE_B2 * x1), b = x4 - TILE_A2 * x2,
                    b_odd = TILE_B * (x3 - TILE_A2 * x1);
        y[c] = (TILE_AT_0 * x0 - (TILE_A2 + TILE_B2) * x2) + x4;
        y[y_step + c] = a + a_odd;
        y[2 * y_step + c] = a - a_odd;
        y[3 * y_step + c] = b + b_odd;
        y[4 * y_step + c] = b - b_odd;
        y[5 * y_step + c] = (TILE_AT_0 * x1 - (TILE_A2 + TILE_B2) * x3) + x5;
    }
}

/* A^T: 6 to 4. */
CPU_INLINE void along_result(const float *x, int64_t x_step, float *y, int64_t y_step, int64_t width) {
#pragma omp simd
    for (int64_t c = 0; c < width; c++) {
        const float x1 = x[x_step + c], x2 = x[2 * x_step + c], x3 = x[3 * x_step + c],
                    x4 = x[4 * x_step + c];
        const float a = x1 + x2, a_odd = TILE_A * (x1 - x2), b = x3 + x4, b_odd = TILE_B * (x3 - x4);
        y[c] = (x[c] + a) + b;
        y[y_step + c] = a_odd + b_odd;
        y[2 * y_step + c] = TILE_A2 * a + TILE_B2 * b;
        y[3 * y_step + c] = (TILE_A2 * a_odd + TILE_B2 * b_odd) + x[5 * x_step + c];
    }
}

/* A: 4 to 6. */
CPU_INLINE void along_gradient(const float *x, int64_t x_step, float *y, int64_t y_step, int64_t width) {
#pragma omp simd
    for (int64_t c = 0; c < width; c++) {
        const float x0 = x[c], x1 = x[x_step + c], x2 = x[2 * x_step + c], x3 = x[3 * x_step + c];
        const float a = x0 + TILE_A2 * x2, a_odd = TILE_A * (x1 + TILE_A2 * x3), b = x0 + TILE_B2 * x2,
                    b_odd = TILE_B * (x1 + TILE_B2 * x3);
        y[c] = x0;
        y[y_step + c] = a + a_odd;
        y[2 * y_step + c] = a - a_odd;
        y[3 * y_step + c] = b + b_odd;
        y[4 * y_step + c] = b - b_odd;
        y[5 * y_step + c] = x3;
    }
}

/* G: 3 to 6. */
CPU_INLINE void along_weights(const float *x, int64_t x_step, float *y, int64_t y_step, int64_t width) {
#pragma omp simd
    for (int64_t c = 0; c < width; c++) {
        const float x0 = x[c], x1 = x[x_step + c], x2 = x[2 * x_step + c];
        const float a = (x0 + TILE_A2 * x2) * (1 / TILE_AT_A), a_odd = x1 * (TILE_A / TILE_AT_A),
                    b = (x0 + TILE_B2 * x2) * (1 / TILE_AT_B), b_odd = x1 * (TILE_B / TILE_AT_B);
        y[c] = x0 * (1 / TILE_AT_0);
        y[y_step + c] = a + a_odd;
        y[2 * y_step + c] = a - a_odd;
        y[3 * y_step + c] = b + b_odd;
        y[4 * y_step + c] = b - b_odd;
        y[5 * y_step + c] = x2;
    }
}

/* G^T: 6 to 3. */
CPU_INLINE void along_weight_gradient(const float *x, int64_t x_step, float *y, int64_t y_step,
                                      int64_t width) {
#pragma omp simd
    for (int64_t c = 0; c < width; c++) {
        const float x1 = x[x_step + c], x2 = x[2 * x_step + c], x3 = x[3 * x_step + c],
                    x4 = x[4 * x_step + c];
        const float a = (x1 + x2) * (1 / TILE_AT_A), b = (x3 + x4) * (1 / TILE_AT_B);
        y[c] = (x[c] * (1 / TILE_AT_0) + a) + b;
        y[y_step + c] = (x1 - x2) * (TILE_A / TILE_AT_A) + (x3 - x4) * (TILE_B / TILE_AT_B);
        y[2 * y_step + c] = (TILE_A2 * a + TILE_B2 * b) + x[5 * x_step + c];
    }
}

/* Both axes: of n x n rows at x, m x m at y; `to` floats lie between two of y's. x is in order, and small.
 */
CPU_INLINE void transform(along *axis, int n, int m, const float *x, float *y, int64_t to, int64_t width) {
    float half[CPU_TILE_IN * CPU_TILE_IN * CPU_TILE_WIDTH]; /* m x n */
    for (int k = 0; k < n; k++)
        axis(x + k * CPU_TILE_WIDTH, n * CPU_TILE_WIDTH, half + k * CPU_TILE_WIDTH, n * CPU_TILE_WIDTH,
             width);
    for (int k = 0; k < m; k++)
        axis(half + k * n * CPU_TILE_WIDTH, CPU_TILE_WIDTH, y + k * m * to, to, width);
}

/* ---- pixels and taps ------------------------------------------------------------------------------ */

/* `width` elements from the at-th on. */
CPU_INLINE void load(ebb_dtype dtype, const void *from, int64_t at, float *to, int64_t width) {
    const uint16_t *low = (const uint16_t *)from + at;
    if (dtype == EBB_F32) {
        memcpy(to, (const float *)from + at, (size_t)width * sizeof *to);
    } else if (dtype == EBB_BF16) {
#pragma omp simd
        for (int64_t c = 0; c < width; c++) to[c] = ebb_bf16_load(low[c]);
    } else {
#pragma omp simd
        for (int64_t c = 0; c < width; c++) to[c] = ebb_f16_load(low[c]);
    }
}

/* Rounded once. */
CPU_INLINE void store(ebb_dtype dtype, const float *from, void *to, int64_t at, int64_t width) {
    uint16_t *low = (uint16_t *)to + at;
    if (dtype == EBB_F32) {
        memcpy((float *)to + at, from, (size_t)width * sizeof *from);
    } else if (dtype == EBB_BF16) {
#pragma omp simd
        for (int64_t c = 0; c < width; c++) low[c] = ebb_bf16_of_float(from[c]);
    } else {
#pragma omp simd
        for (int64_t c = 0; c < width; c++) low[c] = ebb_f16_of_float(from[c]);
    }
}

/* A span that runs block on all channels of each row. */
#define BY_BLOCKS(span, block)                                                                       \
    CPU_INLINE void block##s(const cpu_tile_run *run, ebb_dtype dtype, int64_t begin, int64_t end) { \
        for (int64_t i = begin; i < end; i++) {                                                      \
            int64_t c = 0;                                                                           \
            for (; c + CPU_TILE_WIDTH <= run->c; c += CPU_TILE_WIDTH)                                \
                block(run, dtype, i, c, CPU_TILE_WIDTH);                                             \
            if (c < run->c) block(run, dtype, i, c, run->c - c);                                     \
        }                                                                                            \
    }                                                                                                \
    CPU_VECTOR void span(const void *ctx, int64_t begin, int64_t end) {                              \
        const cpu_tile_run *run = ctx;                                                               \
        if (run->dtype == EBB_F32)                                                                   \
            block##s(run, EBB_F32, begin, end);                                                      \
        else if (run->dtype == EBB_BF16)                                                             \
            block##s(run, EBB_BF16, begin, end);                                                     \
        else                                                                                         \
            block##s(run, EBB_F16, begin, end);                                                      \
    }

/* ---- weights -------------------------------------------------------------------------------------- */

CPU_INLINE void weights_block(const cpu_tile_run *run, ebb_dtype dtype, int64_t o, int64_t c,
                              int64_t width) {
    float taps[CPU_TILE_TAPS * CPU_TILE_WIDTH];
    for (int k = 0; k < CPU_TILE_TAPS; k++) {
        const int64_t tap = o * CPU_TILE_TAPS + (run->turn ? CPU_TILE_TAPS - 1 - k : k);
        load(dtype, run->from, tap * run->c_of + c, taps + k * CPU_TILE_WIDTH, width);
    }
    transform(along_weights, CPU_TILE_KERNEL, CPU_TILE_IN, taps, (float *)run->to + o * run->c + c,
              run->apart, width);
}

BY_BLOCKS(cpu_tiles_of_weights, weights_block)

/* Row `row` of each place. */
CPU_INLINE void collect(const cpu_tile_run *run, int64_t row, int64_t c, int64_t width, float *places) {
    const float *from = (const float *)run->from + row * run->c + c;
    for (int k = 0; k < CPU_TILE_PLACES; k++)
        memcpy(places + k * CPU_TILE_WIDTH, from + k * run->apart, (size_t)width * sizeof *places);
}

CPU_INLINE void weight_gradient_block(const cpu_tile_run *run, ebb_dtype dtype, int64_t o, int64_t c,
                                      int64_t width) {
    float places[CPU_TILE_PLACES * CPU_TILE_WIDTH], taps[CPU_TILE_TAPS * CPU_TILE_WIDTH];
    collect(run, o, c, width, places);
    transform(along_weight_gradient, CPU_TILE_IN, CPU_TILE_KERNEL, places, taps, CPU_TILE_WIDTH, width);
    for (int k = 0; k < CPU_TILE_TAPS; k++)
        store(dtype, taps + k * CPU_TILE_WIDTH, run->to, (o * CPU_TILE_TAPS + k) * run->c_of + c, width);
}

BY_BLOCKS(cpu_tiles_to_weight_gradient, weight_gradient_block)

/* ---- tiles ---------------------------------------------------------------------------------------- */

typedef struct place {
    int64_t image, h, w; /* of its first pixel */
} place;

CPU_INLINE bool place_of(const cpu_tile_run *run, int64_t tile, place *at) {
    const int64_t all = run->first + tile, in = all % run->each;
    *at = (place){all / run->each, in / run->columns * CPU_TILE_OUT - run->before[0],
                  in % run->columns * CPU_TILE_OUT - run->before[1]};
    return at->image < run->n;
}

/* The first element of a pixel that is `h` and `w` behind a place, from channel c on. */
CPU_INLINE int64_t pixel_at(const cpu_tile_run *run, const place *at, int64_t h, int64_t w, int64_t c) {
    return ((at->image * run->h + at->h + h) * run->w + at->w + w) * run->c_of + c;
}

/* The n x n pixels of a tile, zeros where there are none. */
CPU_INLINE void gather(const cpu_tile_run *run, ebb_dtype dtype, const place *at, int n, int64_t c,
                       int64_t width, float *to) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++, to += CPU_TILE_WIDTH) {
            const int64_t h = at->h + i, w = at->w + j;
            if (h >= 0 && h < run->h && w >= 0 && w < run->w)
                load(dtype, run->from, pixel_at(run, at, i, j, c), to, width);
            else
                memset(to, 0, (size_t)width * sizeof *to);
        }
    }
}

CPU_INLINE void spread_block(const cpu_tile_run *run, ebb_dtype dtype, int64_t tile, int64_t c,
                             int64_t width, along *axis, int n) {
    float *to = (float *)run->to + tile * run->c + c, pixels[CPU_TILE_PLACES * CPU_TILE_WIDTH];
    place at;
    if (place_of(run, tile, &at)) {
        gather(run, dtype, &at, n, c, width, pixels);
        transform(axis, n, CPU_TILE_IN, pixels, to, run->apart, width);
        return;
    }
    for (int k = 0; k < CPU_TILE_PLACES; k++) memset(to + k * run->apart, 0, (size_t)width * sizeof *to);
}

CPU_INLINE void image_block(const cpu_tile_run *run, ebb_dtype dtype, int64_t tile, int64_t c,
                            int64_t width) {
    spread_block(run, dtype, tile, c, width, along_image, CPU_TILE_IN);
}

BY_BLOCKS(cpu_tiles_of_images, image_block)

CPU_INLINE void gradient_block(const cpu_tile_run *run, ebb_dtype dtype, int64_t tile, int64_t c,
                               int64_t width) {
    spread_block(run, dtype, tile, c, width, along_gradient, CPU_TILE_OUT);
}

BY_BLOCKS(cpu_tiles_of_gradients, gradient_block)

CPU_INLINE void result_block(const cpu_tile_run *run, ebb_dtype dtype, int64_t tile, int64_t c,
                             int64_t width) {
    float places[CPU_TILE_PLACES * CPU_TILE_WIDTH], pixels[PIXELS * CPU_TILE_WIDTH];
    place at;
    if (!place_of(run, tile, &at)) return;
    collect(run, tile, c, width, places);
    transform(along_result, CPU_TILE_IN, CPU_TILE_OUT, places, pixels, CPU_TILE_WIDTH, width);
    const int64_t rows = ebb_min_i64(CPU_TILE_OUT, run->h - at.h),
                  columns = ebb_min_i64(CPU_TILE_OUT, run->w - at.w);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++)
            store(dtype, pixels + (i * CPU_TILE_OUT + j) * CPU_TILE_WIDTH, run->to,
                  pixel_at(run, &at, i, j, c), width);
    }
}

BY_BLOCKS(cpu_tiles_to_results, result_block)
