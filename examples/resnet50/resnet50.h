/* resnet50: an example of Ebb's public C interface: training ResNet-50 with no reuse of memory, in place,
 * or within a budget, to the same parameters; on digits, or on pictures and a model of your own.
 *
 *     main -> config (flags) -> training (engine, epochs, held-out accuracy) -> report
 *                                  digits (images), or pictures (ebb/data.h)
 */
#ifndef RESNET50_H
#define RESNET50_H

#include <ebb/ebb.h>

#include "digits.h"

/* ---- config ---- */

typedef struct config {
    const char *model, *data, *device, *memory, *csv, *schedule, *precision;
    int64_t batch, image, epochs, steps, warmup, threads, seed, effort;
    double lr, momentum, weight_decay, shift, held_out;
    const char *budget;
    int64_t budget_bytes; /* -1: none, or a share */
    double budget_share;  /* of the in-place arena; < 0: none */
    bool pictures;        /* the data are neither digits nor synthetic */
    bool synthetic, nesterov, json, each_epoch, help;
} config;

/* false: error holds one line. */
bool config_parse(config *out, int argc, char **argv, char *error, size_t error_size);
void config_help(void);

/* ---- pictures and models of the user's own ---- */

enum { NAME_BYTES = 128 };

/* Of the model's inputs, of what its loss reads, and of the loss. */
typedef struct names {
    char x[NAME_BYTES], labels[NAME_BYTES], logits[NAME_BYTES], loss[NAME_BYTES];
} names;

typedef struct pictures {
    ebb_data *set; /* NULL: digits, or synthetic */
    ebb_loader *train, *held_out;
    int64_t n_train, n_held_out;
    uint32_t n_classes;
    int32_t *labels; /* of a batch */
} pictures;

typedef struct training training;

/* Is this the path of the digits' table? */
bool is_digits(const char *path);
/* The model of a text or of an ONNX file; and what it calls things. */
ebb_status model_open(training *t);
ebb_status model_names(training *t);
/* The data; then, once the program is compiled, their threads. */
ebb_status pictures_open(training *t);
ebb_status pictures_begin(training *t);
/* A batch into the program's inputs; *n: pictures of it that count. */
ebb_status pictures_feed(training *t, ebb_loader *loader, ebb_program *program, int64_t step, uint32_t *n);
void pictures_close(training *t);

/* ---- training ---- */

struct training {
    const config *config;
    ebb_env *env;
    const volatile int *stop;
    const digits *data; /* NULL: synthetic, or pictures */
    pictures pictures;
    names names;
    ebb_onnx *onnx; /* of the model, or NULL */
    ebb_model *model;
    ebb_engine *engine;
    ebb_program *program;       /* of the full batch */
    ebb_program *rest;          /* of what an epoch of digits leaves, or NULL */
    ebb_program *evaluation[2]; /* of the held-out ones: full batches, and the rest; or NULL */
    char error[1024];           /* "" when the env has it */
    /* What came of it. */
    int64_t n_steps, n_images, train_ns;
    double first_loss, last_loss;
    double accuracy;    /* of what is held out, or < 0 */
    int64_t peak_bytes; /* of the process when training ended; the held-out scans come after it */
};

enum { TRAINING_DIMS = 3 };
/* The dims of a batch of n; their number. */
uint32_t training_dims(const training *t, int64_t n, ebb_dim_binding dims[TRAINING_DIMS]);
/* Plans and compiles. */
ebb_status training_open(training *t);
/* All epochs, then the held-out accuracy. Losses go to csv, when not NULL. */
ebb_status training_run(training *t, void *csv_file);
void training_close(training *t);
EBB_PRINTF(3, 4) ebb_status training_fail(training *t, ebb_status status, const char *format, ...);

/* ---- held-out accuracy ---- */

ebb_status held_out_accuracy(training *t, double *out);

/* ---- report ---- */

/* SHA-256 over the bytes of every param and state, in the model's order and logical layout, in hex. */
ebb_status report_digest(training *t, char out[65]);
ebb_status report_print(training *t);
/* High-water mark of the process's resident memory so far, -1 when it is not known. */
int64_t report_process_peak_bytes(void);

#endif
