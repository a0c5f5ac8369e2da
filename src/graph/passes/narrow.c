/* Narrow: takes a graph with updates; gives the same, where an update of an f32 param reads a gradient of
 * 16 bits as it was made, and not a copy that was widened for it. Every number of 16 bits is one of f32: no
 * bit of a result changes, and as the copy had twice the bytes no peak grows but for scratch. Requires:
 * simplified. Cost: O(graph).
 *
 *     %w.grad = cast %g to=f32
 *     %w.next = sgd %w, %w.grad, %lr
 * becomes
 *     %w.next = sgd %w, %g, %lr */
#include "graph/passes/passes.h"

enum { GRADIENT = 1 }; /* the operand of an update */

static bool updates(const ebb_node *node) {
    return node->op == &ebb_op_sgd || node->op == &ebb_op_sgd_momentum || node->op == &ebb_op_adamw;
}

/* The cast from 16 bits that the update alone reads, or NULL. */
static const ebb_node *widened(const ebb_graph *graph, const uint32_t *reads, const ebb_node *update) {
    const ebb_id id = update->in[GRADIENT];
    const ebb_value *v = &graph->values[id];
    if (v->producer == EBB_NONE || v->role == EBB_ROLE_OUTPUT || id == graph->loss || reads[id] != 1)
        return NULL;
    const ebb_node *cast = &graph->nodes[v->producer];
    const bool low = cast->op == &ebb_op_cast && ebb_dtype_low(graph->values[cast->in[0]].type.dtype);
    return low && v->type.dtype == EBB_F32 ? cast : NULL;
}

static void visit(ebb_rewriter *rw, const ebb_node *node, void *ctx) {
    const bool *gone = ctx;
    if (gone[node - rw->old->nodes]) return;
    const ebb_value *gradient = updates(node) ? &rw->old->values[node->in[GRADIENT]] : NULL;
    if (gradient && gradient->producer != EBB_NONE && gone[gradient->producer])
        rw->map[node->in[GRADIENT]] = rw->map[rw->old->nodes[gradient->producer].in[0]];
    ebb_rw_copy_node(rw, node);
}

ebb_status ebb_narrow_updates(ebb_env *env, const ebb_graph *graph, ebb_graph **out) {
    *out = NULL;
    ebb_rewriter rw;
    ebb_status status = ebb_rw_init(&rw, env, graph);
    if (!status) {
        bool *gone = ebb_rw_scratch(&rw, graph->n_nodes, sizeof *gone);
        const uint32_t *reads = ebb_rw_reads(&rw);
        for (uint32_t n = 0; gone && reads && n < graph->n_nodes; n++) {
            const ebb_node *update = &graph->nodes[n];
            const ebb_node *cast = updates(update) ? widened(graph, reads, update) : NULL;
            if (cast) gone[cast - graph->nodes] = true;
        }
        ebb_rw_each(&rw, visit, gone);
        status = ebb_rw_seal(&rw, out);
    }
    ebb_rw_deinit(&rw);
    return status;
}
