/* dropout: y = x * mask / (1 - p). No mask is kept: the gradient draws it again from the same key, so that
 * only dy is needed in backward. */
#include "graph/ops/rule.h"

static const ebb_attr_info dropout_attrs[] = {[EBB_DROPOUT_P] = EBB_REAL("p", 0.5, 0, 1)};

static ebb_status p_check(ebb_env *env, const ebb_call *call, ebb_rule *rule) {
    (void)rule;
    if (call->attr[EBB_DROPOUT_P].f < 1) return EBB_OK; /* the schema saw to the rest */
    return ebb_fail(env, EBB_BAD_INPUT, "%s: p %g drops everything: it must be in [0, 1)", call->op->name,
                    call->attr[EBB_DROPOUT_P].f);
}

static void dropout_lower(ebb_rewriter *rw, const ebb_node *node, ebb_mode mode) {
    ebb_id x = ebb_rw_value(rw, node->in[0]);
    if (mode == EBB_TRAIN) x = ebb_rw_emit(rw, &ebb_op_dropout, &x, 1, node->attr)[0];
    ebb_lower_give(rw, node, 0, x);
}

/* A comparison and a product; the generator's integer work is not counted. */
EBB_UNARY(dropout, 2, EBB_LIST(attrs, dropout_attrs), .effect = EBB_SEEDED, .bind = p_check,
          EBB_GRAD(dropout_grad, "dy"), .lower = dropout_lower, EBB_RUNS(FOLLOWS));
EBB_DEFINE(dropout_grad, EBB_RULE(1, 1, "dy[*] -> [*]"), EBB_LIST(attrs, dropout_attrs),
           .effect = EBB_SEEDED, .bind = p_check, EBB_OVER({0, 0}), EBB_FLOPS(2),
           EBB_GRAD(dropout_grad, "dy"));
