/* fit: sizes as large as can be found, and what is there when it ends early. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "ebb/ebb.h"
#include "support/options.h"
#include "world.h"

/* So few values that every combination is scored: what is not found there is not there. */
static const char SMALL[] = "ebb 1\ngraph small\ndim N = 8\n%x = input f32[N,8]\n%labels = input i32[N]\n"
                            "%w1 = param f32[96,8] init=kaiming\n%w2 = param f32[64,96] init=kaiming\n"
                            "%w3 = param f32[10,64] init=uniform\n%a = linear %x, %w1\n%b = relu %a\n"
                            "%c = linear %b, %w2\n%d = relu %c\n%logits = linear %d, %w3\n"
                            "%loss = softmax_xent %logits, %labels\noutput %logits\nloss %loss\n";

typedef struct bench {
    ebb_env *env;
    ebb_model *model;
    ebb_options options;
} bench;

static bench open_bench(world *w) {
    bench b;
    ebb_env_options options = {.clock_ns = world_clock_ns, .clock_ctx = w, .stop = &w->stop};
    cr_assert_eq(ebb_env_create(&options, &b.env), EBB_OK);
    cr_assert_eq(ebb_model_parse(b.env, "small.ebb", SMALL, sizeof(SMALL) - 1, &b.model), EBB_OK);
    test_options_init(&b.options);
    b.options.device = "ref";
    b.options.effort = 4000;
    b.options.on_progress = world_progress;
    b.options.progress_ctx = w;
    return b;
}

static void close_bench(bench *b) {
    ebb_model_destroy(b->model);
    cr_assert_eq(ebb_env_allocated_bytes(b->env), 0);
    ebb_env_destroy(b->env);
}

static bool next_fits(bench *b, const ebb_fit_row *row, int64_t budget, double max_added) {
    ebb_options o = b->options;
    o.memory = row->mode;
    o.budget_bytes = row->mode == EBB_MEMORY_BUDGET ? budget : -1;
    ebb_plan *plan;
    ebb_status status =
        ebb_plan_model(b->env, b->model, &(ebb_dim_binding){"N", row->batch + 1}, 1, &o, &plan);
    if (status == EBB_OVER_BUDGET) return false;
    cr_assert_eq(status, EBB_OK, "%s", ebb_env_error(b->env));
    ebb_plan_summary s;
    ebb_plan_summarize(plan, &s);
    ebb_plan_destroy(plan);
    return s.total_bytes <= budget && (row->mode != EBB_MEMORY_BUDGET ||
                                       (double)s.time_ns <= (1 + max_added) * (double)s.baseline_time_ns);
}

Test(fit, a_small_graphs_sizes_are_the_largest_to_one) {
    static const int64_t budgets[] = {300000, 1000000};
    for (size_t i = 0; i < sizeof(budgets) / sizeof(budgets[0]); i++) {
        world w = {.tick_ns = 1};
        bench b = open_bench(&w);
        ebb_fit_result *fit;
        cr_assert_eq(ebb_fit(b.env, b.model, "N", NULL, 0, &b.options, budgets[i], 0.3, &fit), EBB_OK, "%s",
                     ebb_env_error(b.env));
        for (uint32_t k = 0; k < fit->n_rows; k++) {
            cr_assert_leq(fit->rows[k].total_bytes, budgets[i]);
            if (k != 3)
                cr_assert_gt(fit->rows[k].next_total_bytes, budgets[i], "mode %u tells of one more", k);
            cr_assert_eq(ebb_plan_audit(b.env, fit->rows[k].plan), EBB_OK);
            cr_assert_not(next_fits(&b, &fit->rows[k], budgets[i], 0.3), "mode %d: %lld also fits",
                          fit->rows[k].mode, (long long)fit->rows[k].batch + 1);
        }
        cr_assert_gt(fit->rows[0].batch, 0);
        cr_assert_gt(fit->rows[3].batch, fit->rows[1].batch, "recomputation must help");
        ebb_fit_result_destroy(b.env, fit);
        close_bench(&b);
    }
}

static ebb_fit_batch_result *ask(bench *b, int64_t batch, int64_t budget, double max_added) {
    ebb_fit_batch_result *r;
    ebb_status status =
        ebb_fit_batch(b->env, b->model, "N", NULL, 0, &b->options, budget, max_added, batch, &r);
    cr_assert_eq(status, EBB_OK, "%s", ebb_env_error(b->env));
    cr_assert_eq(r->n_ways, 4);
    return r;
}

Test(fit, one_batch_is_answered_as_the_largest_one_says) {
    static const int64_t budget = 1000000;
    world w = {.tick_ns = 1};
    bench b = open_bench(&w);
    ebb_fit_result *fit;
    cr_assert_eq(ebb_fit(b.env, b.model, "N", NULL, 0, &b.options, budget, 0.3, &fit), EBB_OK);
    for (uint32_t k = 0; k < fit->n_rows; k++) {
        for (int64_t more = 0; more < 2; more++) {
            ebb_fit_batch_result *r = ask(&b, fit->rows[k].batch + more, budget, 0.3);
            cr_assert_eq(r->ways[k].fits, more == 0, "mode %u, batch %lld", k, (long long)r->batch);
            cr_assert_eq(r->ways[k].mode, fit->rows[k].mode);
            if (more == 0 && k < 3) cr_assert_eq(r->ways[k].total_bytes, fit->rows[k].total_bytes);
            if (more == 1 && k < 3) cr_assert_eq(r->ways[k].total_bytes, fit->rows[k].next_total_bytes);
            ebb_fit_batch_result_destroy(b.env, r);
        }
    }
    ebb_fit_result_destroy(b.env, fit);
    close_bench(&b);
}

Test(fit, where_a_batch_does_not_fit_each_change_that_is_named_makes_it_fit) {
    static const int64_t budget = 300000;
    world w = {.tick_ns = 1};
    bench b = open_bench(&w);
    ebb_fit_batch_result *r = ask(&b, 5000, budget, 1e6);
    cr_assert_not(r->fits);
    cr_assert_gt(r->smallest_budget_bytes, budget);
    ebb_fit_batch_result *wide = ask(&b, 5000, r->smallest_budget_bytes, 1e6);
    cr_assert(wide->fits, "the budget that was named");
    cr_assert_eq(wide->largest_batch, 0);
    ebb_fit_batch_result *tight = ask(&b, 5000, r->smallest_budget_bytes - 1, 1e6);
    cr_assert_not(tight->fits, "a byte less, where every candidate is scored");
    ebb_fit_batch_result *less = ask(&b, r->largest_batch, budget, 1e6),
                         *more = ask(&b, r->largest_batch + 1, budget, 1e6);
    cr_assert(less->fits && !more->fits, "the batch that was named");
    ebb_fit_batch_result_destroy(b.env, r);
    ebb_fit_batch_result_destroy(b.env, wide);
    ebb_fit_batch_result_destroy(b.env, tight);
    ebb_fit_batch_result_destroy(b.env, less);
    ebb_fit_batch_result_destroy(b.env, more);
    close_bench(&b);
}

Test(fit, accumulation_has_the_fewest_micro_batches_that_fit_beside_the_sums) {
    static const int64_t budgets[] = {300000, 700000, 5000000}, batches[] = {3, 90, 1001};
    /* The sums: 96*8, 64*96 and 10*64 floats; each a multiple of the alignment. */
    const int64_t sums = 4 * (96 * 8 + 64 * 96 + 10 * 64);
    world w = {.tick_ns = 1};
    bench b = open_bench(&w);
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < 3; k++) {
            ebb_fit_batch_result *r = ask(&b, batches[k], budgets[i], 1e6);
            const ebb_fit_accumulation *a = &r->accumulation;
            ebb_options o = b.options;
            ebb_plan *plan;
            ebb_plan_summary s, larger;
            cr_assert_geq(a->n_micro, 2);
            cr_assert_leq(a->n_micro * a->micro_batch - batches[k], a->micro_batch - 1);
            cr_assert_geq(a->n_micro * a->micro_batch, batches[k]);
            cr_assert_eq(a->n_batch_norms, 0);
            cr_assert_eq(
                ebb_plan_model(b.env, b.model, &(ebb_dim_binding){"N", a->micro_batch}, 1, &o, &plan),
                EBB_OK);
            ebb_plan_summarize(plan, &s);
            ebb_plan_destroy(plan);
            cr_assert_eq(a->total_bytes, s.total_bytes + sums);
            cr_assert_leq(a->total_bytes, budgets[i]);
            cr_assert_eq(a->time_ns, a->n_micro * s.time_ns);
            if (a->n_micro > 2) { /* one fewer does not fit */
                ebb_dim_binding fewer = {"N", (batches[k] - 1) / (a->n_micro - 1) + 1};
                cr_assert_eq(ebb_plan_model(b.env, b.model, &fewer, 1, &o, &plan), EBB_OK);
                ebb_plan_summarize(plan, &larger);
                ebb_plan_destroy(plan);
                cr_assert_gt(larger.total_bytes + sums, budgets[i]);
            }
            ebb_fit_batch_result_destroy(b.env, r);
        }
    }
    close_bench(&b);
}

Test(fit, a_batch_that_fits_but_takes_too_long_is_not_a_yes) {
    world w = {.tick_ns = 1};
    bench b = open_bench(&w);
    ebb_fit_batch_result *any = ask(&b, 400, 500000, 1e6), *none = ask(&b, 400, 500000, 0);
    cr_assert(any->ways[3].fits && !any->ways[1].fits, "only with recomputation");
    cr_assert_not(none->ways[3].fits);
    cr_assert_leq(none->ways[3].total_bytes, 500000);
    cr_assert_eq(none->ways[3].time_ns, any->ways[3].time_ns);
    ebb_fit_batch_result_destroy(b.env, any);
    ebb_fit_batch_result_destroy(b.env, none);
    close_bench(&b);
}

Test(fit, an_interrupt_leaves_the_rows_so_far) {
    world w = {.tick_ns = 1, .stop_at = 1}; /* the modes without a search tell of no progress */
    bench b = open_bench(&w);
    ebb_fit_result *fit;
    cr_assert_eq(ebb_fit(b.env, b.model, "N", NULL, 0, &b.options, 700000, 0.3, &fit), EBB_INTERRUPTED);
    cr_assert_not_null(fit);
    cr_assert_geq(fit->n_rows, 2);
    for (uint32_t k = 0; k < fit->n_rows; k++) {
        cr_assert_gt(fit->rows[k].batch, 0);
        cr_assert_leq(fit->rows[k].total_bytes, 700000);
        cr_assert_eq(ebb_plan_audit(b.env, fit->rows[k].plan), EBB_OK, "%s", ebb_env_error(b.env));
    }
    ebb_fit_result_destroy(b.env, fit);
    close_bench(&b);
}
