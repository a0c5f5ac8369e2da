/* A model that goes out to ONNX and comes back says the same: in the same bits wherever ONNX has its ops.
 */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "export_rows.h"
#include "ebb/ebb.h"
#include "support/count.h"
#include "support/env.h"
#include "support/options.h"

enum { FLOATS = 1 << 16 };

typedef struct side {
    ebb_onnx *onnx;
    ebb_model *model;
    ebb_engine *engine;
    ebb_program *program;
} side;

typedef struct files {
    char folder[32], weights[64], onnx[64];
} files;

static void files_open(files *f) {
    (void)snprintf(f->folder, sizeof f->folder, "/tmp/ebb-export-XXXXXX");
    cr_assert_not_null(mkdtemp(f->folder));
    (void)snprintf(f->weights, sizeof f->weights, "%s/w.safetensors", f->folder);
    (void)snprintf(f->onnx, sizeof f->onnx, "%s/m.onnx", f->folder);
}

static void files_close(const files *f) {
    (void)unlink(f->weights);
    (void)unlink(f->onnx);
    cr_assert_eq(rmdir(f->folder), 0, "something is left in %s", f->folder);
}

static void start(ebb_env *env, side *s, const char *fetch, const ebb_dim_binding *dims, uint32_t n_dims) {
    ebb_options o;
    test_options_init(&o);
    o.evaluate = true;
    o.fetch = fetch ? &fetch : NULL;
    o.n_fetch = fetch != NULL;
    TEST_OK(env, ebb_engine_create(env, s->model, &o, &s->engine));
    TEST_OK(env, ebb_compile(s->engine, dims, n_dims, &s->program));
}

static void side_close(side *s) {
    ebb_engine_destroy(s->engine);
    ebb_model_destroy(s->model);
    ebb_onnx_close(s->onnx);
}

static float number_at(uint64_t i) {
    return (float)((i * 2654435761U >> 7) % 1009) / 504.5F - 1.0F;
}

/* Numbers by name and place; whole ones that their readers take. */
static void feed(ebb_env *env, ebb_program *program, const char *name, double low) {
    ebb_tensor_info info;
    if (ebb_program_tensor(program, name, &info) != EBB_OK) return; /* a loss that was left out */
    float *data = malloc((size_t)info.bytes);
    for (int64_t i = 0; i < info.bytes / 4; i++) {
        const float x = number_at((uint64_t)i + (unsigned char)name[strlen(name) - 1]);
        const int32_t whole = (int32_t)(fabsf(x) * 0.99F * (float)(info.below > 0 ? info.below : 4));
        data[i] = low > 0 ? (float)low + fabsf(x) : x;
        if (info.element == EBB_INT32) memcpy(&data[i], &whole, sizeof whole);
    }
    TEST_OK(env, ebb_feed(program, name, data, (size_t)info.bytes));
    free(data);
}

static void feed_inputs(ebb_env *env, ebb_program *program) {
    static const char *const names[] = {"x", "m", "v", "i", "ids", "labels"};
    for (size_t i = 0; i < EBB_COUNT(names); i++) feed(env, program, names[i], 0);
}

/* Scales, shifts and statistics that change something. */
static void feed_vectors(ebb_env *env, ebb_program *program) {
    for (uint32_t i = 0; i < ebb_program_n_params(program); i++) {
        ebb_tensor_info info;
        TEST_OK(env, ebb_program_param(program, i, &info));
        if (info.rank == 1) feed(env, program, info.name, 0.5);
    }
}

/* Of one step; the caller frees it. */
static float *result(ebb_env *env, ebb_program *program, const char *name, int64_t *n) {
    ebb_tensor_info info;
    feed_inputs(env, program);
    TEST_OK(env, ebb_step(program));
    TEST_OK(env, ebb_program_tensor(program, name, &info));
    float *y = malloc((size_t)info.bytes);
    TEST_OK(env, ebb_fetch(program, name, y, (size_t)info.bytes));
    *n = info.bytes / 4;
    return y;
}

/* The first output: what several ops make of one of ONNX may have a number behind its name. */
static const char *output_of(const ebb_onnx *onnx, char name[64]) {
    const char *line = strstr(ebb_onnx_text(onnx, NULL), "\noutput %");
    cr_assert(line && sscanf(line, "\noutput %%%63s", name) == 1);
    return name;
}

static void import(ebb_env *env, const char *path, const ebb_dim_binding *batch, side *s) {
    const ebb_onnx_options options = {.no_loss = true};
    TEST_OK(env, ebb_onnx_open(env, path, &options, &s->onnx));
    TEST_OK(env, ebb_onnx_model(s->onnx, &s->model));
    start(env, s, NULL, batch, 1);
    TEST_OK(env, ebb_onnx_feed(s->onnx, s->program));
}

static void compare(const char *what, const float *a, const float *b, int64_t n, double most) {
    double far = 0, size = 0;
    for (int64_t i = 0; i < n; i++) {
        far = fmax(far, fabs((double)a[i] - (double)b[i]));
        size = fmax(size, fabs((double)a[i]));
        if (isnan(a[i]) != isnan(b[i])) far = INFINITY;
    }
    if (most == 0)
        cr_assert(memcmp(a, b, (size_t)n * sizeof *a) == 0, "%s: other bits, by %g of %g", what, far, size);
    cr_assert(far <= most * size, "%s: by %g of %g", what, far, size);
}

/* dims[0] is N, which is left open. */
static void there_and_back(ebb_env *env, const files *f, const char *what, const char *text, size_t n_text,
                           const ebb_dim_binding *dims, uint32_t n_dims, const char *output, bool fold,
                           double most) {
    side out = {NULL}, back = {NULL};
    int64_t n, n_back;
    TEST_OK(env, ebb_model_parse(env, what, text, n_text, &out.model));
    start(env, &out, output, dims, n_dims);
    feed_vectors(env, out.program);
    TEST_OK(env, ebb_engine_save(out.engine, f->weights, NULL, 0));
    TEST_OK(env, ebb_engine_save_end(out.engine));
    float *a = result(env, out.program, output, &n);
    const ebb_onnx_export_options options = {
        .dims = dims + 1, .n_dims = n_dims - 1, .weights = f->weights, .fold_batch_norm = fold};
    TEST_OK(env, ebb_onnx_export(env, out.model, &options, f->onnx));
    import(env, f->onnx, dims, &back);
    cr_assert(!fold || !strstr(ebb_onnx_text(back.onnx, NULL), "batch_norm"), "%s", what);
    char name[64];
    float *b = result(env, back.program, output_of(back.onnx, name), &n_back);
    cr_assert_eq(n, n_back, "%s", what);
    compare(what, a, b, n, most);
    free(a);
    free(b);
    side_close(&out);
    side_close(&back);
}

/* ---- op by op ---- */

Test(export, every_op_that_onnx_has_comes_back, .timeout = 120) {
    files f;
    char text[2048];
    ebb_env *env = test_env_open();
    files_open(&f);
    for (size_t i = 0; i < EBB_COUNT(op_rows); i++) {
        const int n =
            snprintf(text, sizeof text,
                     "ebb 1\ngraph row\ndim N = 5\n%%x = input f32[N,4,6,6]\n%%m = input f32[N,8]\n"
                     "%%v = input f32[N,3,8]\n%%i = input i32[N,3]\n%s%%z = neg %%y\noutput %%z\n",
                     op_rows[i].text);
        there_and_back(env, &f, op_rows[i].text, text, (size_t)n, &(ebb_dim_binding){"N", 2}, 1, "z", false,
                       op_rows[i].most);
    }
    files_close(&f);
    test_env_close(env);
}

/* ---- models ---- */

static const struct {
    const char *name;
    ebb_dim_binding dims[6];
    uint32_t n_dims;
    bool fold;
    double most;
} model_rows[] = {
    {"resnet18", {{"N", 2}, {"H", 33}, {"K", 7}}, 3, true, 1e-5},
    {"resnet18", {{"N", 2}, {"H", 33}, {"K", 7}}, 3, false, 0},
    {"resnet50", {{"N", 1}, {"H", 33}, {"K", 7}}, 3, false, 0},
    {"resnet101", {{"N", 1}, {"H", 32}, {"K", 7}}, 3, false, 0},
    {"densenet121", {{"N", 1}, {"H", 32}, {"K", 7}}, 3, false, 0},
    {"mobilenet_v2", {{"N", 1}, {"H", 33}, {"K", 7}}, 3, false, 0},
    {"mobilenet_v2", {{"N", 1}, {"H", 33}, {"K", 7}}, 3, true, 1e-5},
    {"unet", {{"N", 1}, {"H", 32}, {"W", 8}}, 3, false, 0},
    {"vgg16", {{"N", 1}, {"H", 32}, {"K", 7}}, 3, false, 0},
    {"gpt2_small", {{"N", 2}, {"T", 7}, {"V", 33}, {"C", 48}, {"P", 9}}, 5, false, 1e-5},
};

Test(export, models_come_back_with_the_same_outputs, .timeout = 300) {
    files f;
    ebb_env *env = test_env_open();
    files_open(&f);
    for (size_t i = 0; i < rows_from_env(EBB_COUNT(model_rows)); i++) {
        char path[512], *text;
        size_t n;
        (void)snprintf(path, sizeof path, EBB_MODELS_DIR "/%s.ebb", model_rows[i].name);
        TEST_OK(env, ebb_file_read(env, path, 1 << 24, &text, &n));
        there_and_back(env, &f, model_rows[i].name, text, n, model_rows[i].dims, model_rows[i].n_dims,
                       "logits", model_rows[i].fold, model_rows[i].most);
        ebb_file_free(env, text, n);
    }
    files_close(&f);
    test_env_close(env);
}

/* In every locale of this machine, the C locale at least: numbers stand in the text with a point. */
Test(export, an_import_does_not_depend_on_the_locale, .timeout = 60) {
    static const char *const names[] = {"C", "de_DE.UTF-8", "fr_FR.UTF-8", "ru_RU.UTF-8"};
    static const char *const models[] = {"frozen", "gpt", "unet"};
    ebb_env *env = test_env_open();
    for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
        char path[300], first[65536] = "";
        (void)snprintf(path, sizeof path, EBB_ONNX_MODELS_DIR "/%s.onnx", models[m]);
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            ebb_onnx *onnx;
            if (!setlocale(LC_ALL, names[i])) continue;
            const ebb_status status = ebb_onnx_open(env, path, NULL, &onnx);
            (void)setlocale(LC_ALL, "C");
            cr_assert_eq(status, EBB_OK, "%s in %s: %s", path, names[i], ebb_env_error(env));
            const char *text = ebb_onnx_text(onnx, NULL);
            cr_assert(strlen(text) < sizeof first);
            if (i == 0) memcpy(first, text, strlen(text) + 1);
            cr_assert_str_eq(text, first, "%s in %s", path, names[i]);
            ebb_onnx_close(onnx);
        }
    }
    test_env_close(env);
}
