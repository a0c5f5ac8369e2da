/* ebb/data.h: pictures with labels for training, and batches of them that threads make ready.
 *
 *     ebb_data_open -> ebb_loader_create -> { ebb_loader_batch, ebb_step }* -> ebb_loader_destroy -> close
 *
 * A data set is a folder with a folder for each class (JPEG, PNG), or a file: records (docs/data.md), .npz
 * of NumPy, .csv or .csv.gz of grey values. A batch is decoded, cropped and scaled while the step before it
 * runs, and written straight into the input's own bytes when it is asked for.
 *
 * Which pictures a batch has, and how each is cropped, follows from the seed and the step's number alone,
 * whatever the number of threads: a run that is resumed at a step goes on with the same bytes. A picture
 * that cannot be read is named once and counted, and another one, drawn the same way, takes its place.
 *
 * Nothing in a file is believed: sizes, counts and dimensions are checked before they are used; the limits
 * are below.
 *
 * Threads: as ebb/base.h; those of a loader touch no env. Ownership: data outlive their loaders.
 */
#ifndef EBB_DATA_H
#define EBB_DATA_H

#include "ebb/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- data sets ---- */

#define EBB_DATA_MAX_SIDE       16384                /* pixels of a picture, each way */
#define EBB_DATA_MAX_PIXELS     (INT64_C(1) << 26)   /* of a picture */
#define EBB_DATA_MAX_FILE_BYTES (INT64_C(64) << 20)  /* of a picture's file */
#define EBB_DATA_MAX_TABLE      (INT64_C(256) << 20) /* bytes of a .csv, inflated or not */
#define EBB_DATA_MAX_CLASSES    (1 << 20)

typedef struct ebb_data ebb_data;

/* path: a folder or a file. held_out, from 0 to 1: this share of each class is for evaluation alone, 1: all
 * of it; in the order of names or records, number i of a class is held out where the whole part of
 * (i + 1) * held_out is above that of i * held_out. EBB_IO; EBB_BAD_INPUT: what is wrong with it, and
 * where; EBB_USAGE: the share; EBB_UNAVAILABLE: this build lacks the library that the format needs.
 * O(pictures). */
EBB_API EBB_CHECKED ebb_status ebb_data_open(ebb_env *env, const char *path, double held_out,
                                             ebb_data **out);
EBB_API void ebb_data_close(ebb_data *data); /* NULL is allowed */

#define EBB_DATA_HASH_TEXT 33
typedef struct ebb_data_facts {
    int64_t n, n_train, n_held_out;   /* pictures; n is the sum of the two */
    int64_t n_ignored;                /* other files of a folder's classes: of another suffix, or hidden */
    uint32_t n_classes;               /* labels are below it */
    uint32_t channels, height, width; /* of every record; 0: a folder's pictures, which differ */
    char hash[EBB_DATA_HASH_TEXT];    /* of names, sizes, labels and the split; not of pixels */
} ebb_data_facts;
EBB_API void ebb_data_look(const ebb_data *data, ebb_data_facts *out);
/* A class's folder; NULL: i is no class, or classes have numbers alone. Borrowed. */
EBB_API const char *ebb_data_class(const ebb_data *data, uint32_t i);

/* Formats in the order of docs/data.md, NULL behind the last: "JPEG", whether this build reads it, and if
 * not, what to install (else NULL). Static. */
EBB_API const char *ebb_data_format_at(uint32_t i, bool *available, const char **why);

/* ---- batches ---- */

typedef enum ebb_data_part { EBB_DATA_TRAIN, EBB_DATA_HELD_OUT } ebb_data_part;

typedef struct ebb_loader_options {
    ebb_data_part part;
    uint32_t batch;                   /* pictures of one, at most 2^20 */
    uint32_t channels, height, width; /* that they are scaled to: 1 or 3; sides of at most 4096 */
    ebb_element element;              /* EBB_FLOAT32, _FLOAT64, _FLOAT16 or _BFLOAT16 */
    bool planes; /* n,c,h,w: for ebb_feed; else n,h,w,c: the bytes of ebb_input_bytes */
    uint64_t seed;
    /* TRAIN: a crop has at least this share of a picture's area, in (0, 1], and a ratio of sides of 3/4 to
     * 4/3; HELD_OUT: the middle, 7/8 of the shorter side. 1: no crop in either, the whole picture. */
    double crop_least;
    bool flip;                   /* TRAIN: every other picture, as drawn, is mirrored left to right */
    float mean[3], deviation[3]; /* element = (value / 255 - mean) / deviation */
    uint32_t n_threads;          /* at most 256; 0: the processors */
    /* Of a folder: decoded pictures are kept in so many bytes, for later epochs; 0: none are. They fill as
     * pictures are first read; a picture that has no room left is decoded each time. Changes no byte of a
     * batch. */
    int64_t keep_decoded_bytes;
    bool strict; /* a picture that cannot be read ends the batch: EBB_BAD_INPUT */
    /* Told of each picture that cannot be read, once: one line without a newline, from within
     * ebb_loader_batch. May be NULL. */
    void (*on_bad)(void *ctx, const char *line);
    void *ctx;
} ebb_loader_options;

/* For these data: a folder's are cropped to 0.35 and flipped, records neither; means and deviations are
 * ImageNet's for 3 channels (He et al. 2015) and 1/2 for 1. channels, height and width are those of the
 * records, or 3, 224 and 224; the batch is 32. */
EBB_API void ebb_loader_options_init(const ebb_data *data, ebb_loader_options *options);
/* Other channels, 1 or 3, with the mean and the deviation that go with them. */
EBB_API void ebb_loader_options_channels(ebb_loader_options *options, uint32_t channels);

typedef struct ebb_loader ebb_loader;
/* Starts its threads, and copies the options. Takes all memory that it will ever use through the env: a
 * batch of bytes, for each thread the largest file and a few rows, and keep_decoded_bytes. Beside these,
 * libjpeg and libspng take memory of their own while a picture is decoded: rows, or, of a progressive JPEG,
 * up to 256 MiB a thread. EBB_USAGE: an option is out of its range; EBB_BAD_INPUT: the part has no picture.
 */
EBB_API EBB_CHECKED ebb_status ebb_loader_create(ebb_env *env, const ebb_data *data,
                                                 const ebb_loader_options *options, ebb_loader **out);
EBB_API void ebb_loader_destroy(ebb_loader *loader); /* NULL is allowed */

/* Fills the pictures' bytes, which must be the batch's, and as many labels, with the batch of a step,
 * counted from 0, and begins with the next step's. *n: pictures that count: all of them in training. Of
 * HELD_OUT: step i has those from i * batch on, *n less where they end or cannot be read; the rest is
 * zeros. EBB_BAD_INPUT: with strict, the first that cannot be read; without, 64 draws in a row could not.
 * EBB_NO_MEMORY. */
EBB_API EBB_CHECKED ebb_status ebb_loader_batch(ebb_loader *loader, int64_t step, void *pictures,
                                                size_t bytes, int32_t *labels, uint32_t *n);

typedef struct ebb_loader_facts {
    int64_t n_pictures;  /* made ready so far, those of the batch ahead included */
    int64_t n_from_kept; /* of these, from what was kept of them, without decoding */
    int64_t n_bad;       /* different pictures that could not be read */
    int64_t busy_ns;     /* processor time of the threads together */
    int64_t wait_ns;     /* that ebb_loader_batch waited for pictures, the first batch apart */
    int64_t kept_bytes;  /* of keep_decoded_bytes, that hold pictures */
    uint32_t n_threads;
} ebb_loader_facts;
EBB_API void ebb_loader_look(ebb_loader *loader, ebb_loader_facts *out);

#ifdef __cplusplus
}
#endif
#endif
