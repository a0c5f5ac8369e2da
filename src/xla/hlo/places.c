/* xla/hlo/places.c: places by their numbers: rows taken, sums scattered, the largest, lines sorted. */
#include "xla/hlo/rows.h"

#include <math.h>

/* A gather takes the nearest row for an index that names none: a wrong one shows as NaNs instead. Rows of
 * integers have none. */
static hlo_value rows_of(hlo *h, hlo_value table, hlo_value index) {
    const hlo_value rows = hlo_gather_rows(h, table, index);
    const double last = (double)ebb_min_i64(table.type.dim[0] - 1, INT32_MAX);
    if (!hlo_real(rows.type.kind)) return rows;
    const hlo_value named = hlo_2(h, "and", hlo_compare(h, "GE", index, hlo_like(h, &index, 0)),
                                  hlo_compare(h, "LE", index, hlo_like(h, &index, last)));
    return hlo_select(h, hlo_along(h, named, rows.type, 0), rows, hlo_like(h, &rows, (double)NAN));
}

/* ---- embeddings ---- */

HLO(embedding) {
    op->out[0] = rows_of(op->to, op->in[0], op->in[1]);
}

HLO(embedding_grad) {
    op->out[0] = hlo_scatter_rows(op->to, hlo_type_of(&op->call->out[0]), op->in[1], op->in[0]);
}

HLO(embedding_grad_onto) {
    op->out[0] = hlo_scatter_rows_onto(op->to, op->in[2], op->in[1], op->in[0]);
}

/* ---- take ---- */

/* Indices in a row, from the front: those below 0 are from the end. */
static hlo_value from_front(hlo *h, hlo_value i, int64_t places) {
    const hlo_value below = hlo_compare(h, "LT", i, hlo_like(h, &i, 0));
    return hlo_select(h, below, hlo_2c(h, "add", i, (double)places), i);
}

static hlo_value in_a_row(hlo *h, hlo_value x) {
    const int64_t n = hlo_count(&x.type);
    return hlo_reshape(h, x, hlo_shape(x.type.kind, 1, &n));
}

/* The axis first, the others behind it in the order of their bytes; their logical axes into rest. */
static hlo_value axis_first(hlo *h, hlo_value x, uint32_t axis, uint32_t rest[HLO_MAX_RANK]) {
    const uint32_t rank = x.type.rank, at = ebb_hlo_axis(rank, axis);
    uint32_t order[HLO_MAX_RANK] = {at}, n = 1;
    for (uint32_t d = 0; d < rank; d++) {
        if (d == at) continue;
        for (uint32_t l = 0; l < rank; l++)
            if (ebb_hlo_axis(rank, l) == d) rest[n - 1] = l;
        order[n++] = d;
    }
    return hlo_transpose(h, x, order);
}

/* Labels of [axes of i..., the rest...] in y, or in dy: i's axes stand in the place of x's. */
static void taken_labels(const ebb_type *i, uint32_t axis, const uint32_t *rest, uint32_t n_rest,
                         uint32_t label[HLO_MAX_RANK]) {
    for (uint32_t l = 0; l < i->rank; l++) label[ebb_hlo_axis(i->rank, l)] = axis + l;
    for (uint32_t d = 0; d < n_rest; d++)
        label[i->rank + d] = rest[d] < axis ? rest[d] : rest[d] - 1 + i->rank;
}

HLO(take) {
    hlo *h = op->to;
    const ebb_type *i = &op->call->in[1], *y = &op->call->out[0];
    const uint32_t axis = (uint32_t)op->call->attr[EBB_TAKE_AXIS].i[0];
    uint32_t rest[HLO_MAX_RANK], label[HLO_MAX_RANK];
    const hlo_value table = axis_first(h, op->in[0], axis, rest);
    const hlo_value index = from_front(h, in_a_row(h, op->in[1]), table.type.dim[0]);
    const hlo_value rows = rows_of(h, table, index);
    hlo_type apart = {.kind = rows.type.kind};
    for (uint32_t d = 0; d < i->rank; d++) apart.dim[apart.rank++] = op->in[1].type.dim[d];
    for (uint32_t d = 1; d < table.type.rank; d++) apart.dim[apart.rank++] = table.type.dim[d];
    taken_labels(i, axis, rest, table.type.rank - 1, label);
    op->out[0] = hlo_arrange(h, hlo_reshape(h, rows, apart), label, y);
}

HLO(take_grad) {
    hlo *h = op->to;
    const ebb_type *dy = &op->call->in[0], *i = &op->call->in[1], *dx = &op->call->out[0];
    const uint32_t axis = (uint32_t)op->call->attr[EBB_TAKE_AXIS].i[0];
    uint32_t rest[HLO_MAX_RANK], label[HLO_MAX_RANK], order[HLO_MAX_RANK], back[HLO_MAX_RANK];
    hlo_type table = {.kind = op->in[0].type.kind, .rank = dx->rank, .dim = {dx->dim[axis]}};
    uint32_t n = 0;
    for (uint32_t at = 0; at < dx->rank; at++) /* dx's other axes in the order of its bytes */
        for (uint32_t l = 0; l < dx->rank; l++)
            if (l != axis && ebb_hlo_axis(dx->rank, l) == at) rest[n++] = l;
    for (uint32_t d = 0; d < n; d++) table.dim[1 + d] = dx->dim[rest[d]];
    taken_labels(i, axis, rest, n, label);
    for (uint32_t d = 0; d < dy->rank; d++) order[d] = ebb_hlo_axis(dy->rank, label[d]);
    hlo_type rows = table;
    const hlo_value index = from_front(h, in_a_row(h, op->in[1]), table.dim[0]);
    rows.dim[0] = index.type.dim[0];
    const hlo_value given = hlo_reshape(h, hlo_transpose(h, op->in[0], order), rows);
    back[0] = axis;
    for (uint32_t d = 0; d < n; d++) back[1 + d] = rest[d];
    op->out[0] = hlo_arrange(h, hlo_scatter_rows(h, table, index, given), back, dx);
}

/* ---- pick: of each line along an axis one place ---- */

/* Truths of x's shape: is this the place that i names? And y's or dy's values along the axis, into *wide.
 */
static hlo_value named(const hlo_op *op, const ebb_type *x, const hlo_value *narrow, hlo_value *wide) {
    hlo *h = op->to;
    const uint32_t axis = (uint32_t)op->call->attr[EBB_TAKE_AXIS].i[0], rank = x->rank - 1;
    const hlo_type places = hlo_with(hlo_type_of(x), HLO_S32);
    uint32_t along[HLO_MAX_RANK];
    for (uint32_t l = 0; l < rank; l++)
        along[ebb_hlo_axis(rank, l)] = ebb_hlo_axis(x->rank, l < axis ? l : l + 1);
    const hlo_value i = hlo_spread(h, from_front(h, op->in[1], x->dim[axis]), places, along);
    if (narrow) *wide = hlo_spread(h, *narrow, places, along);
    return hlo_compare(h, "EQ", i, hlo_iota(h, places, ebb_hlo_axis(x->rank, axis)));
}

HLO(pick) {
    hlo *h = op->to;
    const ebb_type *x = &op->call->in[0], *y = &op->call->out[0];
    const uint32_t axis = (uint32_t)op->call->attr[EBB_TAKE_AXIS].i[0];
    const hlo_value here = named(op, x, NULL, NULL);
    /* Beside -0 a sum is what is added to it, of either sign. */
    const hlo_value alone = hlo_select(h, here, op->in[0], hlo_like(h, &op->in[0], -0.0));
    uint32_t label[HLO_MAX_RANK], n = 0;
    for (uint32_t at = 0; at < x->rank; at++)
        for (uint32_t l = 0; l < x->rank; l++)
            if (l != axis && ebb_hlo_axis(x->rank, l) == at) label[n++] = l < axis ? l : l - 1;
    const uint32_t along = 1U << ebb_hlo_axis(x->rank, axis);
    hlo_value picked = hlo_reduce(h, "add", alone, -0.0, along);
    if (hlo_real(picked.type.kind)) /* where no place is named, a NaN */
        picked =
            hlo_select(h, hlo_reduce(h, "or", here, 0, along), picked, hlo_like(h, &picked, (double)NAN));
    op->out[0] = hlo_arrange(h, picked, label, y);
}

HLO(pick_grad) {
    hlo_value wide;
    const hlo_value here = named(op, &op->call->out[0], &op->in[0], &wide);
    op->out[0] = hlo_select(op->to, here, wide, hlo_like(op->to, &wide, 0));
}

/* ---- the largest, sums so far ---- */

/* The first place of the largest, or of a NaN. */
static void best_place(hlo_op *op, const char *name, double start) {
    hlo *h = op->to;
    const ebb_type *x = &op->call->in[0];
    const uint32_t axis = (uint32_t)op->call->attr[EBB_ARGMAX_AXIS].i[0], at = ebb_hlo_axis(x->rank, axis);
    const hlo_value in = op->in[0];
    uint32_t others[HLO_MAX_RANK], label[HLO_MAX_RANK], n = 0;
    for (uint32_t d = 0; d < x->rank; d++) {
        if (d == at) continue;
        for (uint32_t l = 0; l < x->rank; l++)
            if (ebb_hlo_axis(x->rank, l) == d) label[n] = l < axis ? l : l - 1;
        others[n++] = d;
    }
    const hlo_value best = hlo_spread(h, hlo_reduce(h, name, in, start, 1U << at), in.type, others);
    hlo_value here = hlo_compare(h, "EQ", in, best);
    if (hlo_real(in.type.kind)) here = hlo_2(h, "or", here, hlo_compare(h, "NE", in, in));
    const hlo_value places = hlo_iota(h, hlo_with(in.type, HLO_S32), at);
    const hlo_value named_places = hlo_select(h, here, places, hlo_like(h, &places, INT32_MAX));
    const hlo_value first = hlo_reduce(h, "minimum", named_places, INT32_MAX, 1U << at);
    op->out[0] = hlo_arrange(h, first, label, &op->call->out[0]);
}

HLO(argmax) {
    best_place(op, "maximum", hlo_real(op->in[0].type.kind) ? -(double)INFINITY : INT32_MIN);
}
HLO(argmin) {
    best_place(op, "minimum", hlo_real(op->in[0].type.kind) ? (double)INFINITY : INT32_MAX);
}

/* A window from the line's beginning to each place, over the axis seen as rows. */
HLO(cumsum) {
    const ebb_axis a = ebb_axis_of(&op->call->in[0], op->call->attr[EBB_CUMSUM_AXIS].i[0]);
    const bool reverse = op->call->attr[EBB_CUMSUM_REVERSE].i[0] != 0;
    const hlo_type seen = hlo_shape(op->in[0].type.kind, 4, (const int64_t[]){a.outer, a.size, 1, a.inner});
    const hlo_window w = {
        .stride = {1, 1}, .low = {reverse ? 0 : a.size - 1}, .high = {reverse ? a.size - 1 : 0}};
    const int64_t kernel[] = {a.size, 1};
    const hlo_value sums =
        hlo_reduce_window(op->to, "add", hlo_reshape(op->to, op->in[0], seen), 0, kernel, &w, seen);
    op->out[0] = hlo_reshape(op->to, sums, op->in[0].type);
}

/* ---- sort ---- */

HLO(sort) {
    const uint32_t axis = ebb_hlo_axis(op->in[0].type.rank, op->call->attr[EBB_SORT_AXIS].i[0]);
    const hlo_value places = hlo_iota(op->to, hlo_with(op->in[0].type, HLO_S32), axis);
    hlo_sort(op->to, op->in[0], places, axis, op->call->attr[EBB_SORT_DESCENDING].i[0] != 0, op->out);
}

/* dy's places by i along the axis: by their numbers among all elements, as they are stored. */
HLO(sort_grad) {
    hlo *h = op->to;
    const ebb_type *x = &op->call->in[0];
    const ebb_axis a = ebb_axis_of(x, op->call->attr[EBB_TAKE_AXIS].i[0]);
    const hlo_type seen = hlo_shape(HLO_S32, 3, (const int64_t[]){a.outer, a.size, a.inner});
    const hlo_value i = hlo_reshape(h, from_front(h, op->in[1], a.size), seen);
    hlo_value at = hlo_2c(h, "multiply", hlo_iota(h, seen, 0), (double)a.size);
    at = hlo_2c(h, "multiply", hlo_add(h, at, i), (double)a.inner);
    at = hlo_add(h, at, hlo_iota(h, seen, 2));
    const hlo_value taken = hlo_gather_rows(h, in_a_row(h, op->in[0]), in_a_row(h, at));
    op->out[0] = hlo_reshape(h, taken, op->in[0].type);
}
