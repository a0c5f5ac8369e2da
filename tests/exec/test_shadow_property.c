/* What the shadow backend says of damaged plans, against what they compute: a plan that it accepts gives
 * the graph's own bits, so every plan that gives others is one that it refuses.
 */
#include <stdio.h>

#include "support/check.h"
#include "support/plan_graph.h"
#include "support/random_graph.h"
#include "support/random_pgraph.h"
#include "support/run_graph.h"

#define N_STEPS 2

/* Walks the plan on shadow: EBB_OK or EBB_VIOLATION. */
static ebb_status walk(ebb_env *env, const ebb_graph *graph, const ebb_plan *plan, ebb_backend *shadow,
                       bool poison) {
    const ebb_exec_options options = {.graph = graph, .plan = plan, .backend = shadow, .poison = poison};
    const int64_t bytes = plan->persistent_bytes + plan->arena_bytes;
    ebb_exec *exec = NULL;
    void *block = NULL;
    TEST_OK(env, ebb_exec_create(env, &options, &exec));
    TEST_OK(env, shadow->api->block_alloc(shadow, bytes, &block));
    ebb_exec_bind(exec, block, (void *)((uintptr_t)block + (uintptr_t)plan->persistent_bytes));
    ebb_status status = EBB_OK;
    for (uint64_t step = 0; step < N_STEPS && status == EBB_OK; step++) {
        const ebb_run_options run = {.seed = 1, .step = step};
        status = ebb_exec_run(exec, &run);
    }
    cr_assert(status == EBB_OK || status == EBB_VIOLATION, "%s", ebb_env_error(env));
    shadow->api->block_free(shadow, block, bytes);
    ebb_exec_destroy(exec);
    return status;
}

/* Moves one buffer, or lets two steps change places. */
static void damage(ebb_plan *plan, ebb_rng *rng) {
    if (ebb_rng_below(rng, 4) == 0) {
        ebb_plan_step *steps = (ebb_plan_step *)plan->steps;
        const uint32_t at = ebb_rng_below(rng, plan->n_steps - 1);
        const ebb_plan_step first = steps[at];
        steps[at] = steps[at + 1];
        steps[at + 1] = first;
        return;
    }
    ebb_buffer *b = &((ebb_buffer *)plan->buffers)[ebb_rng_below(rng, plan->n_buffers)];
    const int64_t region = b->persistent ? plan->persistent_bytes : plan->arena_bytes;
    const int64_t places = (region - b->bytes) / plan->alignment + 1;
    b->offset = plan->alignment * ebb_rng_below(rng, (uint32_t)places);
}

Test(shadow, accepts_no_plan_that_computes_something_else) {
    uint32_t n_refused = 0, n_accepted = 0;
    for (uint64_t seed = 500; seed < 540; seed++) {
        ebb_env *env = test_env_open();
        ebb_backend *ref = test_backend_open(env, "ref", 1), *shadow = test_backend_open(env, "shadow", 1);
        ebb_graph *model = NULL;
        TEST_OK(env, random_graph(env, seed, NULL, &model));
        ebb_graph *graph = test_train_graph(env, model, false);
        ebb_pgraph *facts = test_query(env, graph, ref);
        const uint64_t want = test_interpret_graph(env, graph, seed, N_STEPS);
        for (uint64_t k = 0; k < 10; k++) {
            ebb_plan *plan = test_plan(env, facts, NULL, ref, EBB_REUSE_IN_PLACE);
            ebb_rng rng;
            ebb_rng_init(&rng, seed, k);
            damage(plan, &rng);
            if (walk(env, graph, plan, shadow, false) == EBB_OK) {
                const test_run_request request = {
                    .graph = graph, .plan = plan, .backend = ref, .seed = seed, .n_steps = N_STEPS};
                cr_assert_eq(test_run_graph(env, &request), want, "seed %llu damage %llu",
                             (unsigned long long)seed, (unsigned long long)k);
                n_accepted++;
            } else {
                n_refused++;
            }
            ebb_plan_destroy(plan);
        }
        ebb_pgraph_destroy(facts);
        ebb_graph_destroy(graph);
        ref->api->destroy(ref);
        shadow->api->destroy(shadow);
        test_env_close(env);
    }
    cr_assert_gt(n_refused, 100, "%u", n_refused);
    cr_assert_gt(n_accepted, 50, "%u", n_accepted);
}

/* ---- planning graphs --------------------------------------------------------------------------------- */

Test(shadow, accepts_every_plan_of_a_planning_graph) {
    for (uint64_t seed = 0; seed < 150; seed++) {
        ebb_env *env = test_env_open();
        ebb_backend *shadow = test_backend_open(env, "shadow", 1);
        ebb_pgraph *graph = NULL;
        TEST_OK(env, random_pgraph(env, seed, NULL, &graph));
        for (ebb_reuse reuse = EBB_REUSE_NONE; reuse <= EBB_REUSE_IN_PLACE; reuse++) {
            ebb_plan *plan = test_plan(env, graph, NULL, shadow, reuse);
            TEST_OK(env, walk(env, NULL, plan, shadow, false));
            TEST_OK(env, walk(env, NULL, plan, shadow, true));
            ebb_plan_destroy(plan);
        }
        ebb_pgraph_destroy(graph);
        shadow->api->destroy(shadow);
        test_env_close(env);
    }
}

Test(shadow, refuses_no_plan_that_the_audit_accepts) {
    uint32_t n_refused = 0;
    for (uint64_t seed = 1000; seed < 1150; seed++) {
        ebb_env *env = test_env_open();
        ebb_backend *shadow = test_backend_open(env, "shadow", 1);
        ebb_pgraph *graph = NULL;
        TEST_OK(env, random_pgraph(env, seed, NULL, &graph));
        for (uint64_t k = 0; k < 4; k++) {
            ebb_plan *plan = test_plan(env, graph, NULL, shadow, EBB_REUSE_IN_PLACE);
            ebb_rng rng;
            ebb_rng_init(&rng, seed, k);
            damage(plan, &rng);
            if (walk(env, NULL, plan, shadow, false) == EBB_VIOLATION) {
                n_refused++;
                char reason[1024];
                (void)snprintf(reason, sizeof(reason), "%s", ebb_env_error(env));
                cr_assert_eq(ebb_plan_audit(env, plan), EBB_VIOLATION, "seed %llu damage %llu: %s",
                             (unsigned long long)seed, (unsigned long long)k, reason);
            }
            ebb_plan_destroy(plan);
        }
        ebb_pgraph_destroy(graph);
        shadow->api->destroy(shadow);
        test_env_close(env);
    }
    cr_assert_gt(n_refused, 100);
}
