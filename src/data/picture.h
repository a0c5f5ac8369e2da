/* data/picture.h: turns one picture into the input's bytes, in a worker's own memory. Private to data. */
#ifndef EBB_DATA_PICTURE_H
#define EBB_DATA_PICTURE_H

#include "data/kept.h"
#include "data/scale.h"

typedef enum data_verdict { DATA_GOOD, DATA_BAD, DATA_NO_MEMORY } data_verdict;

/* The memory and state of a decoding thread. It uses no env: everything is allocated before it begins. */
typedef struct data_worker {
    const ebb_data *data;
    const ebb_loader_options *options;
    data_scale scale;
    uint8_t *file; /* [file_room] the content of a file or a record */
    int64_t file_room, n_file;
    uint8_t *row;    /* one row of any picture, 4 bytes per pixel */
    data_kept *kept; /* of all workers */
    data_keeping keeping;
    int64_t index; /* of the current picture */
    bool shown;    /* it was kept and needed no decoding */
    char why[200]; /* of DATA_BAD */
} data_worker;

EBB_CHECKED ebb_status data_worker_make(ebb_arena *arena, const ebb_data *data,
                                        const ebb_loader_options *options, data_kept *kept,
                                        data_worker *out);
/* Reads picture `index`, cropped for its place in the sequence of all batches. DATA_BAD: worker->why has
 * the reason. */
data_verdict data_picture_read(data_worker *worker, int64_t index, int64_t place, uint8_t *out);

/* ---- for the formats, which decode worker->file ---- */

EBB_PRINTF(2, 3) data_verdict data_picture_bad(data_worker *worker, const char *format, ...);
/* Checks that the sides are within the limits. */
data_verdict data_picture_check(data_worker *worker, int64_t width, int64_t height);
/* The scale of a JPEG, which is decoded at 1/2^scale: the largest that keeps the box at least as large as
 * the output. Converts the box to the decoded size. */
uint32_t data_picture_scale(const ebb_loader_options *options, data_box *box);
/* DATA_BAD also if the build lacks the library. */
data_verdict data_jpeg_read(data_worker *worker, int64_t place);
data_verdict data_png_read(data_worker *worker, int64_t place);
/* Adds a row of three channels to the scaled picture, converted to the input's channels. */
void data_picture_row(data_worker *worker, uint32_t y, uint8_t *rgb, uint32_t width);

#endif
