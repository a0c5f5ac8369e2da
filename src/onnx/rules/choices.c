/* rules_choices: ops that compare, choose by indices, or are made of several pointwise ones. */
#include <float.h>
#include <stdio.h>

#include "onnx/import.h"
#include "onnx/rules/indices.h"

/* ---- curves ---- */

static uint32_t one_of(onnx_import *im, const char *op, uint32_t x) {
    return onnx_op(im, op, &x, 1, NULL);
}

static void tangent(onnx_import *im) {
    const uint32_t x = onnx_in(im, 0);
    onnx_give(im, 0, onnx_op2(im, "div", one_of(im, "sin", x), one_of(im, "cos", x)));
}

/* (e^x - e^-x) / 2 and (e^x + e^-x) / 2: the first by expm1, which keeps the digits of what is near 0. */
static void hyperbolic(onnx_import *im) {
    const bool sine = im->node->op[0] == 'S';
    const char *op = sine ? "expm1" : "exp";
    const uint32_t x = onnx_in(im, 0), up = one_of(im, op, x), down = one_of(im, op, one_of(im, "neg", x));
    onnx_give(im, 0, onnx_rescale(im, onnx_op2(im, sine ? "sub" : "add", up, down), 0.5, 0));
}

/* sign(x) log(1 + |x| + x^2 / (1 + sqrt(x^2 + 1))) */
static void area_sine(onnx_import *im) {
    const uint32_t x = onnx_in(im, 0), size = one_of(im, "abs", x), square = onnx_op2(im, "mul", x, x);
    const uint32_t root = one_of(im, "sqrt", onnx_rescale(im, square, 1, 1));
    const uint32_t more = onnx_op2(im, "div", square, onnx_rescale(im, root, 1, 1));
    const uint32_t y = one_of(im, "log1p", onnx_op2(im, "add", size, more));
    onnx_give(im, 0, onnx_op2(im, "mul", one_of(im, "sign", x), y));
}

/* log(x + sqrt((x - 1)(x + 1))) */
static void area_cosine(onnx_import *im) {
    const uint32_t x = onnx_in(im, 0);
    const uint32_t product = onnx_op2(im, "mul", onnx_rescale(im, x, 1, -1), onnx_rescale(im, x, 1, 1));
    onnx_give(im, 0, one_of(im, "log", onnx_op2(im, "add", x, one_of(im, "sqrt", product))));
}

static void area_tangent(onnx_import *im) {
    const uint32_t x = onnx_in(im, 0), up = one_of(im, "log1p", x),
                   down = one_of(im, "log1p", one_of(im, "neg", x));
    onnx_give(im, 0, onnx_rescale(im, onnx_op2(im, "sub", up, down), 0.5, 0));
}

/* ---- comparisons ---- */

static void is_nan(onnx_import *im) {
    const uint32_t x = onnx_in(im, 0);
    onnx_give(im, 0, one_of(im, "logical_not", onnx_op2(im, "equal", x, x)));
}

static void is_infinite(onnx_import *im) {
    const bool up = onnx_attr_int(im, "detect_positive", 1) != 0,
               down = onnx_attr_int(im, "detect_negative", 1) != 0;
    const uint32_t x = onnx_in(im, 0);
    char dtype[8];
    if (strcmp(onnx_dtype_of(im, x, dtype), "f32") != 0) onnx_refuse(im, "of %s", dtype);
    if (!up && !down) onnx_refuse(im, "neither sign is looked for");
    const uint32_t size = up && down ? one_of(im, "abs", x) : up ? x : one_of(im, "neg", x);
    onnx_give(im, 0, onnx_op2(im, "less", onnx_number(im, x, (double)FLT_MAX), size));
}

static void thresholded(onnx_import *im) {
    const uint32_t x = onnx_in(im, 0), least = onnx_number(im, x, onnx_attr_real(im, "alpha", 1));
    onnx_give(im, 0, onnx_either(im, onnx_op2(im, "less", least, x), x, onnx_number(im, x, 0)));
}

static void shrink(onnx_import *im) {
    const double reach = onnx_attr_real(im, "lambd", 0.5), bias = onnx_attr_real(im, "bias", 0);
    const uint32_t x = onnx_in(im, 0);
    const uint32_t above = onnx_op2(im, "less", onnx_number(im, x, reach), x),
                   below = onnx_op2(im, "less", x, onnx_number(im, x, -reach));
    const uint32_t high = onnx_either(im, above, onnx_rescale(im, x, 1, -bias), onnx_number(im, x, 0));
    onnx_give(im, 0, onnx_either(im, below, onnx_rescale(im, x, 1, bias), high));
}

/* ---- indices ---- */

static void one_hot(onnx_import *im) {
    int64_t n, n_values;
    uint32_t i = onnx_in(im, 0);
    onnx_shape shape = onnx_shape_of(im, i), line = {.rank = 0};
    const double *depth = onnx_fixed(im, 1, &n), *values = onnx_fixed(im, 2, &n_values);
    const onnx_value *kind = onnx_operand(im, 2);
    const uint32_t axis = onnx_axis(im, onnx_attr_int(im, "axis", -1), shape.rank + 1);
    if (onnx_stopped(im)) return;
    if (onnx_beyond_rank(im, (int64_t)shape.rank + 1)) return;
    if (n != 1 || n_values != 2 || !(depth[0] >= 1 && depth[0] <= INT32_MAX)) {
        onnx_refuse(im, "of depth %g and rank %u", n == 1 ? depth[0] : 0, shape.rank);
        return;
    }
    const bool real = onnx_is_f32(kind->type);
    if (!real && kind->type != ONNX_INT32 && kind->type != ONNX_INT64)
        onnx_refuse(im, "values of %s", onnx_type_name(kind->type));
    if (onnx_is_real(im, i)) i = onnx_op1(im, "cast", i, "to=i32");
    for (uint32_t d = shape.rank++; d > axis; d--)
        for (uint32_t k = 0; k < 2; k++) shape.dim[k][d] = shape.dim[k][d - 1];
    line.rank = shape.rank;
    for (uint32_t k = 0; k < 2; k++) {
        shape.dim[k][axis] = 1;
        for (uint32_t d = 0; d < line.rank; d++) line.dim[k][d] = d == axis ? (int64_t)depth[0] : 1;
    }
    const uint32_t wanted = onnx_reshape(im, onnx_from_start(im, i, (int64_t)depth[0]), &shape);
    const uint32_t hot = onnx_op2(im, "equal", wanted, onnx_places_along(im, &line, axis)),
                   like = real ? EBB_BUILD_NONE : i;
    onnx_give(im, 0,
              onnx_either(im, hot, onnx_number(im, like, values[1]), onnx_number(im, like, values[0])));
}

static void top_k(onnx_import *im) {
    char text[64];
    int64_t n = 0, size[2] = {onnx_attr_int(im, "k", 0), onnx_attr_int(im, "k", 0)};
    const uint32_t x = onnx_in(im, 0);
    const onnx_shape shape = onnx_shape_of(im, x);
    const uint32_t axis = onnx_axis(im, onnx_attr_int(im, "axis", -1), shape.rank);
    const double *at[2] = {NULL, NULL};
    if (onnx_has(im, 1)) (void)onnx_numbers(im, 1, at, &n);
    if (onnx_stopped(im)) return;
    for (uint32_t k = 0; k < 2; k++) {
        if (n == 1) size[k] = onnx_whole(at[k][0]);
        if (size[k] < 1 || size[k] > shape.dim[k][axis])
            onnx_refuse(im, "%lld of %lld places", (long long)size[k], (long long)shape.dim[k][axis]);
    }
    (void)snprintf(text, sizeof text, "axis=%u descending=%s", axis,
                   onnx_attr_int(im, "largest", 1) ? "true" : "false");
    const uint32_t sorted = onnx_op_two(im, "sort", x, text);
    if (onnx_stopped(im)) return;
    for (uint32_t i = 0; i < 2; i++)
        if (onnx_wants(im, i)) onnx_give(im, i, onnx_slice(im, sorted + i, axis, (int64_t[]){0, 0}, size));
}

const onnx_rule onnx_rules_choices[] = {
    {"Tan", tangent},     {"Sinh", hyperbolic},   {"Cosh", hyperbolic},
    {"Asinh", area_sine}, {"Acosh", area_cosine}, {"Atanh", area_tangent},
    {"IsNaN", is_nan},    {"IsInf", is_infinite}, {"ThresholdedRelu", thresholded},
    {"Shrink", shrink},   {"OneHot", one_hot},    {"TopK", top_k},
    {NULL, NULL},
};
