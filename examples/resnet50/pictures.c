/* pictures: data of the user's own, by ebb/data.h, and what a model calls its inputs and its logits. */
#include "resnet50.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names: resnet50.ebb's, or an ONNX file's ---- */

/* What stands between two words of the text, "" when they are not there or it is too long. */
static void find_between(const char *text, const char *before, const char *after, char out[NAME_BYTES]) {
    const char *at = strstr(text, before);
    out[0] = '\0';
    if (!at) return;
    at += strlen(before);
    const size_t n = strcspn(at, after);
    if (n >= NAME_BYTES) return;
    memcpy(out, at, n);
    out[n] = '\0';
}

ebb_status model_names(training *t) {
    names *of = &t->names;
    if (!t->onnx) {
        *of = (names){"x", "labels", "logits", "loss"};
        return EBB_OK;
    }
    /* A line each: "%NAME = input f32[N,...", "%LOSS = softmax_xent %LOGITS, %labels", "loss %LOSS". */
    const char *text = ebb_onnx_text(t->onnx, NULL), *input = strstr(text, " = input f32[");
    const char *line = input;
    while (line && line > text && line[-1] != '\n') line--;
    *of = (names){.labels = "labels"};
    if (line) find_between(line, "%", " ", of->x);
    find_between(text, " = softmax_xent %", ",", of->logits);
    find_between(text, "\nloss %", "\n", of->loss);
    if (of->x[0] != '\0' && of->logits[0] != '\0' && of->loss[0] != '\0') return EBB_OK;
    return training_fail(t, EBB_BAD_INPUT,
                         "%.300s classifies no pictures: its first output must be f32[N,K]",
                         t->config->model);
}

ebb_status model_open(training *t) {
    const char *path = t->config->model, *dot = strrchr(path, '.');
    if (!dot || strcmp(dot, ".onnx") != 0) return ebb_model_open(t->env, path, &t->model);
    const ebb_status status = ebb_onnx_open(t->env, path, NULL, &t->onnx);
    return status == EBB_OK ? ebb_onnx_model(t->onnx, &t->model) : status;
}

/* ---- data ---- */

bool is_digits(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, ".gz") == 0;
}

ebb_status pictures_open(training *t) {
    ebb_data_facts facts;
    pictures *p = &t->pictures;
    const ebb_status status = ebb_data_open(t->env, t->config->data, t->config->held_out, &p->set);
    if (status != EBB_OK) return status;
    ebb_data_look(p->set, &facts);
    p->n_train = facts.n_train;
    p->n_held_out = facts.n_held_out;
    p->n_classes = facts.n_classes;
    return EBB_OK;
}

static void tell_bad(void *ctx, const char *line) {
    (void)ctx;
    fprintf(stderr, "resnet50: passed over: ");
    for (; *line != '\0'; line++) fputc((unsigned char)*line < ' ' || *line == 0x7F ? '?' : *line, stderr);
    fputc('\n', stderr);
}

ebb_status pictures_begin(training *t) {
    pictures *p = &t->pictures;
    ebb_loader_options o;
    ebb_tensor_info x;
    ebb_status status = ebb_program_tensor(t->program, t->names.x, &x);
    if (status != EBB_OK) return status;
    if (x.rank != 4)
        return training_fail(t, EBB_BAD_INPUT, "%.300s: input %.60s has rank %u, and pictures have 4",
                             t->config->model, t->names.x, x.rank);
    ebb_loader_options_init(p->set, &o);
    o.batch = (uint32_t)t->config->batch;
    o.channels = (uint32_t)x.dim[1];
    o.height = (uint32_t)x.dim[2];
    o.width = (uint32_t)x.dim[3];
    o.element = x.element;
    o.seed = (uint64_t)t->config->seed;
    o.on_bad = tell_bad;
    p->labels = calloc((size_t)o.batch, sizeof *p->labels);
    if (!p->labels) return training_fail(t, EBB_NO_MEMORY, "no memory for labels");
    status = ebb_loader_create(t->env, p->set, &o, &p->train);
    o.part = EBB_DATA_HELD_OUT;
    if (status == EBB_OK && p->n_held_out > 0) status = ebb_loader_create(t->env, p->set, &o, &p->held_out);
    return status;
}

ebb_status pictures_feed(training *t, ebb_loader *loader, ebb_program *program, int64_t step, uint32_t *n) {
    pictures *p = &t->pictures;
    void *x = NULL;
    size_t bytes = 0;
    ebb_status status = ebb_input_bytes(program, t->names.x, &x, &bytes);
    if (status == EBB_OK) status = ebb_loader_batch(loader, step, x, bytes, p->labels, n);
    if (status == EBB_OK)
        status =
            ebb_feed(program, t->names.labels, p->labels, (size_t)t->config->batch * sizeof *p->labels);
    return status;
}

void pictures_close(training *t) {
    ebb_loader_destroy(t->pictures.train);
    ebb_loader_destroy(t->pictures.held_out);
    ebb_data_close(t->pictures.set);
    free(t->pictures.labels);
    t->pictures = (pictures){.set = NULL};
}
