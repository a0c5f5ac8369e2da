/* held_out: accuracy on the held-out scans. An engine has one set of options, so evaluation is a second
 * engine, which takes the parameters by name. */
#include "resnet50.h"

#include <stdlib.h>

enum { BATCH = 60 };

typedef struct evaluation {
    training *t;
    ebb_engine *engine;
    uint32_t n_right;
} evaluation;

static ebb_status copy_params(evaluation *e, ebb_program *to) {
    uint32_t n = ebb_program_n_params(to);
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; i < n && status == EBB_OK; i++) {
        ebb_tensor_info info;
        status = ebb_program_param(to, i, &info);
        if (status != EBB_OK) return status;
        void *bytes = malloc((size_t)info.bytes);
        if (!bytes) return training_fail(e->t, EBB_NO_MEMORY, "no memory for a copy of %s", info.name);
        status = ebb_fetch(e->t->program, info.name, bytes, (size_t)info.bytes);
        if (status == EBB_OK) status = ebb_feed(to, info.name, bytes, (size_t)info.bytes);
        free(bytes);
    }
    return status;
}

static int32_t best_class(const float *logits) {
    int32_t best = 0;
    for (int32_t k = 1; k < DIGITS_CLASSES; k++) {
        if (logits[k] > logits[best]) best = k;
    }
    return best;
}

static ebb_status run_batch(evaluation *e, ebb_program *program, const uint32_t *scans, size_t n) {
    const training *t = e->t;
    uint32_t side = (uint32_t)t->config->image;
    float logits[BATCH][DIGITS_CLASSES];
    void *x = NULL, *labels = NULL;
    size_t bytes = 0;
    ebb_status status = ebb_input_bytes(program, "x", &x, &bytes);
    if (status == EBB_OK) status = ebb_input_bytes(program, "labels", &labels, &bytes);
    if (status != EBB_OK) return status;
    for (size_t i = 0; i < n; i++) {
        digits_image(t->data, scans[i], side, 0, 0, (float *)x + i * side * side * 3);
        ((int32_t *)labels)[i] = t->data->label[scans[i]];
    }
    status = ebb_step(program);
    if (status == EBB_OK) status = ebb_fetch(program, "logits", logits, n * sizeof logits[0]);
    if (status != EBB_OK) return status;
    for (size_t i = 0; i < n; i++) e->n_right += best_class(logits[i]) == t->data->label[scans[i]];
    return EBB_OK;
}

static ebb_status run_all(evaluation *e) {
    const digits *data = e->t->data;
    ebb_status status = EBB_OK;
    for (uint32_t at = 0; at < data->n_held_out && status == EBB_OK; at += BATCH) {
        uint32_t rest = data->n_held_out - at, n = rest < BATCH ? rest : BATCH;
        ebb_dim_binding dims[] = {{"N", n}, {"H", e->t->config->image}, {"K", DIGITS_CLASSES}};
        ebb_program *program = NULL;
        status = ebb_compile(e->engine, dims, 3, &program);
        if (status == EBB_OK && at == 0) status = copy_params(e, program);
        if (status == EBB_OK) status = run_batch(e, program, data->held_out + at, n);
    }
    return status;
}

ebb_status held_out_accuracy(training *t, double *out) {
    evaluation e = {.t = t};
    ebb_options options;
    ebb_options_init(&options);
    options.device = t->config->device;
    options.n_threads = t->config->threads > 0 ? (uint32_t)t->config->threads : 0;
    options.evaluate = true;
    ebb_status status = ebb_engine_create(t->env, t->model, &options, &e.engine);
    if (status != EBB_OK) return status;
    status = run_all(&e);
    ebb_engine_destroy(e.engine);
    *out = (double)e.n_right / (double)t->data->n_held_out;
    return status;
}
