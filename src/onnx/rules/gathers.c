/* rules_gathers: elements by their places: GatherElements, GatherND, ScatterND. */
#include <stdio.h>

#include "onnx/import.h"
#include "onnx/rules/indices.h"

static uint32_t number(onnx_import *im, uint32_t like, double value) {
    const onnx_shape single = {.rank = 0};
    return onnx_fill(im, &single, like, value);
}

static uint32_t either(onnx_import *im, uint32_t condition, uint32_t a, uint32_t b) {
    return onnx_op(im, "where", (uint32_t[]){condition, a, b}, 3, NULL);
}

uint32_t onnx_from_start(onnx_import *im, uint32_t i, int64_t size) {
    const uint32_t below = onnx_op2(im, "less", i, number(im, i, 0));
    return either(im, below, onnx_op2(im, "add", i, number(im, i, (double)size)), i);
}

uint32_t onnx_places_along(onnx_import *im, const onnx_shape *shape, uint32_t axis) {
    char text[ONNX_SHAPE_TEXT], attributes[ONNX_SHAPE_TEXT + 32];
    (void)snprintf(attributes, sizeof attributes, "shape=%s axis=%u", onnx_shape_text(im, shape, text),
                   axis);
    return onnx_op(im, "iota", NULL, 0, attributes);
}

static uint32_t within(onnx_import *im, uint32_t place, int64_t size) {
    return onnx_op2(im, "logical_and", onnx_op2(im, "less", place, number(im, place, (double)size)),
                    onnx_op2(im, "less_equal", number(im, place, 0), place));
}

/* Each place's number among all of x's in logical order, where i says which it is along an axis; what is no
 * place of the axis is none of x's. */
static uint32_t among_all(onnx_import *im, uint32_t i, const onnx_shape *x, uint32_t axis) {
    const onnx_shape shape = onnx_shape_of(im, i);
    const uint32_t place = onnx_from_start(im, i, x->dim[0][axis]);
    const uint32_t is_one = within(im, place, x->dim[0][axis]);
    uint32_t sum = EBB_BUILD_NONE;
    int64_t stride[2] = {1, 1};
    for (uint32_t d = x->rank; d-- > 0 && !onnx_stopped(im);) {
        onnx_shape line = {.rank = x->rank};
        for (uint32_t e = 0; e < x->rank; e++)
            for (uint32_t k = 0; k < 2; k++) line.dim[k][e] = e == d ? shape.dim[k][d] : 1;
        if (stride[0] != stride[1] || stride[0] > INT32_MAX)
            onnx_refuse(im, "axis %u: the places behind it are too many, or depend on the batch", d);
        const uint32_t at = d == axis ? place : onnx_places_along(im, &line, d);
        const uint32_t part = onnx_op2(im, "mul", at, number(im, i, (double)stride[0]));
        sum = sum == EBB_BUILD_NONE ? part : onnx_op2(im, "add", sum, part);
        for (uint32_t k = 0; k < 2; k++) stride[k] *= x->dim[k][d]; /* of a tensor's elements: it fits */
    }
    return either(im, is_one, sum, number(im, i, INT32_MIN));
}

/* As many places as the indices have along their axis: of one `pick` does it; of more all of x are counted
 * through. */
static void gather_elements(onnx_import *im) {
    char text[16];
    const uint32_t x = onnx_in(im, 0), i = onnx_in(im, 1);
    const onnx_shape shape = onnx_shape_of(im, x), out = onnx_shape_of(im, i);
    const uint32_t axis = onnx_axis(im, onnx_attr_int(im, "axis", 0), shape.rank);
    if (!onnx_stopped(im) && out.rank != shape.rank)
        onnx_refuse(im, "indices of rank %u of an operand of rank %u", out.rank, shape.rank);
    if (onnx_stopped(im)) return;
    onnx_shape each = {.rank = 0}, flat = {.rank = 1};
    bool one = out.dim[0][axis] == 1 && out.dim[1][axis] == 1 && out.rank != 4; /* as integers lie there */
    for (uint32_t d = 0; d < out.rank; d++) {
        for (uint32_t k = 0; k < 2 && d != axis; k++) {
            one &= out.dim[k][d] == shape.dim[k][d];
            each.dim[k][each.rank] = out.dim[k][d];
            if (out.dim[k][d] > shape.dim[k][d])
                onnx_refuse(im, "axis %u: %lld indices of %lld places", d, (long long)out.dim[k][d],
                            (long long)shape.dim[k][d]);
        }
        each.rank += d != axis;
    }
    if (shape.dim[0][axis] != shape.dim[1][axis]) onnx_refuse(im, "places along the batch");
    (void)snprintf(text, sizeof text, "axis=%u", axis);
    for (uint32_t k = 0; k < 2; k++) flat.dim[k][0] = onnx_count(&shape, k);
    if (one)
        onnx_give(im, 0,
                  onnx_reshape(
                      im, onnx_op(im, "pick", (uint32_t[]){x, onnx_reshape(im, i, &each)}, 2, text), &out));
    else
        onnx_give(im, 0,
                  onnx_op(im, "take",
                          (uint32_t[]){onnx_reshape(im, x, &flat), among_all(im, i, &shape, axis)}, 2,
                          "axis=0"));
}

/* ---- GatherND ---- */

typedef struct tuples {
    onnx_shape x, lead;    /* lead: the indices' shape without its last axis */
    uint32_t batch, n, in; /* axes in common; numbers of a tuple; the indices */
} tuples;

static bool tuples_read(onnx_import *im, uint32_t x, tuples *t) {
    const onnx_shape i = onnx_shape_of(im, t->in);
    const int64_t batch = onnx_attr_int(im, "batch_dims", 0);
    if (onnx_stopped(im)) return false;
    t->x = onnx_shape_of(im, x);
    t->lead = i;
    t->lead.rank = i.rank > 0 ? i.rank - 1 : 0;
    const int64_t n = i.rank > 0 ? i.dim[0][t->lead.rank] : 0;
    if (n < 1 || n != i.dim[1][t->lead.rank] || batch < 0 || batch > t->lead.rank ||
        n + batch > t->x.rank) {
        onnx_refuse(im, "tuples of %lld indices behind %lld axes of %u", (long long)n, (long long)batch,
                    t->x.rank);
        return false;
    }
    t->batch = (uint32_t)batch;
    t->n = (uint32_t)n;
    return !onnx_beyond_rank(im, (int64_t)t->lead.rank + t->x.rank - batch - n);
}

/* The places along axis d of x that the tuples name; *good: which of them are there. The first axis, whose
 * size may be the batch, is checked with the sum. */
static uint32_t tuple_places(onnx_import *im, const tuples *t, uint32_t d, uint32_t *good) {
    if (d < t->batch) {
        onnx_shape line = {.rank = t->lead.rank};
        for (uint32_t e = 0; e < line.rank; e++)
            for (uint32_t k = 0; k < 2; k++) line.dim[k][e] = e == d ? t->lead.dim[k][d] : 1;
        return onnx_places_along(im, &line, d);
    }
    const int64_t at = d - t->batch, size = t->x.dim[0][d];
    const uint32_t i = onnx_reshape(
        im, onnx_slice(im, t->in, t->lead.rank, (int64_t[]){at, at}, (int64_t[]){1, 1}), &t->lead);
    if (d == 0) return i;
    if (size != t->x.dim[1][d]) onnx_refuse(im, "places along the batch");
    const uint32_t place = onnx_from_start(im, i, size), is_one = within(im, place, size);
    *good = *good == EBB_BUILD_NONE ? is_one : onnx_op2(im, "logical_and", *good, is_one);
    return place;
}

/* Each tuple's number among all places of x's first axes. */
static uint32_t tuple_numbers(onnx_import *im, const tuples *t) {
    uint32_t sum = EBB_BUILD_NONE, good = EBB_BUILD_NONE;
    int64_t stride = 1;
    for (uint32_t d = t->batch + t->n; d-- > 0 && !onnx_stopped(im);) {
        const uint32_t at = tuple_places(im, t, d, &good);
        const uint32_t part = stride == 1 ? at : onnx_op2(im, "mul", at, number(im, at, (double)stride));
        sum = sum == EBB_BUILD_NONE ? part : onnx_op2(im, "add", sum, part);
        stride *= t->x.dim[0][d]; /* of a tensor's elements: it fits */
        if (d > 0 && (t->x.dim[0][d] != t->x.dim[1][d] || stride > INT32_MAX))
            onnx_refuse(im, "axis %u: the places behind it are too many, or depend on the batch", d - 1);
    }
    return good == EBB_BUILD_NONE ? sum : either(im, good, sum, number(im, sum, INT32_MIN));
}

static void gather_nd(onnx_import *im) {
    const uint32_t x = onnx_in(im, 0);
    tuples t = {.in = onnx_in(im, 1)};
    if (onnx_stopped(im) || !tuples_read(im, x, &t)) return;
    onnx_shape rows = {.rank = 2, .dim = {{1, 1}, {1, 1}}}, line = {.rank = 1}, out = t.lead;
    for (uint32_t k = 0; k < 2; k++) {
        for (uint32_t d = 0; d < t.x.rank; d++) rows.dim[k][d >= t.batch + t.n] *= t.x.dim[k][d];
        for (uint32_t d = t.batch + t.n, e = t.lead.rank; d < t.x.rank; d++)
            out.dim[k][e++] = t.x.dim[k][d];
        line.dim[k][0] = onnx_count(&t.lead, k);
    }
    out.rank += t.x.rank - t.batch - t.n;
    rows.rank = t.batch + t.n < t.x.rank ? 2 : 1;
    const uint32_t numbers = onnx_broadcast(im, tuple_numbers(im, &t), &t.lead);
    const uint32_t in[2] = {onnx_reshape(im, x, &rows), onnx_reshape(im, numbers, &line)};
    onnx_give(im, 0, onnx_reshape(im, onnx_op(im, "take", in, 2, "axis=0"), &out));
}

/* ---- ScatterND: rows of x and of the updates, one behind the other, of which each place takes one ---- */

/* The row that each row of x is now; those from `rows` on are updates. *n: the updates. */
static double *scattered(onnx_import *im, const onnx_shape *x, uint32_t n_axes, int64_t rows, int64_t *n) {
    const double *at = onnx_fixed(im, 1, n);
    double *from = at ? onnx_folded(im, rows) : NULL;
    *n /= n_axes;
    for (int64_t i = 0; from && i < rows; i++) from[i] = (double)i;
    for (int64_t j = 0; from && j < *n; j++) {
        int64_t row = 0;
        for (uint32_t d = 0; d < n_axes; d++) {
            const double place = at[j * n_axes + d], size = (double)x->dim[0][d];
            if (!(place >= -size && place < size)) {
                onnx_refuse(im, "place %g of an axis of %g", place, size);
                return NULL;
            }
            row = row * x->dim[0][d] + onnx_place(place, x->dim[0][d]);
        }
        from[row] = (double)(rows + j);
    }
    return from;
}

static void scatter_nd(onnx_import *im) {
    const onnx_value *places = onnx_operand(im, 1);
    const uint32_t x = onnx_in(im, 0), updates = onnx_in(im, 2);
    const onnx_shape shape = onnx_shape_of(im, x), given = onnx_shape_of(im, updates);
    onnx_shape rows = {.rank = 2, .dim = {{1, 1}, {1, 1}}}, more = rows, line = {.rank = 1};
    if (strcmp(onnx_attr_text(im, "reduction", "none"), "none") != 0) onnx_refuse(im, "a reduction");
    if (onnx_stopped(im)) return;
    const int64_t n_axes = places->shape.rank > 0 ? places->shape.dim[0][places->shape.rank - 1] : 0;
    if (n_axes < 1 || n_axes > shape.rank) {
        onnx_refuse(im, "tuples of %lld indices of %u axes", (long long)n_axes, shape.rank);
        return;
    }
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t d = 0; d < shape.rank; d++) rows.dim[k][d >= n_axes] *= shape.dim[k][d];
    if (rows.dim[0][0] != rows.dim[1][0]) onnx_refuse(im, "places along the batch");
    if (onnx_stopped(im)) return;
    const double *from = scattered(im, &shape, (uint32_t)n_axes, rows.dim[0][0], &more.dim[0][0]);
    if (!from || onnx_stopped(im)) return;
    for (uint32_t k = 0; k < 2; k++) {
        more.dim[k][0] = more.dim[0][0];
        more.dim[k][1] = rows.dim[k][1];
        line.dim[k][0] = rows.dim[k][0];
        if (onnx_count(&more, k) != onnx_count(&given, k)) onnx_refuse(im, "updates of another shape");
    }
    const uint32_t both[2] = {onnx_reshape(im, x, &rows), onnx_reshape(im, updates, &more)};
    const uint32_t in[2] = {onnx_concat(im, both, 2, 0), onnx_table(im, ONNX_INT64, &line, from)};
    onnx_give(im, 0, onnx_reshape(im, onnx_op(im, "take", in, 2, "axis=0"), &shape));
}

const onnx_rule onnx_rules_gathers[] = {
    {"ScatterND", scatter_nd},
    {"GatherElements", gather_elements},
    {"GatherND", gather_nd},
    {NULL, NULL},
};
