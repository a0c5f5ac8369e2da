/* Runs a graph without a plan: node after node on the reference backend, every value in memory of its own.
 * What planned programs are compared with, and what finite differences are taken of.
 */
#ifndef EBB_TESTS_SUPPORT_INTERPRET_H
#define EBB_TESTS_SUPPORT_INTERPRET_H

#include "exec/backend.h"

typedef struct test_values {
    const ebb_graph *graph;
    void **at; /* [graph->n_values], storage order, zeroed at first */
} test_values;

void test_values_init(test_values *values, const ebb_graph *graph);
void test_values_deinit(test_values *values);
/* Runs all nodes; given values must have been filled. Fails the running test on any error. */
void test_interpret(ebb_env *env, test_values *values, uint64_t seed, uint64_t step);

#endif
