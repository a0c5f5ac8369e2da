/* Costs: what a table of measured ops answers, and the line that is fitted to them. And profiles. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>

#include "exec/costs.h"
#include "exec/exec.h"

/* ---- profile --------------------------------------------------------------------------------------- */

Test(profile, medians_are_of_the_last_runs_and_a_failed_run_leaves_nothing) {
    static const uint64_t runs[][2] = {{900, 900}, {70, 7}, {10, 1}, {30, 3}, {20, 2}};
    ebb_env *env = test_env_open();
    ebb_profile *profile = NULL;
    ebb_profile_time time;
    cr_assert_eq(ebb_profile_create(env, 2, 0, &profile), EBB_USAGE);
    TEST_OK(env, ebb_profile_create(env, 2, 3, &profile));
    ebb_profile_step(profile, 0, &time);
    cr_expect(time.median_ns == 0 && time.least_ns == 0 && ebb_profile_n_runs(profile) == 0);
    for (size_t r = 0; r < EBB_COUNT(runs); r++) {
        ebb_profile_begin_run(profile);
        ebb_profile_row(profile)[0] += 5000; /* of a run that failed: it is begun again */
        ebb_profile_begin_run(profile);
        for (int s = 0; s < 2; s++) ebb_profile_row(profile)[s] += runs[r][s];
        ebb_profile_end_run(profile);
    }
    cr_expect_eq(ebb_profile_n_runs(profile), 3);
    ebb_profile_step(profile, 0, &time);
    cr_expect(time.median_ns == 20 && time.least_ns == 10, "%lld", (long long)time.median_ns);
    ebb_profile_step(profile, 1, &time);
    cr_expect(time.median_ns == 2 && time.least_ns == 1);
    ebb_profile_destroy(profile);
    test_env_close(env);
}

/* ---- fit ------------------------------------------------------------------------------------------- */

static ebb_costs *new_costs(ebb_env *env) {
    ebb_costs *costs = NULL;
    TEST_OK(env, ebb_costs_create(env, "ref", 1, "a machine", &costs));
    return costs;
}

static void add_row(ebb_costs *costs, const char *op, const char *kind, int64_t flops, int64_t bytes,
                    int64_t time_ns) {
    const ebb_cost_row row = {
        .op = op, .kind = kind, .cost = {flops, bytes}, .time_ns = time_ns, .least_ns = 1, .n_uses = 1};
    TEST_OK(costs->env, ebb_costs_add_row(costs, &row));
}

/* Rows that a line itself timed. */
static void add_by_line(ebb_costs *costs, const ebb_roofline *line, int64_t flops, int64_t bytes) {
    char op[64];
    const ebb_cost cost = {flops, bytes};
    (void)snprintf(op, sizeof op, "op %lld %lld", (long long)flops, (long long)bytes);
    add_row(costs, op, "k", flops, bytes, ebb_roofline_ns(line, &cost));
}

static bool near(int64_t got, int64_t want) {
    return llabs(got - want) <= want / 100;
}

Test(costs, a_line_is_found_again_from_rows_that_it_timed) {
    static const ebb_roofline built_in = {.flops_per_us = 200000, .bytes_per_us = 17000, .start_ns = 3000};
    static const ebb_roofline lines[] = {
        {400000, 11000, 3000}, {150000, 30000, 2000}, {9000, 40000, 100}, {200000, 17000, 3000}};
    for (size_t i = 0; i < EBB_COUNT(lines); i++) {
        ebb_env *env = test_env_open();
        ebb_costs *costs = new_costs(env);
        for (int64_t k = 1; k <= 8; k++) {
            add_by_line(costs, &lines[i], k * 900000000, 1000000); /* arithmetic binds */
            add_by_line(costs, &lines[i], 1000000, k * 90000000);  /* traffic does */
            /* And where more flops than bytes are bound by bytes, or the other way round. */
            const int64_t bytes = k * 10000000;
            add_by_line(costs, &lines[i], bytes * lines[i].flops_per_us / lines[i].bytes_per_us / 2,
                        bytes + 1);
            add_by_line(costs, &lines[i], 2 * bytes * lines[i].flops_per_us / lines[i].bytes_per_us,
                        bytes + 2);
        }
        add_row(costs, "another kind's", "other", 1, 1, 1000000000);
        const ebb_cost_line got = ebb_costs_fit(costs, "k", &built_in);
        cr_expect_eq(got.n_ops, 32);
        cr_expect(near(got.line.flops_per_us, lines[i].flops_per_us), "line %zu: %lld flops", i,
                  (long long)got.line.flops_per_us);
        cr_expect(near(got.line.bytes_per_us, lines[i].bytes_per_us), "line %zu: %lld bytes", i,
                  (long long)got.line.bytes_per_us);
        ebb_costs_destroy(costs);
        test_env_close(env);
    }
}

Test(costs, a_side_without_rows_keeps_its_proportion_to_the_other) {
    static const ebb_roofline built_in = {.flops_per_us = 20000, .bytes_per_us = 25000, .start_ns = 1000};
    ebb_env *env = test_env_open();
    ebb_costs *costs = new_costs(env);
    cr_expect_eq(ebb_costs_fit(costs, "k", &built_in).n_ops, 0);
    cr_expect_eq(ebb_costs_fit(costs, "k", &built_in).line.bytes_per_us, 25000);
    add_row(costs, "a", "k", 1, 50000000, 1001000); /* 50,000 a microsecond: twice the built-in rate */
    const ebb_cost_line got = ebb_costs_fit(costs, "k", &built_in);
    cr_expect(near(got.line.bytes_per_us, 50000) && near(got.line.flops_per_us, 40000), "%lld %lld",
              (long long)got.line.bytes_per_us, (long long)got.line.flops_per_us);
    add_row(costs, "c", "work", 80000000, 1, 1001000); /* 80,000: four times */
    const ebb_cost_line work = ebb_costs_fit(costs, "work", &built_in);
    cr_expect(near(work.line.flops_per_us, 80000) && near(work.line.bytes_per_us, 100000), "%lld %lld",
              (long long)work.line.flops_per_us, (long long)work.line.bytes_per_us);
    add_row(costs, "b", "idle", 0, 0, 500); /* nothing to do: it is all start */
    cr_expect_eq(ebb_costs_fit(costs, "idle", &built_in).line.start_ns, 250);
    ebb_costs_destroy(costs);
    test_env_close(env);
}

/* ---- ask ------------------------------------------------------------------------------------------- */

typedef struct asked {
    ebb_env *env;
    ebb_backend *backend;
    ebb_type in[2], out[1];
    ebb_call call;
    ebb_text name;
} asked;

/* relu of [n, 5]; attributes: none. */
static void ask_begin(asked *a, int64_t n) {
    *a = (asked){.env = test_env_open()};
    a->backend = test_backend_open(a->env, "ref", 1);
    a->in[0] = a->out[0] = (ebb_type){.dtype = EBB_F32, .rank = 2, .dim = {n, 5}};
    a->call = (ebb_call){.op = &ebb_op_relu, .in = a->in, .out = a->out, .n_in = 1, .n_out = 1};
    ebb_text_init(&a->name, a->env);
}

static void ask_end(asked *a) {
    ebb_text_deinit(&a->name);
    a->backend->api->destroy(a->backend);
    test_env_close(a->env);
}

static int64_t ask(asked *a, const ebb_costs *costs, ebb_cost_source want) {
    ebb_op_facts facts;
    ebb_cost_source source;
    int64_t ns;
    TEST_OK(a->env, a->backend->api->facts(a->backend, &a->call, &facts));
    cr_expect_str_eq(facts.kind, "relu");
    TEST_OK(a->env, ebb_costs_ask(costs, &a->call, &facts, &a->name, &ns, &source));
    cr_expect_eq(source, want);
    if (source == EBB_COST_BUILT_IN) cr_expect_eq(ns, facts.time_ns);
    return ns;
}

static int64_t ask_built_in(asked *a) {
    ebb_op_facts facts;
    TEST_OK(a->env, a->backend->api->facts(a->backend, &a->call, &facts));
    return facts.time_ns;
}

Test(costs, a_measured_op_answers_first_then_its_kinds_line_then_the_built_in_model) {
    asked a;
    ask_begin(&a, 7);
    ebb_costs *costs = new_costs(a.env);
    TEST_OK(a.env, ebb_costs_seal(costs, NULL));
    (void)ask(&a, costs, EBB_COST_BUILT_IN);
    const ebb_cost_line line = {.kind = "relu", .line = {1000000000, 1000000000, 77}};
    TEST_OK(a.env, ebb_costs_add_line(costs, &line));
    TEST_OK(a.env, ebb_costs_seal(costs, NULL));
    cr_expect_eq(ask(&a, costs, EBB_COST_CALIBRATED), 78);
    add_row(costs, "relu f32[7,5] : f32[7,5]", "relu", 1, 1, 4444);
    add_row(costs, "relu f32[8,5] : f32[8,5]", "relu", 1, 1, 5555);
    add_row(costs, "relu f32[7,5] : f32[7,5]", "relu", 1, 1, 4445); /* the later one stays */
    add_row(costs, "add f32[7,5] f32[7,5] : f32[7,5]", "add", 1, 1, 6666);
    TEST_OK(a.env, ebb_costs_seal(costs, NULL));
    cr_expect_eq(ask(&a, costs, EBB_COST_MEASURED), 4445);
    a.in[0].dim[0] = a.out[0].dim[0] = 9;
    cr_expect_eq(ask(&a, costs, EBB_COST_CALIBRATED), 78);
    ebb_costs_destroy(costs);
    ask_end(&a);
}

Test(costs, kinds_without_a_line_have_the_built_in_one_at_the_machines_rates) {
    static const struct {
        int64_t flops_permille, bytes_permille, part; /* the time left is 1 / part */
    } rows[] = {{1000, 1000, 1}, {2000, 2000, 2}, {500, 4000, 0}, {INT64_MAX, INT64_MAX, 0}};
    asked a;
    ask_begin(&a, 1 << 20);
    const int64_t built_in = ask_built_in(&a);
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        ebb_costs *costs = new_costs(a.env);
        costs->others = (ebb_cost_others){.flops_permille = rows[i].flops_permille,
                                          .bytes_permille = rows[i].bytes_permille};
        TEST_OK(a.env, ebb_costs_seal(costs, NULL));
        const int64_t ns = ask(&a, costs, EBB_COST_CALIBRATED);
        if (rows[i].part) cr_expect(near(ns, built_in / rows[i].part), "%zu: %lld", i, (long long)ns);
        cr_expect_gt(ns, 0);
        ebb_costs_destroy(costs);
    }
    ask_end(&a);
}

Test(costs, a_calls_text_has_types_and_every_attribute_that_is_not_its_default) {
    static const ebb_type in[2] = {{EBB_F32, 4, {2, 3, 9, 9}}, {EBB_F32, 4, {7, 3, 3, 3}}};
    const ebb_type out[1] = {{EBB_F32, 4, {2, 7, 5, 5}}};
    ebb_attr attr[4] = {{.i = {2, 2}}, {.i = {1, 1}}, {.i = {1, 1}}, {.i = {1}}};
    const ebb_call call = {.op = &ebb_op_conv2d, .in = in, .out = out, .n_in = 2, .n_out = 1, .attr = attr};
    ebb_env *env = test_env_open();
    ebb_text text;
    ebb_text_init(&text, env);
    ebb_call_print(&text, &call);
    cr_expect_str_eq(text.at, "conv2d f32[2,3,9,9] f32[7,3,3,3] stride=2 pad=1 : f32[2,7,5,5]");
    ebb_text_deinit(&text);
    test_env_close(env);
}

static void name_of_it(const ebb_backend *backend, char text[EBB_MACHINE_TEXT]) {
    (void)backend;
    (void)snprintf(text, EBB_MACHINE_TEXT, "a machine");
}

static void name_of_another(const ebb_backend *backend, char text[EBB_MACHINE_TEXT]) {
    (void)backend;
    (void)snprintf(text, EBB_MACHINE_TEXT, "another");
}

Test(costs, other_backends_widths_and_devices_are_refused) {
    ebb_env *env = test_env_open();
    ebb_costs *costs = new_costs(env);
    ebb_backend_api other = ebb_backend_ref;
    ebb_backend backend = {&ebb_backend_ref, env, 1};
    TEST_OK(env, ebb_costs_check(env, costs, &backend));
    backend.n_threads = 2;
    cr_expect_eq(ebb_costs_check(env, costs, &backend), EBB_USAGE);
    backend = (ebb_backend){&ebb_backend_shadow, env, 1};
    cr_expect_eq(ebb_costs_check(env, costs, &backend), EBB_USAGE);
    /* A backend whose devices have names: the costs must be of this one. */
    other.machine = name_of_it;
    backend.api = &other;
    TEST_OK(env, ebb_costs_check(env, costs, &backend));
    other.machine = name_of_another;
    cr_expect_eq(ebb_costs_check(env, costs, &backend), EBB_USAGE);
    cr_expect(strstr(ebb_env_error(env), "another") != NULL, "%s", ebb_env_error(env));
    ebb_costs_destroy(costs);
    test_env_close(env);
}
