/* xla/hlo/shapes.c: ops that move elements, reductions along axes, and places repeated. */
#include "graph/walk.h"
#include "xla/hlo/rows.h"

#include <math.h>

hlo_value hlo_arrange(hlo *h, hlo_value x, const uint32_t *label, const ebb_type *to) {
    uint32_t order[HLO_MAX_RANK];
    bool moved = false;
    for (uint32_t d = 0; d < to->rank; d++) order[ebb_hlo_axis(to->rank, label[d])] = d;
    for (uint32_t d = 0; d < to->rank; d++) moved = moved || order[d] != d;
    return moved ? hlo_transpose(h, x, order) : x;
}

/* ---- views and moves ---- */

HLO(reshape) {
    op->out[0] = hlo_reshape(op->to, op->in[0], hlo_type_of(&op->call->out[0]));
}
HLO(stop_gradient) {
    op->out[0] = op->in[0];
}

HLO(permute) {
    const ebb_type *x = &op->call->in[0], *y = &op->call->out[0];
    uint32_t order[HLO_MAX_RANK];
    for (uint32_t d = 0; d < y->rank; d++)
        order[ebb_hlo_axis(y->rank, d)] = ebb_hlo_axis(x->rank, op->call->attr[EBB_PERMUTE_ORDER].i[d]);
    op->out[0] = hlo_transpose(op->to, op->in[0], order);
}

HLO(to_planes) {
    static const uint32_t order[] = {0, 3, 1, 2};
    op->out[0] =
        hlo_reshape(op->to, hlo_transpose(op->to, op->in[0], order), hlo_type_of(&op->call->out[0]));
}

HLO(from_planes) {
    uint32_t order[4];
    for (uint32_t d = 0; d < 4; d++) order[d] = ebb_stored_axis(4, d);
    const ebb_type *x = &op->call->out[0];
    const hlo_type logical = hlo_shape(op->in[0].type.kind, 4, x->dim);
    op->out[0] = hlo_transpose(op->to, hlo_reshape(op->to, op->in[0], logical), order);
}

HLO(concat) {
    const uint32_t rank = op->in[0].type.rank;
    op->out[0] = hlo_concatenate(op->to, op->in, op->call->n_in,
                                 ebb_hlo_axis(rank, op->call->attr[EBB_CONCAT_AXIS].i[0]));
}

HLO(slice) {
    const ebb_attr *a = op->call->attr;
    const uint32_t rank = op->in[0].type.rank, axis = ebb_hlo_axis(rank, a[EBB_SLICE_AXIS].i[0]);
    int64_t first[HLO_MAX_RANK] = {0}, last[HLO_MAX_RANK], step[HLO_MAX_RANK];
    for (uint32_t d = 0; d < rank; d++) last[d] = op->in[0].type.dim[d], step[d] = 1;
    first[axis] = a[EBB_SLICE_BEGIN].i[0];
    last[axis] = first[axis] + a[EBB_SLICE_SIZE].i[0];
    op->out[0] = hlo_slice(op->to, op->in[0], first, last, step);
}

HLO(slice_grad) {
    const ebb_attr *a = op->call->attr;
    const uint32_t axis = ebb_hlo_axis(op->in[0].type.rank, a[EBB_SLICE_GRAD_AXIS].i[0]);
    int64_t low[HLO_MAX_RANK] = {0}, high[HLO_MAX_RANK] = {0};
    static const int64_t between[HLO_MAX_RANK] = {0};
    low[axis] = a[EBB_SLICE_GRAD_BEGIN].i[0];
    high[axis] = a[EBB_SLICE_GRAD_TOTAL].i[0] - low[axis] - op->in[0].type.dim[axis];
    op->out[0] = hlo_pad(op->to, op->in[0], 0, low, high, between);
}

/* Axes that are walked backwards are turned round first. */
static hlo_value forwards(const hlo_op *op, hlo_value x) {
    uint32_t backwards = 0;
    for (uint32_t d = 0; d < x.type.rank; d++)
        if (op->call->attr[EBB_STRIDED_STEP].i[d] < 0) backwards |= 1U << ebb_hlo_axis(x.type.rank, d);
    return backwards ? hlo_reverse(op->to, x, backwards) : x;
}

/* Where the axis's first place is in what was turned round, and how far places are apart. */
static int64_t first_place(const hlo_op *op, uint32_t d, int64_t size, int64_t *step) {
    const int64_t begin = op->call->attr[EBB_STRIDED_BEGIN].i[d];
    *step = op->call->attr[EBB_STRIDED_STEP].i[d];
    if (*step > 0) return begin;
    *step = -*step;
    return size - 1 - begin;
}

HLO(strided_slice) {
    const ebb_type *x = &op->call->in[0], *y = &op->call->out[0];
    int64_t first[HLO_MAX_RANK], last[HLO_MAX_RANK], step[HLO_MAX_RANK];
    for (uint32_t d = 0; d < x->rank; d++) {
        const uint32_t at = ebb_hlo_axis(x->rank, d);
        first[at] = first_place(op, d, x->dim[d], &step[at]);
        last[at] = first[at] + (y->dim[d] - 1) * step[at] + 1;
    }
    op->out[0] = hlo_slice(op->to, forwards(op, op->in[0]), first, last, step);
}

HLO(strided_slice_grad) {
    const ebb_type *dy = &op->call->in[0], *dx = &op->call->out[0];
    int64_t low[HLO_MAX_RANK], high[HLO_MAX_RANK], between[HLO_MAX_RANK];
    for (uint32_t d = 0; d < dx->rank; d++) {
        const uint32_t at = ebb_hlo_axis(dx->rank, d);
        int64_t step;
        low[at] = first_place(op, d, dx->dim[d], &step);
        between[at] = step - 1;
        high[at] = dx->dim[d] - low[at] - ((dy->dim[d] - 1) * step + 1);
    }
    op->out[0] = forwards(op, hlo_pad(op->to, op->in[0], 0, low, high, between));
}

/* ---- along axes ---- */

/* Sums and the like over logical axes, in the result's shape. */
static hlo_value reduced(const hlo_op *op, const char *name, double start) {
    const ebb_type *x = &op->call->in[0], *y = &op->call->out[0];
    const uint32_t axes = ebb_reduce_axes(x, op->call->attr);
    uint32_t stored = 0, label[HLO_MAX_RANK] = {0}, n = 0;
    for (uint32_t d = 0; d < x->rank; d++)
        if (axes >> d & 1) stored |= 1U << ebb_hlo_axis(x->rank, d);
    const hlo_value sum = hlo_reduce(op->to, name, op->in[0], start, stored);
    if (y->rank == x->rank) return hlo_reshape(op->to, sum, hlo_type_of(y));
    for (uint32_t at = 0; at < x->rank; at++) {
        for (uint32_t d = 0, left = 0; d < x->rank; d++) {
            const bool gone = axes >> d & 1;
            if (!gone && ebb_hlo_axis(x->rank, d) == at) label[n++] = left;
            left += !gone;
        }
    }
    return hlo_arrange(op->to, sum, label, y);
}

static double least(const hlo_op *op) {
    return hlo_real(op->in[0].type.kind) ? -(double)INFINITY : (double)INT32_MIN;
}

static double most(const hlo_op *op) {
    return hlo_real(op->in[0].type.kind) ? (double)INFINITY : (double)INT32_MAX;
}

HLO(reduce_sum) {
    op->out[0] = reduced(op, "add", 0);
}
HLO(reduce_mean) {
    const hlo_type x = op->in[0].type, y = hlo_type_of(&op->call->out[0]);
    op->out[0] = hlo_2c(op->to, "divide", reduced(op, "add", 0), (double)(hlo_count(&x) / hlo_count(&y)));
}
HLO(reduce_max) {
    op->out[0] = reduced(op, "maximum", least(op));
}
HLO(reduce_min) {
    op->out[0] = reduced(op, "minimum", most(op));
}
HLO(reduce_prod) {
    op->out[0] = reduced(op, "multiply", 1);
}

HLO(sum_squares) {
    const hlo_value squares = hlo_mul(op->to, op->in[0], op->in[0]);
    op->out[0] = hlo_reduce(op->to, "add", squares, 0, (1U << squares.type.rank) - 1);
}

HLO(broadcast_to) {
    const ebb_type *x = &op->call->in[0], *y = &op->call->out[0];
    uint32_t along[EBB_MAX_RANK], axis[HLO_MAX_RANK] = {0};
    (void)ebb_broadcast_to_along(x, y, op->call->attr, along); /* its shape rule has held */
    for (uint32_t d = 0; d < y->rank; d++)
        if (along[d] != EBB_NONE) axis[ebb_hlo_axis(x->rank, along[d])] = ebb_hlo_axis(y->rank, d);
    op->out[0] = hlo_spread(op->to, op->in[0], hlo_type_of(y), axis);
}

HLO(expand) {
    static const uint32_t axis[EBB_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
    op->out[0] = hlo_spread(op->to, op->in[0], hlo_type_of(&op->call->out[0]), axis);
}
