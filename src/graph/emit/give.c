/* What a rule asks of its node's operands, and what it gives: gradients of them, or other results. */
#include "graph/emit/emit.h"

bool ebb_grad_wants(const ebb_rewriter *rw, const ebb_node *node, uint32_t i) {
    return rw->wants[node->in[i]];
}

bool ebb_grad_made_from(const ebb_rewriter *rw, const ebb_node *node, uint32_t i, uint32_t x,
                        const ebb_op_info *op) {
    const ebb_graph *g = rw->old;
    if (!rw->wants[node->in[x]] && !rw->wants[node->in[i]] && !rw->wants[node->in[i + 1]]) return true;
    ebb_id maker = g->values[node->in[i]].producer;
    if (maker == EBB_NONE || g->values[node->in[i + 1]].producer != maker) return false;
    return g->nodes[maker].op == op && g->nodes[maker].n_in == 1 && g->nodes[maker].in[0] == node->in[x] &&
           g->values[node->in[i]].result == 0 && g->values[node->in[i + 1]].result == 1;
}

void ebb_grad_give(ebb_rewriter *rw, const ebb_node *node, uint32_t i, ebb_id id) {
    ebb_id to = node->in[i];
    if (ebb_rw_failed(rw) || !rw->wants[to]) return;
    const ebb_type *due = &rw->old->values[to].type;
    id = rw->sum_to(rw, id, due);
    const ebb_type *type = ebb_builder_type(rw->builder, id);
    if (!ebb_type_equal(type, due)) {
        char is[EBB_TYPE_TEXT], text[EBB_TYPE_TEXT];
        ebb_builder_fail(rw->builder, EBB_INTERNAL,
                         "gradient rule of %s gives %s to operand %u, which is %s", node->op->name,
                         ebb_type_text(type, is), i, ebb_type_text(due, text));
        return;
    }
    ebb_id *sum = &rw->gradient[to];
    if (*sum == EBB_NONE) {
        *sum = id;
        return;
    }
    ebb_id terms[] = {*sum, id};
    *sum = ebb_builder_node(rw->builder, rw->add, terms, 2, NULL, NULL, rw->phase, 0)[0];
    /* Parts are named after the whole, but for those that are another value's gradient and have its name.
     */
    const char *stem = ebb_rw_join(rw, rw->old->values[to].name, ".grad");
    ebb_builder_stem(rw->builder, terms[0], stem);
    ebb_builder_stem(rw->builder, terms[1], stem);
    ebb_builder_stem(rw->builder, *sum, stem);
}

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
