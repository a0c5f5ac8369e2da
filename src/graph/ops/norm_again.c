/* Gradients of what batch norm's gradients are made of, by all of their operands, so that they can be
 * differentiated again. With r = 1 / sqrt(variance + eps), xhat = (x - mean) r, m places a channel, sums
 * over all but channels:
 *
 *     bn_stats       dx = (dmean + 2 dvariance (x - mean)) / m
 *
 *     bn_grad_sums   of A = sum dy xhat and B = sum dy, where a and b arrive
 *         dy         a xhat + b
 *         x          dy a r
 *         mean       -a r B
 *         variance   -a r^2 A / 2
 *
 *     bn_grad        of k (dy - B / m - xhat A / m), k = gamma r, where g arrives;
 *                    with s = sum g, t = sum g xhat, u = sum g dy
 *         dy         k g
 *         A, B       -k t / m, -k s / m
 *         gamma      r (u - B s / m - A t / m)
 *         x          -k r A / m g
 *         mean       k r A s / m
 *         variance   -k r^2 / 2 (u - B s / m - 2 A t / m)
 *
 * Where x is of 16 bits all of this is computed in f32. */
#include "graph/ops/norm.h"

ebb_id ebb_norm_operand(ebb_rewriter *rw, const ebb_node *node, uint32_t i) {
    return ebb_emit_wide(rw, ebb_rw_value(rw, node->in[i]));
}

ebb_id ebb_norm_root(ebb_rewriter *rw, ebb_id variance, double eps) {
    const ebb_id sum = ebb_emit_rescale(rw, variance, 1, eps), one = ebb_emit_number(rw, sum, 1);
    return ebb_emit_2(rw, &ebb_op_div, one, ebb_emit_1(rw, &ebb_op_sqrt, sum));
}

void ebb_norm_give(ebb_rewriter *rw, const ebb_node *node, uint32_t i, ebb_id id) {
    const ebb_dtype due = ebb_builder_type(ebb_rw_builder(rw), ebb_rw_value(rw, node->in[i]))->dtype;
    ebb_grad_give(rw, node, i, ebb_emit_cast(rw, id, due));
}

typedef struct again {
    ebb_rewriter *rw;
    const ebb_node *node;
    ebb_type x;
    ebb_id mean, root; /* root: r */
    double each;       /* 1 / m */
} again;

static ebb_id mul(const again *a, ebb_id x, ebb_id y) {
    return ebb_emit_2(a->rw, &ebb_op_mul, x, y);
}

static ebb_id operand(const again *a, uint32_t i) {
    return ebb_norm_operand(a->rw, a->node, i);
}

static bool wants(const again *a, uint32_t i) {
    return ebb_grad_wants(a->rw, a->node, i);
}

/* A value of each channel beside x: [c] as it is beside [n,c], and [1,c,1,1] beside an image. */
static ebb_id beside(const again *a, ebb_id of_channels) {
    const ebb_attr shape[] = {[EBB_RESHAPE_SHAPE] = {.i = {1, a->x.dim[1], 1, 1}}};
    return a->x.rank == 2 ? of_channels : ebb_rw_emit(a->rw, &ebb_op_reshape, &of_channels, 1, shape)[0];
}

/* The same at each place of x. */
static ebb_id spread(const again *a, ebb_id of_channels) {
    ebb_attr attr[] = {[EBB_BROADCAST_SHAPE] = {.i = {0}}, [EBB_BROADCAST_AXIS] = ebb_axes_list(0)};
    const ebb_id flat = beside(a, of_channels);
    for (uint32_t d = 0; d < a->x.rank; d++) attr[EBB_BROADCAST_SHAPE].i[d] = a->x.dim[d];
    return ebb_rw_emit(a->rw, &ebb_op_broadcast_to, &flat, 1, attr)[0];
}

static ebb_id channel_sums(const again *a, ebb_id x) {
    return ebb_emit_sum(a->rw, x, ((UINT32_C(1) << a->x.rank) - 1) & ~UINT32_C(2), false);
}

static ebb_id centred(const again *a) {
    const ebb_id x = operand(a, NORM_X);
    return ebb_emit_2(a->rw, &ebb_op_sub, x, beside(a, a->mean));
}

static void give(const again *a, uint32_t i, ebb_id id) {
    ebb_norm_give(a->rw, a->node, i, id);
}

static again begin(ebb_rewriter *rw, const ebb_node *node) {
    again a = {.rw = rw, .node = node, .mean = EBB_NONE, .root = EBB_NONE};
    a.x = *ebb_builder_type(ebb_rw_builder(rw), ebb_rw_value(rw, node->in[NORM_X]));
    a.each = (double)a.x.dim[1] / (double)ebb_type_count(&a.x);
    return a;
}

static again begin_grad(ebb_rewriter *rw, const ebb_node *node) {
    again a = begin(rw, node);
    a.mean = operand(&a, NORM_MEAN);
    a.root = ebb_norm_root(rw, operand(&a, NORM_VARIANCE), node->attr[EBB_BN_EPS].f);
    return a;
}

void ebb_bn_stats_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if ((dout[0] == EBB_NONE && dout[1] == EBB_NONE) || !ebb_grad_wants(rw, node, NORM_X)) return;
    again a = begin(rw, node);
    ebb_id mean = EBB_NONE, variance = EBB_NONE;
    if (dout[0] != EBB_NONE) mean = ebb_emit_rescale(rw, dout[0], a.each, 0);
    if (dout[1] != EBB_NONE) {
        a.mean = ebb_rw_value(rw, node->out[0]);
        const ebb_id far = centred(&a), slope = ebb_emit_rescale(rw, dout[1], 2 * a.each, 0);
        variance = mul(&a, far, beside(&a, slope));
    }
    if (variance == EBB_NONE)
        give(&a, NORM_X, spread(&a, mean));
    else if (mean == EBB_NONE)
        give(&a, NORM_X, variance);
    else
        give(&a, NORM_X, ebb_emit_2(rw, &ebb_op_add, variance, beside(&a, mean)));
}

/* ---- bn_grad_sums ------------------------------------------------------------------------------- */

static void of_dgamma(const again *a, ebb_id arrives) {
    const ebb_id slope = mul(a, arrives, a->root), flat = beside(a, slope);
    if (wants(a, 3)) give(a, 3, mul(a, centred(a), flat));
    if (wants(a, NORM_X)) give(a, NORM_X, mul(a, operand(a, 3), flat));
    if (wants(a, NORM_MEAN)) {
        const ebb_id dbeta = ebb_rw_value(a->rw, a->node->out[1]);
        give(a, NORM_MEAN, ebb_emit_rescale(a->rw, mul(a, slope, dbeta), -1, 0));
    }
    if (!wants(a, NORM_VARIANCE)) return;
    const ebb_id turn = mul(a, mul(a, slope, a->root), ebb_rw_value(a->rw, a->node->out[0]));
    give(a, NORM_VARIANCE, ebb_emit_rescale(a->rw, turn, -0.5, 0));
}

void ebb_bn_grad_sums_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (dout[0] != EBB_NONE) {
        const again a = begin_grad(rw, node);
        of_dgamma(&a, dout[0]);
    }
    if (dout[1] == EBB_NONE || !ebb_grad_wants(rw, node, 3)) return;
    const again a = begin(rw, node);
    give(&a, 3, spread(&a, dout[1]));
}

/* ---- bn_grad ------------------------------------------------------------------------------------ */

enum { DGAMMA = NORM_GAMMA + 1, DBETA, DY }; /* operands behind gamma */

/* To what each channel has one of; s, t and u as above, B s / m and A t / m. */
static void to_channels(const again *a, ebb_id k, ebb_id s, ebb_id t, ebb_id u) {
    ebb_rewriter *rw = a->rw;
    const ebb_id of_dbeta = ebb_emit_rescale(rw, mul(a, operand(a, DBETA), s), a->each, 0);
    const ebb_id of_dgamma = ebb_emit_rescale(rw, mul(a, operand(a, DGAMMA), t), a->each, 0);
    const ebb_id rest = ebb_emit_2(rw, &ebb_op_sub, u, of_dbeta);
    const ebb_id slope = ebb_emit_2(rw, &ebb_op_sub, rest, of_dgamma);
    if (wants(a, NORM_GAMMA)) give(a, NORM_GAMMA, mul(a, a->root, slope));
    if (wants(a, DGAMMA)) give(a, DGAMMA, ebb_emit_rescale(rw, mul(a, k, t), -a->each, 0));
    if (wants(a, DBETA)) give(a, DBETA, ebb_emit_rescale(rw, mul(a, k, s), -a->each, 0));
    if (!wants(a, NORM_VARIANCE)) return;
    const ebb_id cube = mul(a, k, mul(a, a->root, a->root));
    const ebb_id turn = mul(a, cube, ebb_emit_2(rw, &ebb_op_sub, slope, of_dgamma));
    give(a, NORM_VARIANCE, ebb_emit_rescale(rw, turn, -0.5, 0));
}

void ebb_bn_grad_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    const again a = begin_grad(rw, node);
    const ebb_id g = ebb_emit_wide(rw, dout[0]), k = mul(&a, operand(&a, NORM_GAMMA), a.root);
    const ebb_id x = operand(&a, NORM_X), in[] = {x, a.mean, operand(&a, NORM_VARIANCE), g};
    const ebb_id *sums = ebb_rw_emit(rw, &ebb_op_bn_grad_sums, in, 4, node->attr);
    const ebb_id t = sums[0], s = sums[1], u = channel_sums(&a, mul(&a, g, operand(&a, DY)));
    to_channels(&a, k, s, t, u);
    if (wants(&a, DY)) give(&a, DY, mul(&a, g, beside(&a, k)));
    if (!wants(&a, NORM_X) && !wants(&a, NORM_MEAN)) return;
    const ebb_id square = mul(&a, k, a.root);
    const ebb_id slope = ebb_emit_rescale(rw, mul(&a, square, operand(&a, DGAMMA)), -a.each, 0);
    if (wants(&a, NORM_X)) give(&a, NORM_X, mul(&a, g, beside(&a, slope)));
    if (wants(&a, NORM_MEAN)) give(&a, NORM_MEAN, ebb_emit_rescale(rw, mul(&a, slope, s), -1, 0));
}
