/* cumsum: each place's sum with all before it along an axis, or with all behind it. Its gradient is the
 * other one. */
#include "graph/ops/rule.h"

static ebb_status cumsum_bind(ebb_env *env, const ebb_call *call, ebb_rule *rule) {
    const int64_t axis = call->attr[EBB_CUMSUM_AXIS].i[0];
    char text[EBB_TYPE_TEXT];
    (void)rule;
    if (axis < call->in[0].rank) return EBB_OK;
    return ebb_fail(env, EBB_BAD_INPUT, "%s: x %s has no axis %lld", call->op->name,
                    ebb_type_text(&call->in[0], text), (long long)axis);
}

static void cumsum_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    const ebb_attr attr[] = {[EBB_CUMSUM_AXIS] = node->attr[EBB_CUMSUM_AXIS],
                             [EBB_CUMSUM_REVERSE] = {.i = {!node->attr[EBB_CUMSUM_REVERSE].i[0]}}};
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_cumsum, dout, 1, attr)[0]);
}

static const ebb_attr_info cumsum_attrs[] = {[EBB_CUMSUM_AXIS] =
                                                 EBB_INTS_NEEDED("axis", 1, 0, EBB_MAX_RANK - 1),
                                             [EBB_CUMSUM_REVERSE] = EBB_FLAG("reverse", 0)};
EBB_DEFINE(cumsum, EBB_RULE(1, 1, "x:num[*] -> [*]"), .bind = cumsum_bind, EBB_LIST(attrs, cumsum_attrs),
           EBB_OVER({0, 0}), EBB_FLOPS(1), .grad = cumsum_grad);
