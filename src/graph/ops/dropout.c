/* dropout: y = x * mask / (1 - p). No mask is kept: the gradient draws it again from the same key, so that
 * only dy is needed in backward. */
#include "graph/ops/rule.h"

static const ebb_attr_info dropout_attrs[] = {
    [EBB_DROPOUT_P] = {.name = "p", .kind = EBB_ATTR_REAL, .count = 1, .fallback = 0.5, .min = 0, .max = 1},
};
static const ebb_pair out_over_0[] = {{0, 0}};

static ebb_status p_check(ebb_env *env, const ebb_call *call) {
    if (call->attr[EBB_DROPOUT_P].f < 1) return EBB_OK; /* the schema saw to the rest */
    return ebb_fail(env, EBB_BAD_INPUT, "%s: p %g drops everything: it must be in [0, 1)", call->op->name,
                    call->attr[EBB_DROPOUT_P].f);
}

static ebb_status dropout_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    ebb_status status = p_check(env, call);
    return status ? status : ebb_rule_infer(env, call, "x[*] -> [*]", out);
}

static ebb_status dropout_grad_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    ebb_status status = p_check(env, call);
    return status ? status : ebb_rule_infer(env, call, "dy[*] -> [*]", out);
}

/* A comparison and a product; the generator's integer work is not counted. */
static void dropout_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, ebb_type_count(&call->in[0]), 2);
}

static void dropout_grad_rule(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_dropout_grad, dout, 1, node->attr)[0]);
}

static void dropout_lower(ebb_rewriter *rw, const ebb_node *node, ebb_mode mode) {
    ebb_id x = ebb_rw_value(rw, node->in[0]);
    if (mode == EBB_TRAIN) x = ebb_rw_emit(rw, &ebb_op_dropout, &x, 1, node->attr)[0];
    ebb_lower_give(rw, node, 0, x);
}

const ebb_op_info ebb_op_dropout = {
    .name = "dropout",
    .code = EBB_OP_dropout,
    .family = EBB_FAMILY_OF(dropout),
    .min_in = 1,
    .max_in = 1,
    .n_out = 1,
    EBB_LIST(attrs, dropout_attrs),
    .effect = EBB_SEEDED,
    EBB_LIST(may_overwrite, out_over_0),
    .infer = dropout_infer,
    .cost = dropout_cost,
    .grad = dropout_grad_rule,
    .lower = dropout_lower,
};

const ebb_op_info ebb_op_dropout_grad = {
    .name = "dropout_grad",
    .code = EBB_OP_dropout_grad,
    .family = EBB_FAMILY_OF(dropout_grad),
    .min_in = 1,
    .max_in = 1,
    .n_out = 1,
    EBB_LIST(attrs, dropout_attrs),
    .effect = EBB_SEEDED,
    EBB_LIST(may_overwrite, out_over_0),
    .infer = dropout_grad_infer,
    .cost = dropout_cost,
};
