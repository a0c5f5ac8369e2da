/* held_out: accuracy on what is held out, by programs that read the parameters of training as they lie. */
#include "resnet50.h"

#include <stdlib.h>

typedef struct evaluation {
    training *t;
    float *logits;
    uint32_t n_classes;
    int64_t n, n_right;
} evaluation;

static bool is_right(const float *logits, uint32_t n_classes, int32_t label) {
    uint32_t best = 0;
    for (uint32_t k = 1; k < n_classes; k++) {
        if (logits[k] > logits[best]) best = k;
    }
    return (int32_t)best == label;
}

/* A program for batches of n: the full ones, or the rest. */
static ebb_status compile(evaluation *e, int64_t n, bool rest, ebb_program **out) {
    training *t = e->t;
    const char *fetch = t->names.logits;
    ebb_dim_binding dims[TRAINING_DIMS];
    ebb_tensor_info info;
    ebb_status status =
        ebb_compile_evaluation(t->engine, dims, training_dims(t, n, dims), &fetch, 1, &t->evaluation[rest]);
    *out = t->evaluation[rest];
    if (status == EBB_OK) status = ebb_program_tensor(*out, fetch, &info);
    if (status != EBB_OK || e->logits) return status;
    if (info.rank != 2 || info.element != EBB_FLOAT32)
        return training_fail(t, EBB_BAD_INPUT, "%.300s: %.60s is not f32[N,K]", t->config->model, fetch);
    e->n_classes = (uint32_t)info.dim[1];
    e->logits = malloc((size_t)info.bytes);
    return e->logits ? EBB_OK : training_fail(t, EBB_NO_MEMORY, "no memory for logits");
}

/* Runs the fed batch, and counts its first n. */
static ebb_status count(evaluation *e, ebb_program *program, const int32_t *labels, uint32_t n) {
    ebb_tensor_info info;
    ebb_status status = ebb_step(program);
    if (status == EBB_OK) status = ebb_program_tensor(program, e->t->names.logits, &info);
    if (status == EBB_OK) status = ebb_fetch(program, info.name, e->logits, (size_t)info.bytes);
    for (uint32_t i = 0; i < n && status == EBB_OK; i++) {
        e->n_right += is_right(e->logits + (size_t)i * e->n_classes, e->n_classes, labels[i]);
        e->n++;
    }
    return status;
}

static ebb_status count_digits(evaluation *e, const uint32_t *scans, uint32_t n, bool rest) {
    const training *t = e->t;
    const uint32_t side = (uint32_t)t->config->image;
    ebb_program *program;
    void *x = NULL, *labels = NULL;
    size_t bytes = 0;
    ebb_status status = compile(e, n, rest, &program);
    if (status == EBB_OK) status = ebb_input_bytes(program, t->names.x, &x, &bytes);
    if (status == EBB_OK) status = ebb_input_bytes(program, t->names.labels, &labels, &bytes);
    int32_t *truth = status == EBB_OK ? malloc(n * sizeof *truth) : NULL;
    if (status == EBB_OK && !truth) return training_fail(e->t, EBB_NO_MEMORY, "no memory for labels");
    for (uint32_t i = 0; i < n && status == EBB_OK; i++) {
        digits_image(t->data, scans[i], side, 0, 0, (float *)x + (size_t)i * side * side * 3);
        truth[i] = ((int32_t *)labels)[i] = t->data->label[scans[i]];
    }
    if (status == EBB_OK) status = count(e, program, truth, n);
    free(truth);
    return status;
}

static ebb_status run_digits(evaluation *e) {
    const digits *data = e->t->data;
    const uint32_t batch = (uint32_t)e->t->config->batch;
    ebb_status status = EBB_OK;
    for (uint32_t at = 0; at < data->n_held_out && status == EBB_OK; at += batch) {
        const uint32_t left = data->n_held_out - at;
        status = count_digits(e, data->held_out + at, left < batch ? left : batch, left < batch);
    }
    return status;
}

static ebb_status run_pictures(evaluation *e) {
    training *t = e->t;
    const int64_t batch = t->config->batch;
    ebb_program *program;
    uint32_t n = 0;
    ebb_status status = compile(e, batch, false, &program);
    for (int64_t i = 0; i * batch < t->pictures.n_held_out && status == EBB_OK; i++) {
        status = pictures_feed(t, t->pictures.held_out, program, i, &n);
        if (status == EBB_OK) status = count(e, program, t->pictures.labels, n);
    }
    return status;
}

ebb_status held_out_accuracy(training *t, double *out) {
    evaluation e = {.t = t};
    const ebb_status status = t->data ? run_digits(&e) : run_pictures(&e);
    free(e.logits);
    *out = e.n > 0 ? (double)e.n_right / (double)e.n : -1;
    return status;
}
