/* The hot loop against the long way: what `score` says of a candidate is what rewrite, plan and audit say.
 */
#include "support.h"

#include "sublinear/search/search.h"

#define N_CANDIDATES 4 /* a graph */

typedef struct tally {
    uint32_t n_valid, n_invalid, n_recomputing;
} tally;

static void check_candidate(ebb_env *env, const bench *b, const uint8_t *genes, uint64_t seed, tally *sum) {
    const ebb_pgraph *graph = b->space->graph;
    ebb_score score = ebb_score_genes(b->scorer, genes, 0);
    if (!score.valid) {
        sum->n_invalid++;
        return;
    }
    ebb_step_choice *steps = ebb_calloc(env, score.n_steps, sizeof *steps);
    uint32_t *alternative = ebb_calloc(env, graph->n_ops, sizeof *alternative);
    cr_assert(steps != NULL && alternative != NULL);
    for (uint32_t i = 0; i < graph->n_ops; i++) alternative[i] = ebb_space_way_of(b->space, genes, i);
    for (uint32_t i = 0; i < score.n_steps; i++) {
        ebb_id op = ebb_scorer_steps(b->scorer)[i];
        steps[i] = (ebb_step_choice){op, alternative[op]};
    }
    ebb_plan *plan = plan_steps(env, graph, steps, score.n_steps, alternative, b->space->alignment);
    cr_assert_eq(plan->n_steps, score.n_steps, "seed %llu", (unsigned long long)seed);
    cr_assert_eq(plan->time_ns, score.time_ns, "seed %llu", (unsigned long long)seed);
    cr_assert_eq(plan->max_live_bytes, score.peak_bytes, "seed %llu: planned %lld, scored %lld",
                 (unsigned long long)seed, (long long)plan->max_live_bytes, (long long)score.peak_bytes);
    sum->n_valid++;
    sum->n_recomputing += score.n_steps > graph->n_ops;
    ebb_plan_destroy(plan);
    ebb_cfree(env, alternative, graph->n_ops, sizeof *alternative);
    ebb_cfree(env, steps, score.n_steps, sizeof *steps);
}

/* A random order that the graph allows, for the scorer. In arena. */
static void shuffle(ebb_arena *arena, const bench *b, ebb_rng *rng) {
    uint32_t n = b->space->n_ops;
    ebb_order_facts *facts = EBB_NEW(arena, ebb_order_facts, 1);
    ebb_ordering o = {facts, EBB_NEW(arena, ebb_id, n), EBB_NEW(arena, uint32_t, n)};
    cr_assert(facts && o.order && o.position);
    want_status(arena->env, ebb_order_facts_find(arena, b->space->graph, b->space->alignment, facts),
                EBB_OK);
    for (uint32_t i = 0; i < n; i++) o.order[i] = o.position[i] = i;
    for (uint32_t k = 0; k < 2 * n; k++) {
        uint32_t at = ebb_rng_below(rng, n);
        ebb_ordering_move(&o, at, ebb_ordering_draw(&o, rng, at));
    }
    ebb_scorer_set_order(b->scorer, o.order);
}

static void check_graph(ebb_env *env, uint64_t seed, bool shuffled, tally *sum) {
    static const int64_t alignments[] = {1, 8, 64, 512};
    static const uint32_t percents[N_CANDIDATES] = {0, 8, 30, 90};
    random_pgraph_options options = {.n_ops = seed % 100 == 99 ? 200 : 0};
    ebb_pgraph *graph = draw_pgraph(env, seed, &options);
    bench b = bench_begin(env, graph, alignments[seed % EBB_COUNT(alignments)]);
    uint8_t *genes = ebb_calloc(env, b.space->n_genes, 1);
    cr_assert_not_null(genes);
    ebb_rng rng;
    ebb_rng_init(&rng, seed, 1);
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    for (uint32_t k = 0; k < N_CANDIDATES; k++) {
        if (shuffled && graph->n_ops > 0) shuffle(&arena, &b, &rng);
        draw_genes(b.space, &rng, percents[k], genes);
        check_candidate(env, &b, genes, seed, sum);
    }
    ebb_arena_deinit(&arena);
    ebb_cfree(env, genes, b.space->n_genes, 1);
    bench_end(&b);
    ebb_pgraph_destroy(graph);
}

static void check_graphs(bool shuffled) {
    uint32_t n = count_from_env("EBB_TEST_GRAPHS", 1000);
    tally sum = {0};
    ebb_env *env = start_env();
    for (uint64_t seed = 0; seed < n; seed++) check_graph(env, seed, shuffled, &sum);
    cr_log_info("valid %u, recomputing %u, invalid %u", sum.n_valid, sum.n_recomputing, sum.n_invalid);
    cr_assert(sum.n_valid > n && sum.n_recomputing > n / 4 && sum.n_invalid > 0,
              "valid %u, recomputing %u, invalid %u", sum.n_valid, sum.n_recomputing, sum.n_invalid);
    end_env(env);
}

Test(score, peak_time_and_steps_are_those_of_the_plan) {
    check_graphs(false);
}

Test(score, in_any_order_that_the_graph_allows) {
    check_graphs(true);
}

/* ---- trimming ---- */

/* What is left is a schedule of its own, within the limit, and never slower; given room, it is faster. */
static bool check_trimmed(ebb_env *env, const bench *b, const uint8_t *genes, int64_t room_bytes,
                          uint64_t seed) {
    const ebb_pgraph *graph = b->space->graph;
    ebb_score whole = ebb_score_genes(b->scorer, genes, 0);
    if (!whole.valid) return false;
    ebb_arena arena;
    ebb_trimmed trimmed;
    ebb_arena_init(&arena, env);
    int64_t limit = whole.peak_bytes + room_bytes;
    int64_t work = EBB_TRIM_WORK;
    ebb_trimmer *trimmer = ebb_trimmer_new(&arena, b->space);
    cr_assert(trimmer);
    ebb_trim(trimmer, b->scorer, genes, limit, &work, &trimmed);
    cr_assert(trimmed.score.valid && trimmed.score.peak_bytes <= limit, "seed %llu",
              (unsigned long long)seed);
    cr_assert_leq(trimmed.score.time_ns, whole.time_ns, "seed %llu", (unsigned long long)seed);
    ebb_step_choice *steps = EBB_NEW(&arena, ebb_step_choice, trimmed.n_steps);
    uint32_t *alternative = EBB_NEW(&arena, uint32_t, graph->n_ops);
    cr_assert(steps && alternative);
    for (uint32_t i = 0; i < graph->n_ops; i++) alternative[i] = ebb_space_way_of(b->space, genes, i);
    for (uint32_t i = 0; i < trimmed.n_steps; i++)
        steps[i] = (ebb_step_choice){trimmed.steps[i], alternative[trimmed.steps[i]]};
    ebb_plan *plan = plan_steps(env, graph, steps, trimmed.n_steps, alternative, b->space->alignment);
    cr_assert_eq(plan->time_ns, trimmed.score.time_ns, "seed %llu", (unsigned long long)seed);
    cr_assert_eq(plan->max_live_bytes, trimmed.score.peak_bytes, "seed %llu", (unsigned long long)seed);
    ebb_plan_destroy(plan);
    ebb_arena_deinit(&arena);
    return trimmed.score.time_ns < whole.time_ns;
}

Test(trim, leaves_a_schedule_within_the_limit_that_is_never_slower) {
    uint32_t n_faster = 0;
    ebb_env *env = start_env();
    for (uint64_t seed = 0; seed < 400; seed++) {
        ebb_pgraph *graph = draw_pgraph(env, seed, NULL);
        bench b = bench_begin(env, graph, 64);
        uint8_t *genes = ebb_calloc(env, b.space->n_genes, 1);
        cr_assert_not_null(genes);
        ebb_rng rng;
        ebb_rng_init(&rng, seed, 7);
        draw_genes(b.space, &rng, 40, genes);
        n_faster += check_trimmed(env, &b, genes, 0, seed);
        n_faster += check_trimmed(env, &b, genes, 4096, seed);
        ebb_cfree(env, genes, b.space->n_genes, 1);
        bench_end(&b);
        ebb_pgraph_destroy(graph);
    }
    cr_assert_gt(n_faster, 100, "%u", n_faster);
    end_env(env);
}
