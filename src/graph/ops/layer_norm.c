/* Layer normalization (Ba, Kiros and Hinton, "Layer normalization", 2016) of each row of x[n,c], cut as
 * batch-norm is (norm.c), so that the statistics are kept and y is had again from x alone.
 *
 *     ln_stats      x -> mean, variance of each row (variance divides by c)
 *     ln_apply      y = (x - mean) * inv_std * gamma + beta,  inv_std = 1 / sqrt(variance + eps)
 *     ln_grad_sums  dgamma = sum over rows of dy * (x - mean) * inv_std,  dbeta = sum of dy
 *     ln_grad       dx = inv_std * (g - mean of g - xhat * mean of g * xhat),  g = dy * gamma
 *     ln_backward   both of them, and dx plus a gradient that comes to x by another way (a residual's)
 *     ln_backward_bias  and the sum over rows of that: of a bias whose result, or whose and more, is x
 *
 * The statistics are always those of the same x: dx above is the whole derivative by x, through them too,
 * so ln_apply gives them no gradient of their own. Gradients of gradients do (rows_again.c). */
#include "graph/ops/norm.h"

static const ebb_attr_info ln_attrs[] = {[EBB_LN_EPS] = EBB_REAL("eps", 1e-5, 1e-30, 1e30)};

enum { X, MEAN, VARIANCE, GAMMA, BETA }; /* ln_apply's inputs */

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

static void ln_apply_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    const bool wants_x = ebb_grad_wants(rw, node, X);
    if (!ebb_grad_made_from(rw, node, MEAN, X, &ebb_op_ln_stats)) {
        ebb_builder_fail(ebb_rw_builder(rw), EBB_BAD_INPUT,
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

/* ---- the ops: flops for each element of x; the few for each row are not counted ------------------- */

EBB_DEFINE(layer_norm, EBB_RULE(3, 1, "x[n,c] gamma:wide[c] beta:wide[c] -> [n,c]"),
           EBB_LIST(attrs, ln_attrs), EBB_FLOPS(10), .lower = layer_norm_lower);

EBB_DEFINE(ln_stats, EBB_RULE(1, 2, "x[n,c] -> mean:wide[n] variance:wide[n]"), EBB_FLOPS(4),
           .grad = ebb_ln_stats_grad, EBB_RUNS(FOLLOWS));

EBB_DEFINE(ln_apply,
           EBB_RULE(5, 1, "x[n,c] mean:wide[n] variance:wide[n] gamma:wide[c] beta:wide[c] -> [n,c]"),
           EBB_LIST(attrs, ln_attrs), EBB_OVER({0, 0}), EBB_FLOPS(4), .grad = ln_apply_grad,
           EBB_RUNS(FOLLOWS));

EBB_DEFINE(ln_grad_sums,
           EBB_RULE(4, 2, "x[n,c] mean:wide[n] variance:wide[n] dy[n,c] -> dgamma:wide[c] dbeta:wide[c]"),
           EBB_LIST(attrs, ln_attrs), EBB_FLOPS(4), .grad = ebb_ln_grad_sums_grad);

/* Over dy; over x where a skip branch needs dy. */
EBB_DEFINE(ln_grad, EBB_RULE(5, 1, "x[n,c] mean:wide[n] variance:wide[n] gamma:wide[c] dy[n,c] -> [n,c]"),
           EBB_LIST(attrs, ln_attrs), EBB_OVER({0, 4}, {0, 0}), EBB_FLOPS(10), .grad = ebb_ln_grad_grad);

/* What both cost, which find xhat twice. In 16 bits dx would have to be rounded before more is added, and
 * the kernels of the two run in parts of different sizes (cpu/low.h): not there. Made by a pass after grad:
 * no gradient. */
EBB_DEFINE(
    ln_backward,
    EBB_RULE_OF(5, 6, 3,
                "x:full[n,c] mean:full[n] variance:full[n] gamma:full[c] dy:full[n,c] more:full[n,c] "
                "-> [n,c] dgamma[c] dbeta[c]"),
    EBB_LIST(attrs, ln_attrs), EBB_OVER({0, 4}, {0, 0}, {0, 5}), EBB_FLOPS(15));
EBB_DEFINE(
    ln_backward_bias,
    EBB_RULE_OF(5, 6, 4,
                "x:full[n,c] mean:full[n] variance:full[n] gamma:full[c] dy:full[n,c] more:full[n,c] "
                "-> [n,c] dgamma[c] dbeta[c] db[c]"),
    EBB_LIST(attrs, ln_attrs), EBB_OVER({0, 4}, {0, 0}, {0, 5}), EBB_FLOPS(16));
