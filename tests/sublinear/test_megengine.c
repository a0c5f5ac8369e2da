/* MegEngine's mode: its parameters. */
#include "support.h"

/* ---- thresholds and generations ---- */

Test(megengine, any_number_of_threshold_tries_and_generations_works) {
    static const struct {
        int64_t tries, iterations, pool;
    } rows[] = {{0, 0, 20}, {1, 0, 20}, {2, 0, 1}, {1, 1, 1}, {0, 7, 1}, {33, 3, 2}, {1, 33, 7}};
    ebb_env *env = start_env();
    for (uint64_t seed = 0; seed < 20; seed++) {
        random_pgraph_options options = {.n_ops = seed < 4 ? (uint32_t)seed + 1 : 40};
        ebb_pgraph *graph = draw_pgraph(env, seed, &options);
        ebb_score base = base_score(env, graph, 64);
        for (uint32_t k = 0; k < EBB_COUNT(rows); k++) {
            ebb_select_request request = mge_request(graph, 64);
            request.config.thresh_nr_try = rows[k].tries;
            request.config.genetic_nr_iter = rows[k].iterations;
            request.config.genetic_pool_size = rows[k].pool;
            ebb_selection *found = select_ok(env, &request);
            cr_assert_leq(found->peak_bytes, base.peak_bytes);
            want_true_selection(env, graph, found, 64);
            ebb_selection_destroy(found);
        }
        ebb_pgraph_destroy(graph);
    }
    end_env(env);
}

/* Forward: n ops of `bytes` each in a chain; backward reads each value once more, last first. */
static ebb_pgraph *chain(ebb_env *env, uint32_t n, int64_t bytes) {
    sketch s;
    sketch_begin(&s, env);
    ebb_id values[64], x = sketch_value(&s, EBB_ROLE_INPUT, bytes), gradient;
    cr_assert(n < EBB_COUNT(values));
    for (uint32_t k = 0; k < n; k++) values[k] = sketch_op(&s, IDS(k ? values[k - 1] : x), bytes, 100 + k);
    gradient = sketch_op(&s, IDS(values[n - 1]), bytes, 10);
    sketch_last(&s)->phase = EBB_BACKWARD;
    for (uint32_t k = n; k-- > 0;) {
        gradient = sketch_op(&s, IDS(gradient, values[k]), bytes, 200);
        sketch_last(&s)->phase = EBB_BACKWARD;
        sketch_in_place(&s, 0, 0);
    }
    return sketch_end(&s);
}

Test(megengine, a_chain_is_cut_near_the_square_root) {
    ebb_env *env = start_env();
    ebb_pgraph *graph = chain(env, 49, 64);
    ebb_select_request request = mge_request(graph, 64);
    ebb_selection *found = select_ok(env, &request);
    /* x, 7 checkpoints, 7 of a block, a gradient or two; without recomputation 50 */
    cr_assert_eq(base_score(env, graph, 64).peak_bytes, 50 * 64);
    cr_assert_leq(found->peak_bytes, 18 * 64);
    want_true_selection(env, graph, found, 64);
    int64_t without = found->peak_bytes;
    ebb_selection_destroy(found);
    request.config.genetic_nr_iter = 50;
    found = select_ok(env, &request);
    cr_assert_leq(found->peak_bytes, without);
    ebb_selection_destroy(found);
    ebb_pgraph_destroy(graph);
    end_env(env);
}

/* ---- lb_memory ---- */

Test(megengine, lb_memory_gives_memory_back_for_time) {
    ebb_env *env = start_env();
    uint32_t n_faster = 0;
    for (uint64_t seed = 0; seed < 30; seed++) {
        random_pgraph_options options = {.n_ops = 60, .no_choices = true};
        ebb_pgraph *graph =
            seed < 10 ? chain(env, 20 + (uint32_t)seed, 33) : draw_pgraph(env, seed, &options);
        ebb_score base = base_score(env, graph, 64);
        ebb_select_request request = mge_request(graph, 64);
        ebb_selection *best = select_ok(env, &request);
        for (int64_t percent = 0; percent <= 120; percent += 20) {
            int64_t lb = best->peak_bytes + (base.peak_bytes - best->peak_bytes) * percent / 100;
            request.config.lb_memory_bytes = lb;
            ebb_selection *found = select_ok(env, &request);
            cr_assert_leq(found->peak_bytes, ebb_max_i64(lb, best->peak_bytes));
            cr_assert_leq(found->time_ns, best->time_ns);
            if (percent >= 100) cr_assert_eq(found->time_ns, base.time_ns, "all time back");
            n_faster += found->time_ns < best->time_ns;
            want_true_selection(env, graph, found, 64);
            ebb_selection_destroy(found);
        }
        ebb_selection_destroy(best);
        ebb_pgraph_destroy(graph);
    }
    cr_assert_gt(n_faster, 60, "%u", n_faster);
    end_env(env);
}

/* Also where dropped values, kept again one by one, would pass over a peak above lb_memory. */
Test(megengine, lb_memory_of_the_base_peak_gives_the_base_back) {
    ebb_env *env = start_env();
    for (uint64_t seed = 0; seed < 300; seed++) {
        random_pgraph_options options = {.n_ops = 20 + (uint32_t)seed % 60, .no_choices = true};
        ebb_pgraph *graph = draw_pgraph(env, seed, &options);
        ebb_score base = base_score(env, graph, 64);
        ebb_select_request request = mge_request(graph, 64);
        request.config.lb_memory_bytes = base.peak_bytes;
        ebb_selection *found = select_ok(env, &request);
        cr_assert(found->time_ns == base.time_ns && found->peak_bytes <= base.peak_bytes, "seed %llu",
                  (unsigned long long)seed);
        ebb_selection_destroy(found);
        ebb_pgraph_destroy(graph);
    }
    end_env(env);
}

/* A lower bound that no plan can reach changes nothing: it is never an upper limit. */
Test(megengine, lb_memory_below_the_best_changes_nothing) {
    ebb_env *env = start_env();
    ebb_pgraph *graph = chain(env, 30, 64);
    ebb_select_request request = mge_request(graph, 64);
    ebb_selection *best = select_ok(env, &request);
    request.config.lb_memory_bytes = 1;
    ebb_selection *found = select_ok(env, &request);
    cr_assert(found->peak_bytes == best->peak_bytes && found->time_ns == best->time_ns);
    ebb_selection_destroy(found);
    ebb_selection_destroy(best);
    ebb_pgraph_destroy(graph);
    end_env(env);
}
