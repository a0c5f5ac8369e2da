/* Costs through the public header: ops measured in their own steps, and plans made of them. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "costs_bench.h"
#include "support/scarce.h"
static const char OTHER[] = "ebb 1\ngraph other\n%x = input f32[8,30]\n%labels = input i32[8]\n"
                            "%w1 = param f32[10,30] init=kaiming\n%a = linear %x, %w1\n%b = gelu %a\n"
                            "%loss = softmax_xent %b, %labels\nloss %loss\n";

static ebb_costs *measure(costs_bench *b, uint32_t n_runs) {
    const ebb_measure_request request = {.n_runs = n_runs};
    ebb_costs *costs = NULL;
    TEST_OK(b->env, ebb_measure(b->env, b->model, NULL, 0, &b->options, &request, &costs));
    return costs;
}

static ebb_plan_summary plan_of(costs_bench *b, const ebb_costs *costs, int64_t n, ebb_plan **out) {
    const ebb_dim_binding dim = {"N", n};
    ebb_plan_summary s;
    b->options.costs = costs;
    TEST_OK(b->env, ebb_plan_model(b->env, b->model, &dim, n > 0, &b->options, out));
    ebb_plan_summarize(*out, &s);
    b->options.costs = NULL;
    return s;
}

Test(costs, a_plan_takes_the_times_that_were_measured_and_says_so) {
    costs_bench b;
    ebb_plan *plan, *again;
    ebb_costs_summary c;
    costs_bench_open(&b, costs_model);
    ebb_plan_summary s = plan_of(&b, NULL, 0, &plan);
    cr_expect_null(s.costs_machine);
    ebb_plan_destroy(plan);
    ebb_costs *costs = measure(&b, 3);
    ebb_costs_summarize(costs, &c);
    cr_expect_str_eq(c.backend, "ref");
    cr_expect(c.this_machine && c.n_threads == 1);
    s = plan_of(&b, costs, 0, &plan);
    const int64_t n_ops = s.n_steps - 4; /* four are views: they take no time and are not counted */
    cr_expect(s.n_measured == n_ops && s.n_calibrated == 0 && s.n_built_in == 0);
    cr_expect_eq(s.time_ns, 1000 * n_ops, "%lld", (long long)s.time_ns);
    cr_expect_str_eq(s.costs_id, c.id);
    char path[] = "/tmp/ebb-plan-XXXXXX";
    close(mkstemp(path));
    TEST_OK(b.env, ebb_plan_write(b.env, plan, path));
    TEST_OK(b.env, ebb_plan_read(b.env, path, &again));
    TEST_OK(b.env, ebb_plan_audit(b.env, again));
    ebb_plan_destroy(plan);
    ebb_plan_summarize(again, &s);
    cr_expect_str_eq(s.costs_id, c.id);
    cr_expect_str_eq(s.costs_machine, c.machine);
    cr_expect(s.n_measured == n_ops);
    ebb_plan_destroy(again);
    unlink(path);
    ebb_costs_destroy(costs);
    costs_bench_close(&b);
}

Test(costs, what_was_not_measured_is_told_from_what_was) {
    costs_bench b;
    ebb_plan *plan;
    costs_bench_open(&b, costs_model);
    ebb_costs *costs = measure(&b, 1);
    ebb_plan_summary s = plan_of(&b, costs, 9, &plan); /* another batch: only updates are as they were */
    cr_expect_eq(s.n_measured, 2, "%lld: both updates", (long long)s.n_measured);
    cr_expect_eq(s.n_calibrated, s.n_steps - 4 - 2);
    cr_expect_eq(s.n_built_in, 0);
    ebb_plan_destroy(plan);
    ebb_model_destroy(b.model);
    TEST_OK(b.env, ebb_model_parse(b.env, "t", OTHER, strlen(OTHER), &b.model));
    s = plan_of(&b, costs, 0, &plan); /* gelu and its gradient are of no kind that was measured */
    cr_expect_eq(s.n_built_in, 2, "%lld", (long long)s.n_built_in);
    ebb_plan_destroy(plan);
    ebb_costs_destroy(costs);
    costs_bench_close(&b);
}

Test(costs, a_second_measurement_adds_to_the_first) {
    costs_bench b;
    ebb_costs_summary first, both;
    costs_bench_open(&b, costs_model);
    ebb_costs *costs = measure(&b, 1);
    ebb_model_destroy(b.model);
    TEST_OK(b.env, ebb_model_parse(b.env, "t", OTHER, strlen(OTHER), &b.model));
    b.options.costs = costs;
    ebb_costs *more = measure(&b, 1);
    ebb_costs_summarize(costs, &first);
    ebb_costs_summarize(more, &both);
    cr_expect_gt(both.n_ops, first.n_ops);
    cr_expect_eq(both.n_kinds, first.n_kinds + 2);
    b.options.costs = more;
    ebb_costs *again = measure(&b, 1); /* replaces, and adds nothing */
    ebb_costs_summarize(again, &first);
    cr_expect(first.n_ops == both.n_ops && first.n_kinds == both.n_kinds);
    ebb_costs_destroy(costs);
    ebb_costs_destroy(more);
    ebb_costs_destroy(again);
    costs_bench_close(&b);
}

Test(costs, what_cannot_be_measured_or_does_not_belong_is_refused) {
    static const char planning[] = "{\"schema\": \"ebb.graph/1\", \"values\": [], \"ops\": []}";
    costs_bench b;
    ebb_plan *plan;
    ebb_costs *none;
    ebb_measure_request request = {.n_runs = 0};
    costs_bench_open(&b, costs_model);
    ebb_costs *costs = measure(&b, 1);
    cr_expect_eq(ebb_measure(b.env, b.model, NULL, 0, &b.options, &request, &none), EBB_USAGE);
    request.n_runs = 1;
    b.w.stop = 1;
    cr_expect_eq(ebb_measure(b.env, b.model, NULL, 0, &b.options, &request, &none), EBB_INTERRUPTED);
    cr_expect_null(none);
    b.w.stop = 0;
    b.options.device = "shadow";
    cr_expect_eq(ebb_measure(b.env, b.model, NULL, 0, &b.options, &request, &none), EBB_USAGE);
    b.options.costs = costs;
    cr_expect_eq(ebb_plan_model(b.env, b.model, NULL, 0, &b.options, &plan), EBB_USAGE);
    b.options.device = "ref";
    b.options.n_threads = 2;
    cr_expect_eq(ebb_plan_model(b.env, b.model, NULL, 0, &b.options, &plan), EBB_USAGE);
    b.options.n_threads = 1;
    ebb_model_destroy(b.model);
    TEST_OK(b.env, ebb_model_parse(b.env, "t", planning, strlen(planning), &b.model));
    cr_expect_eq(ebb_plan_model(b.env, b.model, NULL, 0, &b.options, &plan), EBB_USAGE);
    cr_expect_not_null(strstr(ebb_env_error(b.env), "times of its own"), "%s", ebb_env_error(b.env));
    b.options.costs = NULL;
    cr_expect_eq(ebb_measure(b.env, b.model, NULL, 0, &b.options, &request, &none), EBB_USAGE);
    ebb_costs_destroy(costs);
    costs_bench_close(&b);
}

static int count_files(const char *folder) {
    DIR *dir = opendir(folder);
    int n = 0;
    for (struct dirent *e; dir && (e = readdir(dir));) n += e->d_name[0] != '.';
    if (dir) closedir(dir);
    return n;
}

Test(costs, a_cached_plan_is_of_its_costs) {
    char folder[] = "/tmp/ebb-costs-XXXXXX", command[64];
    costs_bench b;
    ebb_plan *plan;
    cr_assert_not_null(mkdtemp(folder));
    costs_bench_open(&b, costs_model);
    ebb_costs *costs = measure(&b, 1);
    b.w.tick_ns = 3000;
    ebb_costs *slower = measure(&b, 1);
    b.options.cache = folder;
    const ebb_costs *rows[] = {NULL, costs, slower, costs, NULL};
    static const int n_files[] = {1, 2, 3, 3, 3};
    for (int i = 0; i < 5; i++) {
        const ebb_plan_summary s = plan_of(&b, rows[i], 0, &plan);
        cr_expect_eq(count_files(folder), n_files[i], "plan %d: %d files", i, count_files(folder));
        if (rows[i]) cr_expect_eq(s.time_ns, (rows[i] == costs ? 1000 : 3000) * (s.n_steps - 4));
        ebb_plan_destroy(plan);
    }
    ebb_costs_destroy(costs);
    ebb_costs_destroy(slower);
    costs_bench_close(&b);
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}

/* Measures, and plans by what was measured. */
static ebb_status story(ebb_env *env) {
    const ebb_measure_request request = {.n_runs = 1};
    ebb_model *model = NULL;
    ebb_costs *costs = NULL;
    ebb_plan *plan = NULL;
    ebb_options o;
    ebb_options_init(&o);
    o.device = "ref";
    o.n_threads = 1;
    ebb_status status = ebb_model_parse(env, "t", OTHER, strlen(OTHER), &model);
    if (status == EBB_OK) status = ebb_measure(env, model, NULL, 0, &o, &request, &costs);
    o.costs = costs;
    if (status == EBB_OK) status = ebb_plan_model(env, model, NULL, 0, &o, &plan);
    ebb_plan_destroy(plan);
    ebb_costs_destroy(costs);
    ebb_model_destroy(model);
    return status;
}

Test(costs, every_refused_allocation_is_no_memory_and_leaks_nothing, .timeout = 300) {
    for (uint64_t n = 1;; n++) { /* 0 is the env's own */
        scarce_memory memory = {.fail_at = n, .once = true};
        ebb_env *env = scarce_env(&memory);
        ebb_status status = story(env);
        cr_assert_eq(ebb_env_allocated_bytes(env), 0, "allocation %llu: %zu bytes leaked",
                     (unsigned long long)n, ebb_env_allocated_bytes(env));
        bool all = memory.n_calls <= n;
        cr_assert(status == (all ? EBB_OK : EBB_NO_MEMORY), "allocation %llu: %s: %s",
                  (unsigned long long)n, ebb_status_name(status), ebb_env_error(env));
        ebb_env_destroy(env);
        if (all) {
            cr_assert_gt(n, 100);
            break;
        }
    }
}
