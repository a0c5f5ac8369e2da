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

#define BOUND(field) \
    { .name = (field), .kind = EBB_ATTR_REAL, .count = 1, .fallback = 0, .min = -1e30, .max = 1e30 }
const ebb_attr_info ebb_norm_act_attrs[NORM_ACT_ATTRS] = {
    [EBB_BN_ACT_EPS] = NORM_EPS,           [EBB_BN_ACT_BATCH] = NORM_FLAG("batch"),
    [EBB_BN_ACT_RELU] = NORM_FLAG("relu"), [EBB_BN_ACT_CLIP] = NORM_FLAG("clip"),
    [EBB_BN_ACT_MIN] = BOUND("min"),       [EBB_BN_ACT_MAX] = BOUND("max"),
};

static const ebb_pair act_over[] = {{0, 0}};
static const ebb_pair add_over[] = {{0, 0}, {0, 5}};
/* Over dy; over x where a skip branch still needs dy. */
static const ebb_pair act_grad_over[] = {{0, 7}, {0, 0}};
/* Over a part of dy, over y. */
static const ebb_pair add_grad_over[] = {{0, 4}, {0, 5}, {0, 3}};

/* ---- shapes and costs --------------------------------------------------------------------------- */

/* least: how many of relu and clip there must be. */
ebb_status ebb_norm_act_check(ebb_env *env, const ebb_call *call, int least) {
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

static ebb_status bn_act_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    const ebb_status status = ebb_norm_act_check(env, call, 1);
    if (status) return status;
    return ebb_rule_infer(env, call, "x[n,c,...] mean[c] variance[c] gamma[c] beta[c] -> [n,c,...]", out);
}

static ebb_status bn_add_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    const ebb_status status = ebb_norm_act_check(env, call, 0);
    if (status) return status;
    return ebb_rule_infer(
        env, call, "x[n,c,...] mean[c] variance[c] gamma[c] beta[c] skip[n,c,...] -> [n,c,...]", out);
}

static ebb_status bn_act_grad_sums_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    const ebb_status status = ebb_norm_act_check(env, call, 1);
    if (status) return status;
    return ebb_rule_infer(env, call,
                          "x[n,c,...] mean[c] variance[c] gamma[c] beta[c] dy[n,c,...] -> [c] [c]", out);
}

static ebb_status bn_act_grad_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    const ebb_status status = ebb_norm_act_check(env, call, 1);
    if (status) return status;
    return ebb_rule_infer(
        env, call,
        "x[n,c,...] mean[c] variance[c] gamma[c] beta[c] dgamma[c] dbeta[c] dy[n,c,...] -> [n,c,...]", out);
}

static ebb_status bn_add_grad_sums_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    const ebb_status status = ebb_norm_act_check(env, call, 1);
    if (status) return status;
    return ebb_rule_infer(
        env, call,
        "x[n,c,...] mean[c] variance[c] y[n,c,...] dy[n,c,...] more[n,c,...] -> [n,c,...] [c] [c]", out);
}

/* Flops for each element of x; the few for each channel are not counted. */
void ebb_norm_act_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, ebb_type_count(&call->in[0]), 4);
}

void ebb_norm_act_grad_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, ebb_type_count(&call->in[0]), 8);
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

const ebb_op_info ebb_op_bn_act = {
    .name = "bn_act",
    .code = EBB_OP_bn_act,
    .family = EBB_FAMILY_OF(bn_act),
    .min_in = 5,
    .max_in = 5,
    .n_out = 1,
    EBB_LIST(attrs, ebb_norm_act_attrs),
    .effect = EBB_PURE,
    EBB_LIST(may_overwrite, act_over),
    .infer = bn_act_infer,
    .cost = ebb_norm_act_cost,
    .grad = bn_act_grad_rule,
};

const ebb_op_info ebb_op_bn_add = {
    .name = "bn_add",
    .code = EBB_OP_bn_add,
    .family = EBB_FAMILY_OF(bn_add),
    .min_in = 6,
    .max_in = 6,
    .n_out = 1,
    EBB_LIST(attrs, ebb_norm_act_attrs),
    .effect = EBB_PURE,
    EBB_LIST(may_overwrite, add_over),
    .infer = bn_add_infer,
    .cost = ebb_norm_act_cost,
    .grad = bn_add_grad_rule,
};

const ebb_op_info ebb_op_bn_act_grad_sums = {
    .name = "bn_act_grad_sums",
    .code = EBB_OP_bn_act_grad_sums,
    .family = EBB_FAMILY_OF(bn_act_grad_sums),
    .min_in = 6,
    .max_in = 6,
    .n_out = 2,
    EBB_LIST(attrs, ebb_norm_act_attrs),
    .effect = EBB_PURE,
    .infer = bn_act_grad_sums_infer,
    .cost = ebb_norm_act_grad_cost,
};

const ebb_op_info ebb_op_bn_act_grad = {
    .name = "bn_act_grad",
    .code = EBB_OP_bn_act_grad,
    .family = EBB_FAMILY_OF(bn_act_grad),
    .min_in = 8,
    .max_in = 8,
    .n_out = 1,
    EBB_LIST(attrs, ebb_norm_act_attrs),
    .effect = EBB_PURE,
    EBB_LIST(may_overwrite, act_grad_over),
    .infer = bn_act_grad_infer,
    .cost = ebb_norm_act_grad_cost,
};

const ebb_op_info ebb_op_bn_add_grad_sums = {
    .name = "bn_add_grad_sums",
    .code = EBB_OP_bn_add_grad_sums,
    .family = EBB_FAMILY_OF(bn_add_grad_sums),
    .min_in = 5,
    .max_in = 6,
    .n_out = 3,
    EBB_LIST(attrs, ebb_norm_act_attrs),
    .effect = EBB_PURE,
    EBB_LIST(may_overwrite, add_grad_over),
    .infer = bn_add_grad_sums_infer,
    .cost = ebb_norm_act_grad_cost,
};
