/* The passes that make one op of several without a chain: as one, for tests that compare a graph with what
 * it becomes. */
#ifndef EBB_TESTS_SUPPORT_JOINS_H
#define EBB_TESTS_SUPPORT_JOINS_H

#include "graph/graph.h"

static inline ebb_status test_join_all(ebb_env *env, const ebb_graph *graph, ebb_graph **out) {
    ebb_graph *loss = NULL, *norms = NULL;
    ebb_status status = ebb_join_loss(env, graph, &loss);
    if (!status) status = ebb_join_norms(env, loss, false, &norms);
    if (!status) status = ebb_join_qkv(env, norms, false, out);
    ebb_graph_destroy(loss);
    ebb_graph_destroy(norms);
    return status;
}

#endif
