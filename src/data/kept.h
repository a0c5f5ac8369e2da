/* data/kept.h: keeps decoded pictures for later epochs. Private to data.
 *
 * A picture is kept whole, as decoded, once for each scale (1 to 1/8) that crops use, so a crop has the
 * same bits as after decoding again. The room is allocated once and fills during the first epoch; nothing
 * is evicted, because all pictures are used equally often. A picture that does not fit is decoded each
 * time.
 */
#ifndef EBB_DATA_KEPT_H
#define EBB_DATA_KEPT_H

#include <stdatomic.h>

#include "data/data.h"

enum { KEPT_SCALES = 4 };

typedef struct data_kept {
    uint8_t *room;
    int64_t room_bytes;
    _Atomic int64_t used_bytes;
    _Atomic uint64_t *sides; /* [pictures] the picture's sides in its file, and its format; 0: unknown */
    _Atomic int64_t *at; /* [pictures * KEPT_SCALES] 0: nothing, 1: begun, else 2 + its place in the room */
} data_kept;

/* The entry that a thread is filling. */
typedef struct data_keeping {
    uint8_t *rows; /* NULL: nothing */
    int64_t begin, bytes;
    _Atomic int64_t *at;
} data_keeping;

struct data_worker;

/* bytes: for tables and room together; 0: nothing is kept. EBB_USAGE: the tables need more;
 * EBB_NO_MEMORY. */
EBB_CHECKED ebb_status data_kept_make(ebb_env *env, int64_t n_pictures, int64_t bytes, data_kept *out);
void data_kept_end(ebb_env *env, int64_t n_pictures, data_kept *kept);

/* Makes the worker's scaled picture for its place from a kept one; false: it is not kept. */
bool data_kept_show(struct data_worker *worker, int64_t place);
/* Returns the room for the worker's picture, width * height pixels of its channels, 1/2^scale as wide as
 * file_width; NULL: it will not be kept. Must be followed by data_kept_finish. */
uint8_t *data_kept_begin(struct data_worker *worker, bool jpeg, uint32_t file_width, uint32_t file_height,
                         uint32_t scale, uint32_t width, uint32_t height);
/* good: all pixels are written. May be called when nothing was begun. */
void data_kept_finish(struct data_worker *worker, bool good);

#endif
