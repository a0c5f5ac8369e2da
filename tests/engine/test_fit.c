/* fit: sizes as large as can be found, and what is there when it ends early. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "ebb/ebb.h"
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
    ebb_options_init(&b.options);
    b.options.device = "ref";
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
            cr_assert_not(next_fits(&b, &fit->rows[k], budgets[i], 0.3), "mode %d: %lld also fits",
                          fit->rows[k].mode, (long long)fit->rows[k].batch + 1);
        }
        cr_assert_gt(fit->rows[0].batch, 0);
        cr_assert_gt(fit->rows[3].batch, fit->rows[1].batch, "recomputation must help");
        ebb_fit_result_destroy(b.env, fit);
        close_bench(&b);
    }
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
