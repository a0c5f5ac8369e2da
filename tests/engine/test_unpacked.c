/* A budget of live bytes alone: a plan for values that somebody else allocates (ebb_options.unpacked). */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "ebb/ebb.h"
#include "support/options.h"

/* Values that are written by one op after the other: their sizes and last readers leave 27 units live at
 * most, and no packing of them is below 28. Beside them lies one more unit, `again`, which may be dropped
 * after the first op and written anew before the last. */
#define N_ROWS 17
#define UNIT   64
#define LIVE   (27 * UNIT)
#define PACKED (28 * UNIT)
#define AGAIN  UNIT
#define GRAPH  16384

static const int sizes[N_ROWS] = {1, 7, 3, 5, 5, 6, 2, 6, 3, 1, 3, 5, 4, 7, 1, 2, 7};
static const int last_readers[N_ROWS] = {7, 5, 6, 10, 12, 8, 12, 14, 11, 13, 16, 15, 16, 16, 16, 16, 16};

static size_t add_value(char *to, size_t n, int id, int bytes) {
    return n + (size_t)snprintf(to + n, GRAPH - n,
                                "%s{\"id\":%d,\"name\":\"v%d\",\"bytes\":%d,\"role\":\"activation\"}",
                                id > 0 ? "," : "", id, id, bytes);
}

/* The ids that op i reads: the values whose last reader it is, and `again` in the first and the last. */
static size_t add_reads(char *to, size_t n, int i, bool again) {
    const char *comma = "";
    for (int v = 0; v < i; v++)
        if (last_readers[v] == i) {
            n += (size_t)snprintf(to + n, GRAPH - n, "%s%d", comma, v);
            comma = ",";
        }
    if (again && (i == 0 || i == N_ROWS - 1))
        n += (size_t)snprintf(to + n, GRAPH - n, "%s%d", comma, N_ROWS);
    return n;
}

static size_t add_op(char *to, size_t n, int id, int i, bool again) {
    n += (size_t)snprintf(to + n, GRAPH - n,
                          "%s{\"id\":%d,\"name\":\"o%d\",\"kind\":\"k\",\"phase\":\"forward\",\"time_ns\":"
                          "1000,\"recomputable\":false,\"ordered\":true,\"after\":[],\"inputs\":[",
                          id > 0 ? "," : "", id, id);
    n = add_reads(to, n, i, again);
    return n + (size_t)snprintf(to + n, GRAPH - n, "],\"outputs\":[%d]}", i);
}

static void make_graph(char *to, bool again) {
    size_t n = (size_t)snprintf(to, GRAPH,
                                "{\"schema\":\"ebb.graph/1\",\"name\":\"gaps\",\"fixed_bytes\":0,"
                                "\"values\":[");
    for (int i = 0; i < N_ROWS; i++) n = add_value(to, n, i, UNIT * sizes[i]);
    if (again) n = add_value(to, n, N_ROWS, AGAIN);
    n += (size_t)snprintf(to + n, GRAPH - n, "],\"ops\":[");
    if (again)
        n += (size_t)snprintf(
            to + n, GRAPH - n,
            "{\"id\":0,\"name\":\"again\",\"kind\":\"k\",\"phase\":\"forward\",\"time_ns\":"
            "1000,\"recomputable\":true,\"after\":[],\"inputs\":[],\"outputs\":[%d]}",
            N_ROWS);
    for (int i = 0; i < N_ROWS; i++) n = add_op(to, n, i + again, i, again);
    snprintf(to + n, GRAPH - n, "]}");
}

typedef struct bench {
    ebb_env *env;
    ebb_model *model;
    ebb_options options;
    ebb_plan *plan, *smallest;
    ebb_plan_summary summary;
} bench;

static ebb_status plan(bench *b, bool again, int64_t budget_bytes, bool unpacked) {
    char text[GRAPH];
    *b = (bench){0};
    make_graph(text, again);
    cr_assert_eq(ebb_env_create(NULL, &b->env), EBB_OK);
    cr_assert_eq(ebb_model_parse(b->env, "gaps.json", text, strlen(text), &b->model), EBB_OK, "%s",
                 ebb_env_error(b->env));
    test_options_init(&b->options);
    b->options.memory = EBB_MEMORY_BUDGET;
    b->options.budget_bytes = budget_bytes;
    b->options.unpacked = unpacked;
    const ebb_status status =
        ebb_plan_model_or_smallest(b->env, b->model, NULL, 0, &b->options, &b->plan, &b->smallest);
    ebb_plan *made = b->plan ? b->plan : b->smallest;
    if (made) {
        ebb_plan_summarize(made, &b->summary);
        cr_assert_eq(ebb_plan_audit(b->env, made), EBB_OK, "%s", ebb_env_error(b->env));
    }
    return status;
}

static void close_bench(bench *b) {
    ebb_plan_destroy(b->plan);
    ebb_plan_destroy(b->smallest);
    ebb_model_destroy(b->model);
    cr_assert_eq(ebb_env_allocated_bytes(b->env), 0);
    ebb_env_destroy(b->env);
}

Test(unpacked, gaps_between_values_take_no_bytes_of_the_budget) {
    bench b;
    cr_assert_eq(plan(&b, false, LIVE, false), EBB_OVER_BUDGET, "a packing without gaps was found");
    close_bench(&b);
    cr_assert_eq(plan(&b, false, LIVE, true), EBB_OK, "%s", ebb_env_error(b.env));
    cr_assert_eq(b.summary.max_live_bytes, LIVE);
    cr_assert_geq(b.summary.total_bytes, PACKED);
    cr_assert_eq(b.summary.budget_bytes, -1, "the plan says that it is packed within %lld bytes",
                 (long long)b.summary.budget_bytes);
    close_bench(&b);
}

Test(unpacked, what_runs_again_is_chosen_by_live_bytes) {
    bench b;
    cr_assert_eq(plan(&b, true, LIVE, false), EBB_OVER_BUDGET);
    close_bench(&b);
    cr_assert_eq(plan(&b, true, LIVE, true), EBB_OK, "%s", ebb_env_error(b.env));
    cr_assert_leq(b.summary.max_live_bytes, LIVE);
    cr_assert_eq(b.summary.n_recomputed, 1);
    cr_assert_eq(b.summary.time_ns, b.summary.baseline_time_ns + 1000);
    close_bench(&b);
}

Test(unpacked, a_plan_that_is_packed_within_the_budget_says_so) {
    bench b;
    const int64_t budget_bytes = 2 * PACKED;
    cr_assert_eq(plan(&b, false, budget_bytes, true), EBB_OK);
    cr_assert_eq(b.summary.budget_bytes, budget_bytes);
    close_bench(&b);
}

Test(unpacked, a_refusal_names_live_bytes) {
    bench b;
    cr_assert_eq(plan(&b, true, LIVE - UNIT, true), EBB_OVER_BUDGET);
    char named[64];
    snprintf(named, sizeof named, "needs %d bytes", LIVE);
    cr_assert_not_null(strstr(ebb_env_error(b.env), named), "%s", ebb_env_error(b.env));
    cr_assert_not_null(b.smallest);
    cr_assert_eq(b.summary.max_live_bytes, LIVE);
    cr_assert_eq(b.summary.budget_bytes, -1);
    close_bench(&b);
}

Test(unpacked, it_is_for_planning_graphs) {
    static const char tiny[] = "ebb 1\ngraph tiny\n%x = input f32[4,3]\n%y = relu %x\noutput %y\n";
    bench b;
    cr_assert_eq(plan(&b, false, LIVE, true), EBB_OK);
    ebb_plan *none = NULL;
    ebb_model *model = NULL;
    cr_assert_eq(ebb_model_parse(b.env, "tiny.ebb", tiny, strlen(tiny), &model), EBB_OK);
    cr_assert_eq(ebb_plan_model(b.env, model, NULL, 0, &b.options, &none), EBB_USAGE);
    cr_assert_not_null(strstr(ebb_env_error(b.env), "a plan that runs is packed"));
    ebb_model_destroy(model);
    close_bench(&b);
}

Test(unpacked, it_needs_a_budget_in_bytes) {
    bench b;
    ebb_plan *none = NULL;
    cr_assert_eq(plan(&b, false, LIVE, true), EBB_OK);
    b.options.budget_bytes = -1;
    b.options.budget_share = 0.5;
    cr_assert_eq(ebb_plan_model(b.env, b.model, NULL, 0, &b.options, &none), EBB_USAGE);
    cr_assert_not_null(strstr(ebb_env_error(b.env), "give one in bytes"), "%s", ebb_env_error(b.env));
    b.options.budget_share = 0;
    b.options.memory = EBB_MEMORY_IN_PLACE;
    cr_assert_eq(ebb_plan_model(b.env, b.model, NULL, 0, &b.options, &none), EBB_USAGE);
    cr_assert_not_null(strstr(ebb_env_error(b.env), "give one in bytes"), "%s", ebb_env_error(b.env));
    close_bench(&b);
}
