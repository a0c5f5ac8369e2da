/* data/scale.h: scales a box of a picture to the input's size, row by row. Private to data.
 *
 * Each output is the mean of the pixels around its place, weighted by a triangle that reaches one output's
 * width to either side, or one pixel's if that is more: bilinear when a picture grows, free of aliases when
 * it shrinks. Memory is that of the output's sums, however large the picture is.
 */
#ifndef EBB_DATA_SCALE_H
#define EBB_DATA_SCALE_H

#include "data/data.h"

/* Weights of the pixels from first on, n of them, for one output. */
typedef struct data_window {
    int32_t first, n;
    const float *weight;
} data_window;

typedef struct data_scale {
    uint32_t channels, width, height; /* of the output */
    data_window *across, *down;       /* [width], [height] */
    float *weights;                   /* of both */
    size_t n_weights;
    float *pixels; /* [side * channels] of the current row, those that outputs depend on */
    float *row;    /* [width * channels + 1] */
    float *sums;   /* [height * width * channels] */
    bool *begun;   /* [height] which sums have been started */
} data_scale;

/* Allocates room for pictures of at most EBB_DATA_MAX_SIDE. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status data_scale_make(ebb_arena *arena, const ebb_loader_options *options,
                                       data_scale *out);
/* Begins a picture of these sides and its box; flip: mirrored. */
void data_scale_begin(data_scale *scale, uint32_t width, uint32_t height, const data_box *box, bool flip);
/* The pixels of a row that outputs depend on: [first, end). */
void data_scale_columns(const data_scale *scale, uint32_t *first, uint32_t *end);
/* Whether an output depends on row y. */
bool data_scale_wants(const data_scale *scale, uint32_t y);
/* Adds row y, channels bytes per pixel; rows may come in any order, and in parts whose other pixels are 0.
 * Pixels that no output depends on are not read. */
void data_scale_row(data_scale *scale, uint32_t y, const uint8_t *pixels);
/* Writes the output's bytes, h,w,c. */
void data_scale_end(const data_scale *scale, uint8_t *out);

#endif
