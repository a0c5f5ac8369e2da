/* Lower: takes a graph and a mode; gives one without composite ops. An op with a lower rule becomes what
 * the rule emits, which may be itself or nothing; all others are copied. Requires nothing. Cost: O(graph).
 */
#include "graph/passes/passes.h"

static void visit(ebb_rewriter *rw, const ebb_node *node, void *ctx) {
    const ebb_mode *mode = ctx;
    if (!node->op->lower) {
        ebb_rw_copy_node(rw, node);
        return;
    }
    rw->node = node;
    rw->phase = node->phase;
    node->op->lower(rw, node, *mode);
    for (uint32_t i = 0; i < node->n_out; i++) {
        if (ebb_rw_failed(rw) || rw->map[node->out[i]] != EBB_NONE) continue;
        ebb_builder_fail(rw->builder, EBB_INTERNAL, "lower rule of %s gives nothing for result %u",
                         node->op->name, i);
    }
}

ebb_status ebb_lower(ebb_env *env, const ebb_graph *graph, ebb_mode mode, ebb_graph **out) {
    *out = NULL;
    ebb_rewriter rw;
    ebb_status status = ebb_rw_init(&rw, env, graph);
    if (!status) {
        rw.reshape = &ebb_op_reshape;
        ebb_rw_each(&rw, visit, &mode);
        status = ebb_rw_seal(&rw, out);
    }
    ebb_rw_deinit(&rw);
    return status;
}
