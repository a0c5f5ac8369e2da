/* Activations beside relu (which is in elementwise.c): clip, gelu and their gradients.
 *
 *     clip   y = min where x < min, max where x > max, else x;  dx = dy where min < y < max, else 0
 *     gelu   y = x / 2 * (1 + tanh(u)),  u = sqrt(2 / pi) * (x + 0.044715 x^3)
 *
 * With min=0 and max=6 clip is relu6 (Howard et al., "MobileNets", 2017). gelu is the form by tanh of
 * Hendrycks and Gimpel, "Gaussian error linear units", 2016, which GPT-2 uses; y does not tell x, so its
 * gradient reads x. */
#include "graph/ops/rule.h"

#define BOUND(field) \
    { .name = (field), .kind = EBB_ATTR_REAL, .count = 1, .required = true, .min = -1e30, .max = 1e30 }
static const ebb_attr_info clip_attrs[] = {[EBB_CLIP_MIN] = BOUND("min"), [EBB_CLIP_MAX] = BOUND("max")};

static const ebb_pair out_over_0[] = {{0, 0}};
static const ebb_pair out_over_1[] = {{0, 1}};
static const ebb_pair out_over_1_or_0[] = {{0, 1}, {0, 0}};

/* ---- clip --------------------------------------------------------------------------------------- */

static ebb_status bounds_check(ebb_env *env, const ebb_call *call) {
    const double min = call->attr[EBB_CLIP_MIN].f, max = call->attr[EBB_CLIP_MAX].f;
    if (min < max) return EBB_OK;
    return ebb_fail(env, EBB_BAD_INPUT, "%s: min %g must be less than max %g", call->op->name, min, max);
}

static ebb_status clip_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    const ebb_status status = bounds_check(env, call);
    return status ? status : ebb_rule_infer(env, call, "x[*] -> [*]", out);
}

static ebb_status clip_grad_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    const ebb_status status = bounds_check(env, call);
    return status ? status : ebb_rule_infer(env, call, "y[*] dy[*] -> [*]", out);
}

/* Two comparisons. */
static void clip_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, ebb_type_count(&call->in[0]), 2);
}

/* What was cut shows in y, which is then min or max: keeping y lets y stand over x. */
static void clip_grad_rule(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    ebb_id in[] = {ebb_rw_value(rw, node->out[0]), dout[0]};
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_clip_grad, in, 2, node->attr)[0]);
}

const ebb_op_info ebb_op_clip = {
    .name = "clip",
    .code = EBB_OP_clip,
    .family = EBB_FAMILY_OF(clip),
    .min_in = 1,
    .max_in = 1,
    .n_out = 1,
    EBB_LIST(attrs, clip_attrs),
    .effect = EBB_PURE,
    EBB_LIST(may_overwrite, out_over_0),
    .infer = clip_infer,
    .cost = clip_cost,
    .grad = clip_grad_rule,
};

const ebb_op_info ebb_op_clip_grad = {
    .name = "clip_grad",
    .code = EBB_OP_clip_grad,
    .family = EBB_FAMILY_OF(clip_grad),
    .min_in = 2,
    .max_in = 2,
    .n_out = 1,
    EBB_LIST(attrs, clip_attrs),
    .effect = EBB_PURE,
    EBB_LIST(may_overwrite, out_over_1),
    .infer = clip_grad_infer,
    .cost = clip_cost,
};

/* ---- gelu --------------------------------------------------------------------------------------- */

static ebb_status gelu_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return ebb_rule_infer(env, call, "x[*] -> [*]", out);
}

static ebb_status gelu_grad_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return ebb_rule_infer(env, call, "x[*] dy[*] -> [*]", out);
}

/* Products, sums, a division, and an exponential of about 15. */
static void gelu_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, ebb_type_count(&call->in[0]), 22);
}

static void gelu_grad_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, ebb_type_count(&call->in[0]), 31);
}

static void gelu_grad_rule(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    ebb_id in[] = {ebb_rw_value(rw, node->in[0]), dout[0]};
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_gelu_grad, in, 2, NULL)[0]);
}

const ebb_op_info ebb_op_gelu = {
    .name = "gelu",
    .code = EBB_OP_gelu,
    .family = EBB_FAMILY_OF(gelu),
    .min_in = 1,
    .max_in = 1,
    .n_out = 1,
    .effect = EBB_PURE,
    EBB_LIST(may_overwrite, out_over_0),
    .infer = gelu_infer,
    .cost = gelu_cost,
    .grad = gelu_grad_rule,
};

const ebb_op_info ebb_op_gelu_grad = {
    .name = "gelu_grad",
    .code = EBB_OP_gelu_grad,
    .family = EBB_FAMILY_OF(gelu_grad),
    .min_in = 2,
    .max_in = 2,
    .n_out = 1,
    .effect = EBB_PURE,
    EBB_LIST(may_overwrite, out_over_1_or_0),
    .infer = gelu_grad_infer,
    .cost = gelu_grad_cost,
};
