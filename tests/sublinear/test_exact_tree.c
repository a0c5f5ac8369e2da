/* The tree that finds the best candidate without looking at all of them, held against counting through
 * them, node by node. */
#include "sublinear/exact/exact.h"
#include "sublinear/exact/tree.h"
#include "support.h"
#include "training.h"

/* A search whose pool has no recomputation only, so that the tree has all the work. */
static void open_search(ebb_env *env, const ebb_space *space, int64_t budget_bytes, ebb_search *search,
                        ebb_select_request *request) {
    *request = small_request(space->graph, EBB_METHOD_BUDGET, budget_bytes);
    request->effort = INT64_MAX / 8;
    cr_assert_eq(ebb_search_open(search, env, space, request), EBB_OK);
    (void)ebb_search_offer_genes(search, space->base_genes);
}

static double candidate_count(const ebb_space *space) {
    double n = 1;
    for (uint32_t k = 0; k < space->n_genes; k++)
        n *= space->genes[k].n_states > 1 ? space->genes[k].n_states - space->genes[k].first_state : 1;
    return n;
}

/* As next_genes, with pins. */
static bool next_pinned(const ebb_space *space, uint8_t *genes) {
    for (uint32_t k = 0; k < space->n_genes; k++) {
        if (space->genes[k].n_states < 2) continue;
        if (++genes[k] < space->genes[k].n_states) return true;
        genes[k] = space->genes[k].first_state;
    }
    return false;
}

/* The best worth of all candidates, one for each of n searches. */
static void count_through(const ebb_space *space, ebb_search *searches, uint32_t n, ebb_worth *best) {
    uint8_t *genes = searches[0].scratch_genes;
    memset(genes, 0, space->n_genes);
    ebb_space_heed_pins(space, genes);
    for (uint32_t k = 0; k < n; k++) best[k] = (ebb_worth){INT64_MAX, INT64_MAX, INT64_MAX};
    do {
        ebb_score score = ebb_score_genes(searches[0].scorers[0], genes, 0);
        for (uint32_t k = 0; k < n; k++) {
            ebb_worth worth = ebb_search_worth(&searches[k], &score);
            if (ebb_worth_compare(&worth, &best[k]) < 0) best[k] = worth;
        }
    } while (next_pinned(space, genes));
}

static void draw_pins(ebb_env *env, ebb_space *space, uint64_t seed) {
    ebb_rng rng;
    ebb_rng_init(&rng, seed, 3);
    uint8_t *pins = ebb_calloc(env, space->n_values, 1);
    for (uint32_t v = 0; v < space->n_values; v++) {
        uint32_t r = ebb_rng_below(&rng, 8);
        pins[v] = r == 0 ? EBB_PIN_KEEP : r == 1 ? EBB_PIN_DROP : EBB_PIN_NONE;
    }
    ebb_space_pin(space, pins);
    ebb_cfree(env, pins, space->n_values, 1);
}

typedef struct tree_sum {
    int64_t n_candidates, n_nodes;
    uint32_t n_graphs, n_searches, n_recomputed, n_late;
} tree_sum;

#define BUDGETS 5 /* none at all, so that the least peak is best; and from the least peak up */

static void hold_tree_against_counting(ebb_env *env, uint64_t seed, const ebb_space *space, tree_sum *sum) {
    ebb_search searches[BUDGETS];
    ebb_select_request requests[BUDGETS];
    ebb_worth best[BUDGETS];
    open_search(env, space, 0, &searches[0], &requests[0]);
    count_through(space, searches, 1, best);
    int64_t least = best[0].peak_bytes, base = ebb_search_base_peak(&searches[0]);
    if (best[0].excess_bytes == INT64_MAX) least = base; /* pins leave no candidate that is valid */
    for (uint32_t k = 1; k < BUDGETS; k++)
        open_search(env, space, least + (base - least) * (k - 1) / (BUDGETS - 1), &searches[k],
                    &requests[k]);
    count_through(space, searches, BUDGETS, best);
    for (uint32_t k = 0; k < BUDGETS; k++) {
        bool go_on;
        const ebb_worth *found = &searches[k].members[0].best;
        cr_assert_eq(ebb_select_exact(&searches[k], &requests[k], &go_on), EBB_OK);
        cr_assert(searches[k].proved && !go_on, "seed %llu", (unsigned long long)seed);
        bool over = ebb_search_is_over(&searches[k]); /* whatever the peak */
        cr_assert(found->excess_bytes == best[k].excess_bytes && found->time_ns == best[k].time_ns &&
                      (over || found->peak_bytes == best[k].peak_bytes),
                  "seed %llu, budget %lld: %lld over, %lld ns, peak %lld, not %lld, %lld, %lld",
                  (unsigned long long)seed, (long long)searches[k].budget_bytes,
                  (long long)found->excess_bytes, (long long)found->time_ns, (long long)found->peak_bytes,
                  (long long)best[k].excess_bytes, (long long)best[k].time_ns,
                  (long long)best[k].peak_bytes);
        sum->n_searches++;
        sum->n_candidates += (int64_t)candidate_count(space);
        sum->n_nodes += searches[k].n_scored - 1;
        sum->n_recomputed += found->time_ns > space->base_time_ns;
        ebb_search_close(&searches[k]);
    }
    for (uint32_t k = 0; k < space->n_genes; k++)
        if (space->genes[k].late > 0 && space->genes[k].n_states > EBB_LATE) {
            sum->n_late++;
            break;
        }
    sum->n_graphs++;
}

Test(exact, the_tree_finds_the_best_of_all_candidates) {
    uint32_t n = count_from_env("EBB_TEST_GRAPHS", 1000);
    tree_sum sum = {0};
    ebb_env *env = start_env();
    for (uint64_t seed = 0; sum.n_graphs < n; seed++) {
        random_pgraph_options options = {.n_ops = 5 + (uint32_t)(seed % 20),
                                         .max_choices = 3 + (uint32_t)(seed % 5)};
        options.no_choices = seed % 4 == 0;
        ebb_pgraph *graph = seed % 3 == 2 ? draw_residual(env, seed, 2 + (uint32_t)(seed / 3 % 2))
                                          : draw_pgraph(env, 70000 + seed, &options);
        bench b = bench_begin(env, graph, 64);
        if (seed % 5 == 0) draw_pins(env, b.space, seed);
        double count = candidate_count(b.space);
        if (count > 8 && count <= 2500) hold_tree_against_counting(env, seed, b.space, &sum);
        bench_end(&b);
        ebb_pgraph_destroy(graph);
    }
    cr_log_info("%u graphs, %u searches, %u recompute; %lld candidates, %lld nodes", sum.n_graphs,
                sum.n_searches, sum.n_recomputed, (long long)sum.n_candidates, (long long)sum.n_nodes);
    cr_assert_gt(sum.n_recomputed, sum.n_searches / 10, "%u of %u", sum.n_recomputed, sum.n_searches);
    cr_assert_gt(sum.n_late, n / 40, "%u of %u with a late part", sum.n_late, sum.n_graphs);
    cr_assert_lt(sum.n_nodes, sum.n_candidates / 4, "%lld nodes", (long long)sum.n_nodes);
    end_env(env);
}

/* A leaf at random: its play's path stays in the tree. */
static bool draw_leaf(ebb_tree *tree, ebb_rng *rng) {
    const ebb_worth none = {INT64_MAX, INT64_MAX, INT64_MAX};
    tree->search->members[0].best = none;
    tree->n_path = 0;
    bool ended = ebb_tree_play(tree);
    for (uint32_t at = 0; at < tree->n_path; at++) {
        if (ebb_rng_below(rng, 2)) continue;
        tree->path[at].answer = (uint8_t)ebb_rng_below(rng, tree->path[at].n_answers);
        tree->n_path = at + 1;
        ended = ebb_tree_play(tree);
        if (!ended) break; /* over a limit, or it reads what has been replaced */
    }
    return ended;
}

/* The next paths in the tree's own order, for a while: to a leaf better than the last within its peak,
 * where bounds are tighter. */
static void better_leaf(ebb_tree *tree, const ebb_worth *leaf, ebb_question *path, uint32_t *n_path) {
    ebb_worth *best = &tree->search->members[0].best;
    *best = *leaf;
    memcpy(path, tree->path, tree->n_path * sizeof *path);
    *n_path = tree->n_path;
    for (uint32_t n = 0; n < 60; n++) {
        while (tree->n_path > 0) {
            ebb_question *last = &tree->path[tree->n_path - 1];
            if (++last->answer < last->n_answers) break;
            tree->n_path--;
        }
        if (tree->n_path == 0) break;
        if (!ebb_tree_play(tree)) continue;
        *best = ebb_tree_bound(tree);
        memcpy(path, tree->path, tree->n_path * sizeof *path);
        *n_path = tree->n_path;
    }
}

/* The tree does not turn back at any node on the way to the leaf when the leaf is better than the best. */
static void check_way(ebb_tree *tree, uint64_t seed, ebb_rng *rng, const ebb_question *path, uint32_t n) {
    tree->search->members[0].best.peak_bytes++;
    for (uint32_t look = 0; look < 12 && n > 0; look++) {
        uint32_t at = ebb_rng_below(rng, n);
        memcpy(tree->path, path, n * sizeof *path);
        tree->n_path = at;
        (void)ebb_tree_play(tree);
        cr_assert_gt(tree->n_path, at, "seed %llu: question %u of %u", (unsigned long long)seed, at, n);
    }
}

/* Bounds of graphs that are too large to count through: no more than the worth of leaves below. */
Test(exact, a_bound_is_no_more_than_any_leaf_below) {
    uint32_t n = count_from_env("EBB_TEST_GRAPHS", 1000), n_leaves = 0;
    ebb_env *env = start_env();
    for (uint64_t seed = 0; seed < n; seed++) {
        ebb_pgraph *graph = draw_pgraph(env, 90000 + seed, NULL);
        bench b = bench_begin(env, graph, 64);
        ebb_search search;
        ebb_select_request request;
        ebb_tree tree;
        ebb_rng rng;
        ebb_rng_init(&rng, seed, 5);
        if (seed % 5 == 0) draw_pins(env, b.space, seed);
        int64_t base = ebb_score_genes(b.scorer, b.space->base_genes, 0).peak_bytes;
        open_search(env, b.space, seed % 2 ? 0 : base * (int64_t)(seed % 7) / 5, &search, &request);
        cr_assert_eq(ebb_tree_open(&tree, &search), EBB_OK);
        ebb_question *path = EBB_NEW(&search.arena, ebb_question, 2 * (size_t)b.space->n_genes);
        for (uint32_t k = 0; k < 4; k++) {
            if (!draw_leaf(&tree, &rng)) continue;
            ebb_score score = ebb_score_genes(b.scorer, tree.genes, 0);
            ebb_worth leaf = ebb_search_worth(&search, &score), bound = ebb_tree_bound(&tree);
            cr_assert(score.valid && score.n_steps == tree.scorer->n_steps, "seed %llu",
                      (unsigned long long)seed);
            cr_assert(memcmp(ebb_scorer_steps(b.scorer), ebb_scorer_steps(tree.scorer),
                             score.n_steps * sizeof(ebb_id)) == 0);
            cr_assert_eq(ebb_worth_compare(&leaf, &bound), 0, "a leaf's bound is its worth");
            n_leaves++;
            if (k % 2) { /* it fits, but nothing larger does */
                search.budget_bytes = leaf.peak_bytes;
                leaf.excess_bytes = 0;
            }
            uint32_t n_path;
            better_leaf(&tree, &leaf, path, &n_path);
            check_way(&tree, seed, &rng, path, n_path);
        }
        ebb_tree_close(&tree);
        ebb_search_close(&search);
        bench_end(&b);
        ebb_pgraph_destroy(graph);
    }
    cr_log_info("%u leaves", n_leaves);
    cr_assert_gt(n_leaves, n, "%u leaves", n_leaves);
    end_env(env);
}
