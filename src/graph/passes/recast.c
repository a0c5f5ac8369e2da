/* Recast: takes a graph with gradients whose params were cast to 16 bits in forward; gives one whose
 * backward casts them for itself, right before it first reads them. Requires nothing. Cost: O(graph).
 *
 * The param lies there all the time, so that its cast need not live from one end of a step to the other: of
 * a network with small activations these were most of what was kept. What a node of the model updates
 * (`assign`) has another value by then: its cast stays. */
#include "graph/passes/passes.h"

/* Is it such a cast? */
static bool is_cast_param(const ebb_graph *graph, ebb_id id) {
    const ebb_value *v = &graph->values[id];
    if (v->producer == EBB_NONE || !ebb_dtype_low(v->type.dtype)) return false;
    const ebb_node *node = &graph->nodes[v->producer];
    if (node->op != &ebb_op_cast || node->phase != EBB_FORWARD) return false;
    const ebb_value *from = &graph->values[node->in[0]];
    return from->producer == EBB_NONE && ebb_role_persistent(from->role);
}

/* For each given value: does a node update it? NULL on a latched error. */
static bool *find_updated(ebb_rewriter *rw) {
    const ebb_graph *graph = rw->old;
    bool *updated = ebb_rw_scratch(rw, graph->n_values, sizeof *updated);
    for (uint32_t n = 0; updated && n < graph->n_nodes; n++) {
        const ebb_node *node = &graph->nodes[n];
        for (uint32_t i = 0; i < node->op->n_update; i++)
            if (node->op->update[i].in < node->n_in) updated[node->in[node->op->update[i].in]] = true;
    }
    return updated;
}

typedef struct recast {
    ebb_id *again;       /* [old values] the cast of backward, or EBB_NONE */
    const bool *updated; /* [old values] */
} recast;

static void visit(ebb_rewriter *rw, const ebb_node *node, void *ctx) {
    const recast *r = ctx;
    ebb_id *again = r->again;
    ebb_id forward[EBB_MAX_OPERANDS];
    const bool backward = node->phase == EBB_BACKWARD;
    for (uint32_t i = 0; i < node->n_in; i++) {
        const ebb_id id = node->in[i];
        forward[i] = rw->map[id];
        if (!backward || !is_cast_param(rw->old, id)) continue;
        const ebb_node *cast = &rw->old->nodes[rw->old->values[id].producer];
        if (r->updated[cast->in[0]]) continue;
        if (again[id] == EBB_NONE) {
            again[id] = ebb_builder_node(rw->builder, cast->op, &rw->map[cast->in[0]], 1, cast->attr, NULL,
                                         EBB_BACKWARD, 0)[0];
            ebb_builder_stem(rw->builder, again[id], rw->old->values[cast->in[0]].name);
        }
        rw->map[id] = again[id];
    }
    ebb_rw_copy_node(rw, node);
    for (uint32_t i = 0; i < node->n_in; i++) rw->map[node->in[i]] = forward[i];
}

ebb_status ebb_recast_params(ebb_env *env, const ebb_graph *graph, ebb_graph **out) {
    *out = NULL;
    ebb_rewriter rw;
    ebb_status status = ebb_rw_init(&rw, env, graph);
    if (!status) {
        ebb_id *again = ebb_rw_scratch(&rw, graph->n_values, sizeof *again);
        for (uint32_t v = 0; again && v < graph->n_values; v++) again[v] = EBB_NONE;
        recast r = {again, find_updated(&rw)};
        ebb_rw_each(&rw, visit, &r);
        status = ebb_rw_seal(&rw, out);
    }
    ebb_rw_deinit(&rw);
    return status;
}
