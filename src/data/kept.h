/* data/kept.h: decoded pictures, kept for later epochs. Private to data.
 *
 * A picture is kept whole, as its decoder made it, once for each of the scales (1 to 1/8) that crops ask
 * for: what a crop shows of it has the bits that decoding it again would give. The room is taken once, and
 * fills while the first epoch runs; what lies in it stays, for each picture is asked for as often as any
 * other. A picture that has no room left is decoded each time.
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
    _Atomic uint64_t *sides; /* [pictures] 0: unknown; of the picture as its file has it, and its format */
    _Atomic int64_t *at; /* [pictures * KEPT_SCALES] 0: nothing, 1: begun, else 2 + its place in the room */
} data_kept;

/* What a thread is filling. */
typedef struct data_keeping {
    uint8_t *rows; /* NULL: nothing */
    int64_t begin, bytes;
    _Atomic int64_t *at;
} data_keeping;

struct data_worker;

/* bytes: of tables and room together; 0: nothing will be kept. EBB_USAGE: the tables need more;
 * EBB_NO_MEMORY. */
EBB_CHECKED ebb_status data_kept_make(ebb_env *env, int64_t n_pictures, int64_t bytes, data_kept *out);
void data_kept_end(ebb_env *env, int64_t n_pictures, data_kept *kept);

/* The worker's scaled picture, from what is kept of it, as its place says; false: it is not there. */
bool data_kept_show(struct data_worker *worker, int64_t place);
/* Where the worker's picture goes, width * height pixels of its channels, 1/2^scale as wide as file_width;
 * NULL: it is not kept. Ended by data_kept_finish. */
uint8_t *data_kept_begin(struct data_worker *worker, bool jpeg, uint32_t file_width, uint32_t file_height,
                         uint32_t scale, uint32_t width, uint32_t height);
/* good: all pixels are there. Also where nothing was begun. */
void data_kept_finish(struct data_worker *worker, bool good);

#endif
