/* The seed by dynamic programming over the chain of blocks. */
#include "sublinear/chain/chain.h"
#include "support.h"

static ebb_select_request chain_request(const ebb_pgraph *graph, ebb_seeds kind, int64_t budget_bytes) {
    ebb_select_request request = small_request(graph, EBB_METHOD_BUDGET, budget_bytes);
    request.without = EBB_WITHOUT_SEARCH;
    request.only_seeds = kind;
    return request;
}

/* Steps x0 -> x1 .. -> xn of 64 bytes and 1 ns each, and back, where step k reads its input x(k-1) again. A
 * step may be written over its input, a gradient over the one before. */
static ebb_pgraph *uniform(ebb_env *env, uint32_t n) {
    sketch s;
    ebb_id x[256];
    cr_assert(n < EBB_COUNT(x));
    sketch_begin(&s, env);
    x[0] = sketch_value(&s, EBB_ROLE_INPUT, 64);
    for (uint32_t k = 1; k <= n; k++) {
        x[k] = sketch_op(&s, IDS(x[k - 1]), 64, 1);
        sketch_in_place(&s, 0, 0);
    }
    ebb_id back = sketch_op(&s, IDS(x[n]), 64, 1);
    sketch_last(&s)->phase = EBB_BACKWARD;
    for (uint32_t k = n; k > 0; k--) {
        back = sketch_op(&s, IDS(back, x[k - 1]), 64, 1);
        sketch_in_place(&s, 0, 0);
        sketch_last(&s)->phase = EBB_BACKWARD;
    }
    return sketch_end(&s);
}

/* Blocks of five ops, whose first and last value are added; sizes and times differ. */
static ebb_pgraph *skips(ebb_env *env, uint32_t n) {
    sketch s;
    ebb_id h[512];
    cr_assert(5 * n < EBB_COUNT(h));
    sketch_begin(&s, env);
    h[0] = sketch_value(&s, EBB_ROLE_INPUT, 640);
    for (uint32_t k = 1; k <= 5 * n; k++) {
        int64_t bytes = 64 * (k % 5 == 0 ? 10 : 2 + k * 7 % 9);
        h[k] = sketch_op(&s, k % 5 == 0 ? IDS(h[k - 1], h[k - 5]) : IDS(h[k - 1]), bytes, 3 + k * 11 % 17);
    }
    ebb_id back = sketch_op(&s, IDS(h[5 * n]), 640, 3);
    for (uint32_t k = 5 * n; k > 0; k--) {
        sketch_last(&s)->phase = EBB_BACKWARD;
        back = sketch_op(&s, IDS(back, h[k - 1]), s.draft.values.at[h[k - 1]].bytes, 20);
        sketch_in_place(&s, 0, 0);
    }
    sketch_last(&s)->phase = EBB_BACKWARD;
    return sketch_end(&s);
}

/* ---- the optimum ------------------------------------------------------------------------------------ */

static int64_t binomial(int64_t n, int64_t k) {
    int64_t result = 1;
    for (int64_t i = 1; i <= k; i++) result = result * (n - k + i) / i;
    return result;
}

/* Steps forward that the reversal of n steps takes with room for s states, the first one's among them
 * (Griewank, Walther, "Algorithm 799: revolve", 2000). */
static int64_t revolve_steps(int64_t n, int64_t s) {
    int64_t r = 1;
    while (binomial(s + r, s) < n) r++;
    return r * n - binomial(s + r, r - 1);
}

/* With the last value, n steps have n + 1 states to reverse. While s of them are held, a step makes another
 * one, and there is a gradient. */
static int64_t uniform_time(ebb_env *env, uint32_t n, uint32_t s) {
    ebb_pgraph *graph = uniform(env, n);
    ebb_select_request request = chain_request(graph, EBB_SEEDS_CHAIN, 64 * (int64_t)(s + 2));
    ebb_selection *found = select_ok(env, &request);
    int64_t time_ns = found->time_ns;
    want_true_selection(env, graph, found, 64);
    ebb_selection_destroy(found);
    ebb_pgraph_destroy(graph);
    return time_ns;
}

/* No step runs more than twice in these: the first run keeps some, the second one holds the others. */
Test(chain, of_like_steps_is_solved_as_well_as_by_revolve) {
    static const uint32_t rows[][2] = {{4, 3},  {9, 3},  {8, 4},  {14, 4},
                                       {20, 5}, {27, 6}, {44, 8}, {60, 10}};
    ebb_env *env = start_env();
    for (size_t k = 0; k < EBB_COUNT(rows); k++) {
        uint32_t n = rows[k][0], s = rows[k][1];
        int64_t known = revolve_steps(n + 1, s) + 1 + n, found = uniform_time(env, n, s);
        cr_expect_leq(found, known, "%u steps, %u states: %lld, not %lld", n, s, (long long)found,
                      (long long)known);
    }
    end_env(env);
}

/* Genes have two levels of checkpoints; what needs a third is made for each use. */
Test(chain, of_like_steps_is_solved_with_a_third_run_too) {
    static const uint32_t rows[][2] = {{12, 3}, {19, 3}, {24, 4}, {34, 4}};
    ebb_env *env = start_env();
    for (size_t k = 0; k < EBB_COUNT(rows); k++) {
        uint32_t n = rows[k][0], s = rows[k][1];
        int64_t known = revolve_steps(n + 1, s) + 1 + n, found = uniform_time(env, n, s);
        cr_expect_leq(found * 100, known * 115, "%u steps, %u states: %lld, not %lld", n, s,
                      (long long)found, (long long)known);
    }
    end_env(env);
}

/* ---- blocks and their figures ----------------------------------------------------------------------- */

typedef struct solving {
    ebb_arena arena;
    ebb_search search;
    ebb_space *space;
    ebb_chain chain;
} solving;

static void solving_begin(solving *x, ebb_env *env, const ebb_pgraph *graph) {
    ebb_select_request request = chain_request(graph, EBB_SEEDS_CHAIN, 1);
    ebb_arena_init(&x->arena, env);
    want_status(env, ebb_space_create(env, graph, 64, &x->space), EBB_OK);
    want_status(env, ebb_search_open(&x->search, env, x->space, &request), EBB_OK);
    want_status(env, ebb_chain_find(&x->arena, x->space, &x->chain), EBB_OK);
}

static void solving_end(solving *x) {
    ebb_search_close(&x->search);
    ebb_space_destroy(x->space);
    ebb_arena_deinit(&x->arena);
}

/* a -> b, then c reads both; c -> d, then e reads both; all are read back: blocks begin with a, c and e. */
Test(chain, blocks_begin_with_the_one_value_that_crosses) {
    ebb_env *env = start_env();
    ebb_pgraph *graph = skips(env, 3);
    solving x;
    solving_begin(&x, env, graph);
    cr_assert_eq(x.chain.turn, 15);
    /* The input is given, so that within the first block each value crosses alone. */
    static const uint32_t begins[] = {0, 1, 2, 3, 4, 5, 10};
    cr_assert_eq(x.chain.n_blocks, EBB_COUNT(begins), "%u blocks", x.chain.n_blocks);
    for (uint32_t b = 0; b < x.chain.n_blocks; b++) {
        const ebb_chain_block *block = &x.chain.blocks[b];
        cr_expect_eq(block->begin, begins[b], "block %u begins at %u", b, block->begin);
        cr_expect_eq(block->in, b > 0 ? x.space->outs[x.space->ops[begins[b] - 1].first_out] : EBB_NONE);
        for (uint32_t p = block->begin; p < block->end; p++) cr_expect_eq(x.chain.block_of[p], b);
    }
    for (uint32_t p = x.chain.turn + 1; p < x.space->n_ops; p++)
        cr_expect_leq(x.chain.block_of[p], x.chain.block_of[p - 1]);
    solving_end(&x);
    ebb_pgraph_destroy(graph);
    end_env(env);
}

Test(chain, has_no_more_blocks_than_it_can_solve_and_none_without_a_way_back) {
    static const uint32_t rows[] = {1, 12, 64, 65, 250};
    ebb_env *env = start_env();
    for (size_t k = 0; k < EBB_COUNT(rows); k++) {
        ebb_pgraph *graph = uniform(env, rows[k]);
        solving x;
        solving_begin(&x, env, graph);
        uint32_t most = rows[k] < EBB_CHAIN_BLOCKS ? rows[k] : EBB_CHAIN_BLOCKS;
        cr_expect(x.chain.n_blocks <= most && 2 * x.chain.n_blocks > most, "%u: %u", rows[k],
                  x.chain.n_blocks);
        cr_expect_eq(x.chain.blocks[x.chain.n_blocks - 1].end, rows[k]);
        solving_end(&x);
        ebb_pgraph_destroy(graph);
    }
    random_pgraph_options options = {.n_ops = 40};
    ebb_pgraph *graph = draw_pgraph(env, 5, &options);
    for (uint32_t i = 0; i < graph->n_ops; i++) ((ebb_pop *)graph->ops)[i].phase = EBB_FORWARD;
    solving x;
    solving_begin(&x, env, graph);
    cr_expect_eq(x.chain.n_blocks, 0);
    solving_end(&x);
    ebb_pgraph_destroy(graph);
    end_env(env);
}

/* Every answer adds the time that it says, and takes the bytes that it says but for the slots' rounding, or
 * nearly so where memory is very short. */
static uint32_t check_answers(solving *x, int64_t most_bytes, uint8_t *genes) {
    const ebb_chain_solver *solver = ebb_chain_solve(&x->arena, &x->search, &x->chain, most_bytes);
    cr_assert_not_null(solver);
    uint32_t n = 0;
    for (uint32_t slots = EBB_CHAIN_SLOTS; slots > 0; slots--, n++) {
        double added_ns = ebb_chain_added_ns(solver, slots);
        if (added_ns < 0) break;
        ebb_chain_genes(solver, slots, genes);
        ebb_score score = ebb_score_genes(x->search.scorers[0], genes, 0);
        int64_t bytes = most_bytes * slots / EBB_CHAIN_SLOTS;
        if (slots < EBB_CHAIN_SLOTS / 2) bytes += bytes / (slots < EBB_CHAIN_SLOTS / 4 ? 2 : 4);
        if (!score.valid) break; /* so little memory takes too many steps */
        cr_expect_eq((double)(score.time_ns - x->space->base_time_ns), added_ns, "%u slots: %lld, not %.0f",
                     slots, (long long)(score.time_ns - x->space->base_time_ns), added_ns);
        cr_expect_leq(score.peak_bytes, bytes + most_bytes * x->chain.n_blocks / EBB_CHAIN_SLOTS,
                      "%u slots: %lld, not %lld", slots, (long long)score.peak_bytes, (long long)bytes);
    }
    return n;
}

Test(chain, answers_take_the_time_and_the_bytes_that_they_say) {
    ebb_env *env = start_env();
    for (uint32_t n = 2; n < 20; n += 3) {
        ebb_pgraph *graph = skips(env, n);
        solving x;
        ebb_chain_meter *meter;
        solving_begin(&x, env, graph);
        want_status(env, ebb_chain_meter_open(&x.arena, &x.search, &x.chain, &meter), EBB_OK);
        uint8_t *genes = ebb_arena_alloc(&x.arena, x.space->n_genes, 1);
        cr_assert_not_null(genes);
        int64_t peak = base_score(env, graph, 64).peak_bytes, staying = 0;
        ebb_chain_rank(meter);
        for (int k = 0; k < 3; k++) {
            ebb_chain_list(meter);
            cr_assert_gt(check_answers(&x, peak, genes), EBB_CHAIN_SLOTS / 4);
            int64_t more = ebb_chain_stay(meter, peak / 10);
            cr_assert_leq(more, peak / 10);
            staying += more;
        }
        if (n > 2) cr_assert_gt(staying, 0);
        solving_end(&x);
        ebb_pgraph_destroy(graph);
    }
    end_env(env);
}

/* What is not measured or solved to the end is no answer. */
Test(chain, has_no_answers_once_its_search_is_to_end) {
    ebb_env *env = start_env();
    ebb_pgraph *graph = skips(env, 8);
    solving x;
    ebb_chain_meter *meter;
    solving_begin(&x, env, graph);
    want_status(env, ebb_chain_meter_open(&x.arena, &x.search, &x.chain, &meter), EBB_OK);
    ebb_chain_rank(meter);
    ebb_chain_list(meter);
    const int64_t peak = base_score(env, graph, 64).peak_bytes, before = x.search.n_scored;
    cr_expect_geq(ebb_chain_added_ns(ebb_chain_solve(&x.arena, &x.search, &x.chain, peak), EBB_CHAIN_SLOTS),
                  0);
    x.search.out_of_grace = true;
    cr_expect_lt(ebb_chain_added_ns(ebb_chain_solve(&x.arena, &x.search, &x.chain, peak), EBB_CHAIN_SLOTS),
                 0);
    ebb_chain_rank(meter);
    ebb_chain_list(meter);
    cr_expect_eq(x.search.n_scored, before, "measured all the same");
    solving_end(&x);
    ebb_pgraph_destroy(graph);
    end_env(env);
}

/* ---- worth ------------------------------------------------------------------------------------------ */

Test(chain, of_blocks_is_solved_in_less_time_than_by_any_other_seed_where_memory_is_short) {
    static const int64_t percents[] = {50, 35, 25};
    ebb_env *env = start_env();
    ebb_pgraph *graph = skips(env, 24);
    ebb_score base = base_score(env, graph, 64);
    for (size_t k = 0; k < EBB_COUNT(percents); k++) {
        ebb_select_request request =
            chain_request(graph, EBB_SEEDS_CHAIN, base.peak_bytes * percents[k] / 100);
        ebb_selection *chain = select_ok(env, &request);
        for (ebb_seeds kind = EBB_SEEDS_ALL + 1; kind < EBB_N_SEEDS; kind++) {
            if (kind == EBB_SEEDS_CHAIN) continue;
            ebb_selection *other = NULL;
            request.only_seeds = kind;
            if (ebb_select(env, &request, &other) == EBB_OK)
                cr_expect_lt(chain->time_ns, other->time_ns, "%lld %%: seeds %d", (long long)percents[k],
                             (int)kind);
            ebb_selection_destroy(other);
        }
        ebb_selection_destroy(chain);
    }
    ebb_pgraph_destroy(graph);
    end_env(env);
}

Test(chain, of_blocks_takes_less_than_by_any_other_seed_where_the_least_is_asked_for) {
    ebb_env *env = start_env();
    ebb_pgraph *graph = skips(env, 24);
    ebb_select_request request = chain_request(graph, EBB_SEEDS_CHAIN, 0);
    request.method = EBB_METHOD_LEAST;
    ebb_selection *chain = select_ok(env, &request);
    want_true_selection(env, graph, chain, 64);
    for (ebb_seeds kind = EBB_SEEDS_ALL + 1; kind < EBB_N_SEEDS; kind++) {
        if (kind == EBB_SEEDS_CHAIN) continue;
        request.only_seeds = kind;
        ebb_selection *other = select_ok(env, &request);
        cr_expect_lt(chain->peak_bytes, other->peak_bytes, "seeds %d: %lld, %lld", (int)kind,
                     (long long)chain->peak_bytes, (long long)other->peak_bytes);
        ebb_selection_destroy(other);
    }
    ebb_selection_destroy(chain);
    ebb_pgraph_destroy(graph);
    end_env(env);
}
