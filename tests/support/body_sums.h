/* What sums within bodies may take beside the chains that they are of. */
#ifndef EBB_TESTS_SUPPORT_BODY_SUMS_H
#define EBB_TESTS_SUPPORT_BODY_SUMS_H

#include "graph/graph.h"
#include "graph/op.h"

/* The most bytes by which the peak may grow where a body sums what it gives: a twelfth of that, and a
 * kilobyte (decision 53). 0: no body does. */
static inline int64_t test_body_sums_bytes(const ebb_graph *graph) {
    int64_t most = 0;
    for (ebb_id i = 0; i < graph->n_nodes; i++) {
        const ebb_node *node = &graph->nodes[i];
        if (node->op != &ebb_op_fused || !strstr(node->attr[0].text, "sum(")) continue;
        for (uint32_t o = 0; o < node->n_out; o++)
            most = ebb_max_i64(most, 1024 + ebb_type_bytes(&graph->values[node->out[o]].type) / 12);
    }
    return most;
}

#endif
