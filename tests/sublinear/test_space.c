/* The genes of a graph, what each state does, and the seeds. */
#include "support.h"

/* Base order:  0: a(x)  1: b(a)  2: c(b)  3: v = view of a  4: d(c, v)  5: e(a, d). Readers of a: 1, 3, 5.
 */
static ebb_pgraph *sample(ebb_env *env) {
    sketch s;
    sketch_begin(&s, env);
    ebb_id x = sketch_value(&s, EBB_ROLE_INPUT, 64), a = sketch_op(&s, IDS(x), 640, 10);
    ebb_id b = sketch_op(&s, IDS(a), 64, 20), c = sketch_op(&s, IDS(b), 64, 30);
    ebb_id v = sketch_op(&s, IDS(a), 64, 0);
    sketch_view(&s, 0, 128);
    ebb_id d = sketch_op(&s, IDS(c, v), 64, 40);
    ebb_id e = sketch_op(&s, IDS(d, b), 64, 5);
    (void)sketch_op(&s, IDS(a, e), 64, 50);
    return sketch_end(&s);
}

/* Who reads a view reads its base. */
Test(space, a_droppable_value_has_a_gene_for_each_gap) {
    static const struct {
        uint32_t begin, end, n_states;
    } gaps[] = {{0, 1, 1}, {1, 3, 3}, {3, 4, 1}, {4, 6, 3}, {6, 7, 1}};
    ebb_env *env = start_env();
    ebb_pgraph *graph = sample(env);
    bench b = bench_begin(env, graph, 64);
    const ebb_space_value *a = &b.space->values[1], *view = &b.space->values[4];
    cr_assert_eq(a->n_gaps, EBB_COUNT(gaps));
    for (uint32_t k = 0; k < a->n_gaps; k++) {
        const ebb_gene *gene = &b.space->genes[a->first_gap + k];
        cr_assert(gene->kind == EBB_GENE_GAP && gene->subject == 1 && gene->bytes == 640);
        cr_assert(gene->begin == gaps[k].begin && gene->end == gaps[k].end &&
                      gene->n_states == gaps[k].n_states,
                  "gap %u: [%u, %u) with %u states", k, gene->begin, gene->end, gene->n_states);
    }
    cr_assert_eq(b.space->values[0].first_gap, EBB_NONE, "an input cannot be made again");
    cr_assert(view->first_gap == EBB_NONE && view->follows && view->leader == 1);
    cr_assert_eq(b.space->values[7].first_gap, EBB_NONE, "nobody reads it");
    cr_assert_eq(b.space->base_time_ns, 155);
    bench_end(&b);
    ebb_pgraph_destroy(graph);
    end_env(env);
}

/* The steps of a candidate with the gaps of a before the view and before the last op in the states given,
 * and b's before e. */
static void want_steps(const bench *b, uint8_t first, uint8_t last, uint8_t of_b, uint32_t n,
                       const ebb_id *ops) {
    uint8_t genes[64] = {0};
    cr_assert_lt(b->space->n_genes, EBB_COUNT(genes));
    genes[b->space->values[1].first_gap + 1] = first;
    genes[b->space->values[1].first_gap + 3] = last;
    genes[b->space->values[2].first_gap + 1] = of_b;
    ebb_score score = ebb_score_genes(b->scorer, genes, 0);
    cr_assert(score.valid);
    cr_assert_eq(score.n_steps, n, "states %u, %u, %u: %u steps", first, last, of_b, score.n_steps);
    cr_assert_arr_eq(ebb_scorer_steps(b->scorer), ops, n * sizeof *ops);
}
#define STEPS(...)                                                 \
    sizeof((ebb_id[]){__VA_ARGS__}) / sizeof(ebb_id), (ebb_id[]) { \
        __VA_ARGS__                                                \
    }

/* A view is dropped with its base; making b again before e needs a. */
Test(space, keep_hold_and_release_do_what_their_names_say) {
    ebb_env *env = start_env();
    ebb_pgraph *graph = sample(env);
    bench b = bench_begin(env, graph, 64);
    want_steps(&b, EBB_KEEP, EBB_KEEP, EBB_KEEP, STEPS(0, 1, 2, 3, 4, 5, 6));
    want_steps(&b, EBB_HOLD, EBB_KEEP, EBB_KEEP, STEPS(0, 1, 2, 0, 3, 4, 5, 6));
    want_steps(&b, EBB_RELEASE, EBB_KEEP, EBB_KEEP, STEPS(0, 1, 2, 0, 3, 4, 5, 6));
    want_steps(&b, EBB_KEEP, EBB_HOLD, EBB_KEEP, STEPS(0, 1, 2, 3, 4, 5, 0, 6));
    want_steps(&b, EBB_KEEP, EBB_KEEP, EBB_HOLD, STEPS(0, 1, 2, 3, 4, 1, 5, 6));
    want_steps(&b, EBB_KEEP, EBB_HOLD, EBB_HOLD, STEPS(0, 1, 2, 3, 4, 0, 1, 5, 6));
    want_steps(&b, EBB_KEEP, EBB_RELEASE, EBB_HOLD, STEPS(0, 1, 2, 3, 4, 0, 1, 5, 0, 6));
    want_steps(&b, EBB_RELEASE, EBB_RELEASE, EBB_RELEASE, STEPS(0, 1, 2, 0, 3, 4, 0, 1, 5, 0, 6));
    bench_end(&b);
    ebb_pgraph_destroy(graph);
    end_env(env);
}

/* The bound that ends a search with values to drop: of every candidate that heeds the pins, reached by many
 * that do nothing else. */
Test(space, a_value_pinned_to_be_dropped_costs_every_candidate_a_run) {
    enum { CANDIDATES = 60 };
    uint32_t n_dropped = 0, n_reached = 0, n_scored = 0;
    ebb_env *env = start_env();
    for (uint64_t seed = 0; seed < 120; seed++) {
        ebb_pgraph *graph = draw_pgraph(env, seed, NULL);
        bench b = bench_begin(env, graph, 64);
        uint8_t *pins = ebb_calloc(env, graph->n_values + 1, 1),
                *genes = ebb_calloc(env, b.space->n_genes + 1, 1);
        ebb_rng rng;
        int64_t least_ns;
        ebb_rng_init(&rng, seed, 7);
        for (uint32_t v = 0; v < graph->n_values; v++)
            if (ebb_rng_below(&rng, 4) == 0) pins[v] = EBB_PIN_DROP;
        cr_assert_eq(ebb_space_pinned_ns(b.space), 0);
        ebb_space_pin(b.space, pins);
        want_status(env, ebb_pgraph_least_time_ns(env, graph, &least_ns), EBB_OK);
        int64_t pinned_ns = ebb_space_pinned_ns(b.space);
        n_dropped += pinned_ns > 0;
        for (int i = 0; i < CANDIDATES; i++) {
            memcpy(genes, b.space->base_genes, b.space->n_genes);
            if (i > 0) draw_genes(b.space, &rng, (uint32_t)i, genes);
            ebb_space_heed_pins(b.space, genes);
            ebb_score score = ebb_score_genes(b.scorer, genes, 0);
            if (!score.valid) continue;
            cr_assert_geq(score.time_ns, least_ns + pinned_ns, "seed %llu, candidate %d",
                          (unsigned long long)seed, i);
            n_scored++;
            n_reached += pinned_ns > 0 && score.time_ns == least_ns + pinned_ns;
        }
        ebb_cfree(env, genes, b.space->n_genes + 1, 1);
        ebb_cfree(env, pins, graph->n_values + 1, 1);
        bench_end(&b);
        ebb_pgraph_destroy(graph);
    }
    cr_assert(n_dropped > 20 && n_reached > 20 && n_scored > 2000, "%u with a price, %u at it, %u in all",
              n_dropped, n_reached, n_scored);
    end_env(env);
}

Test(space, what_must_be_there_in_the_end_is_not_lazy) {
    ebb_env *env = start_env();
    sketch s;
    sketch_begin(&s, env);
    ebb_id x = sketch_value(&s, EBB_ROLE_INPUT, 64), w = sketch_value(&s, EBB_ROLE_PARAM, 64), out;
    (void)sketch_op(&s, IDS(x), 64, 1);         /* 0: nobody reads it */
    out = sketch_op(&s, IDS(x), 64, 1);         /* 1: an output */
    (void)sketch_update(&s, IDS(x), w);         /* 2 */
    sketch_sink(&s, IDS(x), 1)->ordered = true; /* 3 */
    (void)sketch_op(&s, IDS(x), 64, 1);         /* 4: op 5 must come after it */
    ebb_pop *last = sketch_sink(&s, IDS(x), 1);
    last->after = ebb_arena_copy(&s.draft.arena, &(ebb_id){4}, 1, sizeof(ebb_id));
    last->n_after = 1;
    for (uint32_t i = 0; i < s.draft.ops.n; i++) s.draft.ops.at[i].optional = true;
    s.draft.values.at[out].role = EBB_ROLE_OUTPUT;
    ebb_pgraph *graph = sketch_end(&s);
    bench b = bench_begin(env, graph, 64);
    for (uint32_t i = 0; i < graph->n_ops; i++)
        cr_assert_eq(b.space->ops[i].lazy_gene != EBB_NONE, i == 0 || i == 5, "op %u", i);
    ebb_score score = ebb_score_genes(b.scorer, b.space->base_genes, 0);
    cr_assert(score.valid && score.n_steps == 4, "%u steps", score.n_steps);
    bench_end(&b);
    ebb_pgraph_destroy(graph);
    end_env(env);
}

/* The result of op k in the first gap: dropped at once. */
static void drop_at_once(const bench *b, ebb_id op, uint8_t *genes) {
    const ebb_space_op *o = &b->space->ops[op];
    genes[b->space->values[b->space->outs[o->first_out]].first_gap] = EBB_RELEASE;
}

Test(space, an_op_whose_result_is_dropped_at_once_waits_for_a_reader) {
    ebb_env *env = start_env();
    sketch s;
    sketch_begin(&s, env);
    ebb_id x = sketch_value(&s, EBB_ROLE_INPUT, 64);
    ebb_id a = sketch_op(&s, IDS(x), 64, 1);   /* 0: the first op does not wait */
    ebb_id b = sketch_op(&s, IDS(x), 640, 10); /* 1: waits for 4 */
    ebb_id c = sketch_op(&s, IDS(b), 640, 20); /* 2: waits too */
    ebb_id d = sketch_op(&s, IDS(x), 64, 1);   /* 3: only an optional op reads it */
    (void)sketch_sink(&s, IDS(a), 1);          /* 4 */
    ebb_id e = sketch_op(&s, IDS(d), 64, 1);   /* 5 */
    sketch_last(&s)->optional = true;
    (void)sketch_op(&s, IDS(x), 64, 1); /* 6: op 8 must come after it */
    ebb_id f = s.draft.ops.at[6].out[0];
    (void)sketch_sink(&s, IDS(x), 1);                 /* 7 */
    ebb_pop *last = sketch_sink(&s, IDS(c, e, f), 1); /* 8 */
    last->after = ebb_arena_copy(&s.draft.arena, &(ebb_id){6}, 1, sizeof(ebb_id));
    last->n_after = 1;
    ebb_pgraph *graph = sketch_end(&s);
    bench t = bench_begin(env, graph, 64);
    for (uint32_t i = 0; i < graph->n_ops; i++)
        cr_assert_eq(t.space->ops[i].may_wait, i == 1 || i == 2 || i == 5, "op %u", i);
    uint8_t *genes = ebb_calloc(env, t.space->n_genes, 1);
    cr_assert_not_null(genes);
    memcpy(genes, t.space->base_genes, t.space->n_genes);
    drop_at_once(&t, 2, genes);
    ebb_score score = ebb_score_genes(t.scorer, genes, 0);
    static const ebb_id steps[] = {0, 1, 3, 4, 5, 6, 7, 2, 8};
    cr_assert(score.valid && score.n_steps == EBB_COUNT(steps) && score.time_ns == t.space->base_time_ns);
    for (uint32_t i = 0; i < score.n_steps; i++)
        cr_expect_eq(ebb_scorer_steps(t.scorer)[i], steps[i], "%u", i);
    ebb_cfree(env, genes, t.space->n_genes, 1);
    bench_end(&t);
    ebb_pgraph_destroy(graph);
    end_env(env);
}

/* ---- seeds ---- */

Test(space, seeds_have_ascending_cuts_and_known_states) {
    ebb_env *env = start_env();
    for (uint64_t seed = 0; seed < 60; seed++) {
        random_pgraph_options options = {.n_ops = 1 + (uint32_t)(seed % 45)};
        ebb_pgraph *graph = draw_pgraph(env, seed, &options);
        bench b = bench_begin(env, graph, 64);
        uint32_t n_room = graph->n_ops + b.space->n_genes + 1;
        uint32_t *list = ebb_calloc(env, n_room, sizeof *list);
        uint8_t *genes = ebb_calloc(env, b.space->n_genes, 1);
        for (int64_t k = 0; k < 40; k++) {
            uint32_t n = k < 30 ? ebb_seed_threshold_cuts(b.space, 64 * k * k, list)
                                : ebb_seed_even_cuts(b.space, (uint32_t)(k - 29) * 5, list);
            cr_assert_leq(n, graph->n_ops);
            for (uint32_t c = 0; c < n; c++)
                cr_assert(list[c] < graph->n_ops && (c == 0 || list[c] > list[c - 1]));
            ebb_seed_cuts(b.space, list, n, EBB_RELEASE, genes);
            for (uint32_t g = 0; g < b.space->n_genes; g++)
                cr_assert(genes[g] == b.space->base_genes[g] ||
                          (genes[g] == EBB_RELEASE && b.space->genes[g].n_states > EBB_RELEASE));
        }
        uint32_t n = ebb_seed_greedy_order(b.space, list);
        cr_assert_leq(n, b.space->n_genes);
        for (uint32_t k = 0; k < n; k++) cr_assert_eq(b.space->genes[list[k]].kind, EBB_GENE_GAP);
        ebb_cfree(env, genes, b.space->n_genes, 1);
        ebb_cfree(env, list, n_room, sizeof *list);
        bench_end(&b);
        ebb_pgraph_destroy(graph);
    }
    end_env(env);
}

Test(space, crossover_takes_a_range_of_ops_from_the_other_parent) {
    ebb_env *env = start_env();
    ebb_pgraph *graph = draw_pgraph(env, 9, &(random_pgraph_options){.n_ops = 40});
    bench b = bench_begin(env, graph, 64);
    uint32_t n = b.space->n_genes, n_taken = 0;
    uint8_t *genes = ebb_calloc(env, 3 * n, 1);
    memset(genes + n, 1, n);
    ebb_crossover(b.space, genes, genes + n, 10, 20, genes + 2 * n);
    for (uint32_t k = 0; k < n; k++) {
        const ebb_gene *gene = &b.space->genes[k];
        uint32_t at = gene->kind == EBB_GENE_GAP ? b.space->values[gene->subject].producer : gene->subject;
        cr_assert_eq(genes[2 * n + k], at >= 10 && at < 20);
        n_taken += genes[2 * n + k];
    }
    cr_assert(n_taken > 0 && n_taken < n);
    ebb_cfree(env, genes, 3 * n, 1);
    bench_end(&b);
    ebb_pgraph_destroy(graph);
    end_env(env);
}

/* 2^32 inputs are announced when each of 2^16 ways is thought to have its own 2^16; they share the op's. */
Test(space, ways_without_lists_of_their_own_share_the_ops) {
    enum { N = 1 << 16 };
    ebb_env *env = start_env();
    sketch s;
    sketch_begin(&s, env);
    ebb_id x = sketch_value(&s, EBB_ROLE_INPUT, 64);
    ebb_id *in = EBB_NEW(&s.draft.arena, ebb_id, N);
    ebb_alternative *ways = EBB_NEW(&s.draft.arena, ebb_alternative, N);
    cr_assert(in != NULL && ways != NULL);
    for (uint32_t k = 0; k < N; k++) {
        in[k] = x;
        ways[k] = (ebb_alternative){.time_ns = 2};
    }
    (void)sketch_op(&s, (id_list){in, N}, 64, 1);
    ebb_pop *op = sketch_last(&s);
    op->alternatives = ways;
    op->n_alternatives = N;
    ebb_pgraph *graph = sketch_end(&s);
    bench b = bench_begin(env, graph, 64);
    cr_assert_eq(b.space->ops[0].n_ways, N + 1);
    for (uint32_t w = 0; w <= N; w++)
        cr_assert(b.space->ways[w].n_in == N && b.space->ways[w].first_in == b.space->ways[0].first_in);
    cr_assert_eq(b.space->ins[N - 1], x);
    bench_end(&b);
    ebb_pgraph_destroy(graph);
    end_env(env);
}
