/* A model made by calls plans and trains as its text does: the same bytes of the plan, the same bits of the
 * losses and params, at the default sizes and at others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ebb/ebb.h"
#include "ebb_build.h"

#include "support/twins.h"
#include "support/env.h"

/* What a model comes to: allocated. */
typedef struct outcome {
    char *plan;
    size_t n_plan, n_bits;
    unsigned char bits[1 << 16]; /* losses, then params and states */
} outcome;

static char *file_bytes(const char *path, size_t *n) {
    FILE *file = fopen(path, "rb");
    cr_assert_not_null(file);
    char *text = malloc(1 << 20);
    cr_assert_not_null(text);
    *n = fread(text, 1, 1 << 20, file);
    cr_assert_eq(fclose(file), 0);
    return text;
}

static void feed(ebb_env *env, ebb_program *p, const char *name, bool whole) {
    ebb_tensor_info info;
    TEST_OK(env, ebb_program_tensor(p, name, &info));
    const size_t n = (size_t)info.bytes / 4;
    union {
        float real;
        int32_t whole;
    } *data = malloc((size_t)info.bytes);
    cr_assert_not_null(data);
    for (size_t i = 0; i < n; i++) {
        if (whole)
            data[i].whole = (int32_t)(i * 7 % 4);
        else
            data[i].real = (float)(i * 31 % 64) / 32 - 1;
    }
    TEST_OK(env, ebb_feed(p, name, data, (size_t)info.bytes));
    free(data);
}

static void keep(ebb_env *env, ebb_program *p, const char *name, size_t bytes, outcome *out) {
    cr_assert_leq(out->n_bits + bytes, sizeof out->bits);
    TEST_OK(env, ebb_fetch(p, name, out->bits + out->n_bits, bytes));
    out->n_bits += bytes;
}

static void run(ebb_env *env, const ebb_model *model, uint32_t n_dims, outcome *out) {
    ebb_options options;
    ebb_options_init(&options);
    options.device = "cpu";
    const ebb_dim_binding dim = {"N", 3};
    ebb_plan *plan;
    char path[] = "built_plan_XXXXXX";
    const int file = mkstemp(path);
    cr_assert_geq(file, 0);
    cr_assert_eq(close(file), 0);
    TEST_OK(env, ebb_plan_model(env, model, &dim, n_dims, &options, &plan));
    TEST_OK(env, ebb_plan_write(env, plan, path));
    ebb_plan_destroy(plan);
    out->plan = file_bytes(path, &out->n_plan);
    out->n_bits = 0;
    cr_assert_eq(unlink(path), 0);

    ebb_engine *engine;
    ebb_program *p;
    const float lr = 0.125F;
    TEST_OK(env, ebb_engine_create(env, model, &options, &engine));
    TEST_OK(env, ebb_compile(engine, &dim, n_dims, &p));
    for (int step = 0; step < 4; step++) {
        feed(env, p, "x", false);
        feed(env, p, "labels", true);
        TEST_OK(env, ebb_feed(p, "lr", &lr, sizeof lr));
        TEST_OK(env, ebb_step(p));
        keep(env, p, "loss", sizeof(float), out);
    }
    for (uint32_t i = 0; i < ebb_program_n_params(p); i++) {
        ebb_tensor_info info;
        TEST_OK(env, ebb_program_param(p, i, &info));
        keep(env, p, info.name, (size_t)info.bytes, out);
    }
    ebb_engine_destroy(engine);
}

Test(built, calls_plan_and_train_as_their_text) {
    if (!EBB_HAVE_CPU) cr_skip("no cpu backend");
    ebb_env *env;
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    static outcome called, read;
    for (size_t m = 0; m < N_TWIN_MODELS; m++) {
        const twin_model *twin = &twin_models[m];
        ebb_build *build;
        ebb_model *of_calls, *of_text;
        TEST_OK(env, ebb_build_create(env, twin->name, &build));
        twin->say(build);
        TEST_OK(env, ebb_build_model(build, &of_calls));
        TEST_OK(env, ebb_model_parse(env, twin->name, twin->text, strlen(twin->text), &of_text));
        cr_expect_not(ebb_model_is_planning_graph(of_calls));
        for (uint32_t n_dims = 0; n_dims < 2; n_dims++) {
            run(env, of_calls, n_dims, &called);
            run(env, of_text, n_dims, &read);
            cr_expect(called.n_plan == read.n_plan && memcmp(called.plan, read.plan, read.n_plan) == 0,
                      "%s: plans of %zu and %zu bytes", twin->name, called.n_plan, read.n_plan);
            cr_expect(called.n_bits == read.n_bits && memcmp(called.bits, read.bits, read.n_bits) == 0,
                      "%s: bits of %zu and %zu bytes", twin->name, called.n_bits, read.n_bits);
            free(called.plan);
            free(read.plan);
        }
        ebb_model_destroy(of_calls);
        ebb_model_destroy(of_text);
    }
    ebb_env_destroy(env);
}

Test(built, a_model_of_a_latched_error_is_none) {
    ebb_env *env;
    ebb_build *build;
    ebb_model *model;
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    TEST_OK(env, ebb_build_create(env, "bad", &build));
    ebb_build_op(build, "y", "relu", NULL, 0, NULL);
    cr_expect_eq(ebb_build_model(build, &model), EBB_BAD_INPUT);
    cr_expect_null(model);
    cr_expect_str_eq(ebb_env_error(env), "bad: relu takes 1 operands, not 0");
    ebb_env_destroy(env);
}
