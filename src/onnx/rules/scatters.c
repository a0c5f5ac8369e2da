/* rules_scatters: elements written, or added and the like, to places of an axis: ScatterElements, Scatter.
 *
 * The places that indices name are compared with all places of the axis, so that indices may be computed,
 * and each result is made in one order: [..., places of the axis, indices, ...]. */
#include <string.h>

#include "onnx/import.h"
#include "onnx/rules/indices.h"

typedef struct scatter {
    uint32_t axis, x, updates;
    uint32_t hot;      /* truth values: whether an index names a place */
    uint32_t numbers;  /* the indices' numbers along their axis */
    onnx_shape places; /* x's, as far as there are indices; with an axis of 1 for these */
    onnx_shape given;  /* the updates', likewise */
} scatter;

static uint32_t over_indices(onnx_import *im, const scatter *s, const char *reduction, uint32_t x) {
    return onnx_op1(im, reduction, x, "axis=[%u]", s->axis + 1);
}

/* The shape with a new axis of size 1. */
static onnx_shape with_axis(const onnx_shape *shape, uint32_t axis) {
    onnx_shape more = {.rank = shape->rank + 1};
    for (uint32_t d = 0; d < more.rank; d++)
        for (uint32_t k = 0; k < 2; k++) more.dim[k][d] = d == axis ? 1 : shape->dim[k][d - (d > axis)];
    return more;
}

/* The size of one axis of a shape, 1 for all others. */
static onnx_shape along(const onnx_shape *shape, uint32_t axis) {
    onnx_shape line = {.rank = shape->rank};
    for (uint32_t d = 0; d < line.rank; d++)
        for (uint32_t k = 0; k < 2; k++) line.dim[k][d] = d == axis ? shape->dim[k][d] : 1;
    return line;
}

/* The update of the last index that names a place; where none does, x. */
static uint32_t replaced(onnx_import *im, const scatter *s) {
    const uint32_t named = onnx_either(im, s->hot, s->numbers, onnx_number(im, s->numbers, -1));
    const uint32_t last = over_indices(im, s, "reduce_max", named);
    const uint32_t none = onnx_op2(im, "less", last, onnx_number(im, last, 0));
    const uint32_t taken =
        onnx_either(im, onnx_op2(im, "equal", named, last), s->updates, onnx_number(im, s->x, 0));
    /* Where none does, the sum is of all, and not read. */
    return onnx_either(im, none, s->x, over_indices(im, s, "reduce_sum", taken));
}

static uint32_t reduced(onnx_import *im, const scatter *s, const char *how) {
    static const struct {
        const char *how, *over, *with;
    } rows[] = {{"add", "reduce_sum", "add"},
                {"mul", "reduce_prod", "mul"},
                {"max", "reduce_max", "maximum"},
                {"min", "reduce_min", "minimum"}};
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        if (strcmp(how, rows[i].how) != 0) continue;
        const uint32_t otherwise = i < 2 ? onnx_number(im, s->x, (double)i) : s->x;
        return onnx_op2(im, rows[i].with, s->x,
                        over_indices(im, s, rows[i].over, onnx_either(im, s->hot, s->updates, otherwise)));
    }
    if (strcmp(how, "none") != 0) onnx_refuse(im, "reduction %.40s", how);
    return onnx_stopped(im) ? EBB_BUILD_NONE : replaced(im, s);
}

static bool shapes_fit(onnx_import *im, const onnx_shape *x, const onnx_shape *i, const onnx_shape *given,
                       uint32_t axis) {
    if (i->rank != x->rank || !onnx_same_shape(i, given)) {
        onnx_refuse(im,
                    "indices of rank %u and updates of rank %u, of other shapes, of an operand of rank %u",
                    i->rank, given->rank, x->rank);
        return false;
    }
    for (uint32_t d = 0; d < x->rank; d++) {
        if (d == axis ? x->dim[0][d] != x->dim[1][d] || i->dim[0][d] != i->dim[1][d]
                      : x->dim[1][d] - x->dim[0][d] != i->dim[1][d] - i->dim[0][d])
            onnx_refuse(im, "places along the batch");
        if (i->dim[0][d] < 1 || (d != axis && i->dim[0][d] > x->dim[0][d]))
            onnx_refuse(im, "axis %u: %lld indices of %lld places", d, (long long)i->dim[0][d],
                        (long long)x->dim[0][d]);
    }
    return !onnx_stopped(im) && !onnx_beyond_rank(im, (int64_t)x->rank + 1);
}

/* place: the indices, of as many axes as the places. */
static void compare(onnx_import *im, scatter *s, uint32_t place) {
    const onnx_shape places = along(&s->places, s->axis), numbers = along(&s->given, s->axis + 1);
    s->hot = onnx_op2(im, "equal", place, onnx_places_along(im, &places, s->axis));
    s->numbers = onnx_places_along(im, &numbers, s->axis + 1);
}

/* Along other axes than theirs there may be fewer indices than places: what lies behind stays. */
static void scatter_elements(onnx_import *im) {
    const uint32_t i = onnx_in(im, 1);
    const onnx_shape at = onnx_shape_of(im, i);
    uint32_t x = onnx_in(im, 0), rest[ONNX_MAX_RANK];
    const uint32_t updates = onnx_in(im, 2);
    const onnx_shape given = onnx_shape_of(im, updates);
    onnx_shape shape = onnx_shape_of(im, x);
    scatter s = {.axis = onnx_axis(im, onnx_attr_int(im, "axis", 0), shape.rank)};
    if (onnx_stopped(im) || !shapes_fit(im, &shape, &at, &given, s.axis)) return;
    for (uint32_t d = 0; d < shape.rank; d++) {
        rest[d] = EBB_BUILD_NONE;
        if (d == s.axis || at.dim[0][d] == shape.dim[0][d]) continue;
        const int64_t behind[2] = {shape.dim[0][d] - at.dim[0][d], shape.dim[1][d] - at.dim[1][d]};
        const int64_t first[2] = {at.dim[0][d], at.dim[1][d]};
        rest[d] = onnx_slice(im, x, d, first, behind);
        x = onnx_slice(im, x, d, (int64_t[]){0, 0}, first);
        for (uint32_t k = 0; k < 2; k++) shape.dim[k][d] = first[k];
    }
    s.places = with_axis(&shape, s.axis + 1);
    s.given = with_axis(&given, s.axis);
    s.x = onnx_reshape(im, x, &s.places);
    s.updates = onnx_reshape(im, updates, &s.given);
    compare(im, &s, onnx_reshape(im, onnx_from_start(im, i, shape.dim[0][s.axis]), &s.given));
    uint32_t y = onnx_reshape(im, reduced(im, &s, onnx_attr_text(im, "reduction", "none")), &shape);
    for (uint32_t d = shape.rank; d-- > 0;)
        if (rest[d] != EBB_BUILD_NONE) y = onnx_concat(im, (uint32_t[]){y, rest[d]}, 2, d);
    onnx_give(im, 0, y);
}

uint32_t onnx_scatter_rows(onnx_import *im, uint32_t x, uint32_t i, uint32_t updates, const char *how) {
    const onnx_shape shape = onnx_shape_of(im, x), given = onnx_shape_of(im, updates);
    if (onnx_stopped(im)) return EBB_BUILD_NONE;
    scatter s = {.axis = 0, .places = with_axis(&shape, 1), .given = with_axis(&given, 0)};
    const onnx_shape line = along(&s.given, 1);
    s.x = onnx_reshape(im, x, &s.places);
    s.updates = onnx_reshape(im, updates, &s.given);
    compare(im, &s, onnx_reshape(im, i, &line));
    return onnx_reshape(im, reduced(im, &s, how), &shape);
}

const onnx_rule onnx_rules_scatters[] = {
    {"Scatter", scatter_elements},
    {"ScatterElements", scatter_elements},
    {NULL, NULL},
};
