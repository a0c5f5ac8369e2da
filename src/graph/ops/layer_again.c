/* Gradients of what layer norm's gradients are made of, by all of their operands, as norm_again.c has them
 * for batch norm. With r = 1 / sqrt(variance + eps), xhat = (x - mean) r, and sums and means over a row's c
 * places unless said otherwise:
 *
 *     ln_stats       dx = (dmean + 2 dvariance (x - mean)) / c
 *
 *     ln_grad_sums   of sums over rows, A of dy xhat and B of dy, where a and b arrive
 *         dy         a xhat + b
 *         x          dy a r
 *         mean       -r sum(dy a)
 *         variance   -r^2 / 2 sum(dy a xhat)
 *
 *     ln_grad        of r (q - mean(q) - xhat mean(q xhat)), q = dy gamma, where g arrives;
 *                    with e = -r (g mean(q xhat) + q mean(g xhat)), what comes to xhat
 *         q          the same of g; from there to dy and gamma
 *         x          e r
 *         mean       -r sum(e)
 *         variance   -r^2 / 2 sum(e xhat + g dx)
 *
 * Where x is of 16 bits all of this is computed in f32. */
#include "graph/ops/norm.h"

enum { COLUMNS = 1 << 1, ROWS = 1 << 0 }; /* axes */

typedef struct rows {
    ebb_rewriter *rw;
    const ebb_node *node;
    ebb_type x;
    ebb_id far, root, xhat; /* far: x - mean; root: r, [n,1] */
    double each;            /* 1 / c */
} rows;

static ebb_id mul(const rows *a, ebb_id x, ebb_id y) {
    return ebb_emit_2(a->rw, &ebb_op_mul, x, y);
}

static ebb_id operand(const rows *a, uint32_t i) {
    return ebb_norm_operand(a->rw, a->node, i);
}

static bool wants(const rows *a, uint32_t i) {
    return ebb_grad_wants(a->rw, a->node, i);
}

/* A value of each row, [n], beside x. */
static ebb_id beside(const rows *a, ebb_id of_rows) {
    const ebb_attr shape[] = {[EBB_RESHAPE_SHAPE] = {.i = {a->x.dim[0], 1}}};
    return ebb_rw_emit(a->rw, &ebb_op_reshape, &of_rows, 1, shape)[0];
}

static ebb_id mean_of(const rows *a, ebb_id x) {
    return ebb_emit_rescale(a->rw, ebb_emit_sum(a->rw, x, COLUMNS, true), a->each, 0);
}

static void give(const rows *a, uint32_t i, ebb_id id) {
    ebb_builder *b = ebb_rw_builder(a->rw);
    const ebb_type due = *ebb_builder_type(b, ebb_rw_value(a->rw, a->node->in[i]));
    const ebb_attr shape[] = {[EBB_RESHAPE_SHAPE] = {.i = {due.dim[0]}}};
    if (due.rank == 1 && ebb_builder_type(b, id)->rank == 2) /* of rows: [n,1] */
        id = ebb_rw_emit(a->rw, &ebb_op_reshape, &id, 1, shape)[0];
    ebb_norm_give(a->rw, a->node, i, id);
}

static rows begin(ebb_rewriter *rw, const ebb_node *node, ebb_id mean) {
    rows a = {.rw = rw, .node = node};
    a.x = *ebb_builder_type(ebb_rw_builder(rw), ebb_rw_value(rw, node->in[NORM_X]));
    a.each = 1 / (double)a.x.dim[1];
    const ebb_id x = operand(&a, NORM_X);
    a.far = ebb_emit_2(rw, &ebb_op_sub, x, beside(&a, mean));
    return a;
}

static rows begin_grad(ebb_rewriter *rw, const ebb_node *node) {
    rows a = begin(rw, node, ebb_rw_value(rw, node->in[NORM_MEAN]));
    const ebb_id variance = beside(&a, operand(&a, NORM_VARIANCE));
    a.root = ebb_norm_root(rw, variance, node->attr[EBB_LN_EPS].f);
    a.xhat = mul(&a, a.far, a.root);
    return a;
}

/* What comes to xhat, and `more`, whose sum comes to the variance besides (or EBB_NONE). */
static void through_xhat(const rows *a, ebb_id e, ebb_id more) {
    const ebb_id slope = mul(a, e, a->root);
    if (wants(a, NORM_X)) give(a, NORM_X, slope);
    if (wants(a, NORM_MEAN))
        give(a, NORM_MEAN, ebb_emit_rescale(a->rw, ebb_emit_sum(a->rw, slope, COLUMNS, true), -1, 0));
    if (!wants(a, NORM_VARIANCE)) return;
    ebb_id turn = mul(a, e, a->xhat);
    if (more != EBB_NONE) turn = ebb_emit_2(a->rw, &ebb_op_add, turn, more);
    const ebb_id square = mul(a, a->root, a->root);
    turn = mul(a, square, ebb_emit_sum(a->rw, turn, COLUMNS, true));
    give(a, NORM_VARIANCE, ebb_emit_rescale(a->rw, turn, -0.5, 0));
}

void ebb_ln_stats_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if ((dout[0] == EBB_NONE && dout[1] == EBB_NONE) || !ebb_grad_wants(rw, node, NORM_X)) return;
    const rows a = begin(rw, node, ebb_rw_value(rw, node->out[0]));
    const ebb_id variance = dout[1] == EBB_NONE ? ebb_emit_number(rw, a.far, 0)
                                                : beside(&a, ebb_emit_rescale(rw, dout[1], 2 * a.each, 0));
    ebb_id dx = mul(&a, a.far, variance);
    if (dout[0] != EBB_NONE)
        dx = ebb_emit_2(rw, &ebb_op_add, dx, beside(&a, ebb_emit_rescale(rw, dout[0], a.each, 0)));
    give(&a, NORM_X, dx);
}

void ebb_ln_grad_sums_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    enum { DY = 3 };
    const rows a = begin_grad(rw, node);
    if (dout[0] != EBB_NONE) {
        if (wants(&a, DY)) give(&a, DY, mul(&a, a.xhat, dout[0]));
        through_xhat(&a, mul(&a, operand(&a, DY), dout[0]), EBB_NONE);
    }
    if (dout[1] != EBB_NONE && wants(&a, DY))
        give(&a, DY, ebb_emit_2(rw, &ebb_op_add, ebb_emit_fill(rw, a.far, 0), dout[1]));
}

void ebb_ln_grad_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    enum { DY = NORM_GAMMA + 1 };
    const rows a = begin_grad(rw, node);
    const ebb_id g = ebb_emit_wide(rw, dout[0]), dy = operand(&a, DY), gamma = operand(&a, NORM_GAMMA);
    if (wants(&a, DY) || wants(&a, NORM_GAMMA)) {
        const ebb_id x = operand(&a, NORM_X), mean = ebb_rw_value(rw, node->in[NORM_MEAN]);
        const ebb_id in[] = {x, mean, ebb_rw_value(rw, node->in[NORM_VARIANCE]),
                             ebb_emit_fill(rw, gamma, 1), g};
        const ebb_id to_q = ebb_rw_emit(rw, &ebb_op_ln_grad, in, 5, node->attr)[0];
        if (wants(&a, DY)) give(&a, DY, mul(&a, to_q, gamma));
        if (wants(&a, NORM_GAMMA)) give(&a, NORM_GAMMA, ebb_emit_sum(rw, mul(&a, to_q, dy), ROWS, false));
    }
    if (!wants(&a, NORM_X) && !wants(&a, NORM_MEAN) && !wants(&a, NORM_VARIANCE)) return;
    const ebb_id q = mul(&a, dy, gamma);
    const ebb_id first = mul(&a, g, mean_of(&a, mul(&a, q, a.xhat)));
    const ebb_id second = mul(&a, q, mean_of(&a, mul(&a, g, a.xhat)));
    const ebb_id both = mul(&a, ebb_emit_2(rw, &ebb_op_add, first, second), a.root);
    const ebb_id dx = ebb_emit_wide(rw, ebb_rw_value(rw, node->out[0]));
    const ebb_id to_xhat = ebb_emit_rescale(rw, both, -1, 0);
    through_xhat(&a, to_xhat, mul(&a, g, dx));
}
