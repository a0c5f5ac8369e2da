/* linear: y = x w^T, a matrix product, and its two gradients. A bias is an op of its own. */
#include "graph/ops/rule.h"

static ebb_status linear_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return ebb_rule_infer(env, call, "x[n,i] w[o,i] -> [n,o]", out);
}

static ebb_status linear_dgrad_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return ebb_rule_infer(env, call, "dy[n,o] w[o,i] -> [n,i]", out);
}

static ebb_status linear_wgrad_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return ebb_rule_infer(env, call, "x[n,i] dy[n,o] -> [o,i]", out);
}

/* A multiply and an add for each n, o and i; n * o * i is the first operand times what the result adds. */
static void linear_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, ebb_mul_saturated(ebb_type_count(&call->in[0]), call->out[0].dim[1]), 2);
}

static void linear_wgrad_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, ebb_mul_saturated(ebb_type_count(&call->in[0]), call->in[1].dim[1]), 2);
}

/* The weight's gradient first: x may die before dx is made. */
static void linear_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (ebb_grad_wants(rw, node, 1)) {
        ebb_id in[] = {ebb_rw_value(rw, node->in[0]), dout[0]};
        ebb_grad_give(rw, node, 1, ebb_rw_emit(rw, &ebb_op_linear_wgrad, in, 2, NULL)[0]);
    }
    if (ebb_grad_wants(rw, node, 0)) {
        ebb_id in[] = {dout[0], ebb_rw_value(rw, node->in[1])};
        ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_linear_dgrad, in, 2, NULL)[0]);
    }
}

const ebb_op_info ebb_op_linear = {
    .name = "linear",
    .code = EBB_OP_linear,
    .family = EBB_FAMILY_OF(linear),
    .min_in = 2,
    .max_in = 2,
    .n_out = 1,
    .effect = EBB_PURE,
    .infer = linear_infer,
    .cost = linear_cost,
    .grad = linear_grad,
};

const ebb_op_info ebb_op_linear_dgrad = {
    .name = "linear_dgrad",
    .code = EBB_OP_linear_dgrad,
    .family = EBB_FAMILY_OF(linear_dgrad),
    .min_in = 2,
    .max_in = 2,
    .n_out = 1,
    .effect = EBB_PURE,
    .infer = linear_dgrad_infer,
    .cost = linear_cost,
};

const ebb_op_info ebb_op_linear_wgrad = {
    .name = "linear_wgrad",
    .code = EBB_OP_linear_wgrad,
    .family = EBB_FAMILY_OF(linear_wgrad),
    .min_in = 2,
    .max_in = 2,
    .n_out = 1,
    .effect = EBB_PURE,
    .infer = linear_wgrad_infer,
    .cost = linear_wgrad_cost,
};
