/* cpu/tiles.c: weights and images into the places of transformed tiles, and back (tiles.h). Vectors run
 * over channels. */
#include "exec/cpu/tiles.h"

#include <string.h>

enum { PIXELS = CPU_TILE_OUT * CPU_TILE_OUT };

/* Runs block on all channels of each row. */
#define BY_BLOCKS(block)                                                                            \
    const cpu_tile_run *run = ctx;                                                                  \
    for (int64_t i = begin; i < end; i++) {                                                         \
        int64_t c = 0;                                                                              \
        for (; c + CPU_TILE_WIDTH <= run->c; c += CPU_TILE_WIDTH) block(run, i, c, CPU_TILE_WIDTH); \
        if (c < run->c) block(run, i, c, run->c - c);                                               \
    }

/* ---- weights -------------------------------------------------------------------------------------- */

CPU_INLINE void weights_block(const cpu_tile_run *run, int64_t o, int64_t c, int64_t width) {
    float taps[CPU_TILE_TAPS * CPU_TILE_WIDTH];
    for (int k = 0; k < CPU_TILE_TAPS; k++) {
        const int64_t tap = o * CPU_TILE_TAPS + (run->turn ? CPU_TILE_TAPS - 1 - k : k);
        memcpy(taps + k * CPU_TILE_WIDTH, run->from + tap * run->c_of + c, (size_t)width * sizeof *taps);
    }
    cpu_tile_transform(cpu_tile_weights, CPU_TILE_KERNEL, CPU_TILE_IN, taps, run->to + o * run->c + c,
                       run->apart, width);
}

CPU_VECTOR void cpu_tiles_of_weights(const void *ctx, int64_t begin, int64_t end){BY_BLOCKS(weights_block)}

/* Row `row` of each place. */
CPU_INLINE void collect(const cpu_tile_run *run, int64_t row, int64_t c, int64_t width, float *places) {
    for (int k = 0; k < CPU_TILE_PLACES; k++)
        memcpy(places + k * CPU_TILE_WIDTH, run->from + k * run->apart + row * run->c + c,
               (size_t)width * sizeof *places);
}

CPU_INLINE void weight_gradient_block(const cpu_tile_run *run, int64_t o, int64_t c, int64_t width) {
    float places[CPU_TILE_PLACES * CPU_TILE_WIDTH];
    collect(run, o, c, width, places);
    cpu_tile_transform(cpu_tile_weight_gradient, CPU_TILE_IN, CPU_TILE_KERNEL, places,
                       run->to + o * CPU_TILE_TAPS * run->c_of + c, run->c_of, width);
}

CPU_VECTOR void cpu_tiles_to_weight_gradient(const void *ctx, int64_t begin, int64_t end) {
    BY_BLOCKS(weight_gradient_block)
}

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

/* The n x n pixels of a tile, zeros where there are none. */
CPU_INLINE void gather(const cpu_tile_run *run, const place *at, int n, int64_t c, int64_t width,
                       float *to) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++, to += CPU_TILE_WIDTH) {
            const int64_t h = at->h + i, w = at->w + j;
            if (h >= 0 && h < run->h && w >= 0 && w < run->w)
                memcpy(to, run->from + ((at->image * run->h + h) * run->w + w) * run->c_of + c,
                       (size_t)width * sizeof *to);
            else
                memset(to, 0, (size_t)width * sizeof *to);
        }
    }
}

CPU_INLINE void spread_block(const cpu_tile_run *run, int64_t tile, int64_t c, int64_t width,
                             cpu_tile_axis *axis, int n) {
    float *to = run->to + tile * run->c + c, pixels[CPU_TILE_PLACES * CPU_TILE_WIDTH];
    place at;
    if (place_of(run, tile, &at)) {
        gather(run, &at, n, c, width, pixels);
        cpu_tile_transform(axis, n, CPU_TILE_IN, pixels, to, run->apart, width);
        return;
    }
    for (int k = 0; k < CPU_TILE_PLACES; k++) memset(to + k * run->apart, 0, (size_t)width * sizeof *to);
}

CPU_INLINE void image_block(const cpu_tile_run *run, int64_t tile, int64_t c, int64_t width) {
    spread_block(run, tile, c, width, cpu_tile_image, CPU_TILE_IN);
}

CPU_VECTOR void cpu_tiles_of_images(const void *ctx, int64_t begin, int64_t end){BY_BLOCKS(image_block)}

CPU_INLINE void gradient_block(const cpu_tile_run *run, int64_t tile, int64_t c, int64_t width) {
    spread_block(run, tile, c, width, cpu_tile_gradient, CPU_TILE_OUT);
}

CPU_VECTOR void cpu_tiles_of_gradients(const void *ctx, int64_t begin,
                                       int64_t end){BY_BLOCKS(gradient_block)}

CPU_INLINE void result_block(const cpu_tile_run *run, int64_t tile, int64_t c, int64_t width) {
    float places[CPU_TILE_PLACES * CPU_TILE_WIDTH], pixels[PIXELS * CPU_TILE_WIDTH];
    place at;
    if (!place_of(run, tile, &at)) return;
    collect(run, tile, c, width, places);
    cpu_tile_transform(cpu_tile_result, CPU_TILE_IN, CPU_TILE_OUT, places, pixels, CPU_TILE_WIDTH, width);
    const int64_t rows = ebb_min_i64(CPU_TILE_OUT, run->h - at.h),
                  columns = ebb_min_i64(CPU_TILE_OUT, run->w - at.w);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++)
            memcpy(run->to + ((at.image * run->h + at.h + i) * run->w + at.w + j) * run->c_of + c,
                   pixels + (i * CPU_TILE_OUT + j) * CPU_TILE_WIDTH, (size_t)width * sizeof *pixels);
    }
}

CPU_VECTOR void cpu_tiles_to_results(const void *ctx, int64_t begin, int64_t end) {
    BY_BLOCKS(result_block)
}
