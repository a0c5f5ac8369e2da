/* softmax_xent: the mean over rows of -log softmax(logits)[label], a scalar, and its gradient
 * dlogits = dloss / rows * (softmax(logits) - onehot(labels)). The softmax is computed again in backward:
 * it is as large as the logits, which are kept anyway.
 *
 * A row is an image, or a place of one: logits[n,k,h,w] are stored channels-last, so that in memory they
 * are the n*h*w rows that labels[n,h,w] number. */
#include "graph/ops/rule.h"

static const ebb_pair out_over_0[] = {{0, 0}};

static ebb_status softmax_xent_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return ebb_rule_infer(env, call,
                          call->in[0].rank == 4 ? "logits[n,k,h,w] labels:i32[n,h,w] -> []"
                                                : "logits[n,k] labels:i32[n] -> []",
                          out);
}

static ebb_status softmax_xent_grad_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return ebb_rule_infer(env, call,
                          call->in[0].rank == 4 ? "logits[n,k,h,w] labels:i32[n,h,w] dloss[] -> [n,k,h,w]"
                                                : "logits[n,k] labels:i32[n] dloss[] -> [n,k]",
                          out);
}

/* Maximum, subtraction, exponential (as one) and sum. */
static void softmax_xent_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, ebb_type_count(&call->in[0]), 4);
}

/* As above, then a division and a product. */
static void softmax_xent_grad_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, ebb_type_count(&call->in[0]), 6);
}

static void softmax_xent_grad_rule(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    ebb_id in[] = {ebb_rw_value(rw, node->in[0]), ebb_rw_value(rw, node->in[1]), dout[0]};
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_softmax_xent_grad, in, 3, NULL)[0]);
}

const ebb_op_info ebb_op_softmax_xent = {
    .name = "softmax_xent",
    .code = EBB_OP_softmax_xent,
    .family = EBB_FAMILY_OF(softmax_xent),
    .min_in = 2,
    .max_in = 2,
    .n_out = 1,
    .effect = EBB_PURE,
    .infer = softmax_xent_infer,
    .cost = softmax_xent_cost,
    .grad = softmax_xent_grad_rule,
};

const ebb_op_info ebb_op_softmax_xent_grad = {
    .name = "softmax_xent_grad",
    .code = EBB_OP_softmax_xent_grad,
    .family = EBB_FAMILY_OF(softmax_xent_grad),
    .min_in = 3,
    .max_in = 3,
    .n_out = 1,
    .effect = EBB_PURE,
    EBB_LIST(may_overwrite, out_over_0),
    .infer = softmax_xent_grad_infer,
    .cost = softmax_xent_grad_cost,
};
