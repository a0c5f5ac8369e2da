/* Curves with a plan cache and without. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cache_bench.h"

/* All that the answer says. */
static char *curve(cache_bench *b, const ebb_frontier_request *request) {
    ebb_frontier_result *f;
    b->w.n_progress = 0;
    cr_assert_eq(ebb_frontier(b->env, b->model, NULL, 0, &b->options, request, &f), EBB_OK, "%s",
                 ebb_env_error(b->env));
    size_t n = 0, size = (size_t)1 << 22;
    char *text = calloc(1, size);
    n += (size_t)snprintf(text, size, "%lld %lld %lld\n", (long long)f->baseline_total_bytes,
                          (long long)f->baseline_time_ns, (long long)f->smallest_bytes);
    for (uint32_t i = 0; i < f->n_rows; i++) {
        const ebb_frontier_row *row = &f->rows[i];
        char *printed = row->plan ? cache_plan_text(b, row->plan) : NULL;
        n += (size_t)snprintf(text + n, size - n, "%lld %lld %lld %lld %s\n", (long long)row->budget_bytes,
                              (long long)row->total_bytes, (long long)row->time_ns,
                              (long long)row->bound_time_ns, printed ? printed : "none");
        free(printed);
    }
    ebb_frontier_result_destroy(b->env, f);
    return text;
}

Test(cache, a_curve_is_the_same_with_it_as_without) {
    static const ebb_frontier_budget budgets[] = {{-1, 1.0}, {1600, 0}, {1000, 0}, {500, 0}};
    const struct {
        ebb_frontier_request request;
        int n_files; /* the smallest plan, one a row, and a mark where the curve ends early */
    } rows[] = {{{.n_points = 5, .max_added = -1}, 6},
                {{.budgets = budgets, .n_budgets = 4, .max_added = -1}, 4},
                {{.budgets = budgets, .n_budgets = 3, .max_added = -1}, 4},
                {{.n_points = 5, .max_added = 0.0}, 0}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cache_bench b;
        char names[CACHE_MAX_FILES][192];
        cache_bench_open(&b, choices_graph);
        b.options.cache = NULL;
        char *without = curve(&b, &rows[i].request);
        b.options.cache = b.path;
        for (int k = 0; k < 4; k++) {
            char *text = curve(&b, &rows[i].request);
            bool searched = b.w.n_progress > 0;
            cr_assert_str_eq(text, without, "row %zu", i);
            free(text);
            int n = cache_list_files(&b, names);
            if (rows[i].n_files > 0) cr_assert_eq(n, rows[i].n_files, "row %zu: %d files", i, n);
            cr_assert_geq(n, 2);
            cr_assert_eq(searched, k % 2 == 0, "row %zu, run %d", i, k);
            if (k == 1) cr_assert_eq(unlink(names[i % (size_t)n]), 0); /* a part of it is nothing */
        }
        cr_assert_eq(b.n_lines, 0, "%s", b.last_line);
        free(without);
        cache_bench_close(&b);
    }
}

Test(cache, a_curve_that_was_cut_short_is_not_stored) {
    cache_bench b;
    cache_bench_open(&b, choices_graph);
    ebb_frontier_request request = {.n_points = 5, .max_added = -1};
    ebb_frontier_result *f;
    b.options.time_limit_s = 1e-12;
    free(curve(&b, &request));
    cr_assert_eq(cache_count_files(&b), 0);
    b.options.time_limit_s = 0;
    b.w.stop_at = b.w.n_progress + 1;
    cr_assert_eq(ebb_frontier(b.env, b.model, NULL, 0, &b.options, &request, &f), EBB_INTERRUPTED);
    ebb_frontier_result_destroy(b.env, f);
    cr_assert_eq(cache_count_files(&b), 0);
    cache_bench_close(&b);
}
