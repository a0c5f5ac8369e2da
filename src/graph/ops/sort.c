/* sort: x's lines along an axis in their order, and which place each number came from. Equal ones keep
 * their order; a NaN is larger than all numbers. The gradient takes dy back by where each place went, which
 * is the order of the places. */
#include "graph/ops/rule.h"

#define AXIS EBB_INTS_NEEDED("axis", 1, 0, EBB_MAX_RANK - 1)

static ebb_status sort_bind(ebb_env *env, const ebb_call *call, ebb_rule *rule) {
    const ebb_type *x = &call->in[0];
    const int64_t axis = call->attr[EBB_SORT_AXIS].i[0];
    char text[EBB_TYPE_TEXT];
    (void)rule;
    if (axis < x->rank && x->dim[axis] <= INT32_MAX) return EBB_OK;
    return ebb_fail(env, EBB_BAD_INPUT, "%s: %s must have an axis %lld, of fewer than 2^31 places",
                    call->op->name, ebb_type_text(x, text), (long long)axis);
}

static void sort_cost(const ebb_call *call, ebb_cost *cost) {
    int64_t rounds = 1; /* of merging */
    while (call->in[0].dim[call->attr[EBB_SORT_AXIS].i[0]] >> rounds) rounds++;
    ebb_cost_set(call, cost, ebb_type_count(&call->in[0]), 4 * rounds);
}

static void sort_rule(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0) || dout[0] == EBB_NONE) return;
    const ebb_attr attr[] = {
        [EBB_SORT_AXIS] = node->attr[EBB_SORT_AXIS], [EBB_SORT_DESCENDING] = {.i = {0}}};
    const ebb_id places = ebb_rw_value(rw, node->out[1]);
    const ebb_id in[] = {dout[0], ebb_rw_emit(rw, &ebb_op_sort, &places, 1, attr)[1]};
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_sort_grad, in, 2, attr)[0]);
}

static const ebb_attr_info sort_attrs[] = {
    [EBB_SORT_AXIS] = AXIS, [EBB_SORT_DESCENDING] = EBB_FLAG("descending", 0)};
static const ebb_attr_info sort_grad_attrs[] = {[EBB_SORT_AXIS] = AXIS};
EBB_DEFINE(sort, EBB_RULE(1, 2, "x:num[*] -> [*] places:i32[*]"), .bind = sort_bind,
           EBB_LIST(attrs, sort_attrs), .cost = sort_cost, .grad = sort_rule);
EBB_DEFINE(sort_grad, EBB_RULE(2, 1, "dy[*] i:i32[*] -> [*]"), .bind = sort_bind,
           EBB_LIST(attrs, sort_grad_attrs), EBB_FLOPS(0));
