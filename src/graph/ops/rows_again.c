/* Gradients of what the gradients of layer norm and of group norm are made of, by all of their operands, as
 * norm_again.c has them for batch norm. A row is what is normalized together: a row of layer norm's x, or a
 * group of an image, whose channels' places lie behind one another in it. With r = 1 / sqrt(variance +
 * eps), xhat = (x - mean) r, and sums and means over a row's m places unless said otherwise:
 *
 *     stats          dx = (dmean + 2 dvariance (x - mean)) / m
 *
 *     grad_sums      of sums over all but channels, A of dy xhat and B of dy, where a and b arrive
 *         dy         a xhat + b
 *         x          dy a r
 *         mean       -r sum(dy a)
 *         variance   -r^2 / 2 sum(dy a xhat)
 *
 *     grad           of r (q - mean(q) - xhat mean(q xhat)), q = dy gamma, where g arrives;
 *                    with e = -r (g mean(q xhat) + q mean(g xhat)), what comes to xhat
 *         q          the same of g; from there to dy and gamma
 *         x          e r
 *         mean       -r sum(e)
 *         variance   -r^2 / 2 sum(e xhat + g dx)
 *
 * Where x is of 16 bits all of this is computed in f32. */
#include "graph/ops/norm.h"

enum { COLUMNS = 1 << 1 }; /* an axis */

typedef struct rows {
    ebb_rewriter *rw;
    const ebb_node *node;
    ebb_type x;
    int64_t groups;         /* 0: layer norm */
    int64_t n, m;           /* rows, and places in each */
    ebb_id far, root, xhat; /* of rows: x - mean; root: r, [n,1] */
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

/* ---- between x's shape and rows ---------------------------------------------------------------------- */

static ebb_id reshaped(const rows *a, ebb_id id, const int64_t *dim, uint32_t rank) {
    ebb_attr shape[] = {[EBB_RESHAPE_SHAPE] = {.i = {0}}};
    for (uint32_t d = 0; d < rank; d++) shape[EBB_RESHAPE_SHAPE].i[d] = dim[d];
    return ebb_rw_emit(a->rw, &ebb_op_reshape, &id, 1, shape)[0];
}

/* Of x's shape as rows. */
static ebb_id to_rows(const rows *a, ebb_id id) {
    if (!a->groups) return id;
    if (a->x.rank == 4) id = ebb_emit_1(a->rw, &ebb_op_to_planes, id);
    return reshaped(a, id, (const int64_t[]){a->n, a->m}, 2);
}

static ebb_id from_rows(const rows *a, ebb_id id) {
    const int64_t *dim = a->x.dim;
    if (!a->groups) return id;
    if (a->x.rank != 4) return reshaped(a, id, dim, a->x.rank);
    const ebb_attr size[] = {[EBB_PLANES_SIZE] = {.i = {dim[1], dim[2], dim[3]}}};
    id = reshaped(a, id, (const int64_t[]){dim[0], dim[1] * dim[2] * dim[3]}, 2);
    return ebb_rw_emit(a->rw, &ebb_op_from_planes, &id, 1, size)[0];
}

/* A value of each row beside rows. */
static ebb_id beside(const rows *a, ebb_id of_rows) {
    return reshaped(a, of_rows, (const int64_t[]){a->n, 1}, 2);
}

/* A value of each channel beside x. */
static ebb_id channel(const rows *a, ebb_id of_channels) {
    int64_t dim[EBB_MAX_RANK] = {a->x.dim[1]};
    if (a->x.rank == 2) return of_channels;
    for (uint32_t d = 1; d + 1 < a->x.rank; d++) dim[d] = 1;
    return reshaped(a, of_channels, dim, a->x.rank - 1);
}

static ebb_id channel_sums(const rows *a, ebb_id x) {
    return ebb_emit_sum(a->rw, x, ((UINT32_C(1) << a->x.rank) - 1) & ~UINT32_C(2), false);
}

static ebb_id sum_of(const rows *a, ebb_id of_rows) {
    return ebb_emit_sum(a->rw, of_rows, COLUMNS, true);
}

static ebb_id mean_of(const rows *a, ebb_id of_rows) {
    return ebb_emit_rescale(a->rw, sum_of(a, of_rows), 1 / (double)a->m, 0);
}

/* To an operand, of its shape. */
static void give(const rows *a, uint32_t i, ebb_id id) {
    ebb_norm_give(a->rw, a->node, i, id);
}

/* To statistics, of [n,1]. */
static void give_each(const rows *a, uint32_t i, ebb_id id) {
    const ebb_type due = *ebb_builder_type(ebb_rw_builder(a->rw), ebb_rw_value(a->rw, a->node->in[i]));
    give(a, i, reshaped(a, id, due.dim, due.rank));
}

/* ---- what arrives, goes on --------------------------------------------------------------------------- */

static rows begin(ebb_rewriter *rw, const ebb_node *node, ebb_id mean, int64_t groups) {
    rows a = {.rw = rw, .node = node, .groups = groups};
    a.x = *ebb_builder_type(ebb_rw_builder(rw), ebb_rw_value(rw, node->in[NORM_X]));
    a.n = groups ? a.x.dim[0] * groups : a.x.dim[0];
    a.m = ebb_type_count(&a.x) / a.n;
    const ebb_id x = to_rows(&a, operand(&a, NORM_X));
    a.far = ebb_emit_2(rw, &ebb_op_sub, x, beside(&a, mean));
    return a;
}

static rows begin_grad(ebb_rewriter *rw, const ebb_node *node, int64_t groups) {
    rows a = begin(rw, node, ebb_rw_value(rw, node->in[NORM_MEAN]), groups);
    const ebb_id variance = beside(&a, operand(&a, NORM_VARIANCE));
    a.root = ebb_norm_root(rw, variance, node->attr[groups ? EBB_GN_EPS : EBB_LN_EPS].f);
    a.xhat = mul(&a, a.far, a.root);
    return a;
}

/* Of rows: what comes to xhat, and `more`, whose sum comes to the variance besides (or EBB_NONE). */
static void through_xhat(const rows *a, ebb_id e, ebb_id more) {
    const ebb_id slope = mul(a, e, a->root);
    if (wants(a, NORM_X)) give(a, NORM_X, from_rows(a, slope));
    if (wants(a, NORM_MEAN)) give_each(a, NORM_MEAN, ebb_emit_rescale(a->rw, sum_of(a, slope), -1, 0));
    if (!wants(a, NORM_VARIANCE)) return;
    ebb_id turn = mul(a, e, a->xhat);
    if (more != EBB_NONE) turn = ebb_emit_2(a->rw, &ebb_op_add, turn, more);
    const ebb_id square = mul(a, a->root, a->root);
    turn = mul(a, square, sum_of(a, turn));
    give_each(a, NORM_VARIANCE, ebb_emit_rescale(a->rw, turn, -0.5, 0));
}

static void stats_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout, int64_t groups) {
    if ((dout[0] == EBB_NONE && dout[1] == EBB_NONE) || !ebb_grad_wants(rw, node, NORM_X)) return;
    const rows a = begin(rw, node, ebb_rw_value(rw, node->out[0]), groups);
    const double each = 1 / (double)a.m;
    const ebb_id variance = dout[1] == EBB_NONE ? ebb_emit_number(rw, a.far, 0)
                                                : beside(&a, ebb_emit_rescale(rw, dout[1], 2 * each, 0));
    ebb_id dx = mul(&a, a.far, variance);
    if (dout[0] != EBB_NONE)
        dx = ebb_emit_2(rw, &ebb_op_add, dx, beside(&a, ebb_emit_rescale(rw, dout[0], each, 0)));
    give(&a, NORM_X, from_rows(&a, dx));
}

static void sums_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout, int64_t groups) {
    enum { DY = 3 };
    const rows a = begin_grad(rw, node, groups);
    if (dout[0] != EBB_NONE) {
        const ebb_id slope = channel(&a, dout[0]);
        if (wants(&a, DY)) give(&a, DY, mul(&a, from_rows(&a, a.xhat), slope));
        through_xhat(&a, to_rows(&a, mul(&a, operand(&a, DY), slope)), EBB_NONE);
    }
    if (dout[1] == EBB_NONE || !wants(&a, DY)) return;
    const ebb_id zeros = ebb_emit_fill(rw, operand(&a, DY), 0);
    give(&a, DY, ebb_emit_2(rw, &ebb_op_add, zeros, channel(&a, dout[1])));
}

static void grad_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout, int64_t groups) {
    enum { DY = NORM_GAMMA + 1 };
    const rows a = begin_grad(rw, node, groups);
    const ebb_id arrives = ebb_emit_wide(rw, dout[0]), dy = operand(&a, DY),
                 gamma = operand(&a, NORM_GAMMA);
    const ebb_id scale = channel(&a, gamma);
    if (wants(&a, DY) || wants(&a, NORM_GAMMA)) {
        const ebb_id x = operand(&a, NORM_X), ones = ebb_emit_fill(rw, gamma, 1);
        const ebb_id in[] = {x, ebb_rw_value(rw, node->in[NORM_MEAN]),
                             ebb_rw_value(rw, node->in[NORM_VARIANCE]), ones, arrives};
        const ebb_id to_q = ebb_rw_emit(rw, node->op, in, 5, node->attr)[0];
        if (wants(&a, DY)) give(&a, DY, mul(&a, to_q, scale));
        if (wants(&a, NORM_GAMMA)) give(&a, NORM_GAMMA, channel_sums(&a, mul(&a, to_q, dy)));
    }
    if (!wants(&a, NORM_X) && !wants(&a, NORM_MEAN) && !wants(&a, NORM_VARIANCE)) return;
    const ebb_id g = to_rows(&a, arrives), q = to_rows(&a, mul(&a, dy, scale));
    const ebb_id first = mul(&a, g, mean_of(&a, mul(&a, q, a.xhat)));
    const ebb_id second = mul(&a, q, mean_of(&a, mul(&a, g, a.xhat)));
    const ebb_id both = mul(&a, ebb_emit_2(rw, &ebb_op_add, first, second), a.root);
    const ebb_id dx = to_rows(&a, ebb_emit_wide(rw, ebb_rw_value(rw, node->out[0])));
    const ebb_id to_xhat = ebb_emit_rescale(rw, both, -1, 0);
    through_xhat(&a, to_xhat, mul(&a, g, dx));
}

/* ---- of each norm ------------------------------------------------------------------------------------ */

void ebb_ln_stats_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    stats_grad(rw, node, dout, 0);
}

void ebb_ln_grad_sums_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    sums_grad(rw, node, dout, 0);
}

void ebb_ln_grad_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    grad_grad(rw, node, dout, 0);
}

void ebb_gn_stats_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    stats_grad(rw, node, dout, node->attr[EBB_GN_GROUPS].i[0]);
}

void ebb_gn_grad_sums_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    sums_grad(rw, node, dout, node->attr[EBB_GN_GROUPS].i[0]);
}

void ebb_gn_grad_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    grad_grad(rw, node, dout, node->attr[EBB_GN_GROUPS].i[0]);
}
