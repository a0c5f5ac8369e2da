/* Values to keep and to drop, from the plans that are made: what is kept is never made again, and what is
 * dropped is not held from forward to backward. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "ebb/ebb.h"
#include "planner/planner.h"
#include "support/count.h"
#include "support/options.h"
#include "support/random_pgraph.h"

typedef struct bench {
    ebb_env *env;
    ebb_model *model;
    ebb_options options;
} bench;

static bench open_bench(const char *text) {
    bench b;
    cr_assert_eq(ebb_env_create(NULL, &b.env), EBB_OK);
    cr_assert_eq(ebb_model_parse(b.env, "t", text, strlen(text), &b.model), EBB_OK, "%s",
                 ebb_env_error(b.env));
    test_options_init(&b.options);
    b.options.memory = EBB_MEMORY_BUDGET;
    b.options.budget_bytes = INT64_C(1) << 50;
    b.options.effort = 2000;
    return b;
}

static void close_bench(bench *b) {
    ebb_model_destroy(b->model);
    cr_assert_eq(ebb_env_allocated_bytes(b->env), 0);
    ebb_env_destroy(b->env);
}

/* NULL: over budget. */
static ebb_plan *plan(bench *b) {
    ebb_plan *made;
    ebb_status status = ebb_plan_model(b->env, b->model, NULL, 0, &b->options, &made);
    if (status == EBB_OVER_BUDGET) return NULL;
    cr_assert_eq(status, EBB_OK, "%s", ebb_env_error(b->env));
    cr_assert_eq(ebb_plan_audit(b->env, made), EBB_OK, "%s", ebb_env_error(b->env));
    return made;
}

/* ---- what a plan does with a value ---------------------------------------------------------------- */

/* Per value the one that it is a free view of (which is dropped and made again with it), so that readers of
 * views count; other views are values of their own. */
static const ebb_id *roots_of(const ebb_plan *p) {
    static ebb_id roots[4096]; /* of the plan that is looked at */
    for (ebb_id v = 0; v < p->graph->n_values; v++) roots[v] = v;
    for (uint32_t i = 0; i < p->graph->n_ops; i++) {
        const ebb_pop *op = &p->graph->ops[i];
        bool free_view = ebb_pop_repeatable(op) && op->n_out == 1 && op->time_ns == 0 &&
                         op->scratch_bytes == 0 && op->n_alternatives == 0 && !op->optional;
        for (uint32_t k = 0; free_view && k < op->n_views; k++)
            roots[op->out[op->views[k].out]] = roots[op->in[op->views[k].in]];
    }
    return roots;
}

static bool reads(const ebb_plan *p, uint32_t step, ebb_id value) {
    const ebb_id *roots = roots_of(p);
    for (uint32_t k = 0; k < p->steps[step].n_reads; k++)
        if (roots[p->buffers[p->steps[step].reads[k]].value] == value) return true;
    return false;
}

static bool made_again(const ebb_plan *p, ebb_id value) {
    for (uint32_t i = 0; i < p->n_steps; i++)
        if (p->steps[i].recompute && p->steps[i].op == p->graph->values[value].producer) return true;
    return false;
}

/* First runs of ops alone, and none of optional ones, which may run late; EBB_NONE when there is none. */
static uint32_t last_forward_reader(const ebb_plan *p, ebb_id value) {
    uint32_t last = EBB_NONE;
    for (uint32_t i = 0; i < p->n_steps; i++)
        if (!p->steps[i].recompute && p->graph->ops[p->steps[i].op].phase == EBB_FORWARD &&
            !p->graph->ops[p->steps[i].op].optional && reads(p, i, value))
            last = i;
    return last;
}

static uint32_t first_backward_reader(const ebb_plan *p, ebb_id value) {
    for (uint32_t i = 0; i < p->n_steps; i++)
        if (!p->steps[i].recompute && p->graph->ops[p->steps[i].op].phase == EBB_BACKWARD &&
            reads(p, i, value))
            return i;
    return EBB_NONE;
}

static bool may_read(const ebb_plan *p, const ebb_pop *op, ebb_id value) {
    const ebb_id *roots = roots_of(p);
    for (uint32_t way = 0; way <= op->n_alternatives; way++) {
        ebb_pop_way under = ebb_pop_under(op, way < op->n_alternatives ? way : EBB_NONE);
        for (uint32_t k = 0; k < under.n_in; k++)
            if (roots[under.in[k]] == value) return true;
    }
    return false;
}

/* Is there an op between two that has no use for the value? Else there is no time to drop it. */
static bool idle_between(const ebb_plan *p, ebb_id value, ebb_id from, ebb_id to) {
    for (ebb_id op = from + 1; op < to; op++)
        if (!may_read(p, &p->graph->ops[op], value)) return true;
    return false;
}

/* A view that takes time, or is an output, is a value of its own, and holds the bytes of its base. */
static bool has_such_views(const ebb_plan *p, ebb_id value) {
    const ebb_id *roots = roots_of(p);
    for (uint32_t i = 0; i < p->graph->n_ops; i++) {
        const ebb_pop *op = &p->graph->ops[i];
        for (uint32_t k = 0; k < op->n_views; k++)
            if (roots[op->in[op->views[k].in]] == value &&
                (roots[op->out[op->views[k].out]] != value ||
                 p->graph->values[op->out[op->views[k].out]].role == EBB_ROLE_OUTPUT))
                return true;
    }
    return false;
}

static bool held_between(const ebb_plan *p, ebb_id value) {
    uint32_t from = last_forward_reader(p, value), to = first_backward_reader(p, value);
    if (from == EBB_NONE || to == EBB_NONE || to <= from) return false;
    if (p->graph->values[value].bytes == 0 || has_such_views(p, value)) return false;
    if (!idle_between(p, value, p->steps[from].op, p->steps[to].op)) return false;
    for (uint32_t b = 0; b < p->n_buffers; b++)
        if (roots_of(p)[p->buffers[b].value] == value && p->buffers[b].lower <= from &&
            p->buffers[b].upper > to)
            return true;
    return false;
}

static ebb_id find(const ebb_plan *p, const char *name) {
    for (ebb_id v = 0; v < p->graph->n_values; v++)
        if (strcmp(p->graph->values[v].name, name) == 0) return v;
    cr_assert_fail("no %s", name);
    return EBB_NONE;
}

/* ---- a chain ---- */

/* x -> f0 -> f1 -> ... -> f7 -> g7 -> ... -> g0, where g_i reads g_(i+1) and f_i. Every op takes 10 ns. */
static char *chain_text(void) {
    enum { N = 8 };
    char *text = calloc(1, 16384);
    size_t n = (size_t)sprintf(text, "{\"schema\": \"ebb.graph/1\", \"name\": \"chain\", \"values\": ["
                                     "{\"id\": 0, \"name\": \"x\", \"bytes\": 1024, \"role\": \"input\"}");
    for (int i = 0; i < 2 * N; i++)
        n += (size_t)sprintf(text + n,
                             ", {\"id\": %d, \"name\": \"%c%d\", \"bytes\": 1024, \"role\": \"%s\"}", i + 1,
                             i < N ? 'f' : 'g', i < N ? i : 2 * N - 1 - i,
                             i == 2 * N - 1 ? "output"
                             : i < N        ? "activation"
                                            : "gradient");
    n += (size_t)sprintf(text + n, "], \"ops\": [");
    for (int i = 0; i < N; i++)
        n += (size_t)sprintf(text + n,
                             "%s{\"id\": %d, \"inputs\": [%d], \"outputs\": [%d], \"time_ns\": 10}",
                             i ? ", " : "", i, i, i + 1);
    for (int i = N; i < 2 * N; i++)
        n += (size_t)sprintf(text + n,
                             ", {\"id\": %d, \"inputs\": [%d, %d], \"outputs\": [%d], \"time_ns\": 10, "
                             "\"phase\": \"backward\"}",
                             i, i, 2 * N - i, i + 1);
    sprintf(text + n, "]}");
    return text;
}

Test(pins_search, what_is_dropped_is_made_again_whatever_the_budget) {
    static const char *const rows[] = {"f2", "f5", "f?", "*"};
    char *text = chain_text();
    for (size_t i = 0; i < 4; i++) {
        bench b = open_bench(text);
        ebb_plan *free_plan = plan(&b);
        b.options.drop = &rows[i], b.options.n_drop = 1;
        ebb_plan *p = plan(&b);
        cr_assert_not_null(p, "%s", ebb_env_error(b.env));
        for (int k = 0; k < 7; k++) { /* f7's two readers are neighbours */
            char name[16];
            snprintf(name, sizeof name, "f%d", k);
            bool dropped = i >= 2 || strcmp(name, rows[i]) == 0;
            cr_assert_eq(held_between(p, find(p, name)), !dropped, "--drop %s: %s", rows[i], name);
        }
        cr_assert_geq(p->time_ns, free_plan->time_ns + (i < 2 ? 10 : 70), "--drop %s", rows[i]);
        cr_assert_leq(p->time_ns, free_plan->time_ns + (i < 2 ? 10 : 10 * 28), "--drop %s", rows[i]);
        ebb_plan_destroy(p);
        ebb_plan_destroy(free_plan);
        close_bench(&b);
    }
    free(text);
}

Test(pins_search, what_is_kept_is_never_made_again) {
    static const char *const rows[] = {"f2", "f5", "f?"};
    char *text = chain_text();
    for (size_t i = 0; i < 3; i++)
        for (int64_t budget = 4096; budget <= 9216; budget += 512) {
            bench b = open_bench(text);
            b.options.budget_bytes = budget;
            ebb_plan *free_plan = plan(&b);
            b.options.keep = &rows[i], b.options.n_keep = 1;
            ebb_plan *p = plan(&b);
            cr_assert(free_plan || !p);
            for (int k = 0; p && k < 8; k++) {
                char name[16];
                snprintf(name, sizeof name, "f%d", k);
                bool kept = i == 2 || strcmp(name, rows[i]) == 0;
                if (kept) cr_assert_not(made_again(p, find(p, name)), "--keep %s: %s", rows[i], name);
            }
            if (p) cr_assert_geq(p->time_ns, free_plan->time_ns);
            ebb_plan_destroy(p);
            ebb_plan_destroy(free_plan);
            close_bench(&b);
        }
    free(text);
}

/* ---- random graphs ---- */

/* Each value alone, kept and dropped, at half way between the smallest plan and the baseline. */
Test(pins_search, pins_hold_on_random_graphs) {
    const uint32_t n = count_from_env("EBB_TEST_PINS", 40);
    uint32_t n_kept = 0, n_dropped = 0;
    for (uint64_t seed = 0; seed < n; seed++) {
        char *text = random_pgraph_text(seed, NULL);
        bench b = open_bench(text);
        b.options.effort = 300;
        ebb_frontier_result *curve;
        ebb_frontier_request request = {.n_points = 3, .max_added = -1};
        cr_assert_eq(ebb_frontier(b.env, b.model, NULL, 0, &b.options, &request, &curve), EBB_OK);
        const ebb_frontier_row *row = &curve->rows[curve->n_rows / 2];
        cr_assert_not_null(row->plan, "seed %llu", (unsigned long long)seed);
        b.options.budget_bytes = row->budget_bytes;
        for (ebb_id v = 0; v < row->plan->graph->n_values; v++) {
            const char *name = row->plan->graph->values[v].name;
            bool keep = made_again(row->plan, v), drop = held_between(row->plan, v);
            b.options.keep = b.options.drop = &name;
            b.options.n_keep = keep, b.options.n_drop = !keep && drop;
            if (!keep && !drop) continue;
            ebb_plan *p;
            ebb_status status = ebb_plan_model(b.env, b.model, NULL, 0, &b.options, &p);
            if (status == EBB_OVER_BUDGET || (status == EBB_USAGE && drop))
                continue; /* not to be dropped */
            cr_assert_eq(status, EBB_OK, "%s", ebb_env_error(b.env));
            cr_assert_eq(ebb_plan_audit(b.env, p), EBB_OK, "%s", ebb_env_error(b.env));
            cr_assert_not(keep ? made_again(p, v) : held_between(p, v), "seed %llu: %s %s",
                          (unsigned long long)seed, keep ? "--keep" : "--drop", name);
            n_kept += keep, n_dropped += !keep;
            ebb_plan_destroy(p);
        }
        ebb_frontier_result_destroy(b.env, curve);
        close_bench(&b);
        free(text);
    }
    cr_assert(n_kept > n / 2 && n_dropped > n / 2, "%u kept, %u dropped", n_kept, n_dropped);
}

Test(pins_search, a_curve_keeps_to_them) {
    static const char *const keep = "f3", *const drop = "f1";
    char *text = chain_text();
    bench b = open_bench(text);
    b.options.keep = &keep, b.options.n_keep = 1;
    b.options.drop = &drop, b.options.n_drop = 1;
    ebb_frontier_result *curve;
    ebb_frontier_request request = {.n_points = 5, .max_added = -1};
    cr_assert_eq(ebb_frontier(b.env, b.model, NULL, 0, &b.options, &request, &curve), EBB_OK);
    cr_assert_eq(curve->n_rows, 5);
    for (uint32_t i = 0; i < 5; i++) {
        const ebb_plan *p = curve->rows[i].plan;
        cr_assert_not_null(p);
        cr_assert_not(made_again(p, find(p, "f3")));
        cr_assert_not(held_between(p, find(p, "f1")));
        cr_assert(i == 0 || curve->rows[i].time_ns >= curve->rows[i - 1].time_ns);
    }
    ebb_frontier_result_destroy(b.env, curve);
    close_bench(&b);
    free(text);
}
