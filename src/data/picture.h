/* data/picture.h: one picture becomes the input's bytes, by a worker's own memory. Private to data. */
#ifndef EBB_DATA_PICTURE_H
#define EBB_DATA_PICTURE_H

#include "data/kept.h"
#include "data/scale.h"

typedef enum data_verdict { DATA_GOOD, DATA_BAD, DATA_NO_MEMORY } data_verdict;

/* What a thread decodes with. It uses no env: all is there before it begins. */
typedef struct data_worker {
    const ebb_data *data;
    const ebb_loader_options *options;
    data_scale scale;
    uint8_t *file; /* [file_room] what a file or a record holds */
    int64_t file_room, n_file;
    uint8_t *row;    /* one of any picture, 4 bytes a pixel */
    data_kept *kept; /* of all workers */
    data_keeping keeping;
    int64_t index; /* of the picture that it reads */
    bool shown;    /* it was kept: nothing was decoded */
    char why[200]; /* of DATA_BAD */
} data_worker;

EBB_CHECKED ebb_status data_worker_make(ebb_arena *arena, const ebb_data *data,
                                        const ebb_loader_options *options, data_kept *kept,
                                        data_worker *out);
/* Picture `index`, cropped as its place in the row of all batches says. DATA_BAD: why. */
data_verdict data_picture_read(data_worker *worker, int64_t index, int64_t place, uint8_t *out);

/* ---- for the formats: what they decode is worker->file ---- */

EBB_PRINTF(2, 3) data_verdict data_picture_bad(data_worker *worker, const char *format, ...);
/* Sides within the limits, told in one place. */
data_verdict data_picture_check(data_worker *worker, int64_t width, int64_t height);
/* A JPEG is decoded at 1/2^scale, as small as the box keeps the output's size: the scale; the box becomes
 * that of what is decoded. */
uint32_t data_picture_scale(const ebb_loader_options *options, data_box *box);
/* DATA_BAD as well where the build lacks the library. */
data_verdict data_jpeg_read(data_worker *worker, int64_t place);
data_verdict data_png_read(data_worker *worker, int64_t place);
/* A row of three channels becomes one of the input's. */
void data_picture_row(data_worker *worker, uint32_t y, uint8_t *rgb, uint32_t width);

#endif
