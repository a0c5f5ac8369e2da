/* The engine through its public header: programs kept per dims, feeds and fetches, phases, fit, the classic
 * example. */
#include <stdlib.h>

#include "ebb/ebb.h"
#include "support/env.h"
#include "support/options.h"

static const char MODEL[] = "ebb 1\n"
                            "graph small\n"
                            "dim N = 8\n"
                            "%x = input f32[N,3,9,9]\n"
                            "%labels = input i32[N]\n"
                            "%w1 = param f32[7,3,3,3] init=kaiming\n"
                            "%g1 = param f32[7] init=one\n"
                            "%b1 = param f32[7] init=zero\n"
                            "%m1 = state f32[7] init=zero\n"
                            "%v1 = state f32[7] init=one\n"
                            "%w2 = param f32[5,7] init=uniform\n"
                            "%c = conv2d %x, %w1 pad=1\n"
                            "%n = batch_norm %c, %g1, %b1, %m1, %v1\n"
                            "%r = relu %n\n"
                            "%d = dropout %r p=0.25\n"
                            "%p = global_avg_pool %d\n"
                            "%logits = linear %p, %w2\n"
                            "%loss = softmax_xent %logits, %labels\n"
                            "output %logits\n"
                            "loss %loss\n";

typedef struct bench {
    ebb_env *env;
    ebb_model *model;
    ebb_engine *engine;
} bench;

static bench open_bench(const ebb_options *options) {
    bench b;
    cr_assert_eq(ebb_env_create(NULL, &b.env), EBB_OK);
    TEST_OK(b.env, ebb_model_parse(b.env, "small.ebb", MODEL, sizeof(MODEL) - 1, &b.model));
    TEST_OK(b.env, ebb_engine_create(b.env, b.model, options, &b.engine));
    return b;
}

static void close_bench(bench *b) {
    ebb_engine_destroy(b->engine);
    ebb_model_destroy(b->model);
    cr_assert_eq(ebb_env_allocated_bytes(b->env), 0);
    ebb_env_destroy(b->env);
}

static ebb_program *compile(bench *b, int64_t n) {
    ebb_program *p;
    TEST_OK(b->env, ebb_compile(b->engine, &(ebb_dim_binding){"N", n}, 1, &p));
    return p;
}

static void feed(bench *b, ebb_program *p, int64_t n, float lr) {
    float *x = malloc((size_t)n * 3 * 81 * sizeof *x);
    int32_t *labels = malloc((size_t)n * sizeof *labels);
    for (int64_t i = 0; i < n * 3 * 81; i++) x[i] = (float)((i * 7919) % 101) / 50.0f - 1.0f;
    for (int64_t i = 0; i < n; i++) labels[i] = (int32_t)(i % 5);
    TEST_OK(b->env, ebb_feed(p, "x", x, (size_t)n * 3 * 81 * sizeof *x));
    TEST_OK(b->env, ebb_feed(p, "labels", labels, (size_t)n * sizeof *labels));
    TEST_OK(b->env, ebb_feed(p, "lr", &lr, sizeof(lr)));
    free(x);
    free(labels);
}

static float loss_of(bench *b, ebb_program *p) {
    float loss;
    TEST_OK(b->env, ebb_fetch(p, "loss", &loss, sizeof(loss)));
    return loss;
}

Test(engine, a_last_partial_batch_shares_the_parameters_and_one_block) {
    ebb_options o;
    test_options_init(&o);
    bench b = open_bench(&o);
    ebb_program *full = compile(&b, 8), *rest = compile(&b, 3), *more = compile(&b, 33);
    cr_assert_eq(compile(&b, 3), rest);
    cr_assert_neq(full, rest);
    ebb_plan_summary s;
    ebb_plan_summarize(ebb_program_plan(more), &s);
    cr_assert_eq(ebb_engine_block_bytes(b.engine), s.arena_bytes + s.persistent_bytes);
    feed(&b, full, 8, 0.1f);
    TEST_OK(b.env, ebb_step(full));
    float before[35], after[35];
    TEST_OK(b.env, ebb_fetch(rest, "w2", before, sizeof(before)));
    feed(&b, rest, 3, 0.1f);
    TEST_OK(b.env, ebb_step(rest));
    TEST_OK(b.env, ebb_fetch(full, "w2", after, sizeof(after)));
    cr_assert_neq(memcmp(before, after, sizeof(after)), 0,
                  "the step on the partial batch must move the shared weights");
    close_bench(&b);
}

Test(engine, growing_the_block_keeps_the_parameters) {
    ebb_options o;
    test_options_init(&o);
    bench b = open_bench(&o);
    ebb_program *small = compile(&b, 1);
    float w[189], again[189];
    TEST_OK(b.env, ebb_fetch(small, "w1", w, sizeof(w)));
    compile(&b, 129);
    TEST_OK(b.env, ebb_fetch(small, "w1", again, sizeof(again)));
    cr_assert_eq(memcmp(w, again, sizeof(w)), 0);
    close_bench(&b);
}

Test(engine, training_lowers_the_loss_and_a_steady_step_allocates_nothing) {
    ebb_options o;
    test_options_init(&o);
    bench b = open_bench(&o);
    ebb_program *p = compile(&b, 8);
    feed(&b, p, 8, 0.2f);
    TEST_OK(b.env, ebb_step(p));
    float first = loss_of(&b, p);
    uint64_t count = 0;
    for (int i = 0; i < 60; i++) {
        feed(&b, p, 8, 0.2f);
        count = ebb_env_allocation_count(b.env);
        TEST_OK(b.env, ebb_step(p));
        cr_assert_eq(ebb_env_allocation_count(b.env), count);
    }
    cr_assert_lt(loss_of(&b, p), first);
    close_bench(&b);
}

Test(engine, phases_run_in_order_and_give_the_bits_of_a_whole_step) {
    ebb_options o;
    test_options_init(&o);
    o.phased = true;
    bench whole = open_bench(&o), parts = open_bench(&o);
    ebb_program *a = compile(&whole, 7), *p = compile(&parts, 7);
    for (int i = 0; i < 3; i++) {
        feed(&whole, a, 7, 0.1f);
        feed(&parts, p, 7, 0.1f);
        TEST_OK(whole.env, ebb_step(a));
        cr_assert_eq(ebb_run_phase(p, EBB_BACKWARD), EBB_USAGE);
        TEST_OK(parts.env, ebb_run_phase(p, EBB_FORWARD));
        cr_assert_eq(ebb_step(p), EBB_USAGE);
        TEST_OK(parts.env, ebb_run_phase(p, EBB_BACKWARD));
        TEST_OK(parts.env, ebb_run_phase(p, EBB_UPDATE));
    }
    float wa[189], wp[189];
    TEST_OK(whole.env, ebb_fetch(a, "w1", wa, sizeof(wa)));
    TEST_OK(parts.env, ebb_fetch(p, "w1", wp, sizeof(wp)));
    cr_assert_eq(memcmp(wa, wp, sizeof(wa)), 0);
    close_bench(&whole);
    close_bench(&parts);
}

Test(engine, evaluation_uses_the_running_statistics_and_no_dropout) {
    ebb_options o;
    test_options_init(&o);
    o.evaluate = true;
    bench b = open_bench(&o);
    ebb_program *p = compile(&b, 7), *one = compile(&b, 1);
    float all[35], single[5];
    float x[7 * 243];
    int32_t labels[7] = {0};
    for (int i = 0; i < 7 * 243; i++) x[i] = (float)(i % 13) - 6;
    TEST_OK(b.env, ebb_feed(p, "x", x, sizeof(x)));
    TEST_OK(b.env, ebb_feed(p, "labels", labels, sizeof(labels)));
    TEST_OK(b.env, ebb_step(p));
    TEST_OK(b.env, ebb_fetch(p, "logits", all, sizeof(all)));
    for (int i = 0; i < 7; i++) { /* an image's answer does not depend on its batch */
        TEST_OK(b.env, ebb_feed(one, "x", x + i * 243, 243 * sizeof(float)));
        TEST_OK(b.env, ebb_feed(one, "labels", labels, sizeof(int32_t)));
        TEST_OK(b.env, ebb_step(one));
        TEST_OK(b.env, ebb_fetch(one, "logits", single, sizeof(single)));
        for (int k = 0; k < 5; k++) cr_assert_float_eq(single[k], all[i * 5 + k], 1e-5);
    }
    close_bench(&b);
}

/* p = w x; y = p + b, five variables of 8 bytes. */
Test(engine, the_classic_example_takes_40_bytes_without_reuse_and_32_in_place) {
    static const char graph[] =
        "{\"schema\":\"ebb.graph/1\",\"name\":\"classic\",\"values\":["
        "{\"id\":0,\"name\":\"w\",\"bytes\":8,\"role\":\"input\"},{\"id\":1,\"name\":\"x\",\"bytes\":8,"
        "\"role\":\"input\"},"
        "{\"id\":2,\"name\":\"b\",\"bytes\":8,\"role\":\"input\"},{\"id\":3,\"name\":\"p\",\"bytes\":8,"
        "\"role\":\"activation\"},"
        "{\"id\":4,\"name\":\"y\",\"bytes\":8,\"role\":\"output\"}],\"ops\":["
        "{\"id\":0,\"name\":\"mul\",\"inputs\":[0,1],\"outputs\":[3],\"time_ns\":1,\"in_place\":[]},"
        "{\"id\":1,\"name\":\"add\",\"inputs\":[3,2],\"outputs\":[4],\"time_ns\":1,\"in_place\":[[0,0]]}]}";
    ebb_env *env;
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    ebb_model *model;
    TEST_OK(env, ebb_model_parse(env, "classic.json", graph, sizeof(graph) - 1, &model));
    ebb_options o;
    test_options_init(&o);
    for (int k = 0; k < 2; k++) {
        o.memory = k ? EBB_MEMORY_IN_PLACE : EBB_MEMORY_NONE;
        ebb_plan *plan;
        TEST_OK(env, ebb_plan_model(env, model, NULL, 0, &o, &plan));
        ebb_plan_summary s;
        ebb_plan_summarize(plan, &s);
        /* in the default alignment each variable is one unit of 64 bytes */
        cr_assert_eq(s.arena_bytes, k ? 4 * 64 : 5 * 64);
        TEST_OK(env, ebb_plan_audit(env, plan));
        ebb_plan_destroy(plan);
    }
    ebb_model_destroy(model);
    ebb_env_destroy(env);
}

Test(engine, fit_answers_with_sizes_that_fit_and_whose_next_does_not) {
    ebb_env *env;
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    ebb_model *model;
    TEST_OK(env, ebb_model_parse(env, "small.ebb", MODEL, sizeof(MODEL) - 1, &model));
    ebb_options o;
    test_options_init(&o);
    o.effort = 4000;
    o.unfused = true; /* fused, backward reads nothing of this model that could be dropped */
    const int64_t budget = 1000000;
    ebb_fit_result *fit;
    TEST_OK(env, ebb_fit(env, model, "N", NULL, 0, &o, budget, 0.3, &fit));
    cr_assert_eq(fit->n_rows, 4);
    for (uint32_t i = 0; i < fit->n_rows; i++) {
        const ebb_fit_row *row = &fit->rows[i];
        cr_assert_gt(row->batch, 0);
        cr_assert_leq(row->total_bytes, budget);
        TEST_OK(env, ebb_plan_audit(env, row->plan));
        TEST_OK(env, ebb_plan_shadow(env, row->plan));
        if (i > 0)
            cr_assert_geq(row->batch, fit->rows[i - 1].batch - (i == 3 ? 0 : row->batch), "mode %u", i);
        if (row->mode == EBB_MEMORY_BUDGET)
            cr_assert_leq((double)row->time_ns, 1.3 * (double)row->baseline_time_ns);
        if (row->mode != EBB_MEMORY_NONE && row->mode != EBB_MEMORY_IN_PLACE) continue;
        ebb_plan *next;
        ebb_options plain = o;
        plain.memory = row->mode;
        TEST_OK(env, ebb_plan_model(env, model, &(ebb_dim_binding){"N", row->batch + 1}, 1, &plain, &next));
        ebb_plan_summary s;
        ebb_plan_summarize(next, &s);
        cr_assert_gt(s.total_bytes, budget, "batch %lld also fits", (long long)row->batch + 1);
        ebb_plan_destroy(next);
    }
    cr_assert_gt(fit->rows[3].batch, fit->rows[1].batch, "recomputation must help");
    ebb_fit_result_destroy(env, fit);
    ebb_model_destroy(model);
    cr_assert_eq(ebb_env_allocated_bytes(env), 0);
    ebb_env_destroy(env);
}
