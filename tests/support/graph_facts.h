/* What a graph has in it, for tests that ask whether they have met it. */
#ifndef EBB_TESTS_SUPPORT_GRAPH_FACTS_H
#define EBB_TESTS_SUPPORT_GRAPH_FACTS_H

#include "graph/graph.h"
#include "graph/op.h"

static inline uint32_t test_n_nodes_of(const ebb_graph *graph, const ebb_op_info *op) {
    uint32_t n = 0;
    for (ebb_id i = 0; i < graph->n_nodes; i++) n += graph->nodes[i].op == op;
    return n;
}

/* Is something of 16 bits? */
static inline bool test_has_low(const ebb_graph *graph) {
    ebb_id v = 0;
    while (v < graph->n_values && !ebb_dtype_low(graph->values[v].type.dtype)) v++;
    return v < graph->n_values;
}

#endif
