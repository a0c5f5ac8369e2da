/* Other orders of the ops: which are found, that they are orders, and what the search makes of them. */
#include "support.h"

#include "sublinear/order/order.h"
#include "training.h"

static ebb_order_facts facts_of(ebb_arena *arena, const ebb_pgraph *graph) {
    ebb_order_facts facts;
    want_status(arena->env, ebb_order_facts_find(arena, graph, 64, &facts), EBB_OK);
    return facts;
}

static const ebb_id *order_of(ebb_arena *arena, const ebb_pgraph *graph, int64_t n_moves,
                              int64_t target_bytes, uint32_t n_workers) {
    ebb_order_facts facts = facts_of(arena, graph);
    ebb_order_request request = {
        .n_moves = n_moves, .target_bytes = target_bytes, .seed = 3, .n_workers = n_workers};
    const ebb_id *order;
    want_status(arena->env, ebb_order_find(arena, &facts, &request, &order), EBB_OK);
    return order;
}

static int64_t base_peak(ebb_env *env, const ebb_pgraph *graph) {
    bench b = bench_begin(env, graph, 64);
    int64_t peak = ebb_score_genes(b.scorer, b.space->base_genes, 0).peak_bytes;
    bench_end(&b);
    return peak;
}

static int64_t reordered_peak(ebb_env *env, const ebb_pgraph *graph, const ebb_id *order) {
    ebb_pgraph *other;
    want_status(env, ebb_pgraph_reorder(env, graph, order, &other), EBB_OK);
    int64_t peak = base_peak(env, other);
    ebb_pgraph_destroy(other);
    return peak;
}

/* All of n wide values first, then what is made of each: n wide ones live at once. One after the other, a
 * single wide one and the small ones. */
static ebb_pgraph *wide_graph(ebb_env *env, uint32_t n) {
    sketch s;
    sketch_begin(&s, env);
    ebb_id wide[33];
    for (uint32_t k = 0; k < n; k++) {
        wide[k] = sketch_op(&s, NO_IDS, 64 * 100, 10);
        sketch_last(&s)->recomputable = false;
    }
    for (uint32_t k = 0; k < n; k++) {
        ebb_id narrow = sketch_op(&s, IDS(wide[k]), 64, 10);
        s.draft.values.at[narrow].role = EBB_ROLE_OUTPUT;
    }
    return sketch_end(&s);
}

Test(order, wide_values_are_made_one_after_the_other) {
    static const uint32_t widths[] = {2, 3, 7, 33};
    ebb_env *env = start_env();
    for (uint32_t k = 0; k < EBB_COUNT(widths); k++) {
        uint32_t n = widths[k];
        ebb_pgraph *graph = wide_graph(env, n);
        ebb_arena arena;
        ebb_arena_init(&arena, env);
        const ebb_id *order = order_of(&arena, graph, 200000, -1, 1);
        cr_assert_not_null(order, "%u", n);
        int64_t own = base_peak(env, graph), found = reordered_peak(env, graph, order);
        cr_assert_eq(own, 64 * (100 * n + 1));
        cr_assert_eq(found, 64 * (100 + n), "%u: %lld", n, (long long)found);
        ebb_arena_deinit(&arena);
        ebb_pgraph_destroy(graph);
    }
    end_env(env);
}

/* No recomputation is needed, nor a search: the steps are each op once, in an order that fits. */
Test(order, a_budget_that_another_order_meets_costs_no_time) {
    ebb_env *env = start_env();
    ebb_pgraph *graph = wide_graph(env, 9);
    ebb_select_request request = small_request(graph, EBB_METHOD_BUDGET, 64 * (100 + 9));
    ebb_selection *found = select_ok(env, &request);
    cr_assert_eq(found->time_ns, ebb_pgraph_time_ns(graph));
    cr_assert_eq(found->n_steps, graph->n_ops);
    want_true_selection(env, graph, found, 64);
    ebb_selection_destroy(found);
    request.without = EBB_WITHOUT_ORDER;
    cr_assert_eq(ebb_select(env, &request, &found), EBB_OVER_BUDGET);
    ebb_pgraph_destroy(graph);
    end_env(env);
}

/* A step of n layers, each of whose activations is read back, and the gradient of a large weight in the
 * middle of it, with its update right after. */
static ebb_pgraph *late_graph(ebb_env *env, uint32_t n, ebb_id *gradient, ebb_id *update) {
    sketch s;
    sketch_begin(&s, env);
    ebb_id weight = sketch_value(&s, EBB_ROLE_PARAM, 64 * 100), acts[20],
           x = sketch_value(&s, EBB_ROLE_INPUT, 64);
    for (uint32_t k = 0; k < n; k++) acts[k] = x = sketch_op(&s, IDS(x), 64 * 20, 10);
    ebb_id grad = sketch_op(&s, IDS(x), 64, 10), large = sketch_op(&s, IDS(grad), 64 * 100, 10);
    *gradient = (ebb_id)s.draft.ops.n - 1;
    (void)sketch_update(&s, IDS(large), weight);
    *update = (ebb_id)s.draft.ops.n - 1;
    for (uint32_t k = n; k-- > 0;) grad = sketch_op(&s, IDS(grad, acts[k]), 64, 10);
    s.draft.values.at[grad].role = EBB_ROLE_OUTPUT;
    return sketch_end(&s);
}

/* Either alone would only make the gradient live longer. All others stay in their own order. */
Test(order, a_gradient_and_its_update_go_late_together) {
    ebb_env *env = start_env();
    ebb_id gradient, update;
    ebb_pgraph *graph = late_graph(env, 20, &gradient, &update);
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    const ebb_id *order = order_of(&arena, graph, 100, -1, 1);
    cr_assert_not_null(order);
    int64_t own = base_peak(env, graph), found = reordered_peak(env, graph, order);
    cr_assert_eq(own, 64 * (20 * 20 + 1 + 100), "%lld", (long long)own);
    cr_assert_leq(found, 64 * (20 * 20 + 2), "%lld", (long long)found);
    ebb_id next = 0;
    for (uint32_t i = 0; i < graph->n_ops; i++) {
        if (order[i] == gradient || order[i] == update) continue;
        cr_assert_geq(order[i], next);
        next = order[i];
    }
    ebb_arena_deinit(&arena);
    ebb_pgraph_destroy(graph);
    end_env(env);
}

/* Ordered ops in sequence, and phases apart where they were: what the seal does not see. */
static void check_sequence(const ebb_pgraph *graph, const ebb_id *order) {
    bool apart = true, still = true;
    ebb_id ordered = EBB_NONE;
    for (uint32_t i = 0; i < graph->n_ops; i++) {
        const ebb_pop *op = &graph->ops[order[i]];
        apart = apart && (i == 0 || graph->ops[i].phase >= graph->ops[i - 1].phase);
        still = still && (i == 0 || op->phase >= graph->ops[order[i - 1]].phase);
        if (!op->ordered) continue;
        cr_assert(ordered == EBB_NONE || ordered < order[i]);
        ordered = order[i];
    }
    cr_assert(still || !apart);
}

Test(order, what_is_found_is_an_order_with_less_live_at_once) {
    ebb_env *env = start_env();
    uint32_t n_found = 0, n_less = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        ebb_pgraph *graph = draw_pgraph(env, seed, NULL);
        ebb_arena arena;
        ebb_arena_init(&arena, env);
        const ebb_id *order = order_of(&arena, graph, 3000, -1, 1);
        if (order) {
            check_sequence(graph, order);
            n_found++; /* the seal refuses what is no order */
            n_less += reordered_peak(env, graph, order) < base_peak(env, graph);
        }
        ebb_arena_deinit(&arena);
        ebb_pgraph_destroy(graph);
    }
    cr_assert_gt(n_found, 100, "%u", n_found);
    cr_assert_gt(n_less, n_found * 9 / 10, "%u of %u", n_less, n_found); /* in place only nearly */
    end_env(env);
}

/* A row has one order; a graph whose peak is in one op gains nothing by any. */
Test(order, where_there_is_nothing_to_gain_there_is_no_order) {
    ebb_env *env = start_env();
    sketch s;
    sketch_begin(&s, env);
    ebb_id x = sketch_value(&s, EBB_ROLE_INPUT, 64);
    for (uint32_t k = 0; k < 20; k++) x = sketch_op(&s, IDS(x), 64 * 3, 10);
    ebb_pgraph *row = sketch_end(&s);
    sketch_begin(&s, env);
    ebb_pgraph *empty = sketch_end(&s);
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    cr_assert_null(order_of(&arena, row, 2000, -1, 1));
    cr_assert_null(order_of(&arena, empty, 2000, -1, 1));
    ebb_arena_deinit(&arena);
    ebb_pgraph_destroy(row);
    ebb_pgraph_destroy(empty);
    end_env(env);
}

Test(order, is_the_same_for_any_number_of_workers_and_stops_at_the_target) {
    ebb_env *env = start_env();
    random_pgraph_options options = {.n_ops = 90};
    ebb_pgraph *graph = draw_pgraph(env, 44, &options);
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    const ebb_id *one = order_of(&arena, graph, 20000, -1, 1);
    cr_assert_not_null(one);
    for (uint32_t n = 2; n <= 8; n += 3)
        cr_assert_arr_eq(order_of(&arena, graph, 20000, -1, n), one, graph->n_ops * sizeof *one);
    int64_t own = base_peak(env, graph), least = reordered_peak(env, graph, one);
    int64_t target = own - (own - least) / 2;
    const ebb_id *enough = order_of(&arena, graph, 20000, target, 1);
    cr_assert_not_null(enough);
    int64_t peak = reordered_peak(env, graph, enough);
    cr_assert(peak <= target && peak > least, "%lld: %lld, %lld", (long long)target, (long long)peak,
              (long long)least);
    ebb_arena_deinit(&arena);
    ebb_pgraph_destroy(graph);
    end_env(env);
}

/* Genes name the order that they belong to. Handed back they give what they gave; spoilt, they are left
 * aside. */
/* Orders and genes together, after a search in one order: never worse, and better somewhere. */
Test(order, and_recomputation_are_searched_together) {
    uint32_t n_better = 0, n_joint = 0;
    ebb_env *env = start_env();
    for (uint32_t k = 0; k < 48; k++) {
        ebb_pgraph *graph = layers(env, 12 + k);
        ebb_select_request request =
            small_request(graph, EBB_METHOD_BUDGET, base_peak(env, graph) * (40 + k) / 100);
        ebb_select_log log = {0};
        request.effort = 3000;
        request.log = &log;
        ebb_selection *found;
        if (ebb_select(env, &request, &found) != EBB_OK) found = NULL;
        const ebb_log_search *first = &log.searches.at[0];
        int64_t before_ns = first->n_rounds > 0 ? log.rounds.at[first->n_rounds - 1].time_ns : INT64_MAX;
        bool joint = log.searches.n > 1 && log.searches.at[1].how == EBB_HOW_ORDERS &&
                     first->limit_bytes >= 0 && first->n_rounds > 0 &&
                     log.rounds.at[first->n_rounds - 1].fits;
        if (found) want_true_selection(env, graph, found, 64);
        if (found && joint) {
            cr_assert_leq(found->time_ns, before_ns, "%u", k);
            n_joint++;
            n_better += found->time_ns < before_ns;
        }
        ebb_selection_destroy(found);
        ebb_select_log_deinit(env, &log);
        ebb_pgraph_destroy(graph);
    }
    cr_assert(n_joint > 10 && n_better > 2, "%u of %u", n_better, n_joint);
    end_env(env);
}

Test(order, warm_genes_bring_their_order_and_strange_ones_do_no_harm) {
    ebb_env *env = start_env();
    uint32_t n_other = 0;
    for (uint64_t seed = 500; seed < 520; seed++) {
        random_pgraph_options options = {.n_ops = 50, .no_choices = true};
        ebb_pgraph *graph = draw_pgraph(env, seed, &options);
        ebb_select_request request = small_request(graph, EBB_METHOD_LEAST, 0);
        ebb_selection *least = select_ok(env, &request);
        n_other += least->genes[0];
        request = small_request(graph, EBB_METHOD_BUDGET, least->peak_bytes);
        request.effort = 130;
        uint8_t *genes = ebb_calloc(env, least->n_genes, 1);
        memcpy(genes, least->genes, least->n_genes);
        request.warm_genes = genes;
        request.n_warm_genes = least->n_genes;
        ebb_selection *warm = select_ok(env, &request);
        cr_assert(warm->peak_bytes <= least->peak_bytes && warm->time_ns <= least->time_ns);
        ebb_selection_destroy(warm);
        request.peak_budget_bytes = INT64_MAX / 4;
        for (uint32_t k = 0; k < least->n_genes; k += 7) {
            genes[k] = (uint8_t)~genes[k];
            warm = select_ok(env, &request);
            want_true_selection(env, graph, warm, 64);
            ebb_selection_destroy(warm);
        }
        ebb_cfree(env, genes, least->n_genes, 1);
        ebb_selection_destroy(least);
        ebb_pgraph_destroy(graph);
    }
    cr_assert_gt(n_other, 5, "%u", n_other);
    end_env(env);
}
