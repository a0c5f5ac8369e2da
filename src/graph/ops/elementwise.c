/* Elementwise ops of reals: relu, rescale, exp, bias and their gradients. Nothing is broadcast but a bias
 * over its channels, which are the innermost dimension in storage for rank 2 and rank 4 alike. */
#include "graph/ops/rule.h"

/* ---- relu --------------------------------------------------------------------------------------- */

/* The sign of y is the sign of x: keeping y lets y lie over x. */
EBB_UNARY(relu, 1, EBB_GRAD(relu_grad, "y dy"), EBB_RUNS(FOLLOWS));
EBB_UNARY_GRAD(relu_grad, "y", 1, EBB_OVER({0, 1}), .grad = ebb_grad_by_jumps);

/* ---- rescale, exp ------------------------------------------------------------------------------- */

static const ebb_attr_info rescale_attrs[] = {[EBB_RESCALE_TIMES] = EBB_REAL("times", 1, -1e30, 1e30),
                                              [EBB_RESCALE_PLUS] = EBB_REAL("plus", 0, -1e30, 1e30)};

static void rescale_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    const ebb_attr attr[] = {
        [EBB_RESCALE_TIMES] = node->attr[EBB_RESCALE_TIMES], [EBB_RESCALE_PLUS] = {.f = 0}};
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_rescale, dout, 1, attr)[0]);
}
EBB_UNARY(rescale, 2, EBB_LIST(attrs, rescale_attrs), .grad = rescale_grad, EBB_RUNS(FOLLOWS));

/* An exponential is about twenty products and sums. */
EBB_UNARY(exp, 20, EBB_GRAD(mul, "dy y"));

/* ---- bias --------------------------------------------------------------------------------------- */

static void bias_grad_rule(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (ebb_grad_wants(rw, node, 1)) {
        ebb_grad_give(rw, node, 1, ebb_rw_emit(rw, &ebb_op_bias_grad, dout, 1, NULL)[0]);
    }
    if (ebb_grad_wants(rw, node, 0)) ebb_grad_give(rw, node, 0, dout[0]);
}
EBB_DEFINE(bias, EBB_RULE(2, 1, "x[n,c,...] b:wide[c] -> [n,c,...]"), EBB_OVER({0, 0}), EBB_FLOPS(1),
           .by_channel = 1 << 1, .grad = bias_grad_rule, EBB_RUNS(FOLLOWS));

/* A bias of zeros. */
static void bias_grad_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    const ebb_id dy = ebb_rw_value(rw, node->in[0]);
    ebb_grad_give(rw, node, 0, ebb_emit_2(rw, &ebb_op_bias, ebb_emit_fill(rw, dy, 0), dout[0]));
}
EBB_DEFINE(bias_grad, EBB_RULE(1, 1, "dy[n,c,...] -> db:wide[c]"), EBB_FLOPS(1), .grad = bias_grad_grad);
