/* softmax of rows and its gradient: y = exp(x) / sum of exp(x), dx = y * (dy - sum of dy * y). With
 * `causal` row i of x[g,n,k] sees the columns up to i + k - n, and y is 0 in the others (then so is dx: y
 * says it all). */
#include "graph/ops/rule.h"

static const ebb_attr_info softmax_attrs[] = {
    [EBB_SOFTMAX_CAUSAL] =
        {.name = "causal", .kind = EBB_ATTR_BOOL, .count = 1, .fallback = 0, .min = 0, .max = 1},
};
static const ebb_pair softmax_over[] = {{0, 0}};
static const ebb_pair softmax_grad_over[] = {{0, 1}, {0, 0}};

static ebb_status softmax_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    const ebb_type *x = &call->in[0];
    ebb_status status =
        ebb_rule_infer(env, call, x->rank == 3 ? "x[g,n,k] -> [g,n,k]" : "x[n,k] -> [n,k]", out);
    if (status || !call->attr[EBB_SOFTMAX_CAUSAL].i[0]) return status;
    if (x->rank == 3 && x->dim[2] >= x->dim[1]) return EBB_OK;
    char text[EBB_TYPE_TEXT];
    return ebb_fail(env, EBB_BAD_INPUT, "%s: causal rows need x[g,n,k] with n <= k, not %s", call->op->name,
                    ebb_type_text(x, text));
}

static ebb_status softmax_grad_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return ebb_rule_infer(
        env, call, call->in[0].rank == 3 ? "y[g,n,k] dy[g,n,k] -> [g,n,k]" : "y[n,k] dy[n,k] -> [n,k]",
        out);
}

/* Maximum, subtraction, an exponential of about twenty, sum, product. */
static void softmax_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, ebb_type_count(&call->in[0]), 24);
}

static void softmax_grad_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, ebb_type_count(&call->in[0]), 4);
}

static void softmax_grad_rule(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    ebb_id in[] = {ebb_rw_value(rw, node->out[0]), dout[0]};
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_softmax_grad, in, 2, NULL)[0]);
}

const ebb_op_info ebb_op_softmax = {
    .name = "softmax",
    .code = EBB_OP_softmax,
    .family = EBB_FAMILY_OF(softmax),
    .min_in = 1,
    .max_in = 1,
    .n_out = 1,
    EBB_LIST(attrs, softmax_attrs),
    .effect = EBB_PURE,
    EBB_LIST(may_overwrite, softmax_over),
    .infer = softmax_infer,
    .cost = softmax_cost,
    .grad = softmax_grad_rule,
};

const ebb_op_info ebb_op_softmax_grad = {
    .name = "softmax_grad",
    .code = EBB_OP_softmax_grad,
    .family = EBB_FAMILY_OF(softmax_grad),
    .min_in = 2,
    .max_in = 2,
    .n_out = 1,
    .effect = EBB_PURE,
    EBB_LIST(may_overwrite, softmax_grad_over),
    .infer = softmax_grad_infer,
    .cost = softmax_grad_cost,
};
