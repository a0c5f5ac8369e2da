/* Elementwise ops: relu, add, sub, mul, div, rescale, exp, bias and their gradients. Nothing is broadcast
 * but a bias over its channels, which are the innermost dimension in storage for rank 2 and rank 4 alike.
 */
#include "graph/ops/rule.h"

/* ---- relu --------------------------------------------------------------------------------------- */

/* The sign of y is the sign of x: keeping y lets y lie over x. */
EBB_UNARY(relu, 1, EBB_GRAD(relu_grad, "y dy"));
EBB_UNARY_GRAD(relu_grad, "y", 1, EBB_OVER({0, 1}));

/* ---- add, sub, mul, div ------------------------------------------------------------------------- */

static void add_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    for (uint32_t i = 0; i < 2; i++) {
        if (ebb_grad_wants(rw, node, i)) ebb_grad_give(rw, node, i, dout[0]);
    }
}
EBB_BINARY(add, 1, .grad = add_grad);

/* mul(a, a) works out too: both halves are given to a, and their sum is 2 a dy. */
static void mul_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    for (uint32_t i = 0; i < 2; i++) {
        if (!ebb_grad_wants(rw, node, i)) continue;
        ebb_id in[] = {dout[0], ebb_rw_value(rw, node->in[1 - i])};
        ebb_grad_give(rw, node, i, ebb_rw_emit(rw, &ebb_op_mul, in, 2, NULL)[0]);
    }
}
EBB_BINARY(mul, 1, .grad = mul_grad);

/* A copy with the other sign. */
static ebb_id negate(ebb_rewriter *rw, ebb_id x) {
    const ebb_attr attr[] = {[EBB_RESCALE_TIMES] = {.f = -1}, [EBB_RESCALE_PLUS] = {.f = 0}};
    return ebb_rw_emit(rw, &ebb_op_rescale, &x, 1, attr)[0];
}

static void sub_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (ebb_grad_wants(rw, node, 0)) ebb_grad_give(rw, node, 0, dout[0]);
    if (ebb_grad_wants(rw, node, 1)) ebb_grad_give(rw, node, 1, negate(rw, dout[0]));
}
EBB_BINARY(sub, 1, .grad = sub_grad);

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
EBB_BINARY(div, 1, .grad = div_grad);

/* ---- rescale, exp ------------------------------------------------------------------------------- */

static const ebb_attr_info rescale_attrs[] = {[EBB_RESCALE_TIMES] = EBB_REAL("times", 1, -1e30, 1e30),
                                              [EBB_RESCALE_PLUS] = EBB_REAL("plus", 0, -1e30, 1e30)};

static void rescale_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    const ebb_attr attr[] = {
        [EBB_RESCALE_TIMES] = node->attr[EBB_RESCALE_TIMES], [EBB_RESCALE_PLUS] = {.f = 0}};
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_rescale, dout, 1, attr)[0]);
}
EBB_UNARY(rescale, 2, EBB_LIST(attrs, rescale_attrs), .grad = rescale_grad);

/* An exponential is about twenty products and sums. */
EBB_UNARY(exp, 20, EBB_GRAD(mul, "dy y"));

/* ---- bias --------------------------------------------------------------------------------------- */

static void bias_grad_rule(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (ebb_grad_wants(rw, node, 1)) {
        ebb_grad_give(rw, node, 1, ebb_rw_emit(rw, &ebb_op_bias_grad, dout, 1, NULL)[0]);
    }
    if (ebb_grad_wants(rw, node, 0)) ebb_grad_give(rw, node, 0, dout[0]);
}
EBB_DEFINE(bias, EBB_RULE(2, 1, "x[n,c,...] b[c] -> [n,c,...]"), EBB_OVER({0, 0}), EBB_FLOPS(1),
           .grad = bias_grad_rule);
EBB_DEFINE(bias_grad, EBB_RULE(1, 1, "dy[n,c,...] -> [c]"), EBB_FLOPS(1));
