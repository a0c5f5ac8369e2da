/* cpu/tiles.h: transforms of Winograd's F(4x4, 3x3), of channels side by side (Lavin and Gray, "Fast
 * Algorithms for Convolutional Neural Networks", 2015), with the points 0, 5/8, -5/8, 3/2, -3/2 and
 * infinity: with 1 and 2 in place of 5/8 and 3/2 results are rounded several times as much. All numbers but
 * quotients are exact.
 *
 *     result = A^T [ (G weights G^T) * (B^T image B) ] A
 *
 * and the gradient of the weights, whose every step is that step's transpose,
 *
 *     gradient = G^T [ (A dy A^T) * (B^T image B) ] G
 *
 * Here are B^T, A^T, A, G and G^T along one axis: rows of `width` channels, from one row to the next `step`
 * floats. A whole transform is one of every column, then one of every row.
 */
#ifndef EBB_EXEC_CPU_TILES_H
#define EBB_EXEC_CPU_TILES_H

#include "exec/cpu/cpu.h"

enum {
    CPU_TILE_OUT = 4, /* results along an axis */
    CPU_TILE_IN = 6,  /* what they see; and how many products there are */
    CPU_TILE_KERNEL = 3,
    CPU_TILE_PLACES = CPU_TILE_IN * CPU_TILE_IN,
    CPU_TILE_TAPS = CPU_TILE_KERNEL * CPU_TILE_KERNEL,
    CPU_TILE_WIDTH = 16 /* channels in a block */
};

#define TILE_A    0.625F
#define TILE_B    1.5F
#define TILE_A2   (TILE_A * TILE_A)
#define TILE_B2   (TILE_B * TILE_B)
/* What G divides by at 0, A and B: the products of the differences to the other points. */
#define TILE_AT_0 (TILE_A2 * TILE_B2)
#define TILE_AT_A (2 * TILE_A2 * (TILE_A2 - TILE_B2))
#define TILE_AT_B (2 * TILE_B2 * (TILE_B2 - TILE_A2))

typedef void cpu_tile_axis(const float *x, int64_t x_step, float *y, int64_t y_step, int64_t width);

/* B^T: 6 to 6. */
CPU_INLINE void cpu_tile_image(const float *x, int64_t x_step, float *y, int64_t y_step, int64_t width) {
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
CPU_INLINE void cpu_tile_result(const float *x, int64_t x_step, float *y, int64_t y_step, int64_t width) {
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
CPU_INLINE void cpu_tile_gradient(const float *x, int64_t x_step, float *y, int64_t y_step, int64_t width) {
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
CPU_INLINE void cpu_tile_weights(const float *x, int64_t x_step, float *y, int64_t y_step, int64_t width) {
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
CPU_INLINE void cpu_tile_weight_gradient(const float *x, int64_t x_step, float *y, int64_t y_step,
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
CPU_INLINE void cpu_tile_transform(cpu_tile_axis *axis, int n, int m, const float *x, float *y, int64_t to,
                                   int64_t width) {
    float half[CPU_TILE_IN * CPU_TILE_IN * CPU_TILE_WIDTH]; /* m x n */
    for (int k = 0; k < n; k++)
        axis(x + k * CPU_TILE_WIDTH, n * CPU_TILE_WIDTH, half + k * CPU_TILE_WIDTH, n * CPU_TILE_WIDTH,
             width);
    for (int k = 0; k < m; k++)
        axis(half + k * n * CPU_TILE_WIDTH, CPU_TILE_WIDTH, y + k * m * to, to, width);
}

/* Weights, or pixels, on one side, and on the other the 36 places, each a matrix of as many rows as there
 * are output channels or tiles; from one place to the next are `apart` floats. */
typedef struct cpu_tile_run {
    const float *from;
    float *to;
    int64_t apart;
    int64_t c;    /* channels: of a row of the places */
    int64_t c_of; /* of a pixel or a tap, of which these are a slice */
    bool turn;    /* weights by half a turn */

    /* Of tiles: images; the tiles of one, in rows of so many; its pixels; how far the first tile begins in
     * front of them; and the first tile of these. */
    int64_t n, each, columns, h, w, before[2], first;
} cpu_tile_run;

/* Spans of output channels (weights), or of tiles. One behind the last image is zeros, and none of its
 * results is stored. */
cpu_span cpu_tiles_of_weights;         /* [o, 3, 3, c] into places */
cpu_span cpu_tiles_to_weight_gradient; /* places into [o, 3, 3, c] */
cpu_span cpu_tiles_of_images;          /* 6x6 pixels into places */
cpu_span cpu_tiles_of_gradients;       /* 4x4 pixels into places */
cpu_span cpu_tiles_to_results;         /* places into 4x4 pixels */

#endif
