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

/* Maximum, subtraction, an exponential of about twenty, sum, product. */
EBB_DEFINE(softmax, EBB_RULE(1, 1, "x[n,k] -> [n,k] or x[g,n,k] -> [g,n,k]"),
           EBB_LIST(attrs, softmax_attrs), .bind = causal_check, EBB_OVER({0, 0}), EBB_FLOPS(24),
           EBB_GRAD(softmax_grad, "y dy"), EBB_RUNS(FOLLOWS));
EBB_DEFINE(softmax_grad, EBB_RULE(2, 1, "y[n,k] dy[n,k] -> [n,k] or y[g,n,k] dy[g,n,k] -> [g,n,k]"),
           EBB_OVER({0, 1}, {0, 0}), EBB_FLOPS(4));
