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

/* Is id of the type that operand i's gradient has? */
static bool fits(ebb_rewriter *rw, const ebb_node *node, uint32_t i, ebb_id id) {
    const ebb_type *type = ebb_builder_type(rw->builder, id), *due = &rw->old->values[node->in[i]].type;
    char is[EBB_TYPE_TEXT], text[EBB_TYPE_TEXT];
    if (ebb_type_equal(type, due)) return true;
    ebb_builder_fail(rw->builder, EBB_INTERNAL, "gradient rule of %s gives %s to operand %u, which is %s",
                     node->op->name, ebb_type_text(type, is), i, ebb_type_text(due, text));
    return false;
}

/* Parts are named after the whole, but for those that are another value's gradient and have its name. */
static void parts_name(ebb_rewriter *rw, ebb_id to, const ebb_id *parts, uint32_t n) {
    const char *stem = ebb_rw_join(rw, rw->old->values[to].name, ".grad");
    for (uint32_t k = 0; k < n; k++) ebb_builder_stem(rw->builder, parts[k], stem);
}

void ebb_grad_give(ebb_rewriter *rw, const ebb_node *node, uint32_t i, ebb_id id) {
    ebb_id to = node->in[i];
    if (ebb_rw_failed(rw) || !rw->wants[to]) return;
    id = rw->sum_to(rw, id, &rw->old->values[to].type);
    if (!fits(rw, node, i, id)) return;
    ebb_id *sum = &rw->gradient[to], part = *sum;
    if (part == EBB_NONE) {
        *sum = id;
        return;
    }
    *sum = ebb_builder_node(rw->builder, rw->add, (ebb_id[]){part, id}, 2, NULL, NULL, rw->phase, 0)[0];
    parts_name(rw, to, (ebb_id[]){part, id, *sum}, 3);
}

ebb_id ebb_grad_so_far(const ebb_rewriter *rw, const ebb_node *node, uint32_t i) {
    return rw->gradient[node->in[i]];
}

void ebb_grad_give_sum(ebb_rewriter *rw, const ebb_node *node, uint32_t i, ebb_id id) {
    ebb_id *sum = &rw->gradient[node->in[i]], part = *sum;
    if (ebb_rw_failed(rw) || !rw->wants[node->in[i]] || !fits(rw, node, i, id)) return;
    *sum = id;
    parts_name(rw, node->in[i], (ebb_id[]){part, id}, 2);
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
