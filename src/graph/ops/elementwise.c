/* Elementwise ops: relu, add, sub, mul, div, rescale, exp, bias and their gradients. Nothing is broadcast
 * but a bias over its channels, which are the innermost dimension in storage for rank 2 and rank 4 alike.
 */
#include "graph/ops/rule.h"

static const ebb_pair out_over_0[] = {{0, 0}};
static const ebb_pair out_over_1[] = {{0, 1}};
static const ebb_pair out_over_either[] = {{0, 0}, {0, 1}};

static void one_flop_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, ebb_type_count(&call->in[0]), 1);
}

/* ---- relu --------------------------------------------------------------------------------------- */

static ebb_status relu_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return ebb_rule_infer(env, call, "x[*] -> [*]", out);
}

/* The sign of y is the sign of x: keeping y lets y stand over x. */
static void relu_grad_rule(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    ebb_id in[] = {ebb_rw_value(rw, node->out[0]), dout[0]};
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_relu_grad, in, 2, NULL)[0]);
}

const ebb_op_info ebb_op_relu = {
    .name = "relu",
    .code = EBB_OP_relu,
    .family = EBB_FAMILY_OF(relu),
    .min_in = 1,
    .max_in = 1,
    .n_out = 1,
    .effect = EBB_PURE,
    EBB_LIST(may_overwrite, out_over_0),
    .infer = relu_infer,
    .cost = one_flop_cost,
    .grad = relu_grad_rule,
};

static ebb_status relu_grad_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return ebb_rule_infer(env, call, "y[*] dy[*] -> [*]", out);
}

const ebb_op_info ebb_op_relu_grad = {
    .name = "relu_grad",
    .code = EBB_OP_relu_grad,
    .family = EBB_FAMILY_OF(relu_grad),
    .min_in = 2,
    .max_in = 2,
    .n_out = 1,
    .effect = EBB_PURE,
    EBB_LIST(may_overwrite, out_over_1),
    .infer = relu_grad_infer,
    .cost = one_flop_cost,
};

/* ---- add, mul ----------------------------------------------------------------------------------- */

static ebb_status binary_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return ebb_rule_infer(env, call, "a[*] b[*] -> [*]", out);
}

static void add_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    for (uint32_t i = 0; i < 2; i++) {
        if (ebb_grad_wants(rw, node, i)) ebb_grad_give(rw, node, i, dout[0]);
    }
}

const ebb_op_info ebb_op_add = {
    .name = "add",
    .code = EBB_OP_add,
    .family = EBB_FAMILY_OF(add),
    .min_in = 2,
    .max_in = 2,
    .n_out = 1,
    .effect = EBB_PURE,
    EBB_LIST(may_overwrite, out_over_either),
    .infer = binary_infer,
    .cost = one_flop_cost,
    .grad = add_grad,
};

/* mul(a, a) works out too: both halves are given to a, and their sum is 2 a dy. */
static void mul_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    for (uint32_t i = 0; i < 2; i++) {
        if (!ebb_grad_wants(rw, node, i)) continue;
        ebb_id in[] = {dout[0], ebb_rw_value(rw, node->in[1 - i])};
        ebb_grad_give(rw, node, i, ebb_rw_emit(rw, &ebb_op_mul, in, 2, NULL)[0]);
    }
}

const ebb_op_info ebb_op_mul = {
    .name = "mul",
    .code = EBB_OP_mul,
    .family = EBB_FAMILY_OF(mul),
    .min_in = 2,
    .max_in = 2,
    .n_out = 1,
    .effect = EBB_PURE,
    EBB_LIST(may_overwrite, out_over_either),
    .infer = binary_infer,
    .cost = one_flop_cost,
    .grad = mul_grad,
};

/* A copy with the other sign. */
static ebb_id negate(ebb_rewriter *rw, ebb_id x) {
    const ebb_attr attr[] = {[EBB_RESCALE_TIMES] = {.f = -1}, [EBB_RESCALE_PLUS] = {.f = 0}};
    return ebb_rw_emit(rw, &ebb_op_rescale, &x, 1, attr)[0];
}

static void sub_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (ebb_grad_wants(rw, node, 0)) ebb_grad_give(rw, node, 0, dout[0]);
    if (ebb_grad_wants(rw, node, 1)) ebb_grad_give(rw, node, 1, negate(rw, dout[0]));
}

const ebb_op_info ebb_op_sub = {
    .name = "sub",
    .code = EBB_OP_sub,
    .family = EBB_FAMILY_OF(sub),
    .min_in = 2,
    .max_in = 2,
    .n_out = 1,
    .effect = EBB_PURE,
    EBB_LIST(may_overwrite, out_over_either),
    .infer = binary_infer,
    .cost = one_flop_cost,
    .grad = sub_grad,
};

/* da = dy / b and db = -y * dy / b = -y * da: y is read, so that a need not be. */
static void div_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0) && !ebb_grad_wants(rw, node, 1)) return;
    ebb_id in[] = {dout[0], ebb_rw_value(rw, node->in[1])};
    const ebb_id da = ebb_rw_emit(rw, &ebb_op_div, in, 2, NULL)[0];
    if (ebb_grad_wants(rw, node, 0)) ebb_grad_give(rw, node, 0, da);
    if (!ebb_grad_wants(rw, node, 1)) return;
    ebb_id product[] = {da, ebb_rw_value(rw, node->out[0])};
    ebb_grad_give(rw, node, 1, negate(rw, ebb_rw_emit(rw, &ebb_op_mul, product, 2, NULL)[0]));
}

const ebb_op_info ebb_op_div = {
    .name = "div",
    .code = EBB_OP_div,
    .family = EBB_FAMILY_OF(div),
    .min_in = 2,
    .max_in = 2,
    .n_out = 1,
    .effect = EBB_PURE,
    EBB_LIST(may_overwrite, out_over_either),
    .infer = binary_infer,
    .cost = one_flop_cost,
    .grad = div_grad,
};

/* ---- rescale, exp ------------------------------------------------------------------------------- */

#define FACTOR(field, usual) \
    { .name = (field), .kind = EBB_ATTR_REAL, .count = 1, .fallback = (usual), .min = -1e30, .max = 1e30 }
static const ebb_attr_info rescale_attrs[] = {
    [EBB_RESCALE_TIMES] = FACTOR("times", 1), [EBB_RESCALE_PLUS] = FACTOR("plus", 0)};

static void two_flops_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, ebb_type_count(&call->in[0]), 2);
}

static void rescale_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    const ebb_attr attr[] = {
        [EBB_RESCALE_TIMES] = node->attr[EBB_RESCALE_TIMES], [EBB_RESCALE_PLUS] = {.f = 0}};
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_rescale, dout, 1, attr)[0]);
}

const ebb_op_info ebb_op_rescale = {
    .name = "rescale",
    .code = EBB_OP_rescale,
    .family = EBB_FAMILY_OF(rescale),
    .min_in = 1,
    .max_in = 1,
    .n_out = 1,
    EBB_LIST(attrs, rescale_attrs),
    .effect = EBB_PURE,
    EBB_LIST(may_overwrite, out_over_0),
    .infer = relu_infer,
    .cost = two_flops_cost,
    .grad = rescale_grad,
};

/* An exponential is about twenty products and sums. */
static void exp_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, ebb_type_count(&call->in[0]), 20);
}

static void exp_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    ebb_id in[] = {dout[0], ebb_rw_value(rw, node->out[0])};
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_mul, in, 2, NULL)[0]);
}

const ebb_op_info ebb_op_exp = {
    .name = "exp",
    .code = EBB_OP_exp,
    .family = EBB_FAMILY_OF(exp),
    .min_in = 1,
    .max_in = 1,
    .n_out = 1,
    .effect = EBB_PURE,
    EBB_LIST(may_overwrite, out_over_0),
    .infer = relu_infer,
    .cost = exp_cost,
    .grad = exp_grad,
};

/* ---- bias --------------------------------------------------------------------------------------- */

static ebb_status bias_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return ebb_rule_infer(env, call, "x[n,c,...] b[c] -> [n,c,...]", out);
}

static void bias_grad_rule(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (ebb_grad_wants(rw, node, 1)) {
        ebb_grad_give(rw, node, 1, ebb_rw_emit(rw, &ebb_op_bias_grad, dout, 1, NULL)[0]);
    }
    if (ebb_grad_wants(rw, node, 0)) ebb_grad_give(rw, node, 0, dout[0]);
}

const ebb_op_info ebb_op_bias = {
    .name = "bias",
    .code = EBB_OP_bias,
    .family = EBB_FAMILY_OF(bias),
    .min_in = 2,
    .max_in = 2,
    .n_out = 1,
    .effect = EBB_PURE,
    EBB_LIST(may_overwrite, out_over_0),
    .infer = bias_infer,
    .cost = one_flop_cost,
    .grad = bias_grad_rule,
};

static ebb_status bias_grad_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return ebb_rule_infer(env, call, "dy[n,c,...] -> [c]", out);
}

const ebb_op_info ebb_op_bias_grad = {
    .name = "bias_grad",
    .code = EBB_OP_bias_grad,
    .family = EBB_FAMILY_OF(bias_grad),
    .min_in = 1,
    .max_in = 1,
    .n_out = 1,
    .effect = EBB_PURE,
    .infer = bias_grad_infer,
    .cost = one_flop_cost,
};
