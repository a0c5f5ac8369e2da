/* What cannot be exported is named, all of it, and leaves nothing behind; memory that is refused is told.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ebb/ebb.h"
#include "support/env.h"
#include "support/scarce.h"

static const char HEAD[] =
    "ebb 1\ngraph row\ndim N = 4\n%x = input f32[N,6]\n%w = param f32[6,6] init=uniform\n";

#define GAMMA "%g = reduce_sum %w axis=[0] keep=false\n"

static const struct {
    const char *what, *text;
    const char *tensors; /* names of f32[6,6] in the file */
    ebb_status status;
    const char *says[4];
} rows[] = {
    {"each op that ONNX has not, and none for its sake",
     "%a = linear %x, %w\n%s = normal shape=[N,6]\n%u = uniform shape=[6,6]\n%b = linear %s, %u\n%c = add "
     "%b, %a\n"
     "output %c\n",
     "w",
     EBB_BAD_INPUT,
     {"2 ops cannot be exported", "s (normal): ONNX has no op for it", "u (uniform)"}},
    {"a result that ONNX does not have",
     "%q = reshape %x shape=[N,1,6]\n%y, %l = attention %q heads=1\n%z = neg %l\noutput %z\n",
     "w",
     EBB_BAD_INPUT,
     {"its result 1 is read"}},
    {"the same as an output",
     "%q = reshape %x shape=[N,1,6]\n%y, %l = attention %q heads=1\noutput %l\n",
     "w",
     EBB_BAD_INPUT,
     {"output l"}},
    {"statistics that more than a norm reads",
     GAMMA "%m, %v = ln_stats %x\n%b = ln_apply %x, %m, %v, %g, %g\n%n = neg %v\noutput %b\noutput %n\n",
     "w",
     EBB_BAD_INPUT,
     {"1 op cannot be exported; m (ln_stats): layer_norm's mean or variance is also read by n (neg)"}},
    {"a norm's own statistics for its gamma",
     GAMMA "%m, %v = ln_stats %w\n%b = ln_apply %w, %m, %v, %m, %g\noutput %b\n",
     "w",
     EBB_BAD_INPUT,
     {"m (ln_stats): layer_norm's mean or variance is also read by b (ln_apply)"}},
    {"statistics that go out",
     GAMMA
     "%m, %v = gn_stats %x groups=3\n%b = gn_apply %x, %m, %v, %g, %g groups=3\noutput %b\noutput %v\n",
     "w",
     EBB_BAD_INPUT,
     {"m (gn_stats): group_norm's mean or variance is an output"}},
    {"a norm by the statistics of another value",
     GAMMA "%y = neg %x\n%m, %v = ln_stats %x\n%b = ln_apply %y, %m, %v, %g, %g\noutput %b\n",
     "w",
     EBB_BAD_INPUT,
     {"m (ln_stats): layer_norm's mean or variance is also read by b (ln_apply)"}},
    {"a norm by statistics that are params",
     GAMMA "%b = ln_apply %w, %g, %g, %g, %g\noutput %b\n",
     "w",
     EBB_BAD_INPUT,
     {"b (ln_apply): its mean and variance are not those of its x"}},
    {"zeros from the last to the first, and as many as N",
     "%a = strided_slice_grad %x begin=[0,9] size=[N,10] step=[1,-1]\n%b = slice_grad %x axis=0 begin=0 "
     "total=N*2\noutput %a\noutput %b\n",
     "w",
     EBB_BAD_INPUT,
     {"a (strided_slice_grad): by a step of -1", "b (slice_grad): as many zeros as grow with N"}},
    {"weights that are missing or differ",
     "%v = param f32[3,6]\n%a = linear %x, %w\n%b = linear %a, %v\noutput %b\n",
     "v",
     EBB_BAD_INPUT,
     {"w f32[6,6] is not there", "v f32[3,6] is there F32[6,6]"}},
    {"16 bits beside f32",
     "%h = cast %x to=bf16\n%g = cast %w to=bf16\n%a = linear %h, %g\n%b = reduce_sum %w axis=[0] "
     "keep=false\n%c = bias %a, %b\noutput %c\n",
     "w",
     EBB_BAD_INPUT,
     {"1 op cannot be exported", "c (bias): it reads 16 bits and f32"}},
    {"no output", "%a = linear %x, %w\n", "w", EBB_BAD_INPUT, {"no output"}},
    {"rows that grow with N",
     "%a = iota shape=[N] axis=0\n%b = cast %a to=f32\noutput %b\n",
     "w",
     EBB_BAD_INPUT,
     {"a (iota)", "--dim N=SIZE"}},
    {"a size that is another for N",
     "%a = slice %x axis=0 begin=1 size=3\n%b = concat %a, %x axis=0\n"
     "%c = broadcast_to %b shape=[2,7,6]\noutput %c\n",
     "w",
     EBB_BAD_INPUT,
     {"every N", "--dim N=SIZE"}},
};

static void write_weights(ebb_env *env, const char *path, const char *names) {
    static const float data[36];
    ebb_tensor_row row[4];
    const void *at[4];
    char name[4][2] = {{0}};
    uint32_t n = 0;
    for (; names[n] && n < 4; n++) {
        name[n][0] = names[n];
        row[n] = (ebb_tensor_row){
            .name = name[n], .dtype = "F32", .rank = 2, .dim = {6, 6}, .bytes = sizeof data};
        at[n] = data;
    }
    TEST_OK(env, ebb_tensors_write(env, path, row, at, n, NULL, 0));
}

Test(export, what_cannot_go_out_is_named_and_writes_nothing, .timeout = 60) {
    char folder[32] = "/tmp/ebb-export-XXXXXX", weights[64], path[64], text[1024];
    ebb_env *env = test_env_open();
    cr_assert_not_null(mkdtemp(folder));
    (void)snprintf(weights, sizeof weights, "%s/w", folder);
    (void)snprintf(path, sizeof path, "%s/m.onnx", folder);
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        ebb_model *model;
        const ebb_onnx_export_options options = {.weights = weights};
        write_weights(env, weights, rows[i].tensors);
        const int n = snprintf(text, sizeof text, "%s%s", HEAD, rows[i].text);
        TEST_OK(env, ebb_model_parse(env, "row", text, (size_t)n, &model));
        cr_expect_eq(ebb_onnx_export(env, model, &options, path), rows[i].status, "%s: %s", rows[i].what,
                     ebb_env_error(env));
        for (int k = 0; k < 4 && rows[i].says[k]; k++)
            cr_expect(strstr(ebb_env_error(env), rows[i].says[k]), "%s: %s", rows[i].says[k],
                      ebb_env_error(env));
        cr_expect_null(strchr(ebb_env_error(env), '\n'));
        cr_expect_neq(access(path, F_OK), 0, "%s", rows[i].what);
        TEST_STATUS(env, ebb_onnx_export(env, model, &(ebb_onnx_export_options){.n_dims = 0}, path),
                    EBB_USAGE);
        ebb_model_destroy(model);
    }
    (void)unlink(weights);
    cr_expect_eq(rmdir(folder), 0);
    test_env_close(env);
}

/* ---- memory ---- */

/* All that happens between a file and a file. */
static ebb_status round_trip(ebb_env *env, const char *from, const char *to, const char *weights) {
    ebb_onnx *onnx = NULL;
    ebb_model *model = NULL;
    ebb_status status = ebb_onnx_open(env, from, NULL, &onnx);
    if (status == EBB_OK) status = ebb_onnx_write(onnx, weights);
    if (status == EBB_OK) status = ebb_onnx_model(onnx, &model);
    const ebb_onnx_export_options own = {.initial = onnx, .fold_batch_norm = true},
                                  others = {.weights = weights};
    if (status == EBB_OK) status = ebb_onnx_export(env, model, &own, to);
    if (status == EBB_OK) status = ebb_onnx_export(env, model, &others, to);
    ebb_model_destroy(model);
    ebb_onnx_close(onnx);
    return status;
}

Test(export, every_refused_allocation_of_import_and_export_is_reported_and_leaks_nothing, .timeout = 120) {
    char folder[32] = "/tmp/ebb-export-XXXXXX", weights[64], path[64];
    cr_assert_not_null(mkdtemp(folder));
    (void)snprintf(weights, sizeof weights, "%s/w", folder);
    (void)snprintf(path, sizeof path, "%s/m.onnx", folder);
    ebb_status status = EBB_NO_MEMORY;
    uint64_t n = 0;
    for (; status != EBB_OK; n++) {
        scarce_memory memory = {.fail_at = n, .once = true};
        ebb_env *env;
        status = scarce_env_create(&memory, &env);
        if (status == EBB_OK) status = round_trip(env, EBB_ONNX_MODELS_DIR "/frozen.onnx", path, weights);
        const bool refused = memory.n_calls > memory.fail_at;
        cr_assert_eq(status, refused ? EBB_NO_MEMORY : EBB_OK, "allocation %llu: %s: %s",
                     (unsigned long long)n, ebb_status_name(status), env ? ebb_env_error(env) : "");
        if (env) ebb_env_destroy(env);
        cr_assert_eq(memory.n_live, 0, "allocation %llu", (unsigned long long)n);
    }
    cr_expect_gt(n, 100);
    (void)unlink(path);
    (void)unlink(weights);
    cr_expect_eq(rmdir(folder), 0);
}
