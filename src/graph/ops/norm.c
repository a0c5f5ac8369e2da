/* Batch normalization (Ioffe and Szegedy, ICML 2015), cut so that each part is what a planner would want.
 *
 *     bn_stats      x -> mean, variance over all but channels (variance divides by the count m)
 *     bn_track      running := (1 - momentum) * running + momentum * batch, the variance as m / (m - 1) of
 *                   bn_stats's (as it is when m = 1)
 *     bn_apply      y = (x - mean) * inv_std * gamma + beta,  inv_std = 1 / sqrt(variance + eps)
 *     bn_grad_sums  dgamma = sum dy * (x - mean) * inv_std,  dbeta = sum dy
 *     bn_grad       dx = gamma * inv_std * (dy - dbeta / m - (x - mean) * inv_std * dgamma / m)
 *
 * The statistics are small, so keeping them is cheap and y can be had again from x alone.
 *
 * Where the statistics are those of the same x (bn_apply's `batch`), dx above is the whole derivative by x,
 * through y and through both statistics; so bn_apply gives the statistics no gradient of their own.
 * Gradients of gradients do (norm_again.c). With running statistics they are constants: dx = dy * gamma *
 * inv_std, which is bn_apply itself on dy with zeros for mean and beta. */
#include "graph/ops/norm.h"

#define MOMENTUM EBB_REAL("momentum", 0.1, 0, 1)

static const ebb_attr_info batch_norm_attrs[] = {
    [EBB_BATCH_NORM_EPS] = NORM_EPS, [EBB_BATCH_NORM_MOMENTUM] = MOMENTUM};
static const ebb_attr_info bn_apply_attrs[] = {
    [EBB_BN_EPS] = NORM_EPS, [EBB_BN_BATCH] = EBB_FLAG("batch", 0)};
static const ebb_attr_info bn_grad_attrs[] = {[EBB_BN_EPS] = NORM_EPS};
static const ebb_attr_info bn_track_attrs[] = {[EBB_BN_TRACK_MOMENTUM] = MOMENTUM,
                                               [EBB_BN_TRACK_COUNT] =
                                                   EBB_INTS_NEEDED("count", 1, 1, EBB_ATTR_SIZE_MAX)};

/* ---- in training and in evaluation -------------------------------------------------------------- */

static void batch_norm_lower(ebb_rewriter *rw, const ebb_node *node, ebb_mode mode) {
    ebb_id x = ebb_rw_value(rw, node->in[0]);
    ebb_id mean = ebb_rw_value(rw, node->in[3]), variance = ebb_rw_value(rw, node->in[4]);
    if (mode == EBB_TRAIN) {
        const ebb_type *type = ebb_builder_type(ebb_rw_builder(rw), x);
        ebb_attr track[] = {
            [EBB_BN_TRACK_MOMENTUM] = node->attr[EBB_BATCH_NORM_MOMENTUM],
            [EBB_BN_TRACK_COUNT] = {.i = {ebb_type_count(type) / ebb_max_i64(type->dim[1], 1)}},
        };
        const ebb_id *stats = ebb_rw_emit(rw, &ebb_op_bn_stats, &x, 1, NULL);
        ebb_id tracked[] = {stats[0], stats[1], mean, variance};
        ebb_rw_emit(rw, &ebb_op_bn_track, tracked, 4, track);
        mean = tracked[0];
        variance = tracked[1];
    }
    ebb_attr apply[] = {
        [EBB_BN_EPS] = node->attr[EBB_BATCH_NORM_EPS], [EBB_BN_BATCH] = {.i = {mode == EBB_TRAIN}}};
    ebb_id in[] = {x, mean, variance, ebb_rw_value(rw, node->in[1]), ebb_rw_value(rw, node->in[2])};
    ebb_lower_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_bn_apply, in, 5, apply)[0]);
}

/* ---- gradients ---------------------------------------------------------------------------------- */

/* dx where mean and variance are constants. */
static ebb_id running_dx(ebb_rewriter *rw, const ebb_node *node, ebb_id dy) {
    ebb_id variance = ebb_rw_value(rw, node->in[NORM_VARIANCE]),
           gamma = ebb_rw_value(rw, node->in[NORM_GAMMA]);
    const ebb_type *type = ebb_builder_type(ebb_rw_builder(rw), gamma);
    ebb_attr fill[] = {
        [EBB_FILL_SHAPE] = {.i = {type->dim[0]}},
        [EBB_FILL_VALUE] = {.f = 0},
        [EBB_FILL_DTYPE] = {.i = {type->dtype}},
    };
    ebb_id zero = ebb_rw_emit(rw, &ebb_op_fill, NULL, 0, fill)[0];
    ebb_id in[] = {dy, zero, variance, gamma, zero};
    return ebb_rw_emit(rw, &ebb_op_bn_apply, in, 5, node->attr)[0];
}

/* Is it true what `batch` claims, and do other statistics not depend on a param? */
bool ebb_norm_check(ebb_rewriter *rw, const ebb_node *node) {
    const bool batch = node->attr[EBB_BN_BATCH].i[0] != 0;
    if (batch ? ebb_grad_made_from(rw, node, NORM_MEAN, NORM_X, &ebb_op_bn_stats)
              : !ebb_grad_wants(rw, node, NORM_MEAN) && !ebb_grad_wants(rw, node, NORM_VARIANCE))
        return true;
    ebb_builder_fail(
        ebb_rw_builder(rw), EBB_BAD_INPUT, "%s: %s", node->op->name,
        batch ? "batch=true, but mean and variance are not bn_stats of this x: say batch=false"
              : "mean and variance depend on a param but are taken for constants: say batch=true "
                "if they are bn_stats of this x");
    return false;
}

void ebb_norm_backward(ebb_rewriter *rw, const ebb_node *node, ebb_id dy) {
    bool batch = node->attr[EBB_BN_BATCH].i[0] != 0;
    bool wants_x = ebb_grad_wants(rw, node, NORM_X);
    bool wants_sums =
        ebb_grad_wants(rw, node, NORM_GAMMA) || ebb_grad_wants(rw, node, NORM_BETA) || (batch && wants_x);
    ebb_id x = ebb_rw_value(rw, node->in[NORM_X]);
    ebb_id mean = ebb_rw_value(rw, node->in[NORM_MEAN]),
           variance = ebb_rw_value(rw, node->in[NORM_VARIANCE]);
    ebb_id dgamma = EBB_NONE, dbeta = EBB_NONE;
    if (wants_sums) {
        ebb_id in[] = {x, mean, variance, dy};
        const ebb_id *sums = ebb_rw_emit(rw, &ebb_op_bn_grad_sums, in, 4, &node->attr[EBB_BN_EPS]);
        dgamma = sums[0];
        dbeta = sums[1];
        ebb_norm_give_sums(rw, node, dgamma, dbeta);
    }
    if (!wants_x) return;
    if (!batch) {
        ebb_grad_give(rw, node, NORM_X, running_dx(rw, node, dy));
        return;
    }
    ebb_id in[] = {x, mean, variance, ebb_rw_value(rw, node->in[NORM_GAMMA]), dgamma, dbeta, dy};
    ebb_grad_give(rw, node, NORM_X, ebb_rw_emit(rw, &ebb_op_bn_grad, in, 7, &node->attr[EBB_BN_EPS])[0]);
}

void ebb_norm_give_sums(ebb_rewriter *rw, const ebb_node *node, ebb_id dgamma, ebb_id dbeta) {
    if (ebb_grad_wants(rw, node, NORM_GAMMA)) ebb_grad_give(rw, node, NORM_GAMMA, dgamma);
    if (ebb_grad_wants(rw, node, NORM_BETA)) ebb_grad_give(rw, node, NORM_BETA, dbeta);
}

static void bn_apply_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (ebb_norm_check(rw, node)) ebb_norm_backward(rw, node, dout[0]);
}

/* ---- the ops: flops for each element of input 0; the few for each channel are not counted ------------ */

EBB_DEFINE(
    batch_norm,
    EBB_RULE(
        5, 1,
        "x[n,c,...] gamma:wide[c] beta:wide[c] running_mean:wide[c] running_variance:wide[c] -> [n,c,...]"),
    EBB_LIST(attrs, batch_norm_attrs), .effect = EBB_STATEFUL, EBB_FLOPS(6), .lower = batch_norm_lower);
EBB_DEFINE(bn_stats, EBB_RULE(1, 2, "x[n,c,...] -> mean:wide[c] variance:wide[c]"), EBB_FLOPS(4),
           .grad = ebb_bn_stats_grad, EBB_RUNS(FOLLOWS));
EBB_DEFINE(bn_apply,
           EBB_RULE(5, 1,
                    "x[n,c,...] mean:wide[c] variance:wide[c] gamma:wide[c] beta:wide[c] -> [n,c,...]"),
           EBB_LIST(attrs, bn_apply_attrs), EBB_OVER({0, 0}), EBB_FLOPS(2), .grad = bn_apply_grad,
           EBB_RUNS(FOLLOWS));
EBB_DEFINE(bn_track,
           EBB_RULE_OF(4, 5, 2,
                       "mean[c] variance[c] running_mean[c] running_variance[c] apply:bool[] -> [c] [c]"),
           EBB_LIST(attrs, bn_track_attrs), .effect = EBB_STATEFUL, .conditional = true,
           EBB_UPDATES({0, 2}, {1, 3}), EBB_FLOPS(6));
EBB_DEFINE(bn_grad_sums,
           EBB_RULE(4, 2,
                    "x[n,c,...] mean:wide[c] variance:wide[c] dy[n,c,...] -> dgamma:wide[c] dbeta:wide[c]"),
           EBB_LIST(attrs, bn_grad_attrs), EBB_FLOPS(4), .grad = ebb_bn_grad_sums_grad);
/* Over dy; over x where a skip branch still needs dy. */
EBB_DEFINE(bn_grad,
           EBB_RULE(7, 1,
                    "x[n,c,...] mean:wide[c] variance:wide[c] gamma:wide[c] dgamma:wide[c] dbeta:wide[c] "
                    "dy[n,c,...] -> [n,c,...]"),
           EBB_LIST(attrs, bn_grad_attrs), EBB_OVER({0, 6}, {0, 0}), EBB_FLOPS(4),
           .grad = ebb_bn_grad_grad);
