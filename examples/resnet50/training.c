/* training: one engine; a program for the full batch and one for the rest that an epoch leaves. */
#include "resnet50.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PI 3.14159265358979323846

enum { SYNTHETIC_CLASSES = 1000 };

ebb_status training_fail(training *t, ebb_status status, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(t->error, sizeof t->error, format, list);
    va_end(list);
    return status;
}

/* SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): number `at` of stream `key`. */
static uint64_t draw(uint64_t key, uint64_t at) {
    uint64_t z = key * UINT64_C(0xD1342543DE82EF95) + (at + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static double draw_unit(uint64_t key, uint64_t at) {
    return (double)(draw(key, at) >> 11) * 0x1p-53;
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- plan and compile ---- */

/* An ONNX file's sizes are its own, but for the batch. */
uint32_t training_dims(const training *t, int64_t n, ebb_dim_binding dims[TRAINING_DIMS]) {
    const config *c = t->config;
    const int64_t n_classes = c->synthetic  ? SYNTHETIC_CLASSES
                              : c->pictures ? t->pictures.n_classes
                                            : DIGITS_CLASSES;
    dims[0] = (ebb_dim_binding){"N", n};
    dims[1] = (ebb_dim_binding){"H", c->image};
    dims[2] = (ebb_dim_binding){"K", n_classes};
    return t->onnx ? 1 : TRAINING_DIMS;
}

static ebb_status compile(training *t, int64_t n, ebb_program **out) {
    ebb_dim_binding dims[TRAINING_DIMS];
    return ebb_compile(t->engine, dims, training_dims(t, n, dims), out);
}

/* A share of the in-place arena as bytes in all: what stays for good comes on top. */
static ebb_status budget_of_share(training *t, const ebb_options *options, int64_t *out) {
    const config *c = t->config;
    ebb_options in_place = *options;
    ebb_plan *plan = NULL;
    ebb_plan_summary s;
    ebb_dim_binding dims[TRAINING_DIMS];
    const uint32_t n_dims = training_dims(t, c->batch, dims);
    in_place.memory = EBB_MEMORY_IN_PLACE;
    ebb_status status = ebb_plan_model(t->env, t->model, dims, n_dims, &in_place, &plan);
    if (status != EBB_OK) return status;
    ebb_plan_summarize(plan, &s);
    *out = s.total_bytes - s.arena_bytes + (int64_t)((double)s.arena_bytes * c->budget_share);
    ebb_plan_destroy(plan);
    return EBB_OK;
}

ebb_status training_open(training *t) {
    const config *c = t->config;
    ebb_options options;
    ebb_options_init(&options);
    options.device = c->device;
    if (strcmp(c->precision, "bf16") == 0) options.precision = EBB_PRECISION_BF16;
    if (strcmp(c->precision, "f16") == 0) options.precision = EBB_PRECISION_F16;
    options.n_threads = c->threads > 0 ? (uint32_t)c->threads : 0;
    options.seed = (uint64_t)c->seed;
    options.effort = c->effort > 0 ? c->effort : 0;
    options.momentum = c->momentum;
    options.weight_decay = c->weight_decay;
    options.nesterov = c->nesterov;
    ebb_status status = model_open(t);
    if (status == EBB_OK) status = model_names(t);
    if (status == EBB_OK && c->pictures) status = pictures_open(t);
    if (status != EBB_OK) return status;
    if (strcmp(c->memory, "none") == 0) options.memory = EBB_MEMORY_NONE;
    if (strcmp(c->memory, "budget") == 0) {
        options.memory = EBB_MEMORY_BUDGET;
        options.budget_bytes = c->budget_bytes;
        if (c->budget_share > 0) status = budget_of_share(t, &options, &options.budget_bytes);
        if (status != EBB_OK) return status;
    }
    status = ebb_engine_create(t->env, t->model, &options, &t->engine);
    /* The large one first, so that the block that it takes is there for both. */
    int64_t rest = t->data ? t->data->n_train % c->batch : 0;
    bool reached = c->steps < 0 || (t->data && c->steps > t->data->n_train / c->batch);
    if (status == EBB_OK) status = compile(t, c->batch, &t->program);
    if (status == EBB_OK && t->onnx) status = ebb_onnx_feed(t->onnx, t->program);
    if (status == EBB_OK && c->pictures) status = pictures_begin(t);
    return status == EBB_OK && rest > 0 && reached ? compile(t, rest, &t->rest) : status;
}

void training_close(training *t) {
    pictures_close(t);
    if (t->engine) ebb_engine_destroy(t->engine);
    if (t->model) ebb_model_destroy(t->model);
    ebb_onnx_close(t->onnx);
}

/* ---- one step ---- */

/* Straight into the block: no second copy of a batch is ever held. */
static void feed_synthetic(training *t, float *x, size_t x_bytes, int32_t *labels, size_t n) {
    uint64_t key = (uint64_t)t->config->seed;
    for (size_t i = 0; i < x_bytes / sizeof *x; i++) x[i] = (float)(2 * draw_unit(key, i) - 1);
    for (size_t i = 0; i < n; i++) labels[i] = (int32_t)(draw(key + 1, i) % SYNTHETIC_CLASSES);
}

static void feed_digits(training *t, const uint32_t *order, float *x, int32_t *labels, size_t n) {
    const config *c = t->config;
    uint32_t side = (uint32_t)c->image;
    uint64_t key = (uint64_t)c->seed + 2;
    for (size_t i = 0; i < n; i++) {
        uint64_t at = (uint64_t)t->n_images + i;
        float dx = (float)((2 * draw_unit(key, 2 * at) - 1) * c->shift);
        float dy = (float)((2 * draw_unit(key, 2 * at + 1) - 1) * c->shift);
        digits_image(t->data, order[i], side, dx, dy, x + i * side * side * 3);
        labels[i] = t->data->label[order[i]];
    }
}

static ebb_status feed_made(training *t, ebb_program *program, const uint32_t *order, size_t n) {
    void *x = NULL, *labels = NULL;
    size_t x_bytes = 0, labels_bytes = 0;
    ebb_status status = ebb_input_bytes(program, t->names.x, &x, &x_bytes);
    if (status == EBB_OK) status = ebb_input_bytes(program, t->names.labels, &labels, &labels_bytes);
    if (status != EBB_OK) return status;
    if (t->data)
        feed_digits(t, order, x, labels, n);
    else
        feed_synthetic(t, x, x_bytes, labels, n);
    return EBB_OK;
}

static ebb_status one_step(training *t, ebb_program *program, const uint32_t *order, size_t n, float lr,
                           float *loss) {
    uint32_t n_fed = 0;
    ebb_status status = t->config->pictures
                            ? pictures_feed(t, t->pictures.train, program, t->n_steps, &n_fed)
                            : feed_made(t, program, order, n);
    if (status == EBB_OK) status = ebb_feed(program, "lr", &lr, sizeof lr);
    if (status == EBB_OK) status = ebb_step(program);
    if (status == EBB_OK) status = ebb_fetch(program, t->names.loss, loss, sizeof *loss);
    return status;
}

/* ---- epochs ---- */

static double learning_rate(const config *c, int64_t step, int64_t n_steps) {
    double at = n_steps > 1 ? (double)step / (double)(n_steps - 1) : 1;
    if (step < c->warmup) return c->lr * (double)(step + 1) / (double)c->warmup;
    if (strcmp(c->schedule, "step") == 0) return at < 0.6 ? c->lr : at < 0.85 ? c->lr * 0.1 : c->lr * 0.01;
    double rest =
        n_steps - 1 > c->warmup ? (double)(step - c->warmup) / (double)(n_steps - 1 - c->warmup) : 1;
    return 0.5 * c->lr * (1 + cos(PI * rest));
}

static void shuffle(const training *t, int64_t epoch, uint32_t *order, uint32_t n) {
    uint64_t key = (uint64_t)t->config->seed * 1000003 + (uint64_t)epoch + 3;
    for (uint32_t i = n; i > 1; i--) {
        uint32_t k = (uint32_t)(draw(key, i) % i), swap = order[i - 1];
        order[i - 1] = order[k];
        order[k] = swap;
    }
}

static void draw_bar(const training *t, int64_t n_steps, double loss) {
    static const char full[] = "##############################", empty[] = "..............................";
    if (isatty(STDERR_FILENO) == 0) return;
    int filled = (int)(30 * t->n_steps / (n_steps > 0 ? n_steps : 1));
    fprintf(stderr, "\r[%.*s%.*s] step %lld of %lld  loss %.4f  %.1f images/s\033[K", filled, full,
            30 - filled, empty, (long long)t->n_steps, (long long)n_steps, loss,
            1e9 * (double)t->n_images / (double)t->train_ns);
    if (t->n_steps == n_steps) fputs("\r\033[K", stderr);
}

typedef struct course {
    FILE *csv;
    int64_t n_per_epoch, n_schedule, n_steps; /* steps: of an epoch, of the schedule, to run */
    uint32_t order[DIGITS_MAX];
} course;

static ebb_status run_batch(training *t, course *c, const uint32_t *order, int64_t n, int64_t epoch) {
    float loss = 0;
    double lr = learning_rate(t->config, t->n_steps, c->n_schedule);
    ebb_program *program = n == t->config->batch ? t->program : t->rest;
    int64_t begin_ns = now_ns();
    ebb_status status = one_step(t, program, order, (size_t)n, (float)lr, &loss);
    if (status != EBB_OK) return status;
    int64_t ns = now_ns() - begin_ns;
    if (t->n_steps == 0) t->first_loss = (double)loss;
    t->last_loss = (double)loss;
    t->train_ns += ns;
    t->n_images += n;
    t->n_steps++;
    if (c->csv)
        fprintf(c->csv, "%lld,%lld,%.9g,%.9g,%lld\n", (long long)t->n_steps, (long long)epoch + 1, lr,
                (double)loss, (long long)ns);
    draw_bar(t, c->n_steps, (double)loss);
    if (!isfinite(loss))
        return training_fail(t, EBB_BAD_INPUT, "step %lld: the loss is not finite: lower --lr",
                             (long long)t->n_steps);
    if (*t->stop != 0)
        return training_fail(t, EBB_INTERRUPTED, "interrupted after step %lld", (long long)t->n_steps);
    return EBB_OK;
}

static ebb_status run_epoch(training *t, course *c, int64_t epoch) {
    int64_t batch = t->config->batch, n = t->data ? t->data->n_train : batch;
    if (t->config->pictures) n = c->n_per_epoch * batch; /* the last batch goes on into the next epoch */
    ebb_status status = EBB_OK;
    if (t->data) {
        memcpy(c->order, t->data->train, sizeof c->order);
        shuffle(t, epoch, c->order, t->data->n_train);
    }
    for (int64_t at = 0; at < n && t->n_steps < c->n_steps && status == EBB_OK; at += batch)
        status = run_batch(t, c, c->order + (t->data ? at : 0), n - at < batch ? n - at : batch, epoch);
    return status;
}

ebb_status training_run(training *t, void *csv_file) {
    const config *settings = t->config;
    const int64_t n_train = t->data ? t->data->n_train : t->pictures.n_train; /* 0: synthetic */
    course *c = calloc(1, sizeof *c);
    ebb_status status = EBB_OK;
    if (!c) return training_fail(t, EBB_NO_MEMORY, "no memory for the order of the scans");
    t->accuracy = -1;
    c->csv = csv_file;
    c->n_per_epoch = (n_train + settings->batch - 1) / settings->batch;
    c->n_schedule = n_train > 0 ? c->n_per_epoch * settings->epochs : settings->steps;
    c->n_steps = settings->steps > 0 && settings->steps < c->n_schedule ? settings->steps : c->n_schedule;
    if (c->csv) fputs("step,epoch,lr,loss,ns\n", c->csv);
    for (int64_t epoch = 0; t->n_steps < c->n_steps && status == EBB_OK; epoch++) {
        status = run_epoch(t, c, epoch);
        t->peak_bytes = report_process_peak_bytes();
        const bool has_held_out = t->data || t->pictures.n_held_out > 0;
        if (status != EBB_OK || !has_held_out || (settings->steps > 0 && !settings->each_epoch)) continue;
        if (!settings->each_epoch && t->n_steps < c->n_steps) continue;
        status = held_out_accuracy(t, &t->accuracy);
        if (status == EBB_OK && settings->each_epoch)
            fprintf(stderr, "epoch %lld: loss %.4f, held-out accuracy %.2f %%\n", (long long)epoch + 1,
                    t->last_loss, 100 * t->accuracy);
    }
    free(c);
    return status;
}
