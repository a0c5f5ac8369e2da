/* tune: what is recommended is never worse than a default; a row is what a plan with its config is. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "ebb/ebb.h"
#include "support/count.h"
#include "support/options.h"
#include "world.h"

enum { LAYERS = 5 };

/* A chain of layers of uneven widths: seconds to search, and a little effort does not find the best. */
static void print_model(char *text, size_t n) {
    static const int widths[LAYERS + 1] = {7, 33, 65, 17, 129, 5};
    FILE *to = fmemopen(text, n, "w");
    fprintf(to, "ebb 1\ngraph deep\ndim N = 33\n%%x = input f32[N,7]\n%%labels = input i32[N]\n");
    for (int i = 0; i < LAYERS; i++)
        fprintf(to, "%%w%d = param f32[%d,%d] init=kaiming\n", i, widths[i + 1], widths[i]);
    fprintf(to, "%%r0 = linear %%x, %%w0\n");
    for (int i = 1; i < LAYERS; i++)
        fprintf(to, "%%g%d = %s %%r%d\n%%r%d = linear %%g%d, %%w%d\n", i, i % 2 ? "gelu" : "relu", i - 1, i,
                i, i);
    fprintf(to, "%%loss = softmax_xent %%r%d, %%labels\nloss %%loss\n", LAYERS - 1);
    fclose(to);
}

typedef struct bench {
    ebb_env *env;
    ebb_model *model;
    ebb_options options;
    int64_t base_bytes;
} bench;

static const ebb_dim_binding LARGE = {"N", 1000};

static bench open_bench(world *w) {
    bench b;
    ebb_env_options options = {.clock_ns = world_clock_ns, .clock_ctx = w, .stop = &w->stop};
    cr_assert_eq(ebb_env_create(&options, &b.env), EBB_OK);
    char text[4096];
    print_model(text, sizeof text);
    cr_assert_eq(ebb_model_parse(b.env, "t", text, strlen(text), &b.model), EBB_OK, "%s",
                 ebb_env_error(b.env));
    test_options_init(&b.options);
    b.options.device = "ref";
    ebb_plan *plan;
    ebb_plan_summary s;
    cr_assert_eq(ebb_plan_model(b.env, b.model, &LARGE, 1, &b.options, &plan), EBB_OK);
    ebb_plan_summarize(plan, &s);
    ebb_plan_destroy(plan);
    b.base_bytes = s.total_bytes;
    b.options.on_progress = world_progress;
    b.options.progress_ctx = w;
    return b;
}

static void close_bench(bench *b) {
    ebb_model_destroy(b->model);
    cr_assert_eq(ebb_env_allocated_bytes(b->env), 0);
    ebb_env_destroy(b->env);
}

static ebb_tune_result *tune(bench *b, int64_t budget, ebb_status want) {
    ebb_tune_result *result;
    ebb_status status = ebb_tune(b->env, b->model, &LARGE, 1, &b->options, budget, &result);
    cr_assert_eq(status, want, "%s: %s", ebb_status_name(status), ebb_env_error(b->env));
    return result;
}

static void want_never_worse(const ebb_tune_result *r) {
    cr_assert_lt(r->recommended, r->n_rows);
    const ebb_tune_row *best = &r->rows[r->recommended];
    cr_assert(best->found && best->fits && best->total_bytes <= r->budget_bytes);
    uint32_t n_defaults = 0;
    for (uint32_t i = 0; i < r->n_rows; i++) {
        const ebb_tune_row *d = &r->rows[i];
        n_defaults += d->is_default;
        if (!d->is_default || !d->fits) continue;
        cr_assert_leq(best->time_ns, d->time_ns, "%s is faster than %s", d->what, best->what);
        if (best->time_ns == d->time_ns) cr_assert_leq(best->total_bytes, d->total_bytes);
        if (best->time_ns == d->time_ns && best->total_bytes == d->total_bytes)
            cr_assert_leq(best->n_candidates, d->n_candidates);
    }
    cr_assert_geq(n_defaults, 3, "off, on, and Ebb's own");
}

Test(tune, what_is_recommended_is_never_worse_than_a_default) {
    static const double shares[] = {0.52, 0.8};
    for (size_t i = 0; i < rows_from_env(EBB_COUNT(shares)); i++) {
        world w = {.tick_ns = 1};
        bench b = open_bench(&w);
        ebb_tune_result *r = tune(&b, (int64_t)(shares[i] * (double)b.base_bytes), EBB_OK);
        want_never_worse(r);
        cr_assert_geq(r->n_rows, 15, "%u rows", r->n_rows);
        cr_assert_not(r->cut_short);
        ebb_tune_result_destroy(b.env, r);
        close_bench(&b);
    }
}

Test(tune, a_rows_config_gives_that_rows_plan) {
    world w = {.tick_ns = 1};
    bench b = open_bench(&w);
    b.options.effort = 20000; /* with a tenth of it, seeds differ */
    b.options.seed = 5; /* a file has the search's, so that the default of another caller gives the same */
    int64_t budget = (int64_t)(0.53 * (double)b.base_bytes);
    ebb_tune_result *r = tune(&b, budget, EBB_OK);
    uint32_t n_seeds = 0;
    for (uint32_t i = 0; i < r->n_rows; i++) {
        const ebb_tune_row *row = &r->rows[i];
        ebb_options o = b.options;
        ebb_plan *plan;
        ebb_plan_summary s;
        bool within = row->config.method == EBB_CONFIG_BUDGET;
        o.memory = within ? EBB_MEMORY_BUDGET : EBB_MEMORY_MEGENGINE;
        o.budget_bytes = within ? budget : -1;
        o.sublinear = row->config.sublinear;
        o.search_seed = row->config.search_seed;
        o.effort = row->config.effort;
        n_seeds += o.search_seed >= 0;
        ebb_status status = ebb_plan_model(b.env, b.model, &LARGE, 1, &o, &plan);
        cr_assert_eq(status == EBB_OK, row->found, "%s", row->what);
        if (status != EBB_OK) continue;
        ebb_plan_summarize(plan, &s);
        cr_assert_eq(s.total_bytes, row->total_bytes, "%s", row->what);
        cr_assert_eq(s.time_ns, row->time_ns, "%s", row->what);
        cr_assert_eq(row->fits, s.total_bytes <= budget, "%s", row->what);
        ebb_plan_destroy(plan);
    }
    cr_assert_geq(n_seeds, 2, "seeds of the search are tried");
    ebb_tune_result_destroy(b.env, r);
    close_bench(&b);
}

Test(tune, the_same_rows_for_any_number_of_workers) {
    world w = {.tick_ns = 1}, v = {.tick_ns = 1};
    bench one = open_bench(&w), three = open_bench(&v);
    three.options.sublinear.num_worker = 3;
    one.options.effort = three.options.effort = 20000;
    int64_t budget = (int64_t)(0.53 * (double)one.base_bytes);
    ebb_tune_result *a = tune(&one, budget, EBB_OK), *b = tune(&three, budget, EBB_OK);
    uint32_t k = 0;
    for (uint32_t i = 0; i < a->n_rows; i++) { /* but for those of the workers themselves */
        if (strncmp(a->rows[i].what, "num_worker", 10) == 0) continue;
        while (k < b->n_rows && strncmp(b->rows[k].what, "num_worker", 10) == 0) k++;
        cr_assert_str_eq(a->rows[i].what, b->rows[k].what);
        cr_assert_eq(a->rows[i].time_ns, b->rows[k].time_ns, "%s", a->rows[i].what);
        cr_assert_eq(a->rows[i].total_bytes, b->rows[k].total_bytes, "%s", a->rows[i].what);
        cr_assert_eq(a->rows[i].n_candidates, b->rows[k].n_candidates, "%s", a->rows[i].what);
        k++;
    }
    cr_assert_str_eq(a->rows[a->recommended].what, b->rows[b->recommended].what);
    ebb_tune_result_destroy(one.env, a);
    ebb_tune_result_destroy(three.env, b);
    close_bench(&one);
    close_bench(&three);
}

Test(tune, a_config_that_is_given_is_a_row_and_what_is_recommended_is_no_worse) {
    world w = {.tick_ns = 1};
    bench b = open_bench(&w);
    b.options.sublinear.genetic_pool_size = 60;
    b.options.effort = 50000;
    ebb_tune_result *r = tune(&b, (int64_t)(0.53 * (double)b.base_bytes), EBB_OK);
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n_rows; i++) {
        if (strcmp(r->rows[i].what, "as given") != 0) continue;
        n++;
        cr_assert(r->rows[i].is_default);
        cr_assert_eq(r->rows[i].config.sublinear.genetic_pool_size, 60);
        cr_assert_eq(r->rows[i].config.effort, 50000);
    }
    cr_assert_eq(n, 1);
    want_never_worse(r);
    ebb_tune_result_destroy(b.env, r);
    close_bench(&b);
}

Test(tune, a_budget_without_a_plan_is_told) {
    world w = {.tick_ns = 1};
    bench b = open_bench(&w);
    cr_assert_null(tune(&b, b.base_bytes / 10, EBB_OVER_BUDGET));
    cr_assert_null(tune(&b, 0, EBB_USAGE));
    close_bench(&b);
}

Test(tune, where_all_fits_the_default_is_good_enough) {
    world w = {.tick_ns = 1};
    bench b = open_bench(&w);
    ebb_tune_result *r = tune(&b, b.base_bytes, EBB_OK);
    want_never_worse(r);
    cr_assert_leq(r->n_rows, 6, "nothing to sweep: %u rows", r->n_rows);
    cr_assert_eq(r->rows[r->recommended].time_ns, r->baseline_time_ns);
    cr_assert_eq(r->rows[r->recommended].config.method, EBB_CONFIG_BUDGET);
    ebb_tune_result_destroy(b.env, r);
    close_bench(&b);
}

Test(tune, an_interrupt_leaves_whole_rows) {
    for (int64_t stop_at = 1; stop_at < 2000; stop_at = stop_at * 6) {
        world w = {.tick_ns = 1, .stop_at = stop_at};
        bench b = open_bench(&w);
        ebb_tune_result *r;
        ebb_status status =
            ebb_tune(b.env, b.model, &LARGE, 1, &b.options, (int64_t)(0.53 * (double)b.base_bytes), &r);
        cr_assert(status == EBB_INTERRUPTED || status == EBB_OK, "%s", ebb_env_error(b.env));
        for (uint32_t i = 0; r && i < r->n_rows; i++) cr_assert(r->rows[i].found || !r->rows[i].is_default);
        if (r && r->recommended < r->n_rows) cr_assert(r->rows[r->recommended].fits);
        ebb_tune_result_destroy(b.env, r);
        close_bench(&b);
    }
}

static const ebb_tune_row *named(const ebb_tune_result *r, const char *what) {
    for (uint32_t i = 0; i < r->n_rows; i++)
        if (strcmp(r->rows[i].what, what) == 0) return &r->rows[i];
    return NULL;
}

Test(tune, a_time_limit_leaves_whole_rows_and_where_it_ends_a_default_that_is_recommended) {
    static const double shares[] = {0.0001, 0.2, 0.8}; /* of what all rows take */
    world w = {.tick_ns = 1000000};                    /* a millisecond at each look */
    bench b = open_bench(&w);
    int64_t budget = (int64_t)(0.66 * (double)b.base_bytes), began_ns = w.now_ns;
    b.options.effort = 10000;
    b.options.time_limit_s = 1e6; /* with a limit there are more looks at the clock */
    ebb_tune_result *whole = tune(&b, budget, EBB_OK);
    cr_assert_not(whole->cut_short);
    double all_s = (double)(w.now_ns - began_ns) / 1e9;
    uint32_t n_before = 0, n_cut = 0, n_left_out = 0;
    for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
        b.options.time_limit_s = shares[i] * all_s;
        began_ns = w.now_ns;
        ebb_tune_result *r = tune(&b, budget, EBB_OK);
        double took_s = (double)(w.now_ns - began_ns) / 1e9;
        cr_assert_leq(took_s, b.options.time_limit_s + 0.1 * all_s, "%g s of %g, where all rows take %g",
                      took_s, b.options.time_limit_s, all_s);
        bool ended = false;
        for (uint32_t k = 0; k < r->n_rows; k++) {
            const ebb_tune_row *row = &r->rows[k], *same = named(whole, row->what);
            cr_assert_not_null(same, "%s", row->what);
            ended = ended || row->cut_short;
            cr_assert(row->is_default || !row->cut_short, "%s", row->what);
            if (row->cut_short) continue;
            cr_assert_eq(row->time_ns, same->time_ns, "%s", row->what);
            cr_assert_eq(row->n_candidates, same->n_candidates, "%s", row->what);
        }
        cr_assert_eq(r->cut_short, ended || r->n_rows < whole->n_rows);
        n_cut += ended;
        n_left_out += !ended && r->n_rows < whole->n_rows;
        if (ended) cr_assert(r->rows[r->recommended].is_default && r->rows[r->recommended].fits);
        want_never_worse(r);
        cr_assert_geq(r->n_rows, n_before);
        n_before = r->n_rows;
        ebb_tune_result_destroy(b.env, r);
    }
    cr_assert(n_cut > 0 && n_left_out > 0, "%u limits end a default, %u the sweep", n_cut, n_left_out);
    ebb_tune_result_destroy(b.env, whole);
    close_bench(&b);
}
