/* Every allocation is refused once: the call fails with EBB_NO_MEMORY, and nothing is left behind. */
#include "support.h"
#include "training.h"

static ebb_pgraph *small_graph(ebb_env *env) {
    random_pgraph_options options = {.n_ops = 24};
    return draw_pgraph(env, 21, &options);
}

/* Refuses call after call until the request gets through. Returns how many were refused. */
static uint32_t refuse_all(ebb_env *env, scarce_memory *memory, const ebb_select_request *request) {
    for (uint32_t n = 0;; n++) {
        uint64_t live = memory->n_live;
        ebb_selection *found = NULL;
        memory->fail_at = memory->n_calls + n;
        ebb_status status = ebb_select(env, request, &found);
        bool refused = memory->n_calls > memory->fail_at;
        memory->fail_at = UINT64_MAX;
        if (refused) {
            cr_assert_eq(status, EBB_NO_MEMORY, "call %u: %s", n, ebb_status_name(status));
            cr_assert_null(found);
            cr_assert_neq(ebb_env_error(env)[0], '\0');
        } else {
            want_status(env, status, EBB_OK);
        }
        ebb_selection_destroy(found);
        cr_assert_eq(memory->n_live, live, "call %u: %llu blocks are left", n,
                     (unsigned long long)(memory->n_live - live));
        if (!refused) return n;
    }
}

Test(fault, select_without_memory_fails_cleanly) {
    scarce_memory memory;
    ebb_env *env = start_fault_env(&memory);
    ebb_pgraph *graph = small_graph(env);
    int64_t peak = base_score(env, graph, 64).peak_bytes;
    for (ebb_method method = EBB_METHOD_NONE; method <= EBB_METHOD_LEAST; method++) {
        ebb_select_request request = small_request(graph, method, peak * 97 / 100);
        request.effort = 200;
        request.config.genetic_nr_iter = 2;
        request.config.genetic_pool_size = 7;
        request.config.num_worker = 2;
        request.config.lb_memory_bytes = peak - 64;
        uint32_t n = refuse_all(env, &memory, &request);
        cr_assert_gt(n, method == EBB_METHOD_NONE ? 5 : 10, "%u allocations", n);
    }
    ebb_pgraph_destroy(graph);
    cr_assert_eq(memory.n_wrong_frees, 0);
    end_env(env);
}

Test(fault, the_search_without_a_part_of_it_fails_cleanly) {
    static const uint32_t rows[] = {EBB_WITHOUT_SEARCH, EBB_WITHOUT_ANNEALING, EBB_WITHOUT_CROSSOVER};
    scarce_memory memory;
    ebb_env *env = start_fault_env(&memory);
    ebb_pgraph *graph = small_graph(env);
    for (size_t k = 0; k < EBB_COUNT(rows); k++) {
        ebb_select_request request = small_request(graph, EBB_METHOD_LEAST, 0);
        request.effort = 100;
        request.without = rows[k];
        cr_assert_gt(refuse_all(env, &memory, &request), 10);
    }
    ebb_pgraph_destroy(graph);
    cr_assert_eq(memory.n_wrong_frees, 0);
    end_env(env);
}

Test(fault, the_seed_by_blocks_fails_cleanly) {
    scarce_memory memory;
    ebb_env *env = start_fault_env(&memory);
    ebb_pgraph *graph = layers(env, 20);
    for (uint32_t i = 20; i < graph->n_ops; i++) ((ebb_pop *)graph->ops)[i].phase = EBB_BACKWARD;
    ebb_select_request request = small_request(graph, EBB_METHOD_LEAST, 0);
    request.effort = 100;
    request.without = EBB_WITHOUT_SEARCH | EBB_WITHOUT_ORDER;
    request.only_seeds = EBB_SEEDS_ALL;
    uint32_t n_all = refuse_all(env, &memory, &request);
    request.only_seeds = EBB_SEEDS_EVEN_CUTS;
    uint32_t n_cuts = refuse_all(env, &memory, &request);
    request.only_seeds = EBB_SEEDS_CHAIN;
    uint32_t n_chain = refuse_all(env, &memory, &request);
    cr_assert(n_chain > n_cuts + 5 && n_all > n_chain, "%u, %u, %u allocations", n_all, n_chain, n_cuts);
    ebb_pgraph_destroy(graph);
    cr_assert_eq(memory.n_wrong_frees, 0);
    end_env(env);
}

Test(fault, a_space_small_enough_for_every_candidate_too) {
    scarce_memory memory;
    ebb_env *env = start_fault_env(&memory);
    random_pgraph_options options = {.n_ops = 9, .max_choices = 3};
    ebb_pgraph *graph = draw_pgraph(env, 3, &options);
    ebb_select_request request = small_request(graph, EBB_METHOD_LEAST, 0);
    request.effort = 0;
    cr_assert_gt(refuse_all(env, &memory, &request), 5);
    ebb_pgraph_destroy(graph);
    cr_assert_eq(memory.n_wrong_frees, 0);
    end_env(env);
}

Test(fault, rewrite_without_memory_fails_cleanly) {
    scarce_memory memory;
    ebb_env *env = start_fault_env(&memory);
    ebb_pgraph *graph = small_graph(env);
    ebb_select_request request = small_request(graph, EBB_METHOD_LEAST, 0);
    ebb_selection *found = select_ok(env, &request);
    cr_assert_gt(found->n_steps, graph->n_ops, "the schedule repeats ops");
    ebb_pgraph *scheduled = NULL;
    uint32_t n_refused = 0;
    for (bool refused = true; refused; n_refused += refused) {
        uint64_t live = memory.n_live;
        memory.fail_at = memory.n_calls + n_refused;
        ebb_status status = ebb_rewrite(env, graph, found->steps, found->n_steps, &scheduled);
        refused = memory.n_calls > memory.fail_at;
        memory.fail_at = UINT64_MAX;
        want_status(env, status, refused ? EBB_NO_MEMORY : EBB_OK);
        cr_assert_eq(scheduled == NULL, refused);
        if (!refused) ebb_pgraph_destroy(scheduled);
        cr_assert_eq(memory.n_live, live);
    }
    cr_assert_gt(n_refused, 5, "%u", n_refused);
    ebb_selection_destroy(found);
    ebb_pgraph_destroy(graph);
    cr_assert_eq(memory.n_wrong_frees, 0);
    end_env(env);
}
