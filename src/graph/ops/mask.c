/* What relu_grad must know of y, as a bit for each element: set where the gradient passes, that is, not
 * where y <= 0. Bit i % 8 of byte i / 8 is that of element i in storage order; bits behind the last element
 * are 0. */
#include "graph/ops/rule.h"

static const ebb_pair out_over_0[] = {{0, 0}};

static ebb_status relu_mask_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    ebb_rule r;
    const ebb_status status = ebb_rule_match(env, call, "y[*] -> bits:u8[b]", &r);
    if (status) return status;
    ebb_rule_set(&r, 'b', ebb_mask_bytes(ebb_type_count(&call->in[0])));
    return ebb_rule_give(env, call, &r, out);
}

static ebb_status relu_mask_grad_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    ebb_rule r;
    const ebb_status status = ebb_rule_match(env, call, "dy[*] bits:u8[b] -> [*]", &r);
    return status ? status : ebb_rule_give_bits(env, call, &r, 1, out);
}

static ebb_status relu_grad_choice_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    ebb_rule r;
    const ebb_status status = ebb_rule_match(env, call, "y[*] bits:u8[b] dy[*] -> [*]", &r);
    return status ? status : ebb_rule_give_bits(env, call, &r, 1, out);
}

static void mask_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, ebb_type_count(&call->in[0]), 1);
}

const ebb_op_info ebb_op_relu_mask = {
    .name = "relu_mask",
    .code = EBB_OP_relu_mask,
    .family = EBB_FAMILY_OF(relu_mask),
    .min_in = 1,
    .max_in = 1,
    .n_out = 1,
    .effect = EBB_PURE,
    .infer = relu_mask_infer,
    .cost = mask_cost,
};

const ebb_op_info ebb_op_relu_mask_grad = {
    .name = "relu_mask_grad",
    .code = EBB_OP_relu_mask_grad,
    .family = EBB_FAMILY_OF(relu_mask_grad),
    .min_in = 2,
    .max_in = 2,
    .n_out = 1,
    .effect = EBB_PURE,
    EBB_LIST(may_overwrite, out_over_0),
    .infer = relu_mask_grad_infer,
    .cost = mask_cost,
};

/* Where y is read elsewhere in backward too: bits let it go some steps earlier, or be made again once less.
 */
static const ebb_op_way relu_grad_ways[] = {{"y", &ebb_op_relu_grad, 2, {0, 2}},
                                            {"bits", &ebb_op_relu_mask_grad, 2, {2, 1}}};

const ebb_op_info ebb_op_relu_grad_choice = {
    .name = "relu_grad_choice",
    .code = EBB_OP_relu_grad_choice,
    .family = EBB_FAMILY_OF(relu_grad_choice),
    .min_in = 3,
    .max_in = 3,
    .n_out = 1,
    .effect = EBB_PURE,
    EBB_LIST(ways, relu_grad_ways),
    .infer = relu_grad_choice_infer,
    .cost = mask_cost,
};
