/* The seeds one by one, and the search without a part of it. */
#include "support.h"

static ebb_select_request sibling_request(const ebb_pgraph *graph, ebb_seeds kind, int64_t budget_bytes) {
    ebb_select_request request = small_request(graph, EBB_METHOD_BUDGET, budget_bytes);
    request.without = EBB_WITHOUT_SEARCH;
    request.only_seeds = kind;
    return request;
}

/* The selection, or NULL when nothing fits. */
static ebb_selection *select_or_none(ebb_env *env, const ebb_select_request *request) {
    ebb_selection *found = NULL;
    ebb_status status = ebb_select(env, request, &found);
    if (status != EBB_OVER_BUDGET) want_status(env, status, EBB_OK);
    cr_assert_eq(found == NULL, status == EBB_OVER_BUDGET);
    if (found) cr_assert_leq(found->peak_bytes, request->peak_budget_bytes);
    return found;
}

static void want_same(ebb_env *env, const ebb_select_request *request, const ebb_selection *first) {
    ebb_selection *again = select_or_none(env, request);
    cr_assert_eq(again == NULL, first == NULL);
    if (!first) return;
    cr_assert(again->time_ns == first->time_ns && again->peak_bytes == first->peak_bytes &&
              again->n_candidates == first->n_candidates && again->n_genes == first->n_genes);
    cr_assert_arr_eq(again->genes, first->genes, first->n_genes);
    ebb_selection_destroy(again);
}

/* A training step of n blocks of four ops each, whose first and last value are added: forward and back. */
static ebb_pgraph *blocks(ebb_env *env, uint32_t n) {
    sketch s;
    ebb_id h[256];
    cr_assert(4 * n < EBB_COUNT(h));
    sketch_begin(&s, env);
    h[0] = sketch_value(&s, EBB_ROLE_INPUT, 64);
    for (uint32_t k = 1; k <= 4 * n; k++)
        h[k] = sketch_op(&s, k % 4 == 0 ? IDS(h[k - 1], h[k - 4]) : IDS(h[k - 1]), 320 + 64 * (k % 3),
                         5 + 9 * (k % 4));
    ebb_id back = sketch_op(&s, IDS(h[4 * n]), 320, 3);
    for (uint32_t k = 4 * n; k > 0; k--) {
        sketch_last(&s)->phase = EBB_BACKWARD;
        back = sketch_op(&s, IDS(back, h[k - 1]), 320, 20);
        sketch_in_place(&s, 0, 0);
    }
    sketch_last(&s)->phase = EBB_BACKWARD;
    return sketch_end(&s);
}

/* ---- each sibling alone ---- */

typedef struct tally {
    uint32_t n_found[EBB_N_SEEDS], n_better; /* of the whole search against a sibling */
} tally;

static void check_siblings(ebb_env *env, const ebb_pgraph *graph, int64_t budget_bytes, tally *sum) {
    ebb_select_request request = small_request(graph, EBB_METHOD_BUDGET, budget_bytes);
    request.effort = 700;
    ebb_selection *whole = select_or_none(env, &request);
    for (ebb_seeds kind = EBB_SEEDS_ALL; kind < EBB_N_SEEDS; kind++) {
        request = sibling_request(graph, kind, budget_bytes);
        ebb_selection *alone = select_or_none(env, &request);
        want_same(env, &request, alone);
        if (!alone) continue;
        cr_assert_not_null(whole, "seeds %d fit %lld bytes, the whole search does not", (int)kind,
                           (long long)budget_bytes);
        cr_assert_leq(whole->time_ns, alone->time_ns, "seeds %d", (int)kind);
        want_true_selection(env, graph, alone, 64);
        sum->n_found[kind]++;
        sum->n_better += whole->time_ns < alone->time_ns;
        ebb_selection_destroy(alone);
    }
    ebb_selection_destroy(whole);
}

static ebb_pgraph *some_graph(ebb_env *env, uint64_t seed) {
    static const uint32_t sizes[] = {5, 12, 33, 70};
    random_pgraph_options options = {.n_ops = sizes[seed % EBB_COUNT(sizes)], .no_choices = seed % 8 < 4};
    return seed % 5 > 2 ? blocks(env, 2 + (uint32_t)seed % 11) : draw_pgraph(env, seed, &options);
}

Test(seeds, are_valid_and_repeat_and_the_answer_is_never_worse_than_any) {
    static const int64_t percents[] = {45, 60, 75, 90, 99};
    uint32_t n = count_from_env("EBB_TEST_SELECTS", 160) / 4;
    tally sum = {0};
    ebb_env *env = start_env();
    for (uint64_t seed = 0; seed < n; seed++) {
        ebb_pgraph *graph = some_graph(env, seed);
        int64_t peak = base_score(env, graph, 64).peak_bytes;
        for (size_t k = 0; k < EBB_COUNT(percents); k++)
            check_siblings(env, graph, peak * percents[k] / 100, &sum);
        ebb_pgraph_destroy(graph);
    }
    for (ebb_seeds kind = EBB_SEEDS_ALL; kind < EBB_N_SEEDS; kind++)
        cr_assert_gt(sum.n_found[kind], n / 8, "seeds %d fit %u times", (int)kind, sum.n_found[kind]);
    cr_assert_gt(sum.n_better, n / 8, "better %u times", sum.n_better);
    end_env(env);
}

/* A sibling that is asked for alone is not helped by the others. */
Test(seeds, alone_score_fewer_candidates_than_all_together) {
    ebb_env *env = start_env();
    ebb_pgraph *graph = blocks(env, 12);
    int64_t most = base_score(env, graph, 64).peak_bytes * 9 / 10, sum = 0;
    for (ebb_seeds kind = EBB_SEEDS_ALL + 1; kind < EBB_N_SEEDS; kind++) {
        ebb_select_request request = sibling_request(graph, kind, most);
        ebb_selection *alone = select_ok(env, &request);
        cr_assert_gt(alone->n_candidates, 1, "seeds %d", (int)kind);
        sum += alone->n_candidates - 1; /* no recomputation is always scored */
        ebb_selection_destroy(alone);
    }
    ebb_select_request request = sibling_request(graph, EBB_SEEDS_ALL, most);
    ebb_selection *all = select_ok(env, &request);
    /* The best of all is kept again on top, gene by gene. */
    cr_assert(all->n_candidates > sum && all->n_candidates <= sum + 2 + 2 * (int64_t)all->n_genes,
              "%lld, %lld", (long long)all->n_candidates, (long long)sum);
    ebb_selection_destroy(all);
    ebb_pgraph_destroy(graph);
    end_env(env);
}

/* ---- per block ---- */

/* a -> b, then c reads both; c -> d, then e reads both; e -> f: blocks end at a, c, e and f. */
Test(seeds, blocks_end_where_one_value_crosses) {
    static const struct {
        uint32_t every;
        bool merge;
        uint32_t n, cuts[4];
    } rows[] = {{1, false, 4, {0, 2, 4, 5}}, {2, false, 2, {2, 5}}, {4, false, 1, {5}}, {5, false, 0, {0}},
                {1, true, 3, {0, 2, 5}},     {2, true, 1, {2}},     {4, true, 0, {0}}};
    ebb_env *env = start_env();
    sketch s;
    sketch_begin(&s, env);
    ebb_id x = sketch_value(&s, EBB_ROLE_INPUT, 64);
    ebb_id a = sketch_op(&s, IDS(x), 64, 1), b = sketch_op(&s, IDS(a), 64, 1),
           c = sketch_op(&s, IDS(a, b), 64, 1);
    ebb_id d = sketch_op(&s, IDS(c), 64, 1), e = sketch_op(&s, IDS(c, d), 64, 1),
           f = sketch_op(&s, IDS(e), 64, 1);
    (void)sketch_sink(&s, IDS(f), 1);
    ebb_pgraph *graph = sketch_end(&s);
    bench b64 = bench_begin(env, graph, 64);
    ebb_arena arena;
    uint32_t n_joints, cuts[16];
    ebb_arena_init(&arena, env);
    const uint32_t *joints = ebb_space_joints(&arena, b64.space, &n_joints);
    cr_assert(joints != NULL && n_joints <= EBB_COUNT(cuts));
    for (size_t k = 0; k < EBB_COUNT(rows); k++) {
        uint32_t n = ebb_seed_block_cuts(b64.space, joints, n_joints, rows[k].every, rows[k].merge, cuts);
        cr_assert_eq(n, rows[k].n, "row %zu: %u cuts", k, n);
        for (uint32_t i = 0; i < n; i++) cr_assert_eq(cuts[i], rows[k].cuts[i], "row %zu, cut %u", k, i);
    }
    ebb_arena_deinit(&arena);
    bench_end(&b64);
    ebb_pgraph_destroy(graph);
    end_env(env);
}

/* ---- online ---- */

/* a and b wait while m, of 1280 bytes, is made; one of them has to go. */
Test(seeds, the_online_rule_drops_the_least_time_per_byte_and_staleness) {
    static const struct {
        int64_t a_bytes, a_ns, b_bytes, b_ns;
        bool read_again;                                                      /* a, after b is made */
        ebb_id dropped;                                                       /* 0: a, 1: b */
    } rows[] = {{640, 1, 640, 1000, false, 0}, {640, 1000, 640, 1, false, 1}, /* cheap */
                {640, 10, 4096, 10, false, 1}, {4096, 10, 640, 10, true, 0},  /* large */
                {640, 10, 640, 10, false, 0},  {640, 10, 640, 10, true, 1}};  /* stale */
    ebb_env *env = start_env();
    for (size_t k = 0; k < EBB_COUNT(rows); k++) {
        sketch s;
        sketch_begin(&s, env);
        ebb_id x = sketch_value(&s, EBB_ROLE_INPUT, 64);
        ebb_id a = sketch_op(&s, IDS(x), rows[k].a_bytes, rows[k].a_ns);
        (void)sketch_sink(&s, IDS(a), 1); /* read soon, or the op would wait and run once */
        ebb_id b = sketch_op(&s, IDS(x), rows[k].b_bytes, rows[k].b_ns);
        (void)sketch_sink(&s, IDS(b), 1);
        ebb_id last = sketch_op(&s, IDS(x), 64, 1);
        if (rows[k].read_again) (void)sketch_sink(&s, IDS(a), 1);
        ebb_id m = sketch_op(&s, IDS(x), 1280, 5);
        (void)sketch_sink(&s, IDS(m), 1);
        (void)sketch_sink(&s, IDS(b, a, last), 1);
        ebb_pgraph *graph = sketch_end(&s);
        ebb_score base = base_score(env, graph, 64);
        ebb_select_request request = sibling_request(graph, EBB_SEEDS_ONLINE, base.peak_bytes - 640);
        ebb_selection *found = select_ok(env, &request);
        cr_assert_eq(count_runs(found, 2 * rows[k].dropped), 2, "row %zu", k);
        cr_assert_eq(count_runs(found, 2 * !rows[k].dropped), 1, "row %zu", k);
        ebb_selection_destroy(found);
        ebb_pgraph_destroy(graph);
    }
    end_env(env);
}

/* ---- the search without a part ---- */

Test(without, a_part_the_search_is_valid_and_repeats_for_any_number_of_workers) {
    static const uint32_t rows[] = {EBB_WITHOUT_CROSSOVER, EBB_WITHOUT_ANNEALING, EBB_WITHOUT_SEEDS,
                                    EBB_WITHOUT_CROSSOVER | EBB_WITHOUT_ANNEALING | EBB_WITHOUT_SEEDS};
    uint32_t n_better = 0;
    ebb_env *env = start_env();
    for (uint64_t seed = 0; seed < 14; seed++) {
        ebb_pgraph *graph = some_graph(env, seed);
        int64_t budget = base_score(env, graph, 64).peak_bytes * 8 / 10;
        ebb_select_request request = sibling_request(graph, EBB_SEEDS_ALL, budget);
        ebb_selection *seeds = select_or_none(env, &request);
        for (size_t k = 0; k < EBB_COUNT(rows); k++) {
            request = small_request(graph, EBB_METHOD_BUDGET, budget);
            request.without = rows[k];
            ebb_selection *found = select_or_none(env, &request);
            if (found) want_true_selection(env, graph, found, 64);
            if (found && seeds) n_better += found->time_ns < seeds->time_ns;
            if (seeds && !(rows[k] & EBB_WITHOUT_SEEDS))
                cr_assert(found && found->time_ns <= seeds->time_ns, "row %zu", k);
            request.config.num_worker = 3;
            want_same(env, &request, found);
            ebb_selection_destroy(found);
        }
        ebb_selection_destroy(seeds);
        ebb_pgraph_destroy(graph);
    }
    cr_assert_gt(n_better, 10, "better %u times", n_better);
    end_env(env);
}

/* A part that is left out changes the answer, so that it is really left out. */
Test(without, each_part_makes_a_difference) {
    static const uint32_t rows[] = {EBB_WITHOUT_CROSSOVER, EBB_WITHOUT_ANNEALING, EBB_WITHOUT_SEEDS};
    ebb_env *env = start_env();
    ebb_pgraph *graph = blocks(env, 40);
    int64_t budget = base_score(env, graph, 64).peak_bytes * 6 / 10;
    ebb_select_request request = small_request(graph, EBB_METHOD_BUDGET, budget);
    request.effort = 8000;
    request.config.genetic_nr_iter = 10;
    request.without = EBB_WITHOUT_ORDER; /* which may lead all of them to the same end */
    ebb_selection *whole = select_ok(env, &request);
    for (size_t k = 0; k < EBB_COUNT(rows); k++) {
        request.without = EBB_WITHOUT_ORDER | rows[k];
        ebb_selection *found = select_ok(env, &request);
        cr_assert(found->n_genes == whole->n_genes &&
                      memcmp(found->genes, whole->genes, whole->n_genes) != 0,
                  "row %zu", k);
        ebb_selection_destroy(found);
    }
    ebb_selection_destroy(whole);
    ebb_pgraph_destroy(graph);
    end_env(env);
}
