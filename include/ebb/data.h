/* ebb/data.h: reads labelled pictures for training, and prepares batches of them in threads.
 *
 *     ebb_data_open -> ebb_loader_create -> { ebb_loader_batch, ebb_step }* -> ebb_loader_destroy -> close
 *
 * A data set is a folder with a folder for each class (JPEG, PNG), or a file: records (docs/data.md), .npz
 * of NumPy, .csv or .csv.gz of grey values. A batch is decoded, cropped and scaled while the step before it
 * runs, and written directly into the input's own bytes on request.
 *
 * The pictures of a batch and their crops depend only on the seed and the step's number, never on the
 * number of threads, so a run resumed at a step continues with the same bytes. A picture that cannot be
 * read is reported once and counted, and another one, drawn the same way, takes its place.
 *
 * Files are not trusted: sizes, counts and dimensions are checked before they are used, against the limits
 * below.
 *
 * Threads: as ebb/base.h; a loader's threads touch no env. Ownership: an ebb_data must outlive its loaders.
 */
#ifndef EBB_DATA_H
#define EBB_DATA_H

#include "ebb/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- data sets ---- */

#define EBB_DATA_MAX_SIDE       16384                /* pixels of a picture, in each direction */
#define EBB_DATA_MAX_PIXELS     (INT64_C(1) << 26)   /* of a picture */
#define EBB_DATA_MAX_FILE_BYTES (INT64_C(64) << 20)  /* of a picture's file */
#define EBB_DATA_MAX_TABLE      (INT64_C(256) << 20) /* bytes of a .csv, inflated or not */
#define EBB_DATA_MAX_CLASSES    (1 << 20)

typedef struct ebb_data ebb_data;

/* path: a folder or a file. held_out: the share of each class, in [0, 1], that is reserved for evaluation;
 * in the order of names or records, picture i of a class is held out where floor((i + 1) * held_out) >
 * floor(i * held_out), so each class's share is rounded down; a warning is logged where that leaves none.
 * EBB_IO; EBB_BAD_INPUT: the data are malformed; the error says where; EBB_USAGE:
 * held_out is out of range; EBB_UNAVAILABLE: this build lacks the library that the format needs.
 * O(pictures). */
EBB_API EBB_CHECKED ebb_status ebb_data_open(ebb_env *env, const char *path, double held_out,
                                             ebb_data **out);
EBB_API void ebb_data_close(ebb_data *data); /* NULL is allowed */

#define EBB_DATA_HASH_TEXT 33
typedef struct ebb_data_facts {
    int64_t n, n_train, n_held_out;   /* pictures; n is the sum of the other two */
    int64_t n_ignored;                /* files in class folders that are hidden or have another suffix */
    uint32_t n_classes;               /* labels are less than this */
    uint32_t channels, height, width; /* of every record; 0 for a folder, whose pictures differ */
    char hash[EBB_DATA_HASH_TEXT];    /* of names, sizes, labels and the split; not of pixels */
} ebb_data_facts;
EBB_API void ebb_data_look(const ebb_data *data, ebb_data_facts *out);
/* The folder name of class i; NULL: there is no class i, or classes only have numbers. Borrowed. */
EBB_API const char *ebb_data_class(const ebb_data *data, uint32_t i);

/* The name of format i, such as "JPEG", in the order of docs/data.md; NULL past the last. *available:
 * whether this build reads it; *why: what to install if it does not, else NULL. Static. */
EBB_API const char *ebb_data_format_at(uint32_t i, bool *available, const char **why);

/* ---- batches ---- */

typedef enum ebb_data_part { EBB_DATA_TRAIN, EBB_DATA_HELD_OUT } ebb_data_part;

typedef struct ebb_loader_options {
    ebb_data_part part;
    uint32_t batch;                   /* pictures per batch, at most 2^20 */
    uint32_t channels, height, width; /* of the scaled pictures: 1 or 3; sides of at most 4096 */
    ebb_element element;              /* EBB_FLOAT32, _FLOAT64, _FLOAT16 or _BFLOAT16 */
    bool planes; /* n,c,h,w: for ebb_feed; else n,h,w,c: the bytes of ebb_input_bytes */
    uint64_t seed;
    /* TRAIN: the least share of a picture's area that a crop covers, in (0, 1]; its aspect ratio is 3/4 to
     * 4/3. HELD_OUT: the crop is the middle, 7/8 of the shorter side. 1: the whole picture in both. */
    double crop_least;
    bool flip;                   /* TRAIN: a picture is mirrored left to right with probability 1/2 */
    float mean[3], deviation[3]; /* element = (value / 255 - mean) / deviation */
    uint32_t n_threads;          /* at most 256; 0: the processors */
    /* Folders only: memory that keeps decoded pictures for later epochs; 0: none. It fills as pictures are
     * first read; a picture that does not fit is decoded each time. Changes no byte of a batch. */
    int64_t keep_decoded_bytes;
    bool strict; /* a picture that cannot be read ends the batch: EBB_BAD_INPUT */
    /* Called once for each picture that cannot be read, with one line without a newline, from within
     * ebb_loader_batch. May be NULL. */
    void (*on_bad)(void *ctx, const char *line);
    void *ctx;
} ebb_loader_options;

/* Sets the defaults for these data: a folder's pictures are cropped to 0.35 and flipped, records are
 * neither; means and deviations are ImageNet's for 3 channels (He et al. 2015) and 1/2 for 1. channels,
 * height and width are those of the records, or 3, 224 and 224; the batch is 32. */
EBB_API void ebb_loader_options_init(const ebb_data *data, ebb_loader_options *options);
/* Sets the channels, 1 or 3, with the matching mean and deviation. */
EBB_API void ebb_loader_options_channels(ebb_loader_options *options, uint32_t channels);

typedef struct ebb_loader ebb_loader;
/* Starts the loader's threads and copies the options. Allocates here, through the env, all memory that it
 * will ever use: a batch of bytes, the largest file and a few rows for each thread, and keep_decoded_bytes.
 * In addition, libjpeg and libspng allocate memory while they decode a picture: rows or, for a progressive
 * JPEG, up to 256 MiB per thread. EBB_USAGE: an option is out of range; EBB_BAD_INPUT: the part has no
 * pictures.
 */
EBB_API EBB_CHECKED ebb_status ebb_loader_create(ebb_env *env, const ebb_data *data,
                                                 const ebb_loader_options *options, ebb_loader **out);
EBB_API void ebb_loader_destroy(ebb_loader *loader); /* NULL is allowed */

/* Writes the batch of a step, counted from 0, to pictures (`bytes` must be the batch's size) and labels
 * (one per picture), and begins to prepare the next step's. *n: the number of valid pictures, all of them
 * in training. With HELD_OUT, step i begins at picture i * batch, *n is less where the pictures end or
 * cannot be read, and the rest is zeros. EBB_BAD_INPUT: with strict, a picture cannot be read; without it,
 * 64 draws in a row could not. EBB_NO_MEMORY. */
EBB_API EBB_CHECKED ebb_status ebb_loader_batch(ebb_loader *loader, int64_t step, void *pictures,
                                                size_t bytes, int32_t *labels, uint32_t *n);

typedef struct ebb_loader_facts {
    int64_t n_pictures;  /* prepared so far, including the batch ahead */
    int64_t n_from_kept; /* of these, taken from kept pictures without decoding */
    int64_t n_bad;       /* different pictures that could not be read */
    int64_t busy_ns;     /* processor time of the threads together */
    int64_t wait_ns;     /* time that ebb_loader_batch waited for pictures, the first batch excepted */
    int64_t kept_bytes;  /* the part of keep_decoded_bytes that holds pictures */
    uint32_t n_threads;
} ebb_loader_facts;
EBB_API void ebb_loader_look(ebb_loader *loader, ebb_loader_facts *out);

#ifdef __cplusplus
}
#endif
#endif
