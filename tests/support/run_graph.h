/* Runs a plan of a training graph for some steps and sums up all that a caller could see in one number:
 * plans of the same graph must agree in it, however they reuse memory, recompute, or are run.
 */
#ifndef EBB_TESTS_SUPPORT_RUN_GRAPH_H
#define EBB_TESTS_SUPPORT_RUN_GRAPH_H

#include "exec/exec.h"

typedef struct test_run_request {
    const ebb_graph *graph;
    const ebb_plan *plan;
    ebb_backend *backend;
    uint64_t seed;          /* of params, inputs and dropout */
    uint32_t n_steps;       /* training steps */
    uint32_t n_run_threads; /* 0: the plan's width */
    bool poison;
    bool by_phase; /* forward, backward and update are run one by one */
} test_run_request;

/* A digest of every output after every step, and of the params and states after the last. A backend that
 * does not compute gives 0. Fails the running test on any error, and when a step allocates. */
uint64_t test_run_graph(ebb_env *env, const test_run_request *request);

/* The same digest from the graph alone: no plan, no program, every value in memory of its own, on ref. */
uint64_t test_interpret_graph(ebb_env *env, const ebb_graph *graph, uint64_t seed, uint32_t n_steps);

/* Fills a given value (storage order) as the runner does at a step; params and states at step 0. */
void test_fill_given(const ebb_graph *graph, ebb_id value, uint64_t seed, uint32_t step, void *to);

#endif
