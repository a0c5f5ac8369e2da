/* Budget mode and the least peak, on graphs drawn at random. */
#include "support.h"
#include "training.h"

#include <stdlib.h>

/* ---- seeds: what a planner without a search would answer ---- */

typedef struct seed_list {
    int64_t budget_bytes, time_ns; /* the least time within the budget; INT64_MAX: none fits */
    uint32_t n;
} seed_list;

static void try_seed(const bench *b, const uint8_t *genes, seed_list *seeds) {
    ebb_score score = ebb_score_genes(b->scorer, genes, 0);
    seeds->n++;
    if (score.valid && score.peak_bytes <= seeds->budget_bytes)
        seeds->time_ns = ebb_min_i64(seeds->time_ns, score.time_ns);
}

static void try_cuts(const bench *b, const uint32_t *cuts, uint32_t n, uint8_t *genes, seed_list *seeds) {
    for (uint8_t state = EBB_HOLD; state <= EBB_RELEASE; state++) {
        ebb_seed_cuts(b->space, cuts, n, state, genes);
        try_seed(b, genes, seeds);
    }
}

static int64_t best_seed_time(ebb_env *env, const bench *b, int64_t budget_bytes) {
    const ebb_space *space = b->space;
    seed_list seeds = {.budget_bytes = budget_bytes, .time_ns = INT64_MAX};
    uint32_t n_room = space->n_ops + space->n_genes + 1;
    uint32_t *cuts = ebb_calloc(env, n_room, sizeof *cuts);
    uint8_t *genes = ebb_calloc(env, space->n_genes, 1);
    cr_assert(cuts != NULL && genes != NULL);
    int64_t peak = ebb_score_genes(b->scorer, space->base_genes, 0).peak_bytes;
    try_seed(b, space->base_genes, &seeds);
    for (int64_t t = peak / 2; t >= 1024; t /= 2)
        try_cuts(b, cuts, ebb_seed_threshold_cuts(space, t, cuts), genes, &seeds);
    for (int64_t k = 1; k <= 10; k++)
        try_cuts(b, cuts, ebb_seed_threshold_cuts(space, peak / 11 * k, cuts), genes, &seeds);
    for (uint32_t n = 1; n * n <= 4 * space->n_ops; n = n * 3 / 2 + 1)
        try_cuts(b, cuts, ebb_seed_even_cuts(space, n, cuts), genes, &seeds);
    cr_assert_gt(seeds.n, 25);
    ebb_cfree(env, genes, space->n_genes, 1);
    ebb_cfree(env, cuts, n_room, sizeof *cuts);
    return seeds.time_ns;
}

/* ---- answers ---- */

/* The number after "needs " in the text of an over-budget answer. */
static int64_t named_bytes(const ebb_env *env) {
    const char *at = strstr(ebb_env_error(env), "needs ");
    cr_assert_not_null(at, "%s", ebb_env_error(env));
    return strtoll(at + strlen("needs "), NULL, 10);
}

typedef struct answers {
    uint32_t n_found, n_over, n_recomputing;
} answers;

/* No schedule at all has a lower peak than its largest step. */
static int64_t largest_step(const bench *b) {
    int64_t most = 0;
    for (uint32_t i = 0; i < b->space->n_ops; i++) {
        const ebb_pop *op = &b->space->graph->ops[i];
        int64_t least_scratch = op->scratch_bytes;
        for (uint32_t k = 0; k < op->n_alternatives; k++)
            least_scratch = ebb_min_i64(least_scratch, op->alternatives[k].scratch_bytes);
        if (!op->optional) most = ebb_max_i64(most, least_scratch);
    }
    return most;
}

static void check_budget(ebb_env *env, const bench *b, int64_t budget_bytes, uint64_t seed, answers *sum) {
    const ebb_pgraph *graph = b->space->graph;
    ebb_score base = ebb_score_genes(b->scorer, b->space->base_genes, 0);
    int64_t seed_time = best_seed_time(env, b, budget_bytes);
    ebb_select_request request = small_request(graph, EBB_METHOD_BUDGET, budget_bytes);
    ebb_selection *found = NULL;
    ebb_status status = ebb_select(env, &request, &found);
    if (status == EBB_OVER_BUDGET) {
        cr_assert_null(found);
        cr_assert_eq(seed_time, INT64_MAX, "seed %llu: a seed fits %lld", (unsigned long long)seed,
                     (long long)budget_bytes);
        int64_t named = named_bytes(env);
        cr_assert(named > budget_bytes && named <= base.peak_bytes && named >= largest_step(b));
        sum->n_over++;
        return;
    }
    want_status(env, status, EBB_OK);
    cr_assert_leq(found->peak_bytes, budget_bytes, "seed %llu", (unsigned long long)seed);
    cr_assert_leq(found->time_ns, seed_time, "seed %llu: a seed takes %lld, the answer %lld",
                  (unsigned long long)seed, (long long)seed_time, (long long)found->time_ns);
    if (base.peak_bytes <= budget_bytes) cr_assert_leq(found->time_ns, base.time_ns);
    want_true_selection(env, graph, found, b->space->alignment);
    sum->n_found++;
    sum->n_recomputing += found->n_steps > base.n_steps;
    ebb_selection_destroy(found);
}

Test(select, a_budget_is_kept_and_no_seed_is_faster) {
    static const uint32_t sizes[] = {5, 12, 33, 70};
    static const int64_t percents[] = {0, 30, 55, 75, 90, 99, 100, 130};
    uint32_t n = count_from_env("EBB_TEST_SELECTS", 160);
    answers sum = {0};
    ebb_env *env = start_env();
    for (uint64_t seed = 0; seed < n; seed++) {
        random_pgraph_options options = {.n_ops = sizes[seed % EBB_COUNT(sizes)],
                                         .no_choices = seed % 2 == 0};
        ebb_pgraph *graph = draw_pgraph(env, seed, &options);
        bench b = bench_begin(env, graph, 64);
        int64_t peak = ebb_score_genes(b.scorer, b.space->base_genes, 0).peak_bytes;
        check_budget(env, &b, peak * percents[seed / 4 % EBB_COUNT(percents)] / 100, seed, &sum);
        bench_end(&b);
        ebb_pgraph_destroy(graph);
    }
    cr_assert(sum.n_found > n / 3 && sum.n_over > n / 8 && sum.n_recomputing > n / 20,
              "found %u, over %u, recomputing %u", sum.n_found, sum.n_over, sum.n_recomputing);
    end_env(env);
}

/* What fits without recomputation is answered at once, without a search. */
Test(select, the_base_is_the_answer_when_it_fits) {
    ebb_env *env = start_env();
    for (uint64_t seed = 0; seed < 50; seed++) {
        random_pgraph_options options = {.n_ops = 40, .no_choices = true};
        ebb_pgraph *graph = draw_pgraph(env, seed, &options);
        ebb_score base = base_score(env, graph, 64);
        ebb_select_request request = small_request(graph, EBB_METHOD_BUDGET, base.peak_bytes);
        ebb_selection *found = select_ok(env, &request);
        cr_assert_eq(found->time_ns, base.time_ns);
        cr_assert_lt(found->n_candidates, 500);
        ebb_selection_destroy(found);
        request.method = EBB_METHOD_NONE;
        found = select_ok(env, &request);
        cr_assert(found->time_ns == base.time_ns && found->peak_bytes == base.peak_bytes &&
                  found->n_steps == base.n_steps);
        for (uint32_t i = 0; i < found->n_steps; i++) cr_assert_eq(found->steps[i].op, i);
        ebb_selection_destroy(found);
        ebb_pgraph_destroy(graph);
    }
    end_env(env);
}

/* A budget that the least peak names is reached again, by whoever asks next. */
Test(select, the_least_peak_is_the_same_every_time) {
    uint32_t n_below = 0;
    ebb_env *env = start_env();
    for (uint64_t seed = 100; seed < 120; seed++) {
        random_pgraph_options options = {.n_ops = 33};
        ebb_pgraph *graph = draw_pgraph(env, seed, &options);
        ebb_select_request request = small_request(graph, EBB_METHOD_LEAST, 0);
        ebb_selection *a = select_ok(env, &request);
        request.peak_budget_bytes = 12345; /* is not looked at */
        request.time_limit_ns = UINT64_C(3600000000000);
        request.config.num_worker = 3;
        ebb_selection *b = select_ok(env, &request);
        cr_assert(a->peak_bytes == b->peak_bytes && a->time_ns == b->time_ns && a->n_genes == b->n_genes);
        cr_assert_arr_eq(a->genes, b->genes, a->n_genes);
        n_below += a->peak_bytes < base_score(env, graph, 64).peak_bytes;
        want_true_selection(env, graph, a, 64);
        ebb_selection_destroy(a);
        ebb_selection_destroy(b);
        ebb_pgraph_destroy(graph);
    }
    cr_assert_gt(n_below, 15);
    end_env(env);
}

/* ---- warm starts ---- */

Test(select, a_warm_start_is_never_worse_than_what_it_starts_from) {
    ebb_env *env = start_env();
    for (uint64_t seed = 200; seed < 220; seed++) {
        random_pgraph_options options = {.n_ops = 60, .no_choices = true};
        ebb_pgraph *graph = draw_pgraph(env, seed, &options);
        ebb_select_request request = small_request(graph, EBB_METHOD_LEAST, 0);
        ebb_selection *least = select_ok(env, &request);
        request = small_request(graph, EBB_METHOD_BUDGET, least->peak_bytes);
        request.effort = 130; /* too few to find it again */
        request.warm_genes = least->genes;
        request.n_warm_genes = least->n_genes;
        ebb_selection *warm = select_ok(env, &request);
        cr_assert(warm->peak_bytes <= least->peak_bytes && warm->time_ns <= least->time_ns);
        ebb_selection_destroy(warm);
        ebb_selection_destroy(least);
        ebb_pgraph_destroy(graph);
    }
    end_env(env);
}

/* Genes of another graph are not followed, whatever states they name. */
Test(select, warm_genes_that_do_not_fit_the_graph_are_left_aside) {
    ebb_env *env = start_env();
    random_pgraph_options options = {.n_ops = 20};
    ebb_pgraph *graph = draw_pgraph(env, 5, &options);
    ebb_select_request request = small_request(graph, EBB_METHOD_BUDGET, INT64_MAX);
    ebb_selection *plain = select_ok(env, &request);
    uint8_t *strange = ebb_calloc(env, plain->n_genes + 1, 1);
    cr_assert_not_null(strange);
    memset(strange, 0xFF, plain->n_genes + 1);
    request.warm_genes = strange;
    for (uint32_t n = plain->n_genes - 1; n <= plain->n_genes + 1; n++) {
        request.n_warm_genes = n;
        ebb_selection *found = select_ok(env, &request);
        want_true_selection(env, graph, found, 64);
        ebb_selection_destroy(found);
    }
    ebb_cfree(env, strange, plain->n_genes + 1, 1);
    ebb_selection_destroy(plain);
    ebb_pgraph_destroy(graph);
    end_env(env);
}

/* ---- what cannot be searched ---- */

static ebb_pgraph *huge_graph(ebb_env *env, int64_t bytes, int64_t time_ns, int64_t scratch_bytes) {
    sketch s;
    sketch_begin(&s, env);
    ebb_id x = sketch_value(&s, EBB_ROLE_INPUT, 8), big = sketch_op(&s, IDS(x), bytes, time_ns);
    sketch_last(&s)->scratch_bytes = scratch_bytes;
    for (uint32_t k = 0; k < 5; k++) (void)sketch_sink(&s, IDS(x), 1);
    (void)sketch_sink(&s, IDS(big), 0);
    return sketch_end(&s);
}

Test(select, sums_beyond_int64_are_refused_or_avoided) {
    static const struct {
        int64_t bytes, time_ns, scratch_bytes;
        ebb_status status;
    } rows[] = {{INT64_MAX - 100, 1, 0, EBB_BAD_INPUT},
                {INT64_MAX / 4, 1, 0, EBB_BAD_INPUT},
                {1, 1, INT64_MAX / 4, EBB_BAD_INPUT},
                {INT64_MAX / 8, 1, INT64_MAX / 16, EBB_OK},
                {64, INT64_MAX - 100, 0, EBB_OK}}; /* once fits, twice does not */
    ebb_env *env = start_env();
    for (uint32_t k = 0; k < EBB_COUNT(rows); k++)
        for (ebb_method method = EBB_METHOD_NONE; method <= EBB_METHOD_LEAST; method++) {
            ebb_pgraph *graph = huge_graph(env, rows[k].bytes, rows[k].time_ns, rows[k].scratch_bytes);
            ebb_select_request request = small_request(graph, method, INT64_MAX);
            ebb_selection *found = NULL;
            want_status(env, ebb_select(env, &request, &found), rows[k].status);
            if (found) cr_assert_eq(count_runs(found, 0), 1);
            ebb_selection_destroy(found);
            ebb_pgraph_destroy(graph);
        }
    end_env(env);
}

Test(select, an_alignment_that_is_no_power_of_two_is_refused) {
    static const int64_t rows[] = {0, -1, 3, 48, INT64_MIN, INT64_MAX};
    ebb_env *env = start_env();
    ebb_pgraph *graph = draw_pgraph(env, 1, NULL);
    for (uint32_t k = 0; k < EBB_COUNT(rows); k++) {
        ebb_select_request request = small_request(graph, EBB_METHOD_NONE, 0);
        ebb_selection *found = NULL;
        request.alignment = rows[k];
        want_status(env, ebb_select(env, &request, &found), EBB_USAGE);
        cr_assert_null(found);
    }
    ebb_pgraph_destroy(graph);
    end_env(env);
}

Test(select, a_budget_below_zero_is_over_budget) {
    ebb_env *env = start_env();
    random_pgraph_options options = {.n_ops = 12};
    ebb_pgraph *graph = draw_pgraph(env, 3, &options);
    ebb_select_request request = small_request(graph, EBB_METHOD_BUDGET, INT64_MIN);
    ebb_selection *found = NULL;
    want_status(env, ebb_select(env, &request, &found), EBB_OVER_BUDGET);
    ebb_pgraph_destroy(graph);
    end_env(env);
}
