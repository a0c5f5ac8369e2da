/* resnet50: an example of Ebb's public C interface: training ResNet-50 with no reuse of memory, in place,
 * or within a budget, to the same parameters.
 *
 *     main -> config (flags) -> training (engine, epochs, held-out accuracy) -> report
 *                                  digits (images)
 */
#ifndef RESNET50_H
#define RESNET50_H

#include <ebb/ebb.h>

#include "digits.h"

/* ---- config ---- */

typedef struct config {
    const char *model, *data, *device, *memory, *csv, *schedule, *precision;
    int64_t batch, image, epochs, steps, warmup, threads, seed, effort;
    double lr, momentum, weight_decay, shift;
    const char *budget;
    int64_t budget_bytes; /* -1: none, or a share */
    double budget_share;  /* of the in-place arena; < 0: none */
    bool synthetic, nesterov, json, each_epoch, help;
} config;

/* false: error holds one line. */
bool config_parse(config *out, int argc, char **argv, char *error, size_t error_size);
void config_help(void);

/* ---- training ---- */

typedef struct training {
    const config *config;
    ebb_env *env;
    const volatile int *stop;
    const digits *data; /* NULL: synthetic */
    ebb_model *model;
    ebb_engine *engine;
    ebb_program *program; /* of the full batch */
    ebb_program *rest;    /* of what an epoch leaves, or NULL */
    char error[1024];     /* "" when the env has it */
    /* What came of it. */
    int64_t n_steps, n_images, train_ns;
    double first_loss, last_loss;
    double accuracy;    /* of the held-out scans, or < 0 */
    int64_t peak_bytes; /* of the process when training ended; the held-out scans come after it */
} training;

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
