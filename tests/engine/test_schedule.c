/* The learning rate of each step. */
#include <stdio.h>

#include "ebb/ebb.h"
#include "support/env.h"

/* PyTorch's CosineAnnealingLR and OneCycleLR give these. */
Test(schedule, learning_rates_follow_their_schedules) {
    static const struct {
        ebb_schedule s;
        struct {
            int64_t step;
            double rate;
        } at[5];
    } rows[] = {
        {{.kind = EBB_SCHEDULE_CONSTANT, .rate = 0.3, .n_steps = 1},
         {{0, 0.3}, {1, 0.3}, {7, 0.3}, {99, 0.3}, {5, 0.3}}},
        {{.kind = EBB_SCHEDULE_CONSTANT, .rate = 0.3, .n_steps = 1, .warmup = 3},
         {{0, 0.1}, {1, 0.2}, {2, 0.3}, {3, 0.3}, {9, 0.3}}},
        {{.kind = EBB_SCHEDULE_STEP, .rate = 1, .factor = 0.5, .every = 3, .warmup = 2},
         {{0, 0.5}, {2, 1}, {4, 1}, {5, 0.5}, {8, 0.25}}},
        {{.kind = EBB_SCHEDULE_COSINE, .rate = 1, .least = 0.2, .n_steps = 9, .warmup = 1},
         {{0, 1}, {1, 1}, {3, 0.88284271247461907}, {5, 0.6}, {9, 0.2}}},
        {{.kind = EBB_SCHEDULE_ONE_CYCLE, .rate = 1, .n_steps = 10},
         {{0, 0.04}, {1, 0.52}, {2, 1}, {6, 0.38874}, {9, 4e-6}}},
    };
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        TEST_OK(env, ebb_schedule_check(env, &rows[i].s));
        for (size_t k = 0; k < 5; k++) {
            const double got = ebb_schedule_rate(&rows[i].s, rows[i].at[k].step), want = rows[i].at[k].rate;
            cr_expect(got > want * (1 - 1e-5) && got < want * (1 + 1e-5),
                      "schedule %zu, step %lld: %.9g, not %.9g", i, (long long)rows[i].at[k].step, got,
                      want);
        }
    }
    static const ebb_schedule bad[] = {
        {.rate = 0},
        {.rate = 1, .warmup = -1},
        {.kind = EBB_SCHEDULE_COSINE, .rate = 1, .n_steps = 0},
        {.kind = EBB_SCHEDULE_COSINE, .rate = 1, .n_steps = 3, .least = 2},
        {.kind = EBB_SCHEDULE_COSINE, .rate = 1, .n_steps = 3, .warmup = 3},
        {.kind = EBB_SCHEDULE_STEP, .rate = 1, .factor = 0.5},
        {.kind = EBB_SCHEDULE_STEP, .rate = 1, .factor = 2, .every = 1},
        {.kind = EBB_SCHEDULE_ONE_CYCLE, .rate = 1, .n_steps = 9, .warmup = 1}};
    for (size_t i = 0; i < EBB_COUNT(bad); i++)
        TEST_STATUS(env, ebb_schedule_check(env, &bad[i]), EBB_USAGE);
    test_env_close(env);
}

static void read_text(void *ctx, const char *pass, const char *text) {
    (void)pass;
    (void)snprintf(ctx, 4096, "%s", text);
}

/* Of a weight and a bias: which of their two updates decay. */
Test(schedule, weight_decay_leaves_biases_and_norms_out_where_asked) {
    static const char model[] =
        "ebb 1\ngraph d\n%x = input f32[2,3]\n%l = input i32[2]\n%w = param f32[4,3]\n"
        "%b = param f32[4]\n%y = linear %x, %w\n%z = bias %y, %b\n"
        "%loss = softmax_xent %z, %l\nloss %loss\n";
    static char text[4096];
    ebb_env *env = test_env_open();
    for (int i = 0; i < 6; i++) {
        ebb_options o;
        ebb_model *m;
        ebb_model_facts facts;
        ebb_options_init(&o);
        o.device = "ref";
        o.optimizer = i / 2 == 0 ? EBB_ADAMW : EBB_SGD;
        o.momentum = i / 2 == 1 ? 0.5 : 0;
        o.weight_decay = 0.25;
        o.decay_weights = i % 2 == 1;
        o.dump = "optimizer";
        o.on_dump = read_text;
        o.dump_ctx = text;
        TEST_OK(env, ebb_model_parse(env, "d", model, strlen(model), &m));
        TEST_OK(env, ebb_model_inspect(env, m, NULL, 0, &o, &facts));
        ebb_model_destroy(m);
        int n = 0;
        for (const char *at = text; (at = strstr(at, "decay=0.25")); at++) n++;
        cr_expect_eq(n, o.decay_weights ? 1 : 2, "%d: %s", i, text);
    }
    test_env_close(env);
}
