/* Same graph, config, seed and effort: the same steps. Early ends: the stop flag and the time limit. */
#include "support.h"

/* ---- workers ---- */

static void want_equal(const ebb_selection *a, const ebb_selection *b, int64_t n_workers) {
    cr_assert(a->n_steps == b->n_steps && a->n_genes == b->n_genes && a->n_candidates == b->n_candidates &&
                  a->peak_bytes == b->peak_bytes && a->time_ns == b->time_ns,
              "%lld workers", (long long)n_workers);
    for (uint32_t i = 0; i < a->n_steps; i++)
        cr_assert(a->steps[i].op == b->steps[i].op && a->steps[i].alternative == b->steps[i].alternative,
                  "%lld workers, step %u", (long long)n_workers, i);
    for (uint32_t k = 0; k < a->n_genes; k++) cr_assert_eq(a->genes[k], b->genes[k]);
}

static void check_workers(ebb_env *env, const ebb_pgraph *graph, ebb_method method, int64_t budget_bytes) {
    static const int64_t workers[] = {2, 3, 8, 4096};
    ebb_select_request request = small_request(graph, method, budget_bytes);
    request.config.genetic_pool_size = 40; /* eight islands */
    request.config.genetic_nr_iter = 20;
    ebb_selection *one = NULL, *more = NULL;
    ebb_status status = ebb_select(env, &request, &one);
    for (uint32_t k = 0; k < EBB_COUNT(workers); k++) {
        request.config.num_worker = workers[k];
        want_status(env, ebb_select(env, &request, &more), status);
        if (one) want_equal(one, more, workers[k]);
        ebb_selection_destroy(more);
    }
    ebb_selection_destroy(one);
}

Test(repeat, any_number_of_workers_gives_the_same_steps) {
    ebb_env *env = start_env();
    for (uint64_t seed = 0; seed < 4; seed++) {
        random_pgraph_options options = {.n_ops = 30, .no_choices = seed % 2 == 0};
        ebb_pgraph *graph = draw_pgraph(env, seed, &options);
        int64_t peak = base_score(env, graph, 64).peak_bytes;
        check_workers(env, graph, EBB_METHOD_BUDGET, peak * 8 / 10);
        check_workers(env, graph, EBB_METHOD_LEAST, 0);
        check_workers(env, graph, EBB_METHOD_MEGENGINE, 0);
        ebb_pgraph_destroy(graph);
    }
    end_env(env);
}

/* The seed is not for show: other seeds look at other candidates. */
Test(repeat, the_seed_changes_the_search) {
    ebb_env *env = start_env();
    random_pgraph_options options = {.n_ops = 150, .no_choices = true};
    ebb_pgraph *graph = draw_pgraph(env, 4, &options);
    ebb_select_request request = small_request(graph, EBB_METHOD_LEAST, 0);
    request.effort = 300;
    request.config.genetic_nr_iter = 1; /* nothing but the islands' own streams */
    ebb_selection *first = select_ok(env, &request);
    uint32_t n_other = 0;
    for (request.seed = 8; request.seed < 12; request.seed++) {
        ebb_selection *other = select_ok(env, &request);
        n_other += memcmp(other->genes, first->genes, first->n_genes) != 0;
        ebb_selection_destroy(other);
    }
    cr_assert_gt(n_other, 1);
    ebb_selection_destroy(first);
    ebb_pgraph_destroy(graph);
    end_env(env);
}

/* Under a heavy load: twenty islands, four workers. */
Test(repeat, four_workers_share_nothing_that_they_write) {
    ebb_env *env = start_env();
    random_pgraph_options options = {.n_ops = 120};
    ebb_pgraph *graph = draw_pgraph(env, 77, &options);
    ebb_select_request request = small_request(graph, EBB_METHOD_LEAST, 0);
    request.config.num_worker = 4;
    request.config.genetic_pool_size = 80;
    request.effort = 20000;
    ebb_selection *found = select_ok(env, &request);
    want_true_selection(env, graph, found, 64);
    ebb_selection_destroy(found);
    ebb_pgraph_destroy(graph);
    end_env(env);
}

/* The count that a selection names is the work that was asked for: seeds on top, remainders off. */
Test(repeat, a_search_scores_as_many_candidates_as_its_effort) {
    static const int64_t efforts[] = {4000, 13333, 40000};
    ebb_env *env = start_env();
    random_pgraph_options options = {.n_ops = 80, .no_choices = true};
    ebb_pgraph *graph = draw_pgraph(env, 6, &options);
    for (uint32_t k = 0; k < EBB_COUNT(efforts); k++)
        for (uint32_t part = 0; part <= 4; part += 4) {
            ebb_select_request request = small_request(graph, EBB_METHOD_LEAST, 0);
            request.effort = efforts[k];
            request.effort_part = part;
            request.without = EBB_WITHOUT_ORDER;
            ebb_selection *found = select_ok(env, &request);
            int64_t asked = part ? efforts[k] / part : efforts[k];
            cr_assert(found->n_candidates > asked * 8 / 10 && found->n_candidates < asked * 11 / 10 + 400,
                      "%lld of %lld", (long long)found->n_candidates, (long long)asked);
            ebb_selection_destroy(found);
        }
    ebb_pgraph_destroy(graph);
    end_env(env);
}

/* ---- early ends ---- */

/* A clock that runs one tick a look, and a stop flag that is raised at a given progress call. */
typedef struct watcher {
    uint64_t now_ns, tick_ns;
    volatile int stop;
    uint32_t n_calls, stop_at; /* progress calls; 0: never */
    int64_t done, total, best_ns;
} watcher;

static uint64_t tick(void *ctx) {
    watcher *w = ctx;
    return w->now_ns += w->tick_ns;
}

static void note_progress(void *ctx, int64_t done, int64_t total, int64_t best_ns) {
    watcher *w = ctx;
    cr_assert(done >= w->done && total > 0 && best_ns >= -1);
    w->done = done;
    w->total = total;
    w->best_ns = best_ns;
    if (++w->n_calls == w->stop_at) w->stop = 1;
}

static ebb_env *start_watched_env(watcher *w) {
    ebb_env_options options = {.clock_ns = tick, .clock_ctx = w, .stop = &w->stop};
    ebb_env *env = NULL;
    cr_assert_eq(ebb_env_create(&options, &env), EBB_OK);
    return env;
}

/* A graph in which nothing fits 60 % of the base peak without a search, and a lot has to be scored. */
static ebb_pgraph *long_graph(ebb_env *env) {
    random_pgraph_options options = {.n_ops = 60, .no_choices = true};
    return draw_pgraph(env, 11, &options);
}

static ebb_select_request long_request(const ebb_pgraph *graph, ebb_method method, watcher *w) {
    ebb_select_request request = small_request(graph, method, 1);
    request.effort = INT64_C(1000000000);
    request.config.genetic_nr_iter = method == EBB_METHOD_MEGENGINE ? 100000000 : 0;
    request.on_progress = note_progress;
    request.progress_ctx = w;
    request.time_limit_ns =
        5000; /* looks at a clock that ticks once a look, in case nothing else ends it */
    return request;
}

Test(repeat, the_stop_flag_ends_a_search_with_what_it_has) {
    static const ebb_method methods[] = {EBB_METHOD_BUDGET, EBB_METHOD_MEGENGINE, EBB_METHOD_LEAST};
    for (uint32_t k = 0; k < EBB_COUNT(methods); k++)
        for (uint32_t stop_at = 1; stop_at <= 3; stop_at++) {
            watcher w = {.tick_ns = 1, .stop_at = stop_at};
            ebb_env *env = start_watched_env(&w);
            ebb_pgraph *graph = long_graph(env);
            ebb_select_request request = long_request(graph, methods[k], &w);
            ebb_selection *found = NULL;
            want_status(env, ebb_select(env, &request, &found), EBB_INTERRUPTED);
            cr_assert_eq(w.n_calls, stop_at);
            cr_assert_eq(found == NULL, methods[k] == EBB_METHOD_BUDGET, "a byte is never enough");
            if (found) want_true_selection(env, graph, found, 64);
            ebb_selection_destroy(found);
            ebb_pgraph_destroy(graph);
            end_env(env);
        }
}

Test(repeat, the_best_that_fits_is_given_when_the_flag_stops_a_search) {
    watcher w = {.tick_ns = 1, .stop_at = 2};
    ebb_env *env = start_watched_env(&w);
    random_pgraph_options options = {.n_ops =
                                         120}; /* with alternatives: the base need not be the fastest */
    ebb_pgraph *graph = draw_pgraph(env, 12, &options);
    ebb_select_request request = long_request(graph, EBB_METHOD_BUDGET, &w);
    request.peak_budget_bytes = base_score(env, graph, 64).peak_bytes;
    ebb_selection *found = NULL;
    want_status(env, ebb_select(env, &request, &found), EBB_INTERRUPTED);
    cr_assert_not_null(found);
    cr_assert_eq(w.best_ns >= found->time_ns, true);
    cr_assert_leq(found->peak_bytes, request.peak_budget_bytes);
    want_true_selection(env, graph, found, 64);
    ebb_selection_destroy(found);
    ebb_pgraph_destroy(graph);
    end_env(env);
}

Test(repeat, the_time_limit_ends_a_search_without_an_error) {
    static const struct {
        ebb_method method;
        ebb_status status;
    } rows[] = {
        {EBB_METHOD_BUDGET, EBB_OVER_BUDGET}, {EBB_METHOD_MEGENGINE, EBB_OK}, {EBB_METHOD_LEAST, EBB_OK}};
    for (uint32_t k = 0; k < EBB_COUNT(rows); k++)
        for (uint64_t limit_ns = 1; limit_ns <= 3000; limit_ns += 2999) {
            watcher w = {.tick_ns = 1000};
            ebb_env *env = start_watched_env(&w);
            ebb_pgraph *graph = long_graph(env);
            ebb_select_request request = long_request(graph, rows[k].method, &w);
            request.time_limit_ns = limit_ns;
            ebb_select_log log = {0};
            request.log = &log;
            ebb_selection *found = NULL;
            want_status(env, ebb_select(env, &request, &found), rows[k].status);
            cr_assert_leq(w.n_calls, 4, "%u looks", w.n_calls);
            /* Seeds too, whether any fits or not. */
            if (limit_ns == 1 && rows[k].method != EBB_METHOD_MEGENGINE)
                cr_assert_leq(log.searches.at[0].n_scored, 2, "%lld candidates after the limit",
                              (long long)log.searches.at[0].n_scored);
            ebb_select_log_deinit(env, &log);
            ebb_selection_destroy(found);
            ebb_pgraph_destroy(graph);
            end_env(env);
        }
}

/* However large the effort, and however few the generations, the clock is looked at every moment. */
Test(repeat, a_time_limit_is_kept_to_within_a_second) {
    static const ebb_method methods[] = {EBB_METHOD_BUDGET, EBB_METHOD_MEGENGINE, EBB_METHOD_LEAST};
    ebb_env *env = start_env();
    ebb_pgraph *graph = long_graph(env);
    for (uint32_t k = 0; k < EBB_COUNT(methods); k++) {
        watcher w = {0};
        ebb_select_request request = long_request(graph, methods[k], &w);
        request.config.genetic_nr_iter = 1;
        if (methods[k] == EBB_METHOD_MEGENGINE) request.config.thresh_nr_try = 1000000;
        request.time_limit_ns = 100000000;
        uint64_t begin_ns = ebb_clock_ns(env);
        ebb_selection *found = NULL;
        ebb_status status = ebb_select(env, &request, &found);
        uint64_t taken_ns = ebb_clock_ns(env) - begin_ns;
        cr_assert(status == EBB_OK || status == EBB_OVER_BUDGET);
        cr_assert(taken_ns >= 100000000 && taken_ns < 3000000000u, "%llu ms",
                  (unsigned long long)taken_ns / 1000000);
        ebb_selection_destroy(found);
    }
    ebb_pgraph_destroy(graph);
    end_env(env);
}
