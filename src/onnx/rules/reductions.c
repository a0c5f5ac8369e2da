/* rules_reductions: sums, means and the like along axes. */
#include <stdio.h>

#include "onnx/import.h"

uint32_t onnx_root(onnx_import *im, uint32_t x) {
    const onnx_shape one = {.rank = 0};
    const uint32_t zero = onnx_fill(im, &one, x, 0), is_zero = onnx_op2(im, "equal", x, zero);
    const uint32_t positive[3] = {is_zero, onnx_fill(im, &one, x, 1), x};
    const uint32_t inside = onnx_op(im, "where", positive, 3, NULL),
                   root = onnx_op(im, "sqrt", &inside, 1, NULL);
    return onnx_op(im, "where", (uint32_t[]){is_zero, zero, root}, 3, NULL);
}

const char *onnx_axes_text(uint32_t bits, char text[ONNX_AXES_TEXT]) {
    int n = 0;
    text[0] = '\0';
    for (uint32_t d = 0; d < ONNX_MAX_RANK; d++)
        if (bits >> d & 1)
            n += snprintf(text + n, (size_t)(ONNX_AXES_TEXT - n), "%s%u", n > 0 ? "," : "", d);
    return text;
}

static void reduce(onnx_import *im) {
    const char *kind = im->node->op + strlen("Reduce");
    const char *op = strcmp(kind, "Mean") == 0   ? "reduce_mean"
                     : strcmp(kind, "Max") == 0  ? "reduce_max"
                     : strcmp(kind, "Min") == 0  ? "reduce_min"
                     : strcmp(kind, "Prod") == 0 ? "reduce_prod"
                                                 : "reduce_sum";
    char axes[ONNX_AXES_TEXT];
    uint32_t bits, x = onnx_in(im, 0);
    const onnx_shape shape = onnx_shape_of(im, x);
    if (onnx_stopped(im)) return;
    if (!onnx_axes(im, 1, shape.rank, &bits)) {
        if (onnx_attr_int(im, "noop_with_empty_axes", 0)) {
            onnx_give(im, 0, x);
            return;
        }
        bits = onnx_axes_from(0, shape.rank);
    }
    (void)onnx_axes_text(bits, axes);
    if (strcmp(kind, "SumSquare") == 0 || strcmp(kind, "L2") == 0) x = onnx_op2(im, "mul", x, x);
    if (strcmp(kind, "L1") == 0) x = onnx_op(im, "abs", &x, 1, NULL);
    uint32_t y = bits == 0 ? x
                           : onnx_op1(im, op, x, "axis=[%s] keep=%s", axes,
                                      onnx_attr_int(im, "keepdims", 1) ? "true" : "false");
    if (strcmp(kind, "L2") == 0) y = onnx_root(im, y);
    if (strcmp(kind, "LogSum") == 0) y = onnx_op(im, "log", &y, 1, NULL);
    onnx_give(im, 0, y);
}

/* The largest, and the logarithm of the sum of e^(x - largest). */
static void log_sum_exp(onnx_import *im) {
    char axes[ONNX_AXES_TEXT];
    uint32_t bits;
    const uint32_t x = onnx_in(im, 0);
    const onnx_shape shape = onnx_shape_of(im, x);
    if (onnx_stopped(im)) return;
    if (!onnx_axes(im, 1, shape.rank, &bits)) {
        if (onnx_attr_int(im, "noop_with_empty_axes", 0)) {
            onnx_give(im, 0, x);
            return;
        }
        bits = onnx_axes_from(0, shape.rank);
    }
    (void)onnx_axes_text(bits, axes);
    const char *keep = onnx_attr_int(im, "keepdims", 1) ? "true" : "false";
    const uint32_t largest = onnx_op1(im, "reduce_max", x, "axis=[%s] keep=true", axes),
                   top = onnx_op(im, "stop_gradient", &largest, 1, NULL), low = onnx_op2(im, "sub", x, top);
    const uint32_t sum =
        onnx_op1(im, "reduce_sum", onnx_op(im, "exp", &low, 1, NULL), "axis=[%s] keep=%s", axes, keep);
    const onnx_shape out = onnx_shape_of(im, sum);
    onnx_give(im, 0, onnx_op2(im, "add", onnx_op(im, "log", &sum, 1, NULL), onnx_reshape(im, top, &out)));
}

static void arg(onnx_import *im) {
    const uint32_t x = onnx_in(im, 0);
    onnx_shape shape = onnx_shape_of(im, x);
    const uint32_t axis = onnx_axis(im, onnx_attr_int(im, "axis", 0), shape.rank);
    if (onnx_stopped(im)) return;
    if (onnx_attr_int(im, "select_last_index", 0)) onnx_refuse(im, "select_last_index=1");
    const uint32_t y =
        onnx_op1(im, strcmp(im->node->op, "ArgMax") == 0 ? "argmax" : "argmin", x, "axis=%u", axis);
    shape.dim[0][axis] = shape.dim[1][axis] = 1;
    onnx_give(im, 0, onnx_attr_int(im, "keepdims", 1) ? onnx_reshape(im, y, &shape) : y);
}

static void cumsum(onnx_import *im) {
    int64_t n;
    const uint32_t x = onnx_in(im, 0);
    const double *at = onnx_fixed(im, 1, &n);
    const onnx_shape shape = onnx_shape_of(im, x);
    if (!at || n != 1 || onnx_stopped(im)) return;
    const uint32_t axis = onnx_axis(im, onnx_whole(at[0]), shape.rank);
    const bool back = onnx_attr_int(im, "reverse", 0) != 0;
    uint32_t y = onnx_op1(im, "cumsum", x, "axis=%u reverse=%s", axis, back ? "true" : "false");
    if (onnx_attr_int(im, "exclusive", 0)) { /* first longer, so that of one place something stays */
        y = onnx_pad(im, y, axis, back ? 0 : 1, back ? 1 : 0, 0);
        y = onnx_pad(im, y, axis, back ? -1 : 0, back ? 0 : -1, 0);
    }
    onnx_give(im, 0, y);
}

const onnx_rule onnx_rules_reductions[] = {
    {"ReduceSum", reduce},    {"ReduceMean", reduce},
    {"ReduceMax", reduce},    {"ReduceMin", reduce},
    {"ReduceProd", reduce},   {"ReduceL1", reduce},
    {"ReduceL2", reduce},     {"ReduceSumSquare", reduce},
    {"ReduceLogSum", reduce}, {"ReduceLogSumExp", log_sum_exp},
    {"ArgMax", arg},          {"ArgMin", arg},
    {"CumSum", cumsum},       {NULL, NULL},
};
