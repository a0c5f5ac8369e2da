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

EBB_DEFINE(linear, EBB_RULE(2, 1, "x[n,i] w[o,i] -> [n,o]"), .cost = linear_cost, .grad = linear_grad,
           EBB_RUNS(LOW));
EBB_DEFINE(linear_dgrad, EBB_RULE(2, 1, "dy[n,o] w[o,i] -> [n,i]"), .cost = linear_cost);
EBB_DEFINE(linear_wgrad, EBB_RULE(2, 1, "x[n,i] dy[n,o] -> [o,i]"), .cost = linear_wgrad_cost);
