/* When a search ends: at once where nothing can be faster, and near the bound that it is told. */
#include "support.h"
#include "training.h"

/* An op that can be done more slowly in less scratch: where the listed way fits, no search is needed; where
 * it does not, the slower way is found. */
Test(select, ends_at_once_when_nothing_can_be_faster) {
    ebb_env *env = start_env();
    sketch s;
    sketch_begin(&s, env);
    ebb_id x = sketch_value(&s, EBB_ROLE_INPUT, 64);
    for (uint32_t k = 0; k < 30; k++) x = sketch_op(&s, IDS(x), 64, 10);
    static const ebb_alternative slower = {.name = "slower", .time_ns = 15, .scratch_bytes = 0};
    ebb_pop *op = sketch_last(&s);
    op->scratch_bytes = 64 * 9;
    op->alternatives = &slower;
    op->n_alternatives = 1;
    ebb_pgraph *graph = sketch_end(&s);
    int64_t least_ns;
    want_status(env, ebb_pgraph_least_time_ns(env, graph, &least_ns), EBB_OK);
    cr_assert_eq(least_ns, 300);
    ebb_select_request request = small_request(graph, EBB_METHOD_BUDGET, 64 * 11);
    request.effort = 100000;
    ebb_selection *found = select_ok(env, &request);
    cr_assert_eq(found->time_ns, 300);
    cr_assert_lt(found->n_candidates, 1000, "%lld", (long long)found->n_candidates);
    ebb_selection_destroy(found);
    request.peak_budget_bytes = 64 * 10;
    found = select_ok(env, &request);
    cr_assert_eq(found->time_ns, 305);
    want_true_selection(env, graph, found, 64);
    ebb_selection_destroy(found);
    ebb_pgraph_destroy(graph);
    end_env(env);
}

/* A faster way that reads what an optional op makes is no faster than the two together; shared by two
 * readers, half of it counts for each. */
Test(select, the_least_time_counts_what_a_way_cannot_do_without) {
    for (uint32_t n_readers = 1; n_readers <= 2; n_readers++) {
        ebb_env *env = start_env();
        sketch s;
        sketch_begin(&s, env);
        ebb_id x = sketch_op(&s, NO_IDS, 64, 1), bits = sketch_op(&s, IDS(x), 2, 4);
        sketch_last(&s)->optional = true;
        ebb_alternative by_bits = {
            .name = "bits", .in = &bits, .n_in = 1, .has_inputs = true, .time_ns = 7};
        for (uint32_t k = 0; k < n_readers; k++) {
            sketch_op(&s, IDS(x), 64, 10);
            sketch_last(&s)->alternatives = &by_bits;
            sketch_last(&s)->n_alternatives = 1;
        }
        ebb_pgraph *graph = sketch_end(&s);
        int64_t least_ns;
        want_status(env, ebb_pgraph_least_time_ns(env, graph, &least_ns), EBB_OK);
        cr_assert_eq(least_ns, n_readers == 1 ? 1 + 10 : 1 + 2 * (7 + 2), "%lld", (long long)least_ns);
        ebb_pgraph_destroy(graph);
        end_env(env);
    }
}

/* The answer and the candidates that it took, told that nothing takes less than bound_ns. */
static int64_t bounded_time(ebb_env *env, const ebb_pgraph *graph, int64_t budget_bytes, int64_t bound_ns,
                            int64_t *n_candidates) {
    ebb_select_request request = small_request(graph, EBB_METHOD_BUDGET, budget_bytes);
    request.effort = 40000;
    request.bound_time_ns = bound_ns;
    ebb_selection *found = NULL;
    ebb_status status = ebb_select(env, &request, &found);
    if (status == EBB_OVER_BUDGET) return -1;
    want_status(env, status, EBB_OK);
    cr_assert_leq(found->peak_bytes, budget_bytes);
    want_true_selection(env, graph, found, 64);
    int64_t time_ns = found->time_ns;
    *n_candidates = found->n_candidates;
    ebb_selection_destroy(found);
    return time_ns;
}

static int64_t proved_time(ebb_env *env, const ebb_pgraph *graph, int64_t budget_bytes) {
    ebb_arena arena;
    ebb_bound bound;
    ebb_arena_init(&arena, env);
    want_status(env, ebb_certify(&arena, graph, budget_bytes, 64, &bound), EBB_OK);
    ebb_arena_deinit(&arena);
    return bound.time_ns;
}

/* A search that knows a bound ends near it, sooner and with nearly the same answer; one that cannot come
 * near goes on as before. */
Test(select, ends_near_the_bound_that_it_is_told) {
    ebb_env *env = start_env();
    ebb_pgraph *graph = layers(env, 40);
    ebb_score base = base_score(env, graph, 64);
    uint32_t n_sooner = 0, n_as_before = 0;
    for (int64_t percent = 95; percent >= 35; percent -= 20) {
        int64_t budget = base.peak_bytes * percent / 100, n, n_told, n_reached;
        int64_t time_ns = bounded_time(env, graph, budget, 0, &n);
        if (time_ns < 0) continue;
        int64_t bound_ns = proved_time(env, graph, budget);
        int64_t told_ns = bounded_time(env, graph, budget, bound_ns, &n_told);
        cr_assert_geq(told_ns, bound_ns);
        cr_assert(n_told <= n && told_ns - time_ns <= base.time_ns / 2000, "%lld %%: %lld, %lld",
                  (long long)percent, (long long)time_ns, (long long)told_ns);
        n_as_before += n_told == n && told_ns == time_ns;
        /* Its own answer, as if that were proved. */
        cr_assert_leq(bounded_time(env, graph, budget, time_ns, &n_reached), time_ns + base.time_ns / 2000);
        cr_assert_leq(n_reached, n);
        n_sooner += n_reached < n;
    }
    cr_assert(n_sooner > 0 && n_as_before > 0, "%u, %u", n_sooner, n_as_before);
    ebb_pgraph_destroy(graph);
    end_env(env);
}
