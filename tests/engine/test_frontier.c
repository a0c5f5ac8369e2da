/* frontier: a curve that never takes less time for less memory, and what is there when it ends early. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "ebb/ebb.h"
#include "engine/sweep/frontier.h"
#include "support/choices_graph.h"
#include "support/count.h"
#include "support/options.h"
#include "support/random_pgraph.h"
#include "support/slack_graph.h"
#include "world.h"

static const char MODEL[] =
    "ebb 1\ngraph deep\ndim N = 33\n%x = input f32[N,7]\n%labels = input i32[N]\n"
    "%w0 = param f32[33,7] init=kaiming\n%w1 = param f32[65,33] init=kaiming\n"
    "%w2 = param f32[33,65] init=kaiming\n%w3 = param f32[65,33] init=kaiming\n"
    "%w4 = param f32[5,65] init=uniform\n%a0 = linear %x, %w0\n%r0 = relu %a0\n%a1 = linear %r0, %w1\n"
    "%r1 = relu %a1\n%a2 = linear %r1, %w2\n%r2 = relu %a2\n%a3 = linear %r2, %w3\n%r3 = relu %a3\n"
    "%logits = linear %r3, %w4\n%loss = softmax_xent %logits, %labels\nloss %loss\n";

typedef struct bench {
    ebb_env *env;
    ebb_model *model;
    ebb_options options;
} bench;

static bench open_bench(world *w, const char *text) {
    bench b;
    ebb_env_options options = {.clock_ns = world_clock_ns, .clock_ctx = w, .stop = &w->stop};
    cr_assert_eq(ebb_env_create(&options, &b.env), EBB_OK);
    cr_assert_eq(ebb_model_parse(b.env, "t", text, strlen(text), &b.model), EBB_OK, "%s",
                 ebb_env_error(b.env));
    test_options_init(&b.options);
    b.options.device = "ref";
    b.options.effort = 20000; /* a curve is many searches */
    b.options.on_progress = world_progress;
    b.options.progress_ctx = w;
    return b;
}

static void close_bench(bench *b) {
    ebb_model_destroy(b->model);
    cr_assert_eq(ebb_env_allocated_bytes(b->env), 0);
    ebb_env_destroy(b->env);
}

static void check_row(bench *b, const ebb_frontier_result *f, const ebb_frontier_row *row,
                      const char *what) {
    ebb_plan_summary s;
    ebb_plan_summarize(row->plan, &s);
    cr_assert_eq(s.budget_bytes, row->budget_bytes, "%s", what);
    cr_assert_eq(s.total_bytes, row->total_bytes, "%s", what);
    cr_assert_eq(s.time_ns, row->time_ns, "%s", what);
    cr_assert_eq(s.bound_time_ns, row->bound_time_ns, "%s", what);
    cr_assert_eq(s.baseline_time_ns, f->baseline_time_ns, "%s", what);
    cr_assert_eq(s.baseline_total_bytes, f->baseline_total_bytes, "%s", what);
    cr_assert(row->bound_time_ns <= row->time_ns && row->total_bytes <= row->budget_bytes, "%s", what);
    cr_assert_leq(f->smallest_bytes, row->total_bytes, "%s", what);
    if (f->baseline_total_bytes <= row->budget_bytes)
        cr_assert_leq(row->time_ns, f->baseline_time_ns, "%s", what);
    cr_assert_eq(ebb_plan_audit(b->env, row->plan), EBB_OK, "%s: %s", what, ebb_env_error(b->env));
}

/* Budgets fall, times never fall with them, and after a row without a plan there is none with one. */
static void check_curve(bench *b, const ebb_frontier_result *f, const char *what) {
    for (uint32_t i = 0; i < f->n_rows; i++) {
        const ebb_frontier_row *row = &f->rows[i], *larger = i > 0 ? &f->rows[i - 1] : NULL;
        if (larger) cr_assert_lt(row->budget_bytes, larger->budget_bytes, "%s", what);
        if (!row->plan) {
            cr_assert(row->total_bytes == -1 && row->time_ns == -1 && row->bound_time_ns == -1, "%s", what);
            cr_assert_gt(f->smallest_bytes, row->budget_bytes, "%s: row %u has a plan after all", what, i);
            continue;
        }
        check_row(b, f, row, what);
        if (!larger) continue;
        cr_assert_not_null(larger->plan, "%s: only the smaller budget %lld has a plan", what,
                           (long long)row->budget_bytes);
        cr_assert_geq(row->time_ns, larger->time_ns, "%s: %lld ns within %lld bytes, %lld ns within %lld",
                      what, (long long)row->time_ns, (long long)row->budget_bytes,
                      (long long)larger->time_ns, (long long)larger->budget_bytes);
    }
}

static ebb_frontier_result *draw(bench *b, uint32_t n_points) {
    ebb_frontier_result *f;
    ebb_frontier_request request = {.n_points = n_points, .max_added = -1};
    cr_assert_eq(ebb_frontier(b->env, b->model, NULL, 0, &b->options, &request, &f), EBB_OK, "%s",
                 ebb_env_error(b->env));
    return f;
}

Test(frontier, less_memory_never_takes_less_time) {
    static const struct {
        const char *name, *text;
    } rows[] = {{"choices", choices_graph}, {"slack", slack_graph}, {"model", MODEL}};
    static const int64_t efforts[] = {1000, 1, 40, 20000, 0}; /* 0: the default, of the first graph */
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (size_t k = 0; k < rows_from_env(EBB_COUNT(efforts)); k++) {
            if (efforts[k] == 0 && i > 0) continue;
            world w = {.tick_ns = 1};
            bench b = open_bench(&w, rows[i].text);
            b.options.effort = efforts[k];
            ebb_frontier_result *f = draw(&b, 9);
            check_curve(&b, f, rows[i].name);
            cr_assert_eq(f->rows[0].budget_bytes, f->baseline_total_bytes);
            cr_assert_not_null(f->rows[f->n_rows - 1].plan, "the smallest that is found is on the curve");
            ebb_frontier_result_destroy(b.env, f);
            close_bench(&b);
        }
}

/* So little effort that a search for a smaller budget is often the luckier one. The fault list is caught
 * with 6 graphs. */
Test(frontier, less_memory_never_takes_less_time_on_random_graphs) {
    static const int64_t efforts[] = {1, 100};
    const uint32_t n = count_from_env("EBB_TEST_CURVES", 24);
    for (uint64_t seed = 0; seed < n; seed++) {
        char what[32], *text = random_pgraph_text(seed, &(random_pgraph_options){.n_ops = 40});
        snprintf(what, sizeof what, "seed %llu", (unsigned long long)seed);
        for (size_t k = 0; k < 2; k++) {
            world w = {.tick_ns = 1};
            bench b = open_bench(&w, text);
            b.options.effort = efforts[k];
            ebb_frontier_result *f = draw(&b, 7);
            check_curve(&b, f, what);
            ebb_frontier_result_destroy(b.env, f);
            close_bench(&b);
        }
        free(text);
    }
}

Test(frontier, budgets_that_are_asked_for_are_the_rows_largest_first_and_none_twice) {
    world w = {.tick_ns = 1};
    bench b = open_bench(&w, MODEL);
    ebb_frontier_result *all = draw(&b, 2), *f;
    int64_t total = all->baseline_total_bytes, smallest = all->smallest_bytes;
    const ebb_frontier_budget budgets[] = {{-1, 0.5}, {total + 1, 0}, {smallest - 1, 0},
                                           {-1, 1.0}, {smallest, 0},  {total, 0},
                                           {1, 0},    {-1, 0.5}};
    const int64_t expected[] = {total + 1, total, smallest, smallest - 1, (int64_t)(0.5 * (double)total),
                                1};
    ebb_frontier_request request = {.budgets = budgets, .n_budgets = 8, .max_added = -1};
    cr_assert_gt(smallest, expected[4]);
    cr_assert_eq(ebb_frontier(b.env, b.model, NULL, 0, &b.options, &request, &f), EBB_OK);
    cr_assert_eq(f->n_rows, 6);
    for (uint32_t i = 0; i < 6; i++) {
        cr_assert_eq(f->rows[i].budget_bytes, expected[i]);
        if (i < 3) cr_assert_not_null(f->rows[i].plan);
        if (i > 3) cr_assert_null(f->rows[i].plan);
    }
    check_curve(&b, f, "asked");
    ebb_frontier_result_destroy(b.env, f);
    ebb_frontier_result_destroy(b.env, all);
    close_bench(&b);
}

Test(frontier, most_added_time_ends_the_curve) {
    world w = {.tick_ns = 1};
    bench b = open_bench(&w, MODEL);
    ebb_frontier_result *all = draw(&b, 9), *f;
    int64_t base_ns = all->baseline_time_ns, most_ns = all->rows[all->n_rows - 1].time_ns;
    cr_assert_gt(most_ns, base_ns);
    double max_added = 0.5 * (double)(most_ns - base_ns) / (double)base_ns;
    ebb_frontier_request request = {.n_points = 9, .max_added = max_added};
    cr_assert_eq(ebb_frontier(b.env, b.model, NULL, 0, &b.options, &request, &f), EBB_OK);
    cr_assert(f->n_rows > 0 && f->n_rows < all->n_rows);
    for (uint32_t i = 0; i < f->n_rows; i++) {
        cr_assert_leq((double)f->rows[i].time_ns, (1 + max_added) * (double)base_ns);
        cr_assert_eq(f->rows[i].budget_bytes, all->rows[i].budget_bytes);
    }
    ebb_frontier_result_destroy(b.env, f);
    ebb_frontier_result_destroy(b.env, all);
    close_bench(&b);
}

Test(frontier, an_interrupt_leaves_the_rows_so_far) {
    uint32_t n_stopped = 0, n_some = 0;
    bool stopped = true;
    for (int64_t stop_at = 1; stopped; stop_at += 1 + stop_at / 16) {
        world w = {.tick_ns = 1, .stop_at = stop_at};
        bench b = open_bench(&w, choices_graph);
        b.options.effort = 3000;
        ebb_frontier_result *f;
        ebb_frontier_request request = {.n_points = 5, .max_added = -1};
        ebb_status status = ebb_frontier(b.env, b.model, NULL, 0, &b.options, &request, &f);
        stopped = w.stop != 0;
        cr_assert(status == EBB_OK || (stopped && status == EBB_INTERRUPTED), "%s", ebb_env_error(b.env));
        n_stopped += status == EBB_INTERRUPTED;
        n_some += status == EBB_INTERRUPTED && f->n_rows > 0 && f->n_rows < 5;
        check_curve(&b, f, "interrupted");
        for (uint32_t i = 0; i < f->n_rows && status == EBB_INTERRUPTED; i++)
            cr_assert_not_null(f->rows[i].plan);
        ebb_frontier_result_destroy(b.env, f);
        close_bench(&b);
    }
    cr_assert_gt(n_stopped, 5);
    cr_assert_gt(n_some, 0);
}

/* The clock goes on by 0.1 ms at each look, and a search looks at it more than once. */
Test(frontier, a_time_limit_holds_for_all_searches_of_a_curve_together) {
    static const double limits_s[] = {5e-3, 1.5e-2, 1e-12};
    for (size_t i = 0; i < sizeof(limits_s) / sizeof(limits_s[0]); i++) {
        world w = {.tick_ns = 100000};
        bench b = open_bench(&w, choices_graph);
        b.options.effort = INT64_C(20000000);
        b.options.time_limit_s = limits_s[i];
        ebb_frontier_result *f = draw(&b, 7);
        cr_assert_geq(f->n_rows, 1);
        cr_assert_leq((double)w.now_ns, 1e9 * limits_s[i] + 100 * 1e5, "%g s in a limit of %g s",
                      (double)w.now_ns * 1e-9, limits_s[i]);
        check_curve(&b, f, "limit");
        ebb_frontier_result_destroy(b.env, f);
        close_bench(&b);
    }
}

Test(frontier, requests_out_of_range_are_refused) {
    static const ebb_frontier_budget nothing = {0, 0}, below = {-2, 0}, no_share = {-1, 0}, vast = {-1, 11};
    static const ebb_frontier_budget one = {1, 0};
    const ebb_frontier_request rows[] = {{.n_points = 1, .max_added = -1},
                                         {.n_points = 65, .max_added = -1},
                                         {.n_points = 5, .max_added = -0.5},
                                         {.budgets = &one, .n_budgets = 0, .max_added = -1},
                                         {.budgets = &one, .n_budgets = 65, .max_added = -1},
                                         {.budgets = &nothing, .n_budgets = 1, .max_added = -1},
                                         {.budgets = &below, .n_budgets = 1, .max_added = -1},
                                         {.budgets = &no_share, .n_budgets = 1, .max_added = -1},
                                         {.budgets = &vast, .n_budgets = 1, .max_added = -1}};
    world w = {.tick_ns = 1};
    bench b = open_bench(&w, slack_graph);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ebb_frontier_result *f;
        cr_assert_eq(ebb_frontier(b.env, b.model, NULL, 0, &b.options, &rows[i], &f), EBB_USAGE, "row %zu",
                     i);
        cr_assert_null(f);
    }
    close_bench(&b);
}

/* One study searches for all budgets, and a limit that found nothing for one is no bound of the next. */
Test(frontier, what_is_too_tight_for_one_budget_is_forgotten_for_the_next) {
    static ebb_sweep sweep;
    for (int64_t budget = 1000; budget > 0; budget -= 500) {
        sweep.study.tight_bytes = budget;
        ebb_sweep_set_budget(&sweep, budget - 1);
        cr_expect(sweep.study.tight_bytes < 0 && sweep.options.budget_bytes == budget - 1);
    }
}
