/* Builder: nodes. */
#include "graph/ir/ir.h"

static const ebb_id none[EBB_MAX_RESULTS] = {EBB_NONE, EBB_NONE, EBB_NONE, EBB_NONE};

uint32_t ebb_result_target(const ebb_op_info *op, uint32_t result) {
    for (uint32_t i = 0; i < op->n_update; i++) {
        if (op->update[i].out == result) return op->update[i].in;
    }
    return EBB_NONE;
}

/* The operand that the result takes the bytes of: none where it is computed, for then the result has its
 * own. */
static uint32_t target_of(const ebb_builder *b, const ebb_op_info *op, const ebb_id *in, uint32_t result) {
    const uint32_t target = ebb_result_target(op, result);
    return target != EBB_NONE && b->values.at[in[target]]->value.producer == EBB_NONE ? target : EBB_NONE;
}

static bool operands_check(ebb_builder *b, const ebb_op_info *op, const ebb_id *in, uint32_t n_in,
                           ebb_phase phase) {
    if (n_in < op->min_in || n_in > op->max_in || n_in > EBB_MAX_OPERANDS) {
        ebb_builder_fail(b, EBB_BAD_INPUT, "%s takes %u%s%.0u operands, not %u", op->name, op->min_in,
                         op->min_in < op->max_in ? " to " : "", op->min_in < op->max_in ? op->max_in : 0,
                         n_in);
        return false;
    }
    for (uint32_t i = 0; i < n_in; i++) {
        if (!ebb_builder_known(b, in[i])) {
            ebb_builder_fail(b, EBB_INTERNAL, "%s: operand %u is no value", op->name, i);
            return false;
        }
        const ebb_draft_value *v = b->values.at[in[i]];
        const char *name = v->value.name ? v->value.name : "?";
        if (b->values.at[v->root]->updater != EBB_NONE) {
            ebb_builder_fail(b, EBB_BAD_INPUT,
                             "%s reads %%%.200s after %s has updated it: use its new value", op->name, name,
                             b->nodes.at[b->values.at[v->root]->updater].op->name);
            return false;
        }
        if (v->value.producer == EBB_NONE || b->nodes.at[v->value.producer].phase <= phase) continue;
        ebb_builder_fail(b, EBB_BAD_INPUT, "%s of the %s phase reads %%%.200s of the %s phase", op->name,
                         ebb_phase_name(phase), name, ebb_phase_name(b->nodes.at[v->value.producer].phase));
        return false;
    }
    return true;
}

/* Targets of updates that are given must be params or states, each updated once, by a node that reads each
 * of them through that operand alone: another view of the bytes would see them change. */
static bool updates_check(ebb_builder *b, const ebb_op_info *op, const ebb_id *in, uint32_t n_in) {
    for (uint32_t i = 0; i < op->n_update; i++) {
        const ebb_draft_value *v = b->values.at[in[op->update[i].in]];
        const char *name = v->value.name ? v->value.name : "?";
        if (v->value.producer != EBB_NONE) continue;
        if (v->value.role != EBB_ROLE_PARAM && v->value.role != EBB_ROLE_STATE) {
            ebb_builder_fail(b, EBB_BAD_INPUT, "%s updates %%%.200s, which is not a given param or state",
                             op->name, name);
            return false;
        }
        for (uint32_t j = 0; j < n_in; j++) {
            if (j == op->update[i].in || b->values.at[in[j]]->root != v->root) continue;
            ebb_builder_fail(b, EBB_BAD_INPUT, "%s updates %%%.200s and reads its bytes as operand %u too",
                             op->name, name, j);
            return false;
        }
    }
    return true;
}

/* The node's attributes, checked: a copy of attr, or all defaults. NULL on a latched error. */
static const ebb_attr *attrs_make(ebb_builder *b, const ebb_op_info *op, const ebb_attr *attr) {
    ebb_attr *made = EBB_NEW(&b->arena, ebb_attr, op->n_attrs);
    if (!made) {
        ebb_builder_latch(b, EBB_NO_MEMORY, NULL);
        return NULL;
    }
    for (uint32_t i = 0; i < op->n_attrs; i++) {
        const ebb_attr_info *info = &op->attrs[i];
        if (!attr && info->required) {
            ebb_builder_fail(b, EBB_BAD_INPUT, "%s needs %s=", op->name, info->name);
            return NULL;
        }
        made[i] = attr ? ebb_attr_clean(info, &attr[i]) : ebb_attr_default(info);
        ebb_status status = ebb_attr_check(b->env, op, info, &made[i]);
        if (!status && info->kind == EBB_ATTR_TEXT &&
            !(made[i].text = ebb_arena_text(&b->arena, made[i].text)))
            status = EBB_NO_MEMORY;
        if (status) {
            ebb_builder_latch(b, status, NULL);
            return NULL;
        }
    }
    return made;
}

/* Types of the results by the op's shape rule. */
static bool infer(ebb_builder *b, const ebb_node *node, const char *name, ebb_type *out) {
    ebb_type in[EBB_MAX_OPERANDS];
    for (uint32_t i = 0; i < node->n_in; i++) in[i] = b->values.at[node->in[i]]->value.type;
    ebb_call call = {
        .op = node->op, .in = in, .out = out, .n_in = node->n_in, .n_out = node->n_out, .attr = node->attr};
    ebb_status status = node->op->infer(b->env, &call, out);
    if (status) {
        ebb_builder_latch(b, status, name);
        return false;
    }
    for (uint32_t i = 0; i < node->n_out; i++) {
        if (ebb_type_valid(&out[i])) continue;
        ebb_builder_fail(b, EBB_BAD_INPUT, "%s: result %u has sizes below 1 or too many bytes",
                         node->op->name, i);
        return false;
    }
    return true;
}

static bool results_push(ebb_builder *b, const ebb_node *node, ebb_id *out, const ebb_type *types,
                         const char *const *names) {
    ebb_id id = (ebb_id)b->nodes.n;
    for (uint32_t i = 0; i < node->n_out; i++) {
        const uint32_t target = target_of(b, node->op, node->in, i);
        const ebb_role made = node->phase == EBB_FORWARD ? EBB_ROLE_ACTIVATION : EBB_ROLE_GRADIENT;
        ebb_value value = {.type = {.dtype = types[i].dtype, .rank = types[i].rank},
                           .role = target == EBB_NONE ? made : b->values.at[node->in[target]]->value.role,
                           .producer = id,
                           .result = i};
        for (uint32_t d = 0; d < types[i].rank; d++) value.type.dim[d] = types[i].dim[d];
        out[i] = ebb_builder_push(b, names ? names[i] : NULL, &value);
        if (b->status) return false;
        if (target != EBB_NONE) b->values.at[b->values.at[node->in[target]]->root]->updater = id;
    }
    if (node->op->view) b->values.at[out[0]]->root = b->values.at[node->in[0]]->root;
    return true;
}

const ebb_id *ebb_builder_node(ebb_builder *b, const ebb_op_info *op, const ebb_id *in, uint32_t n_in,
                               const ebb_attr *attr, const char *const *names, ebb_phase phase,
                               uint64_t seed_key) {
    if (b->status || !operands_check(b, op, in, n_in, phase) || !updates_check(b, op, in, n_in))
        return none;
    ebb_node node = {.op = op, .phase = phase, .n_in = n_in};
    if (op->effect == EBB_SEEDED) node.seed_key = seed_key;
    node.attr = attrs_make(b, op, attr);
    if (!node.attr) return none;
    node.n_out = ebb_op_results(op, node.attr);
    for (uint32_t i = 0; names && i < node.n_out; i++) {
        if (!ebb_builder_name_check(b, names[i])) return none;
    }
    ebb_id *out = EBB_NEW(&b->arena, ebb_id, node.n_out);
    node.in = ebb_arena_copy(&b->arena, in, n_in, sizeof *in);
    node.out = out;
    if (!node.in || !out) {
        ebb_builder_latch(b, EBB_NO_MEMORY, NULL);
        return none;
    }
    ebb_type types[EBB_MAX_RESULTS] = {{0}};
    if (!infer(b, &node, names ? names[0] : NULL, types)) return none;
    if (!results_push(b, &node, out, types, names)) return none;
    if (!EBB_PUSH(b->env, &b->nodes, node)) {
        ebb_builder_latch(b, EBB_NO_MEMORY, NULL);
        return none;
    }
    return out;
}
