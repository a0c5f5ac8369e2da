/* From a random model to a plan of its training step, without the engine and the search: what tests of
 * programs and schedules begin with. Every function fails the running test on an error.
 */
#ifndef EBB_TESTS_SUPPORT_PLAN_GRAPH_H
#define EBB_TESTS_SUPPORT_PLAN_GRAPH_H

#include "exec/backend.h"
#include "planner/planner.h"

/* lower, grad, momentum SGD, simplify. phased: updates come after the whole backward. Takes model over.
 */
ebb_graph *test_train_graph(ebb_env *env, ebb_graph *model, bool phased);
/* The planning graph: same ids, with the backend's facts. */
ebb_pgraph *test_query(ebb_env *env, const ebb_graph *graph, ebb_backend *backend);

typedef struct test_schedule {
    ebb_step_choice *steps;
    uint32_t n;
} test_schedule;
/* The base order, and before each backward op, with a chance of `percent` for each of its inputs, what
 * makes that input once more; what that reads too, with the same chance, three deep at most. The graph must
 * be phased. */
void test_schedule_recompute(test_schedule *schedule, const ebb_pgraph *graph, uint64_t seed,
                             uint32_t percent);
void test_schedule_deinit(test_schedule *schedule);

/* schedule NULL: the base order. */
ebb_plan *test_plan(ebb_env *env, const ebb_pgraph *graph, const test_schedule *schedule,
                    const ebb_backend *backend, ebb_reuse reuse);

#endif
