/* rules_gathers: places along axes, and elements by them: GatherElements, ReverseSequence. */
#include <stdio.h>

#include "onnx/import.h"
#include "onnx/rules/indices.h"

uint32_t onnx_from_start(onnx_import *im, uint32_t i, int64_t size) {
    const uint32_t below = onnx_op2(im, "less", i, onnx_number(im, i, 0));
    return onnx_either(im, below, onnx_op2(im, "add", i, onnx_number(im, i, (double)size)), i);
}

uint32_t onnx_places_along(onnx_import *im, const onnx_shape *shape, uint32_t axis) {
    char text[ONNX_SHAPE_TEXT], attributes[ONNX_SHAPE_TEXT + 32];
    (void)snprintf(attributes, sizeof attributes, "shape=%s axis=%u", onnx_shape_text(im, shape, text),
                   axis);
    return onnx_op(im, "iota", NULL, 0, attributes);
}

uint32_t onnx_places_within(onnx_import *im, uint32_t place, int64_t size) {
    return onnx_op2(im, "logical_and", onnx_op2(im, "less", place, onnx_number(im, place, (double)size)),
                    onnx_op2(im, "less_equal", onnx_number(im, place, 0), place));
}

/* Each place's number among all of x's in logical order, where i says which it is along an axis; what is no
 * place of the axis is none of x's. */
static uint32_t among_all(onnx_import *im, uint32_t i, const onnx_shape *x, uint32_t axis) {
    const onnx_shape shape = onnx_shape_of(im, i);
    const uint32_t place = onnx_from_start(im, i, x->dim[0][axis]);
    const uint32_t is_one = onnx_places_within(im, place, x->dim[0][axis]);
    uint32_t sum = EBB_BUILD_NONE;
    int64_t stride[2] = {1, 1};
    for (uint32_t d = x->rank; d-- > 0 && !onnx_stopped(im);) {
        onnx_shape line = {.rank = x->rank};
        for (uint32_t e = 0; e < x->rank; e++)
            for (uint32_t k = 0; k < 2; k++) line.dim[k][e] = e == d ? shape.dim[k][d] : 1;
        if (stride[0] != stride[1] || stride[0] > INT32_MAX)
            onnx_refuse(im, "axis %u: the places behind it are too many, or depend on the batch", d);
        const uint32_t at = d == axis ? place : onnx_places_along(im, &line, d);
        const uint32_t part = onnx_op2(im, "mul", at, onnx_number(im, i, (double)stride[0]));
        sum = sum == EBB_BUILD_NONE ? part : onnx_op2(im, "add", sum, part);
        for (uint32_t k = 0; k < 2; k++) stride[k] *= x->dim[k][d]; /* of a tensor's elements: it fits */
    }
    return onnx_either(im, is_one, sum, onnx_number(im, i, INT32_MIN));
}

/* Operand 0; a table of the file that is the same for each of its samples becomes one for each of N. */
static uint32_t of_each_sample(onnx_import *im, const onnx_shape *indices) {
    const uint32_t x = onnx_in_beside(im, 0, indices);
    onnx_shape shape = onnx_shape_of(im, x);
    if (!im->rebind || onnx_stopped(im) || onnx_operand(im, 0)->kind == ONNX_GRAPH) return x;
    const bool one =
        shape.rank > 1 && shape.rank == indices->rank && shape.dim[0][0] == 1 && shape.dim[1][0] == 1;
    if (!one || onnx_operand(im, 0)->shape.dim[0][0] != im->batch || indices->dim[0][0] != ONNX_BATCH_A)
        return x;
    for (uint32_t k = 0; k < 2; k++) shape.dim[k][0] = indices->dim[k][0];
    return onnx_broadcast(im, x, &shape);
}

/* As many places as the indices have along their axis: of one `pick` does it; of more all of x are counted
 * through. */
static void gather_elements(onnx_import *im) {
    char text[16];
    const uint32_t i = onnx_in(im, 1);
    const onnx_shape out = onnx_shape_of(im, i);
    const uint32_t x = of_each_sample(im, &out);
    const onnx_shape shape = onnx_shape_of(im, x);
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
            if (im->rebind && im->batch > 0 && shape.dim[0][d] != shape.dim[1][d] &&
                out.dim[0][d] == out.dim[1][d])
                onnx_refuse(im, "places along the batch"); /* the first samples' would be all */
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

/* The row of x that each becomes, of [samples,steps] behind one another: the first `n` of a sample's steps
 * turn round. */
static uint32_t turned_rows(onnx_import *im, uint32_t n, const onnx_shape *x) {
    const onnx_shape steps = {.rank = 2, .dim = {{1, x->dim[0][1]}, {1, x->dim[1][1]}}};
    onnx_shape samples = {.rank = 2, .dim = {{x->dim[0][0], 1}, {x->dim[1][0], 1}}}, both = samples;
    for (uint32_t k = 0; k < 2; k++) both.dim[k][1] = x->dim[k][1];
    const uint32_t step = onnx_places_along(im, &steps, 1), length = onnx_reshape(im, n, &samples);
    const uint32_t back =
        onnx_op2(im, "sub", onnx_op2(im, "sub", length, step), onnx_number(im, length, 1));
    const uint32_t from = onnx_either(im, onnx_op2(im, "less", step, length), back, step);
    const uint32_t before = onnx_op2(im, "mul", onnx_places_along(im, &samples, 0),
                                     onnx_number(im, step, (double)x->dim[0][1]));
    return onnx_broadcast(im, onnx_op2(im, "add", before, from), &both);
}

static void reverse_sequence(onnx_import *im) {
    const uint32_t in = onnx_in(im, 0), n = onnx_in(im, 1), order[ONNX_MAX_RANK] = {1, 0, 2, 3, 4, 5, 6, 7};
    const onnx_shape given = onnx_shape_of(im, in), lengths = onnx_shape_of(im, n);
    const int64_t steps = onnx_attr_int(im, "time_axis", 0), samples = onnx_attr_int(im, "batch_axis", 1);
    if (onnx_stopped(im)) return;
    if (given.rank < 2 || steps + samples != 1 || steps * samples != 0)
        onnx_refuse(im, "axes %lld and %lld of %u", (long long)samples, (long long)steps, given.rank);
    const uint32_t x = !onnx_stopped(im) && steps == 0 ? onnx_permute(im, in, order, given.rank) : in;
    const onnx_shape shape = onnx_shape_of(im, x);
    if (onnx_stopped(im)) return;
    if (shape.dim[0][1] != shape.dim[1][1]) onnx_refuse(im, "places along the batch");
    if (lengths.rank != 1 || lengths.dim[0][0] != shape.dim[0][0] || lengths.dim[1][0] != shape.dim[1][0])
        onnx_refuse(im, "other lengths than one for each of %lld samples", (long long)shape.dim[0][0]);
    onnx_shape rows = {.rank = 2, .dim = {{1, 1}, {1, 1}}}, line = {.rank = 1};
    for (uint32_t k = 0; k < 2; k++) {
        for (uint32_t d = 0; d < shape.rank; d++) rows.dim[k][d > 1] *= shape.dim[k][d];
        line.dim[k][0] = rows.dim[k][0];
    }
    const uint32_t from[2] = {onnx_reshape(im, x, &rows),
                              onnx_reshape(im, turned_rows(im, n, &shape), &line)};
    const uint32_t y = onnx_reshape(im, onnx_op(im, "take", from, 2, "axis=0"), &shape);
    onnx_give(im, 0, steps == 0 ? onnx_permute(im, y, order, shape.rank) : y);
}

const onnx_rule onnx_rules_gathers[] = {
    {"ReverseSequence", reverse_sequence},
    {"GatherElements", gather_elements},
    {NULL, NULL},
};
