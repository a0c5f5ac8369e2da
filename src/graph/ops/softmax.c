/* softmax of rows and its gradient: y = exp(x) / sum of exp(x), dx = y * (dy - sum of dy * y). With
 * `causal` row i of x[g,n,k] sees the columns up to i + k - n, and y is 0 in the others (then so is dx: y
 * says it all). */
#include "graph/ops/rule.h"

static const ebb_attr_info softmax_attrs[] = {[EBB_SOFTMAX_CAUSAL] = EBB_FLAG("causal", 0)};

static ebb_status causal_check(ebb_env *env, const ebb_call *call, ebb_rule *rule) {
    (void)rule;
    const ebb_type *x = &call->in[0];
    if (!call->attr[EBB_SOFTMAX_CAUSAL].i[0]) return EBB_OK;
    if (x->rank == 3 && x->dim[2] >= x->dim[1]) return EBB_OK;
    char text[EBB_TYPE_TEXT];
    return ebb_fail(env, EBB_BAD_INPUT, "%s: causal rows need x[g,n,k] with n <= k, not %s", call->op->name,
                    ebb_type_text(x, text));
}

/* y (dy - sum of dy y) by y: what arrives times (dy - sum of dy y), less dy times the sum of what arrives
 * times y. By dy the same op: softmax's derivative is its own transpose. */
static void softmax_grad_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    const ebb_id y = ebb_rw_value(rw, node->in[0]), dy = ebb_rw_value(rw, node->in[1]);
    const uint32_t last = UINT32_C(1) << (ebb_builder_type(ebb_rw_builder(rw), y)->rank - 1);
    if (ebb_grad_wants(rw, node, 0)) {
        const ebb_id of_dy = ebb_emit_sum(rw, ebb_emit_2(rw, &ebb_op_mul, dy, y), last, true);
        const ebb_id of_it = ebb_emit_sum(rw, ebb_emit_2(rw, &ebb_op_mul, dout[0], y), last, true);
        const ebb_id first = ebb_emit_2(rw, &ebb_op_mul, dout[0], ebb_emit_2(rw, &ebb_op_sub, dy, of_dy));
        ebb_grad_give(rw, node, 0,
                      ebb_emit_2(rw, &ebb_op_sub, first, ebb_emit_2(rw, &ebb_op_mul, dy, of_it)));
    }
    ebb_grad_same(rw, node, dout, 1);
}

/* Maximum, subtraction, an exponential of about twenty, sum, product. */
EBB_DEFINE(softmax, EBB_RULE(1, 1, "x[n,k] -> [n,k] or x[g,n,k] -> [g,n,k]"),
           EBB_LIST(attrs, softmax_attrs), .bind = causal_check, EBB_OVER({0, 0}), EBB_FLOPS(24),
           EBB_GRAD(softmax_grad, "y dy"), EBB_RUNS(FOLLOWS));
EBB_DEFINE(softmax_grad, EBB_RULE(2, 1, "y[n,k] dy[n,k] -> [n,k] or y[g,n,k] dy[g,n,k] -> [g,n,k]"),
           EBB_OVER({0, 1}, {0, 0}), EBB_FLOPS(4), .grad = softmax_grad_grad);
