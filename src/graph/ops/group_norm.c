/* Group normalization (Wu and He, "Group normalization", 2018): the channels of x[n,c,...] in groups, each
 * group of each image by itself, over its channels and places. Cut as layer norm is (layer_norm.c), so that
 * the statistics are kept and y is had again from x alone.
 *
 *     gn_stats      x -> mean, variance: [n,groups] (variance divides by the group's elements)
 *     gn_apply      y = (x - mean) * inv_std * gamma + beta,  inv_std = 1 / sqrt(variance + eps)
 *     gn_grad_sums  dgamma = sum of dy * (x - mean) * inv_std,  dbeta = sum of dy, over all but channels
 *     gn_grad       dx = inv_std * (g - mean of g - xhat * mean of g * xhat),  g = dy * gamma
 *
 * The statistics are always those of the same x, and dx is the whole derivative by x, as in layer norm;
 * gradients of gradients: rows_again.c. */
#include "graph/ops/norm.h"

#define GROUPS EBB_INTS_NEEDED("groups", 1, 1, EBB_ATTR_SIZE_MAX)
static const ebb_attr_info stats_attrs[] = {[EBB_GN_GROUPS] = GROUPS};
static const ebb_attr_info gn_attrs[] = {
    [EBB_GN_GROUPS] = GROUPS, [EBB_GN_EPS] = EBB_REAL("eps", 1e-5, 1e-30, 1e30)};

enum { X, MEAN, VARIANCE, GAMMA, BETA }; /* gn_apply's inputs */

static ebb_status groups_bind(ebb_env *env, const ebb_call *call, ebb_rule *rule) {
    const int64_t channels = ebb_rule_size(rule, 'c'), groups = call->attr[EBB_GN_GROUPS].i[0];
    char text[EBB_TYPE_TEXT];
    if (channels % groups != 0)
        return ebb_fail(env, EBB_BAD_INPUT, "%s: %lld channels of %s are not a multiple of groups %lld",
                        call->op->name, (long long)channels, ebb_type_text(&call->in[X], text),
                        (long long)groups);
    if (call->n_in < 4 || ebb_rule_size(rule, 'g') == groups) return EBB_OK; /* there are no statistics */
    return ebb_fail(env, EBB_BAD_INPUT, "%s: mean %s is not of groups %lld", call->op->name,
                    ebb_type_text(&call->in[MEAN], text), (long long)groups);
}

static void group_norm_lower(ebb_rewriter *rw, const ebb_node *node, ebb_mode mode) {
    (void)mode;
    ebb_id x = ebb_rw_value(rw, node->in[0]);
    const ebb_id *stats = ebb_rw_emit(rw, &ebb_op_gn_stats, &x, 1, &node->attr[EBB_GN_GROUPS]);
    ebb_id in[] = {[X] = x,
                   [MEAN] = stats[0],
                   [VARIANCE] = stats[1],
                   [GAMMA] = ebb_rw_value(rw, node->in[1]),
                   [BETA] = ebb_rw_value(rw, node->in[2])};
    ebb_lower_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_gn_apply, in, 5, node->attr)[0]);
}

/* ---- gradients ---------------------------------------------------------------------------------- */

static void gn_apply_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_made_from(rw, node, MEAN, X, &ebb_op_gn_stats)) {
        ebb_builder_fail(ebb_rw_builder(rw), EBB_BAD_INPUT,
                         "gn_apply: mean and variance are not gn_stats of this x: use group_norm");
        return;
    }
    ebb_id x = ebb_rw_value(rw, node->in[X]);
    ebb_id mean = ebb_rw_value(rw, node->in[MEAN]), variance = ebb_rw_value(rw, node->in[VARIANCE]);
    if (ebb_grad_wants(rw, node, GAMMA) || ebb_grad_wants(rw, node, BETA)) {
        ebb_id in[] = {x, mean, variance, dout[0]};
        const ebb_id *sums = ebb_rw_emit(rw, &ebb_op_gn_grad_sums, in, 4, node->attr);
        const ebb_id dgamma = sums[0], dbeta = sums[1];
        if (ebb_grad_wants(rw, node, GAMMA)) ebb_grad_give(rw, node, GAMMA, dgamma);
        if (ebb_grad_wants(rw, node, BETA)) ebb_grad_give(rw, node, BETA, dbeta);
    }
    if (!ebb_grad_wants(rw, node, X)) return;
    ebb_id in[] = {x, mean, variance, ebb_rw_value(rw, node->in[GAMMA]), dout[0]};
    ebb_grad_give(rw, node, X, ebb_rw_emit(rw, &ebb_op_gn_grad, in, 5, node->attr)[0]);
}

/* ---- the ops: flops for each element of x; the few for each group are not counted ------------------ */

#define GN(op, each, ...) \
    EBB_DEFINE(op, EBB_LIST(attrs, gn_attrs), .bind = groups_bind, EBB_FLOPS(each), __VA_ARGS__)

GN(group_norm, 10, EBB_RULE(3, 1, "x[n,c,...] gamma:wide[c] beta:wide[c] -> [n,c,...]"),
   .lower = group_norm_lower);

EBB_DEFINE(gn_stats, EBB_LIST(attrs, stats_attrs), .bind = groups_bind, EBB_FLOPS(4),
           EBB_RULE(1, 2, "x[n,c,...] -> mean:wide[n,g] variance:wide[n,g] where g=groups"),
           .grad = ebb_gn_stats_grad, EBB_RUNS(FOLLOWS));

GN(gn_apply, 4,
   EBB_RULE(5, 1, "x[n,c,...] mean:wide[n,g] variance:wide[n,g] gamma:wide[c] beta:wide[c] -> [n,c,...]"),
   EBB_OVER({0, 0}), .grad = gn_apply_grad, EBB_RUNS(FOLLOWS));

GN(gn_grad_sums, 4,
   EBB_RULE(4, 2,
            "x[n,c,...] mean:wide[n,g] variance:wide[n,g] dy[n,c,...] -> dgamma:wide[c] dbeta:wide[c]"),
   .grad = ebb_gn_grad_sums_grad);

/* Over dy; over x where a skip branch needs dy. */
GN(gn_grad, 10,
   EBB_RULE(5, 1, "x[n,c,...] mean:wide[n,g] variance:wide[n,g] gamma:wide[c] dy[n,c,...] -> [n,c,...]"),
   EBB_OVER({0, 4}, {0, 0}), .grad = ebb_gn_grad_grad);
