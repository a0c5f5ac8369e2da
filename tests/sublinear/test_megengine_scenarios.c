/* MegEngine's mode: the scenarios of its own tests of sublinear memory as planning graphs. */
#include "support.h"

#define N      1024 /* elements */
#define FLOATS ((int64_t)sizeof(float))

/* 100 x (3x3 convolution, relu), 224 x 224 at batch 32, of odd widths; every weight's gradient is asked
 * for. A relu may overwrite the convolution's result, its gradient the other gradient. */
static ebb_pgraph *long_chain(ebb_env *env) {
    static const int64_t widths[] = {1, 1, 1, 12, 1, 1, 1, 1, 15, 1};
    const int64_t plane = INT64_C(32) * 224 * 224;
    enum { N_LAYERS = 100 };
    sketch s;
    sketch_begin(&s, env);
    ebb_id relu[N_LAYERS + 1], weight[N_LAYERS], gradient;
    int64_t width[N_LAYERS + 1] = {3};
    relu[0] = sketch_value(&s, EBB_ROLE_INPUT, 3 * plane * FLOATS);
    for (uint32_t k = 0; k < N_LAYERS; k++) {
        int64_t in = width[k], out = width[k + 1] = widths[k % EBB_COUNT(widths)];
        weight[k] = sketch_value(&s, EBB_ROLE_PARAM, out * in * 9 * FLOATS);
        ebb_id conv =
            sketch_op(&s, IDS(relu[k], weight[k]), out * plane * FLOATS, in * out * 9 * plane / 1000);
        relu[k + 1] = sketch_op(&s, IDS(conv), out * plane * FLOATS, out * plane / 100);
        sketch_in_place(&s, 0, 0);
    }
    gradient = sketch_op(&s, IDS(relu[N_LAYERS]), width[N_LAYERS] * plane * FLOATS, plane / 100);
    sketch_last(&s)->phase = EBB_BACKWARD;
    for (uint32_t k = N_LAYERS; k-- > 0;) {
        int64_t in = width[k], out = width[k + 1], time_ns = in * out * 9 * plane / 1000;
        gradient = sketch_op(&s, IDS(gradient, relu[k + 1]), out * plane * FLOATS, out * plane / 100);
        sketch_last(&s)->phase = EBB_BACKWARD;
        sketch_in_place(&s, 0, 0);
        sketch_sink(&s, IDS(gradient, relu[k]), time_ns)->phase = EBB_BACKWARD;
        if (k == 0) break;
        gradient = sketch_op(&s, IDS(gradient, weight[k]), in * plane * FLOATS, time_ns);
        sketch_last(&s)->phase = EBB_BACKWARD;
    }
    return sketch_end(&s);
}

Test(megengine, long_chain_needs_far_less) {
    ebb_env *env = start_env();
    ebb_pgraph *graph = long_chain(env);
    ebb_score base = base_score(env, graph, 64);
    for (int64_t iterations = 0; iterations <= 20; iterations += 20) {
        ebb_select_request request = mge_request(graph, 64);
        request.config.genetic_nr_iter = iterations;
        ebb_selection *found = select_ok(env, &request);
        cr_assert_leq(found->peak_bytes, base.peak_bytes * 4 / 10, "%lld of %lld",
                      (long long)found->peak_bytes, (long long)base.peak_bytes);
        cr_assert_leq(found->time_ns, 2 * base.time_ns);
        want_true_selection(env, graph, found, 64);
        ebb_selection_destroy(found);
    }
    ebb_pgraph_destroy(graph);
    end_env(env);
}

/* x is copied from the host, read by two checks, and once more after checks of y0 and y1 of twice the size.
 * The arena must stay below 2.5 N floats: x is dropped and copied again. A check is a sink that runs once.
 */
Test(megengine, multi_reuse_drops_what_is_read_early_and_late) {
    ebb_env *env = start_env();
    sketch s;
    sketch_begin(&s, env);
    ebb_id x = sketch_op(&s, NO_IDS, N * FLOATS, 10), z = sketch_op(&s, NO_IDS, N * FLOATS, 10);
    sketch_sink(&s, IDS(z), 1)->recomputable = false;
    sketch_sink(&s, IDS(x), 1)->recomputable = false;
    sketch_sink(&s, IDS(x), 1)->recomputable = false;
    for (uint32_t k = 0; k < 2; k++) {
        ebb_id y = sketch_op(&s, NO_IDS, 2 * N * FLOATS, 20);
        sketch_sink(&s, IDS(y), 1)->recomputable = false;
    }
    sketch_sink(&s, IDS(x), 1)->recomputable = false;
    ebb_pgraph *graph = sketch_end(&s);
    cr_assert_eq(base_score(env, graph, 4).peak_bytes, 3 * N * FLOATS);
    ebb_select_request request = mge_request(graph, 4);
    ebb_selection *found = select_ok(env, &request);
    ebb_plan *plan = plan_steps(env, graph, found->steps, found->n_steps, found->alternative, 4);
    cr_assert_eq(count_runs(found, 0), 2);
    cr_assert_eq(plan->arena_bytes, 2 * N * FLOATS, "below 2.5 N floats");
    ebb_plan_destroy(plan);
    ebb_selection_destroy(found);
    ebb_pgraph_destroy(graph);
    end_env(env);
}

/* x (N) -> bad (2 N) -> y0 (1) -> y1 (2 N) -> y = y1 + 1, and z = max(bad) at the end. If bad's op must not
 * run twice, bad is kept while y1 is made: (2 * 2 N + 1) floats and two runs of its kind of op (bad's,
 * y1's). Else it is made again from x, which is copied again: N + 2 N floats and three runs.
 *
 * The numbers are MegEngine's, with its alignment of one float. There the 1 is an immutable constant next
 * to y1, and y is not counted; here it is y0, which y1 is made from, and y lies over y1 in place. */
static void check_bad_op(ebb_env *env, bool bad, ebb_method method, int64_t iterations) {
    sketch s;
    sketch_begin(&s, env);
    ebb_id x = sketch_op(&s, NO_IDS, N * FLOATS, 10);
    ebb_id big = sketch_op(&s, IDS(x), 2 * N * FLOATS, 10);
    sketch_last(&s)->recomputable = !bad;
    ebb_id y0 = sketch_op(&s, IDS(big), FLOATS, 10), y1 = sketch_op(&s, IDS(y0), 2 * N * FLOATS, 10);
    (void)sketch_op(&s, IDS(y1), 2 * N * FLOATS, 10);
    sketch_in_place(&s, 0, 0);
    (void)sketch_op(&s, IDS(big), FLOATS, 10);
    ebb_pgraph *graph = sketch_end(&s);
    ebb_select_request request = small_request(graph, method, 0);
    request.alignment = FLOATS;
    request.config.genetic_nr_iter = iterations;
    request.without = EBB_WITHOUT_ORDER; /* as there */
    ebb_selection *found = select_ok(env, &request);
    cr_assert_eq(found->peak_bytes, (bad ? 2 * 2 * N + 1 : 2 * N + N) * FLOATS, "%lld",
                 (long long)found->peak_bytes);
    cr_assert_eq(count_runs(found, 1) + count_runs(found, 3), bad ? 2 : 3);
    want_true_selection(env, graph, found, FLOATS);
    ebb_selection_destroy(found);
    ebb_pgraph_destroy(graph);
}

Test(megengine, bad_op_is_kept_and_a_good_one_made_again) {
    ebb_env *env = start_env();
    for (uint32_t bad = 0; bad < 2; bad++) {
        check_bad_op(env, bad, EBB_METHOD_MEGENGINE, 50);
        check_bad_op(env, bad, EBB_METHOD_LEAST, 0);
    }
    end_env(env);
}

/* No ops: the answer is no steps, and what is given is all that lives. */
Test(megengine, empty_graph_is_planned) {
    ebb_env *env = start_env();
    for (uint32_t n_inputs = 0; n_inputs < 3; n_inputs++)
        for (ebb_method method = EBB_METHOD_NONE; method <= EBB_METHOD_LEAST; method++) {
            sketch s;
            sketch_begin(&s, env);
            (void)sketch_value(&s, EBB_ROLE_PARAM, 4);
            for (uint32_t k = 0; k < n_inputs; k++) (void)sketch_value(&s, EBB_ROLE_INPUT, 33);
            ebb_pgraph *graph = sketch_end(&s);
            ebb_select_request request = small_request(graph, method, 64 * n_inputs);
            request.config.genetic_nr_iter = 3;
            ebb_selection *found = select_ok(env, &request);
            cr_assert(found->n_steps == 0 && found->time_ns == 0);
            cr_assert_eq(found->peak_bytes, 64 * n_inputs);
            want_true_selection(env, graph, found, 64);
            ebb_selection_destroy(found);
            ebb_pgraph_destroy(graph);
        }
    end_env(env);
}

/* x4 is read by y0 and updated by y4 at the end. y0 and what follows are big and read once more after the
 * update, so that dropping them would pay; but y0 cannot be made again from an x4 that is gone. */
static ebb_pgraph *update_graph(ebb_env *env, bool late_reader, bool through_view) {
    sketch s;
    sketch_begin(&s, env);
    ebb_id x[4], y = 0, y0, x4 = sketch_value(&s, EBB_ROLE_PARAM, N * FLOATS), read = x4;
    for (uint32_t k = 0; k < 4; k++) x[k] = sketch_value(&s, EBB_ROLE_INPUT, N * FLOATS);
    if (through_view) {
        read = sketch_op(&s, IDS(x4), N * FLOATS, 0);
        sketch_view(&s, 0, 0);
    }
    y0 = y = sketch_op(&s, IDS(x[3], read), 4 * N * FLOATS, 10);
    for (uint32_t k = 3; k-- > 0;) y = sketch_op(&s, IDS(y, x[k]), 4 * N * FLOATS, 10);
    (void)sketch_update(&s, IDS(y), x4);
    for (uint32_t k = 0; k < 3; k++) y = sketch_op(&s, IDS(x[k], y), 4 * N * FLOATS, 10);
    (void)sketch_sink(&s, late_reader ? IDS(y0, x[3], y) : IDS(y), 10);
    return sketch_end(&s);
}

Test(megengine, deps_in_topo_sort_hold_for_recomputed_readers_too) {
    ebb_env *env = start_env();
    for (uint32_t k = 0; k < 4; k++) {
        ebb_pgraph *graph = update_graph(env, k % 2, k / 2);
        ebb_id reader = k / 2, update = reader + 4;
        cr_assert(graph->ops[update].n_update == 1);
        for (ebb_method method = EBB_METHOD_NONE; method <= EBB_METHOD_LEAST; method++) {
            ebb_select_request request =
                small_request(graph, method, base_score(env, graph, 64).peak_bytes);
            request.config.genetic_nr_iter = 10;
            ebb_selection *found = select_ok(env, &request);
            uint32_t updated_at = UINT32_MAX;
            for (uint32_t i = 0; i < found->n_steps; i++) {
                if (found->steps[i].op == update) updated_at = i;
                if (found->steps[i].op <= reader) cr_assert_lt(i, updated_at, "step %u", i);
            }
            cr_assert_neq(updated_at, UINT32_MAX);
            want_true_selection(env, graph, found, 64);
            ebb_selection_destroy(found);
        }
        ebb_pgraph_destroy(graph);
    }
    end_env(env);
}

/* The rule above has something to forbid: the candidate that makes y0 again after the update is not valid.
 */
Test(megengine, a_reader_after_the_update_is_not_a_candidate) {
    ebb_env *env = start_env();
    for (uint32_t view = 0; view < 2; view++) {
        ebb_pgraph *graph = update_graph(env, true, view);
        bench b = bench_begin(env, graph, 64);
        uint8_t *genes = ebb_calloc(env, b.space->n_genes, 1);
        ebb_id y0 = graph->ops[view].out[0];
        memcpy(genes, b.space->base_genes, b.space->n_genes);
        genes[b.space->values[y0].first_gap + 1] = EBB_HOLD;
        cr_assert_not(ebb_score_genes(b.scorer, genes, 0).valid);
        ebb_cfree(env, genes, b.space->n_genes, 1);
        bench_end(&b);
        ebb_pgraph_destroy(graph);
    }
    end_env(env);
}
