/* The example models in training, at small sizes: the loss on a batch that is shown again and again falls,
 * and neither reuse nor recomputation within a budget changes a bit of a loss, a parameter or a state. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ebb/ebb.h"
#include "ebb_build.h"
#include "support/count.h"
#include "support/env.h"
#include "support/options.h"
#include "support/skip.h"

#define MOST_STEPS 8
#define MOST_DIMS  8

/* An input and how many whole numbers it takes; 0: reals in [-1, 1). */
typedef struct fed {
    const char *name;
    int32_t below;
} fed;

typedef struct row {
    const char *model;
    ebb_dim_binding dims[MOST_DIMS];
    fed inputs[3];
    uint32_t n_steps;
    float lr;
    ebb_optimizer optimizer;
    double clip_norm, label_smoothing;
    bool direct_conv;
} row;

#define GPT2                                                                        \
    "gpt2_small", {{"N", 3}, {"T", 7}, {"V", 33}, {"C", 12}, {"A", 3}, {"P", 9}}, { \
        {"ids", 33}, {                                                              \
            "labels", 33                                                            \
        }                                                                           \
    }

static const row rows[] = {
    {"unet",
     {{"N", 2}, {"H", 32}, {"K", 3}, {"W", 5}},
     {{"x", 0}, {"labels", 3}},
     6,
     0.1F,
     EBB_SGD,
     0,
     0,
     false},
    {GPT2, 8, 0.1F, EBB_SGD, 0, 0, false},
    {GPT2, 8, 0.01F, EBB_ADAMW, 1, 0, false},
    {GPT2, 8, 0.1F, EBB_SGD, 0, 0.1, false},
    /* 33: halved five times that is 2 pixels, as 64 is, and an odd number each time. */
    {"mobilenet_v2",
     {{"N", 4}, {"H", 33}, {"K", 7}},
     {{"x", 0}, {"labels", 7}},
     5,
     0.02F,
     EBB_SGD,
     0,
     0,
     false},
};

typedef struct result {
    float loss[MOST_STEPS];
    uint64_t digest; /* of losses, params and states */
    int64_t total_bytes, arena_bytes;
    uint32_t n_recomputed;
} result;

static uint64_t digest(uint64_t sum, const void *at, size_t n) {
    for (size_t i = 0; i < n; i++) sum = (sum ^ ((const unsigned char *)at)[i]) * UINT64_C(1099511628211);
    return sum;
}

/* Whole numbers by a linear congruence, so that they repeat at no short distance. */
static void feed(ebb_env *env, ebb_program *p, const fed *input) {
    ebb_tensor_info info;
    TEST_OK(env, ebb_program_tensor(p, input->name, &info));
    const size_t n = (size_t)info.bytes / 4;
    void *data = malloc((size_t)info.bytes);
    cr_assert_not_null(data);
    uint32_t state = 12345;
    for (size_t i = 0; i < n; i++) {
        state = state * 1664525U + 1013904223U;
        if (input->below > 0) {
            ((int32_t *)data)[i] = (int32_t)((state >> 8) % (uint32_t)input->below);
        } else {
            ((float *)data)[i] = (float)(state >> 8) / (float)(1 << 23) - 1;
        }
    }
    TEST_OK(env, ebb_feed(p, input->name, data, (size_t)info.bytes));
    free(data);
}

static void train(ebb_env *env, ebb_program *p, const row *r, result *out) {
    for (uint32_t step = 0; step < r->n_steps; step++) {
        for (size_t i = 0; i < 3 && r->inputs[i].name; i++) feed(env, p, &r->inputs[i]);
        TEST_OK(env, ebb_feed(p, "lr", &r->lr, sizeof r->lr));
        TEST_OK(env, ebb_step(p));
        TEST_OK(env, ebb_fetch(p, "loss", &out->loss[step], sizeof out->loss[step]));
    }
    out->digest = digest(UINT64_C(14695981039346656037), out->loss, r->n_steps * sizeof out->loss[0]);
    for (uint32_t i = 0; i < ebb_program_n_params(p); i++) {
        ebb_tensor_info info;
        TEST_OK(env, ebb_program_param(p, i, &info));
        void *data = malloc((size_t)info.bytes);
        cr_assert_not_null(data);
        TEST_OK(env, ebb_fetch(p, info.name, data, (size_t)info.bytes));
        out->digest = digest(out->digest, data, (size_t)info.bytes);
        free(data);
    }
}

static uint32_t n_dims(const row *r) {
    uint32_t n = 0;
    while (n < MOST_DIMS && r->dims[n].name) n++;
    return n;
}

static result run(const row *r, const char *device, ebb_memory_mode mode, int64_t budget_bytes) {
    char path[1000];
    ebb_env *env;
    ebb_model *model;
    ebb_engine *engine;
    ebb_program *p;
    ebb_options o;
    result out = {.digest = 0};
    cr_assert_lt(snprintf(path, sizeof path, "%s/%s.ebb", EBB_MODELS_DIR, r->model), (int)sizeof path);
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    test_options_init(&o);
    o.device = device;
    o.n_threads = 2;
    o.memory = mode;
    o.budget_bytes = budget_bytes;
    o.optimizer = r->optimizer;
    o.clip_norm = r->clip_norm;
    o.label_smoothing = r->label_smoothing;
    o.direct_conv = r->direct_conv;
    o.effort = 200;
    o.poison = true;
    o.verify = true;
    TEST_OK(env, ebb_model_open(env, path, &model));
    TEST_OK(env, ebb_engine_create(env, model, &o, &engine));
    TEST_OK(env, ebb_compile(engine, r->dims, n_dims(r), &p));
    ebb_plan_summary s;
    ebb_plan_summarize(ebb_program_plan(p), &s);
    out.total_bytes = s.total_bytes;
    out.arena_bytes = s.arena_bytes;
    out.n_recomputed = s.n_recomputed;
    train(env, p, r, &out);
    ebb_engine_destroy(engine);
    ebb_model_destroy(model);
    cr_assert_eq(ebb_env_allocated_bytes(env), 0);
    ebb_env_destroy(env);
    return out;
}

/* Returns the run without reuse. */
static result check_row(const row *r, const char *device, bool learns) {
    const result none = run(r, device, EBB_MEMORY_NONE, -1),
                 in_place = run(r, device, EBB_MEMORY_IN_PLACE, -1);
    const int64_t budget = in_place.total_bytes - in_place.arena_bytes / 5;
    const result tight = run(r, device, EBB_MEMORY_BUDGET, budget);
    const float first = none.loss[0], last = none.loss[r->n_steps - 1];
    for (uint32_t i = 0; i < r->n_steps; i++)
        cr_expect(isfinite(none.loss[i]), "%s on %s, step %u", r->model, device, i);
    if (learns)
        cr_expect_lt(last, 0.9F * first, "%s on %s: loss %g after %g", r->model, device, (double)last,
                     (double)first);
    cr_expect_lt(in_place.total_bytes, none.total_bytes, "%s on %s", r->model, device);
    cr_expect_leq(tight.total_bytes, budget, "%s on %s", r->model, device);
    cr_expect_gt(tight.n_recomputed, 0, "%s on %s", r->model, device);
    cr_expect_eq(in_place.digest, none.digest, "%s on %s: reuse changes bits", r->model, device);
    cr_expect_eq(tight.digest, none.digest, "%s on %s: recomputation changes bits", r->model, device);
    return none;
}

Test(train, example_models_learn_and_give_the_same_bits_in_every_memory_mode, .timeout = 600) {
    for (size_t i = 0; i < rows_from_env(EBB_COUNT(rows)); i++) {
        row on_ref = rows[i];
        /* It is slow: where there is another backend, that one learns. */
        if (EBB_HAVE_CPU) on_ref.n_steps = 2;
        const result ref = check_row(&on_ref, "ref", !EBB_HAVE_CPU);
#if EBB_HAVE_CPU
        const result cpu = check_row(&rows[i], "cpu", true);
        /* Behind an update differences of rounding have grown, most in batch norms of few pixels. */
        static const float most[] = {1e-4F, 1e-2F};
        for (uint32_t k = 0; k < sizeof most / sizeof most[0]; k++)
            cr_expect(fabsf(cpu.loss[k] - ref.loss[k]) <= most[k] * ref.loss[k],
                      "%s: loss %g on cpu, %g on ref", rows[i].model, (double)cpu.loss[k],
                      (double)ref.loss[k]);
#else
        (void)ref;
#endif
    }
}

/* Transformed tiles round otherwise, and are as much a fact of the shapes. */
Test(train, convolutions_in_transformed_tiles_give_the_same_bits_in_every_memory_mode, .timeout = 300) {
#if EBB_HAVE_CPU
    row transformed = {.model = "unet",
                       .dims = {{"N", 8}, {"H", 48}, {"K", 3}, {"W", 32}},
                       .inputs = {{"x", 0}, {"labels", 3}},
                       .n_steps = 1,
                       .lr = 0.1F};
    const result with = run(&transformed, "cpu", EBB_MEMORY_NONE, -1);
    transformed.direct_conv = true;
    const result without = run(&transformed, "cpu", EBB_MEMORY_NONE, -1);
    cr_expect_neq(with.digest, without.digest, "some are transformed");
    cr_expect(fabsf(with.loss[0] - without.loss[0]) <= 1e-5F * without.loss[0], "%g with, %g without",
              (double)with.loss[0], (double)without.loss[0]);
    transformed.direct_conv = false;
    (void)check_row(&transformed, "cpu", false);
#else
    TEST_SKIP("this build has no cpu backend");
#endif
}
