/* data: reads labelled pictures from folders and files (ebb/data.h): draws, decodes, crops and scales them
 * in its own threads, and delivers batches. It knows no model and no engine.
 *
 *     open      folder | records | npz (zip) | table -> pictures, their labels, the split
 *     draw      seed, step, place in the batch -> which picture, which crop
 *     picture   jpeg | png | record -> rows -> scale -> bytes h,w,c
 *     loader    threads -> a batch of bytes -> fill -> the input's elements
 *
 * Private to the room: others include ebb/data.h.
 */
#ifndef EBB_DATA_ROOM_H
#define EBB_DATA_ROOM_H

#include "base/base.h"
#include "ebb/data.h"

/* ---- a data set ---- */

typedef struct data_file {
    const char *name; /* below the folder: "cats/a.jpg" */
    int64_t bytes;    /* when the folder was read */
} data_file;

struct ebb_data {
    ebb_env *env;
    ebb_arena arena;
    const char *path;
    int64_t n, n_ignored;
    uint32_t n_classes;
    uint32_t channels, height, width; /* of records; 0: files */
    const char **classes;             /* names, or NULL */
    uint32_t *labels;                 /* [n] */
    data_file *files;                 /* [n], or NULL: records */
    int64_t most_bytes;               /* of a file */
    int fd;                           /* has the records from `at` on; or -1 */
    int64_t at;
    const uint8_t *records; /* in memory; or NULL */
    void *held;             /* memory of the records */
    size_t held_bytes;
    uint32_t *parts[2]; /* pictures of EBB_DATA_TRAIN and EBB_DATA_HELD_OUT */
    int64_t n_parts[2];
    char hash[EBB_DATA_HASH_TEXT];
};

/* Each fills in its data except parts and hash. EBB_IO, EBB_BAD_INPUT, EBB_UNAVAILABLE, EBB_NO_MEMORY. */
EBB_CHECKED ebb_status data_open_folder(ebb_data *data);
EBB_CHECKED ebb_status data_open_records(ebb_data *data);
EBB_CHECKED ebb_status data_open_npz(ebb_data *data);
EBB_CHECKED ebb_status data_open_table(ebb_data *data);

/* Bytes of a record: channels * height * width. */
static inline int64_t data_record_bytes(const ebb_data *data) {
    return (int64_t)data->channels * data->height * data->width;
}
/* Checks that sides, channels and classes are within the limits, and that there is a record; what:
 * "records", for the error. */
EBB_CHECKED ebb_status data_check_shape(const ebb_data *data, const char *what);
/* Checks that each label is below n_classes. */
EBB_CHECKED ebb_status data_check_labels(const ebb_data *data);
/* Opens a regular file for reading, without blocking on other kinds of files. EBB_IO. */
EBB_CHECKED ebb_status data_open_file(ebb_env *env, const char *path, int *fd, int64_t *bytes);
/* Reads n bytes from `at` on. EBB_IO; EBB_BAD_INPUT: the file has become shorter. */
EBB_CHECKED ebb_status data_read(const ebb_data *data, int fd, int64_t at, int64_t n, void *to);

/* ---- inflating, by zlib ---- */

/* Inflates n bytes of from to exactly n_to. raw: as in .zip; else gzip's members. EBB_BAD_INPUT: it is
 * damaged or has another size; the error calls it `what`; EBB_UNAVAILABLE: built without zlib. */
EBB_CHECKED ebb_status data_inflate(ebb_arena *arena, const char *what, const uint8_t *from, size_t n,
                                    bool raw, uint8_t *to, size_t n_to);
/* Finds the inflated size of gzip's members, by inflating them. EBB_BAD_INPUT: damaged, or more than
 * `most`. */
EBB_CHECKED ebb_status data_inflated_bytes(ebb_arena *arena, const char *what, const uint8_t *from,
                                           size_t n, size_t most, size_t *n_to);
/* zlib's CRC-32. */
uint32_t data_crc(const uint8_t *bytes, size_t n);
EBB_CHECKED ebb_status data_need_zlib(ebb_env *env, const char *path);

/* ---- a member of a .zip file ---- */

/* A member that was read; held owns its memory. */
typedef struct data_member {
    uint8_t *held;
    size_t n;
} data_member;
EBB_CHECKED ebb_status data_zip_read(const ebb_data *data, int fd, int64_t file_bytes,
                                     const char *const *names, data_member *out);

/* ---- draws: pure functions of seed and place ---- */

/* The picture at a place in the endless sequence of epochs over n. */
int64_t data_draw_index(uint64_t seed, int64_t place, int64_t n);
/* A replacement, after the attempt-th picture there (from 1) could not be read. */
int64_t data_draw_other(uint64_t seed, int64_t place, uint32_t attempt, int64_t n);

/* The crop of a picture, in pixels. */
typedef struct data_box {
    double x, y, width, height;
} data_box;
/* Draws the crop, and the flip, of a picture of these sides, as the options say. */
data_box data_draw_box(const ebb_loader_options *options, int64_t place, uint32_t width, uint32_t height);
bool data_draw_flip(const ebb_loader_options *options, int64_t place);

#endif
