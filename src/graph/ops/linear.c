/* linear: y = x w^T, a matrix product, and its two gradients. A bias is an op of its own. */
#include "graph/ops/rule.h"

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

/* Products of two, so that each operand's gradient is a product of the other and of what arrives: those of
 * a linear whose operands these are. */
static void product_grad(ebb_rewriter *rw, const ebb_node *node, ebb_id arrives, const ebb_op_info *by_0,
                         const ebb_op_info *by_1, bool swapped) {
    const ebb_id a = ebb_rw_value(rw, node->in[0]), b = ebb_rw_value(rw, node->in[1]);
    if (ebb_grad_wants(rw, node, 1))
        ebb_grad_give(rw, node, 1,
                      swapped ? ebb_emit_2(rw, by_1, arrives, a) : ebb_emit_2(rw, by_1, a, arrives));
    if (ebb_grad_wants(rw, node, 0))
        ebb_grad_give(rw, node, 0,
                      swapped ? ebb_emit_2(rw, by_0, arrives, b) : ebb_emit_2(rw, by_0, b, arrives));
}

/* dx = dy w */
static void linear_dgrad_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    product_grad(rw, node, dout[0], &ebb_op_linear, &ebb_op_linear_wgrad, true);
}

/* dw = dy^T x */
static void linear_wgrad_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    product_grad(rw, node, dout[0], &ebb_op_linear_dgrad, &ebb_op_linear, false);
}

EBB_DEFINE(linear, EBB_RULE(2, 1, "x[n,i] w[o,i] -> [n,o]"), .cost = linear_cost, .grad = linear_grad,
           EBB_RUNS(LOW));
EBB_DEFINE(linear_dgrad, EBB_RULE(2, 1, "dy[n,o] w[o,i] -> [n,i]"), .cost = linear_cost,
           .grad = linear_dgrad_grad);
EBB_DEFINE(linear_wgrad, EBB_RULE(2, 1, "x[n,i] dy[n,o] -> [o,i]"), .cost = linear_wgrad_cost,
           .grad = linear_wgrad_grad);
