/* Batch norm's apply with what follows it in one sweep of memory: an added skip branch, and relu or clip.
 *
 *     bn_act            y = act(u),  u = (x - mean) * inv_std * gamma + beta
 *     bn_add            y = act(u + skip); act may be absent
 *     bn_act_grad_sums  bn_grad_sums of du = dy where u is not cut, else 0; u is worked out again from x
 *     bn_act_grad       bn_grad of the same du
 *     bn_add_grad_sums  dskip = dy where y is not cut, else 0, and bn_grad_sums of it; bn_grad reads dskip
 * then
 *
 * Each computes what its parts would, operation by operation, so fusing changes no bit. bn_act's gradient
 * needs neither y nor a mask: it reads x, as batch norm's must. bn_add_grad_sums' dy may come as the two
 * terms of a sum of gradients, which are then added there and not before; grad emits it with the sum, and
 * ebb_keep_bits makes a choice of it (norm_bits.c). */
#include "graph/ops/norm.h"

const ebb_attr_info ebb_norm_act_attrs[NORM_ACT_ATTRS] = {
    [EBB_BN_ACT_EPS] = NORM_EPS,
    [EBB_BN_ACT_BATCH] = EBB_FLAG("batch", 0),
    [EBB_BN_ACT_RELU] = EBB_FLAG("relu", 0),
    [EBB_BN_ACT_CLIP] = EBB_FLAG("clip", 0),
    [EBB_BN_ACT_MIN] = EBB_REAL("min", 0, -1e30, 1e30),
    [EBB_BN_ACT_MAX] = EBB_REAL("max", 0, -1e30, 1e30),
};

/* least: how many of relu and clip there must be. */
static ebb_status act_check(ebb_env *env, const ebb_call *call, int least) {
    const ebb_attr *a = call->attr;
    const bool relu = a[EBB_BN_ACT_RELU].i[0] != 0, clip = a[EBB_BN_ACT_CLIP].i[0] != 0;
    if (relu && clip)
        return ebb_fail(env, EBB_BAD_INPUT, "%s: relu and clip: say one of them", call->op->name);
    if (relu + clip < least)
        return ebb_fail(env, EBB_BAD_INPUT, "%s: neither relu=true nor clip=true: say one of them",
                        call->op->name);
    if (!clip || a[EBB_BN_ACT_MIN].f < a[EBB_BN_ACT_MAX].f) return EBB_OK;
    return ebb_fail(env, EBB_BAD_INPUT, "%s: min %g must be less than max %g", call->op->name,
                    a[EBB_BN_ACT_MIN].f, a[EBB_BN_ACT_MAX].f);
}

ebb_status ebb_norm_act_bind(ebb_env *env, const ebb_call *call, ebb_rule *rule) {
    (void)rule;
    return act_check(env, call, 1);
}

static ebb_status bn_add_bind(ebb_env *env, const ebb_call *call, ebb_rule *rule) {
    (void)rule;
    return act_check(env, call, 0);
}

/* ---- gradients ---------------------------------------------------------------------------------- */

/* The gradient of what was cut, by an op of its own. */
static ebb_id cut(ebb_rewriter *rw, const ebb_node *node, ebb_id dy) {
    const ebb_attr bounds[] = {
        [EBB_CLIP_MIN] = node->attr[EBB_BN_ACT_MIN], [EBB_CLIP_MAX] = node->attr[EBB_BN_ACT_MAX]};
    const ebb_id in[] = {ebb_rw_value(rw, node->out[0]), dy};
    if (node->attr[EBB_BN_ACT_CLIP].i[0]) return ebb_rw_emit(rw, &ebb_op_clip_grad, in, 2, bounds)[0];
    return node->attr[EBB_BN_ACT_RELU].i[0] ? ebb_rw_emit(rw, &ebb_op_relu_grad, in, 2, NULL)[0] : dy;
}

static bool wants_any(const ebb_rewriter *rw, const ebb_node *node) {
    return ebb_grad_wants(rw, node, NORM_X) || ebb_grad_wants(rw, node, NORM_GAMMA) ||
           ebb_grad_wants(rw, node, NORM_BETA);
}

/* Running statistics are rare in training: there the parts stay apart. */
static void bn_act_grad_rule(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_norm_check(rw, node) || !wants_any(rw, node)) return;
    if (!node->attr[EBB_BN_ACT_BATCH].i[0]) {
        ebb_norm_backward(rw, node, cut(rw, node, dout[0]));
        return;
    }
    ebb_id in[8];
    for (uint32_t i = 0; i <= NORM_BETA; i++) in[i] = ebb_rw_value(rw, node->in[i]);
    in[5] = dout[0];
    const ebb_id *sums = ebb_rw_emit(rw, &ebb_op_bn_act_grad_sums, in, 6, node->attr);
    in[5] = sums[0];
    in[6] = sums[1];
    in[7] = dout[0];
    ebb_norm_give_sums(rw, node, in[5], in[6]);
    if (!ebb_grad_wants(rw, node, NORM_X)) return;
    ebb_grad_give(rw, node, NORM_X, ebb_rw_emit(rw, &ebb_op_bn_act_grad, in, 8, node->attr)[0]);
}

/* The skip's gradient is given before x's, as by an add behind the apply. */
static void bn_add_grad_rule(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_norm_check(rw, node)) return;
    const bool act = node->attr[EBB_BN_ACT_RELU].i[0] || node->attr[EBB_BN_ACT_CLIP].i[0];
    if (!act || !node->attr[EBB_BN_ACT_BATCH].i[0] || !wants_any(rw, node)) {
        const ebb_id du = cut(rw, node, dout[0]);
        if (ebb_grad_wants(rw, node, NORM_SKIP)) ebb_grad_give(rw, node, NORM_SKIP, du);
        if (wants_any(rw, node)) ebb_norm_backward(rw, node, du);
        return;
    }
    ebb_id in[5];
    for (uint32_t i = 0; i <= NORM_VARIANCE; i++) in[i] = ebb_rw_value(rw, node->in[i]);
    in[3] = ebb_rw_value(rw, node->out[0]);
    in[4] = dout[0];
    const ebb_id *sums = ebb_rw_emit(rw, &ebb_op_bn_add_grad_sums, in, 5, node->attr);
    if (ebb_grad_wants(rw, node, NORM_SKIP)) ebb_grad_give(rw, node, NORM_SKIP, sums[0]);
    ebb_norm_give_sums(rw, node, sums[1], sums[2]);
    if (!ebb_grad_wants(rw, node, NORM_X)) return;
    const ebb_id grad[] = {in[0],   in[1],   in[2],  ebb_rw_value(rw, node->in[NORM_GAMMA]),
                           sums[1], sums[2], sums[0]};
    ebb_grad_give(rw, node, NORM_X, ebb_rw_emit(rw, &ebb_op_bn_grad, grad, 7, node->attr)[0]);
}

/* ---- the ops ------------------------------------------------------------------------------------ */

NORM_ACT_DEFINE(
    bn_act, 4,
    EBB_RULE(5, 1, "x[n,c,...] mean:wide[c] variance:wide[c] gamma:wide[c] beta:wide[c] -> [n,c,...]"),
    .bind = ebb_norm_act_bind, EBB_OVER({0, 0}), .grad = bn_act_grad_rule);
NORM_ACT_DEFINE(
    bn_add, 4,
    EBB_RULE(
        6, 1,
        "x[n,c,...] mean:wide[c] variance:wide[c] gamma:wide[c] beta:wide[c] skip[n,c,...] -> [n,c,...]"),
    .bind = bn_add_bind, EBB_OVER({0, 0}, {0, 5}), .grad = bn_add_grad_rule);
NORM_ACT_DEFINE(bn_act_grad_sums, 8,
                EBB_RULE(6, 2,
                         "x[n,c,...] mean:wide[c] variance:wide[c] gamma:wide[c] beta:wide[c] dy[n,c,...] "
                         "-> dgamma:wide[c] dbeta:wide[c]"),
                .bind = ebb_norm_act_bind);
/* Over dy; over x where a skip branch still needs dy. */
NORM_ACT_DEFINE(bn_act_grad, 8,
                EBB_RULE(8, 1,
                         "x[n,c,...] mean:wide[c] variance:wide[c] gamma:wide[c] beta:wide[c] "
                         "dgamma:wide[c] dbeta:wide[c] dy[n,c,...] "
                         "-> [n,c,...]"),
                .bind = ebb_norm_act_bind, EBB_OVER({0, 7}, {0, 0}));
/* Over a part of dy, over y. */
NORM_ACT_DEFINE(bn_add_grad_sums, 8,
                EBB_RULE_OF(5, 6, 3,
                            "x[n,c,...] mean:wide[c] variance:wide[c] y[n,c,...] dy[n,c,...] more[n,c,...] "
                            "-> [n,c,...] dgamma:wide[c] dbeta:wide[c]"),
                .bind = ebb_norm_act_bind, EBB_OVER({0, 4}, {0, 5}, {0, 3}));
