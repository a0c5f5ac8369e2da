/* Lower: takes a graph and a mode; gives one without composite ops. An op with a lower rule becomes what
 * the rule emits, which may be itself or nothing; all others are copied. Requires nothing. Cost: O(graph).
 */
#include "graph/passes/passes.h"

void ebb_lower_give(ebb_rewriter *rw, const ebb_node *node, uint32_t i, ebb_id id) {
    if (ebb_rw_failed(rw)) return;
    const ebb_value *old = &rw->old->values[node->out[i]];
    char is[EBB_TYPE_TEXT], due[EBB_TYPE_TEXT];
    const ebb_type *type = ebb_builder_type(rw->builder, id);
    if (!ebb_type_equal(type, &old->type)) {
        ebb_builder_fail(rw->builder, EBB_INTERNAL, "lower rule of %s gives %s for %%%.200s, which is %s",
                         node->op->name, ebb_type_text(type, is), old->name,
                         ebb_type_text(&old->type, due));
        return;
    }
    /* Who asks for an output or the loss asks by name, so these keep theirs even where an operand took
     * their place. */
    bool keep = old->role == EBB_ROLE_OUTPUT || node->out[i] == rw->old->loss;
    if (!ebb_builder_rename(rw->builder, id, old->name) && keep) id = ebb_rw_alias(rw, id, old->name);
    rw->map[node->out[i]] = id;
}

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
        ebb_rw_each(&rw, visit, &mode);
        status = ebb_rw_seal(&rw, out);
    }
    ebb_rw_deinit(&rw);
    return status;
}
