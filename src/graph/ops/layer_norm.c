/* Layer normalization (Ba, Kiros and Hinton, "Layer normalization", 2016) of each row of x[n,c], cut as
 * batch-norm is (norm.c), so that the statistics are kept and y is had again from x alone.
 *
 *     ln_stats      x -> mean, variance of each row (variance divides by c)
 *     ln_apply      y = (x - mean) * inv_std * gamma + beta,  inv_std = 1 / sqrt(variance + eps)
 *     ln_grad_sums  dgamma = sum over rows of dy * (x - mean) * inv_std,  dbeta = sum of dy
 *     ln_grad       dx = inv_std * (g - mean of g - xhat * mean of g * xhat),  g = dy * gamma
 *
 * The statistics are always those of the same x: dx above is the whole derivative by x, through them too,
 * so ln_apply gives them no gradient of their own, and ln_stats's rule refuses one that comes from
 * elsewhere. */
#include "graph/ops/rule.h"

static const ebb_attr_info ln_attrs[] = {
    [EBB_LN_EPS] =
        {.name = "eps", .kind = EBB_ATTR_REAL, .count = 1, .fallback = 1e-5, .min = 1e-30, .max = 1e30},
};

static const ebb_pair ln_apply_over[] = {{0, 0}};
static const ebb_pair ln_grad_over[] = {{0, 4}, {0, 0}}; /* over dy; over x where a skip branch needs dy */

enum { X, MEAN, VARIANCE, GAMMA, BETA }; /* ln_apply's inputs */

static ebb_status layer_norm_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return ebb_rule_infer(env, call, "x[n,c] gamma[c] beta[c] -> [n,c]", out);
}

static ebb_status ln_stats_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return ebb_rule_infer(env, call, "x[n,c] -> [n] [n]", out);
}

static ebb_status ln_apply_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return ebb_rule_infer(env, call, "x[n,c] mean[n] variance[n] gamma[c] beta[c] -> [n,c]", out);
}

static ebb_status ln_grad_sums_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return ebb_rule_infer(env, call, "x[n,c] mean[n] variance[n] dy[n,c] -> [c] [c]", out);
}

static ebb_status ln_grad_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return ebb_rule_infer(env, call, "x[n,c] mean[n] variance[n] gamma[c] dy[n,c] -> [n,c]", out);
}

/* Flops for each element of x; the few for each row are not counted. */
static void four_flops_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, ebb_type_count(&call->in[0]), 4);
}

static void ten_flops_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, ebb_type_count(&call->in[0]), 10);
}

static void layer_norm_lower(ebb_rewriter *rw, const ebb_node *node, ebb_mode mode) {
    (void)mode;
    ebb_id x = ebb_rw_value(rw, node->in[0]);
    const ebb_id *stats = ebb_rw_emit(rw, &ebb_op_ln_stats, &x, 1, NULL);
    ebb_id in[] = {[X] = x,
                   [MEAN] = stats[0],
                   [VARIANCE] = stats[1],
                   [GAMMA] = ebb_rw_value(rw, node->in[1]),
                   [BETA] = ebb_rw_value(rw, node->in[2])};
    ebb_lower_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_ln_apply, in, 5, node->attr)[0]);
}

/* ---- gradients ---------------------------------------------------------------------------------- */

static void ln_stats_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    (void)node;
    if (dout[0] == EBB_NONE && dout[1] == EBB_NONE) return;
    ebb_build_fail(
        ebb_rw_builder(rw), EBB_BAD_INPUT,
        "ln_stats: its mean and variance have no gradient of their own: only ln_apply, on the same "
        "x, may read them on the way to the loss");
}

static void ln_apply_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    const bool wants_x = ebb_grad_wants(rw, node, X);
    if (!ebb_grad_made_from(rw, node, MEAN, X, &ebb_op_ln_stats)) {
        ebb_build_fail(ebb_rw_builder(rw), EBB_BAD_INPUT,
                       "ln_apply: mean and variance are not ln_stats of this x: use layer_norm");
        return;
    }
    ebb_id x = ebb_rw_value(rw, node->in[X]);
    ebb_id mean = ebb_rw_value(rw, node->in[MEAN]), variance = ebb_rw_value(rw, node->in[VARIANCE]);
    if (ebb_grad_wants(rw, node, GAMMA) || ebb_grad_wants(rw, node, BETA)) {
        ebb_id in[] = {x, mean, variance, dout[0]};
        const ebb_id *sums = ebb_rw_emit(rw, &ebb_op_ln_grad_sums, in, 4, node->attr);
        const ebb_id dgamma = sums[0], dbeta = sums[1];
        if (ebb_grad_wants(rw, node, GAMMA)) ebb_grad_give(rw, node, GAMMA, dgamma);
        if (ebb_grad_wants(rw, node, BETA)) ebb_grad_give(rw, node, BETA, dbeta);
    }
    if (!wants_x) return;
    ebb_id in[] = {x, mean, variance, ebb_rw_value(rw, node->in[GAMMA]), dout[0]};
    ebb_grad_give(rw, node, X, ebb_rw_emit(rw, &ebb_op_ln_grad, in, 5, node->attr)[0]);
}

/* ---- the ops ------------------------------------------------------------------------------------ */

const ebb_op_info ebb_op_layer_norm = {
    .name = "layer_norm",
    .code = EBB_OP_layer_norm,
    .family = EBB_FAMILY_OF(layer_norm),
    .min_in = 3,
    .max_in = 3,
    .n_out = 1,
    EBB_LIST(attrs, ln_attrs),
    .effect = EBB_PURE,
    .composite = true,
    .infer = layer_norm_infer,
    .cost = ten_flops_cost,
    .lower = layer_norm_lower,
};

const ebb_op_info ebb_op_ln_stats = {
    .name = "ln_stats",
    .code = EBB_OP_ln_stats,
    .family = EBB_FAMILY_OF(ln_stats),
    .min_in = 1,
    .max_in = 1,
    .n_out = 2,
    .effect = EBB_PURE,
    .infer = ln_stats_infer,
    .cost = four_flops_cost,
    .grad = ln_stats_grad,
};

const ebb_op_info ebb_op_ln_apply = {
    .name = "ln_apply",
    .code = EBB_OP_ln_apply,
    .family = EBB_FAMILY_OF(ln_apply),
    .min_in = 5,
    .max_in = 5,
    .n_out = 1,
    EBB_LIST(attrs, ln_attrs),
    .effect = EBB_PURE,
    EBB_LIST(may_overwrite, ln_apply_over),
    .infer = ln_apply_infer,
    .cost = four_flops_cost,
    .grad = ln_apply_grad,
};

const ebb_op_info ebb_op_ln_grad_sums = {
    .name = "ln_grad_sums",
    .code = EBB_OP_ln_grad_sums,
    .family = EBB_FAMILY_OF(ln_grad_sums),
    .min_in = 4,
    .max_in = 4,
    .n_out = 2,
    EBB_LIST(attrs, ln_attrs),
    .effect = EBB_PURE,
    .infer = ln_grad_sums_infer,
    .cost = four_flops_cost,
};

const ebb_op_info ebb_op_ln_grad = {
    .name = "ln_grad",
    .code = EBB_OP_ln_grad,
    .family = EBB_FAMILY_OF(ln_grad),
    .min_in = 5,
    .max_in = 5,
    .n_out = 1,
    EBB_LIST(attrs, ln_attrs),
    .effect = EBB_PURE,
    EBB_LIST(may_overwrite, ln_grad_over),
    .infer = ln_grad_infer,
    .cost = ten_flops_cost,
};
