/* rules_norms: normalisations, Softmax. */
#include <stdio.h>

#include "onnx/import.h"

/* In training mode the mean and variance are the samples', whatever the graph computes for them. */
static void measure(onnx_import *im, uint32_t in[5], uint32_t rank) {
    char axes[ONNX_AXES_TEXT];
    (void)onnx_axes_text(onnx_axes_from(0, rank) & ~2U, axes);
    in[3] = onnx_op1(im, "reduce_mean", in[0], "axis=[%s]", axes);
    const uint32_t low = onnx_op2(im, "sub", in[0], in[3]);
    in[4] = onnx_op1(im, "reduce_mean", onnx_op2(im, "mul", low, low), "axis=[%s]", axes);
}

/* By mean and variance that the graph computes, as of weights that are standardized: (x - mean) /
 * sqrt(variance + epsilon) * scale + bias. in: the operands. */
static void norm_by_computed(onnx_import *im, uint32_t in[5], double eps) {
    const onnx_shape shape = onnx_shape_of(im, in[0]);
    onnx_shape channels = {.rank = shape.rank > 1 ? shape.rank - 1 : 1, .dim = {{1}, {1}}};
    uint32_t each[5];
    if (onnx_stopped(im)) return;
    if (onnx_attr_int(im, "training_mode", 0)) measure(im, in, shape.rank);
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t d = 0; d < channels.rank; d++)
            channels.dim[k][d] = d == 0 && shape.rank > 1 ? shape.dim[k][1] : 1;
    for (uint32_t i = 1; i < 5; i++) each[i] = onnx_reshape(im, in[i], &channels);
    const uint32_t sum = onnx_rescale(im, each[4], 1, eps);
    const uint32_t factor = onnx_op2(im, "div", each[1], onnx_op(im, "sqrt", &sum, 1, NULL));
    const uint32_t y = onnx_op2(im, "mul", onnx_op2(im, "sub", in[0], each[3]), factor);
    onnx_give(im, 0, onnx_op2(im, "add", y, each[2]));
}

bool onnx_measures(const onnx_import *im, uint32_t i) {
    return i >= 3 && onnx_has(im, i) && strcmp(im->node->op, "BatchNormalization") == 0 &&
           onnx_attr_int(im, "training_mode", 0) != 0 &&
           onnx_names_find(&im->by_name, im->node->in[i]) == EBB_NONE;
}

static void batch_norm(onnx_import *im) {
    const double eps = onnx_attr_real(im, "epsilon", 1e-5), keep = onnx_attr_real(im, "momentum", 0.9);
    uint32_t in[5];
    char text[96], real[2][EBB_REAL_TEXT];
    for (uint32_t i = 0; i < 5; i++) in[i] = onnx_measures(im, i) ? in[0] : onnx_in(im, i);
    onnx_shape shape = onnx_shape_of(im, in[0]);
    const onnx_shape given = shape;
    if (onnx_stopped(im)) return;
    if (onnx_measures(im, 3) || onnx_measures(im, 4) || !onnx_is_given(im, 3) || !onnx_is_given(im, 4)) {
        norm_by_computed(im, in, eps);
        return;
    }
    if (shape.rank == 3 || shape.rank > 4) { /* norms take rank 2 and 4 */
        for (uint32_t k = 0; k < 2; k++) {
            for (uint32_t d = 3; d < shape.rank; d++) shape.dim[k][2] *= shape.dim[k][d];
            shape.dim[k][3] = 1;
        }
        shape.rank = 4;
        in[0] = onnx_reshape(im, in[0], &shape);
    }
    (void)snprintf(text, sizeof text, "eps=%s momentum=%s", ebb_real_text(eps, real[0]),
                   ebb_real_text(onnx_meant(1 - keep), real[1]));
    onnx_give(im, 0, onnx_reshape(im, onnx_op(im, "batch_norm", in, 5, text), &given));
}

/* A factor or summand of n places, from an operand that may have ones around it; a fill where it is not
 * there. */
static uint32_t row(onnx_import *im, uint32_t i, int64_t n, uint32_t like, double otherwise) {
    const onnx_shape shape = {.rank = 1, .dim = {{n}, {n}}};
    return onnx_has(im, i) ? onnx_reshape(im, onnx_in(im, i), &shape)
                           : onnx_fill(im, &shape, like, otherwise);
}

/* LayerNormalization's second and third result: each row's mean, and 1 by its deviation. */
static void give_statistics(onnx_import *im, uint32_t x, uint32_t axis, uint32_t rank, double eps) {
    const onnx_shape one = {.rank = 0};
    char axes[ONNX_AXES_TEXT];
    if (!onnx_wants(im, 1) && !onnx_wants(im, 2)) return;
    const uint32_t mean = onnx_op1(im, "reduce_mean", x, "axis=[%s] keep=true",
                                   onnx_axes_text(onnx_axes_from(axis, rank), axes));
    onnx_give(im, 1, mean);
    if (!onnx_wants(im, 2)) return;
    const uint32_t low = onnx_op2(im, "sub", x, mean);
    const uint32_t square =
        onnx_op1(im, "reduce_mean", onnx_op2(im, "mul", low, low), "axis=[%s] keep=true", axes);
    const uint32_t sum = onnx_rescale(im, square, 1, eps), root = onnx_op(im, "sqrt", &sum, 1, NULL);
    onnx_give(im, 2, onnx_op2(im, "div", onnx_fill(im, &one, x, 1), root));
}

static void layer_norm(onnx_import *im) {
    const uint32_t x = onnx_in(im, 0);
    const onnx_shape shape = onnx_shape_of(im, x);
    const uint32_t axis = onnx_axis(im, onnx_attr_int(im, "axis", -1), shape.rank);
    onnx_shape rows = {.rank = 2, .dim = {{1, 1}, {1, 1}}};
    if (onnx_stopped(im)) return;
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t d = 0; d < shape.rank; d++) rows.dim[k][d < axis ? 0 : 1] *= shape.dim[k][d];
    const uint32_t in[3] = {onnx_reshape(im, x, &rows), row(im, 1, rows.dim[0][1], x, 1),
                            row(im, 2, rows.dim[0][1], x, 0)};
    char text[48], real[EBB_REAL_TEXT];
    (void)snprintf(text, sizeof text, "eps=%s", ebb_real_text(onnx_attr_real(im, "epsilon", 1e-5), real));
    onnx_give(im, 0, onnx_reshape(im, onnx_op(im, "layer_norm", in, 3, text), &shape));
    give_statistics(im, x, axis, shape.rank, onnx_attr_real(im, "epsilon", 1e-5));
}

/* x / sqrt(mean of squares + epsilon) * scale */
static void rms_norm(onnx_import *im) {
    char axes[ONNX_AXES_TEXT];
    const uint32_t x = onnx_in(im, 0);
    const onnx_shape shape = onnx_shape_of(im, x);
    const uint32_t axis = onnx_axis(im, onnx_attr_int(im, "axis", -1), shape.rank);
    if (onnx_stopped(im)) return;
    const uint32_t square = onnx_op1(im, "reduce_mean", onnx_op2(im, "mul", x, x), "axis=[%s] keep=true",
                                     onnx_axes_text(onnx_axes_from(axis, shape.rank), axes));
    const uint32_t sum = onnx_rescale(im, square, 1, onnx_attr_real(im, "epsilon", 1e-5));
    const uint32_t y = onnx_op2(im, "div", x, onnx_op(im, "sqrt", &sum, 1, NULL));
    onnx_give(im, 0, onnx_op2(im, "mul", y, onnx_in(im, 1)));
}

/* x by the sum of its sizes along an axis, or by the root of that of its squares; 0 stays 0. */
static void lp_norm(onnx_import *im) {
    const onnx_shape one = {.rank = 0};
    const uint32_t x = onnx_in(im, 0);
    const onnx_shape shape = onnx_shape_of(im, x);
    const uint32_t axis = onnx_axis(im, onnx_attr_int(im, "axis", -1), shape.rank);
    const int64_t p = onnx_attr_int(im, "p", 2);
    const bool two = p == 2;
    if (p != 1 && !two) onnx_refuse(im, "p=%lld", (long long)p);
    const uint32_t size = two ? onnx_op2(im, "mul", x, x) : onnx_op(im, "abs", &x, 1, NULL);
    uint32_t sum = onnx_op1(im, "reduce_sum", size, "axis=[%u] keep=true", axis);
    if (two) sum = onnx_root(im, sum);
    const uint32_t zero = onnx_op2(im, "equal", sum, onnx_fill(im, &one, x, 0)),
                   in[3] = {zero, onnx_fill(im, &one, x, 1), sum};
    onnx_give(im, 0, onnx_op2(im, "div", x, onnx_op(im, "where", in, 3, NULL)));
}

/* (x - mean) / (deviation + 1e-9) */
static void mean_variance(onnx_import *im) {
    char text[ONNX_AXES_TEXT];
    uint32_t bits = 0xD; /* 0, 2 and 3 */
    const uint32_t x = onnx_in(im, 0);
    const onnx_shape shape = onnx_shape_of(im, x);
    if (onnx_attr(im, "axes")) (void)onnx_axes(im, 1, shape.rank, &bits);
    if (shape.rank < 4 && bits == 0xD) onnx_refuse(im, "rank %u", shape.rank);
    if (bits == 0) onnx_refuse(im, "no axes");
    (void)onnx_axes_text(bits, text);
    const uint32_t mean = onnx_op1(im, "reduce_mean", x, "axis=[%s] keep=true", text),
                   low = onnx_op2(im, "sub", x, mean);
    const uint32_t square =
        onnx_op1(im, "reduce_mean", onnx_op2(im, "mul", low, low), "axis=[%s] keep=true", text);
    const uint32_t deviation = onnx_op(im, "sqrt", &square, 1, NULL);
    onnx_give(im, 0, onnx_op2(im, "div", low, onnx_rescale(im, deviation, 1, 1e-9)));
}

/* GroupNormalization's factors were one a group before opset 21; InstanceNormalization's groups are the
 * channels. */
static void group_norm(onnx_import *im) {
    const bool instance = strcmp(im->node->op, "InstanceNormalization") == 0;
    const uint32_t x = onnx_in(im, 0);
    const onnx_shape shape = onnx_shape_of(im, x);
    if (onnx_stopped(im)) return;
    if (shape.rank < 2) {
        onnx_refuse(im, "rank %u", shape.rank);
        return;
    }
    const int64_t channels = shape.dim[0][1],
                  groups = instance ? channels : onnx_attr_int(im, "num_groups", 1);
    onnx_shape flat = {.rank = 4}, one = {.rank = 2}, many = {.rank = 2}, each = {.rank = 1};
    for (uint32_t k = 0; k < 2; k++) {
        flat.dim[k][0] = shape.dim[k][0];
        flat.dim[k][1] = channels;
        flat.dim[k][3] = 1;
        flat.dim[k][2] = onnx_count(&shape, k) / (shape.dim[k][0] * channels);
        one.dim[k][0] = many.dim[k][0] = groups;
        one.dim[k][1] = 1;
        many.dim[k][1] = groups > 0 ? channels / groups : 1;
        each.dim[k][0] = channels;
    }
    uint32_t in[3] = {shape.rank == 4 ? x : onnx_reshape(im, x, &flat), onnx_in(im, 1), onnx_in(im, 2)};
    for (int i = 1; i < 3 && !instance && im->file->opset < 21 && groups != channels; i++)
        in[i] = onnx_reshape(im, onnx_broadcast(im, onnx_reshape(im, in[i], &one), &many), &each);
    char text[64], real[EBB_REAL_TEXT];
    (void)snprintf(text, sizeof text, "groups=%lld eps=%s", (long long)groups,
                   ebb_real_text(onnx_attr_real(im, "epsilon", 1e-5), real));
    onnx_give(im, 0, onnx_reshape(im, onnx_op(im, "group_norm", in, 3, text), &shape));
}

/* Softmax of rows, where a row that it has no numbers for is 0: its largest is infinite, as where a mask
 * leaves nothing of it, or NaN. No NaN gets into the gradient, as the row is not computed. */
static uint32_t softmax_or_zero(onnx_import *im, uint32_t rows) {
    const onnx_shape one = {.rank = 0};
    const uint32_t top = onnx_op1(im, "reduce_max", rows, "axis=[1]"), rest = onnx_op2(im, "sub", top, top),
                   zero = onnx_fill(im, &one, rows, 0), finite = onnx_op2(im, "equal", rest, rest);
    const uint32_t x = onnx_op(im, "where", (uint32_t[]){finite, rows, zero}, 3, NULL);
    const uint32_t y = onnx_op(im, "softmax", &x, 1, NULL);
    return onnx_op(im, "where", (uint32_t[]){finite, y, zero}, 3, NULL);
}

/* Before opset 13 all axes from `axis` on are one row; since then `axis` alone is. or_zero:
 * softmax_or_zero. */
static uint32_t softmax_of(onnx_import *im, uint32_t x, bool or_zero) {
    const bool rows_behind = im->file->opset < 13;
    const onnx_shape shape = onnx_shape_of(im, x);
    const uint32_t axis = onnx_axis(im, onnx_attr_int(im, "axis", rows_behind ? 1 : -1), shape.rank);
    onnx_shape flat = {.rank = 2, .dim = {{1, 1}, {1, 1}}};
    uint32_t order[ONNX_MAX_RANK], back[ONNX_MAX_RANK];
    if (onnx_stopped(im)) return EBB_BUILD_NONE;
    for (uint32_t d = 0; d < shape.rank; d++) {
        const uint32_t last = shape.rank - 1;
        order[d] = rows_behind ? d : d == last ? axis : d < axis ? d : d + 1;
        back[order[d]] = d;
    }
    const uint32_t turned = onnx_permute(im, x, order, shape.rank);
    const onnx_shape between = onnx_shape_of(im, turned);
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t d = 0; d < shape.rank; d++)
            flat.dim[k][d >= (rows_behind ? axis : shape.rank - 1)] *= between.dim[k][d];
    uint32_t y = onnx_reshape(im, turned, &flat);
    if (strcmp(im->node->op, "LogSoftmax") == 0) { /* x - max - log(sum(e^(x - max))) */
        const uint32_t top = onnx_op1(im, "reduce_max", y, "axis=[1]"),
                       low = onnx_op2(im, "sub", y, onnx_op(im, "stop_gradient", &top, 1, NULL));
        const uint32_t sum = onnx_op1(im, "reduce_sum", onnx_op(im, "exp", &low, 1, NULL), "axis=[1]");
        y = onnx_op2(im, "sub", low, onnx_op(im, "log", &sum, 1, NULL));
    } else {
        y = or_zero ? softmax_or_zero(im, y) : onnx_op(im, "softmax", &y, 1, NULL);
    }
    return onnx_permute(im, onnx_reshape(im, y, &between), back, shape.rank);
}

static void softmax(onnx_import *im) {
    onnx_give(im, 0, softmax_of(im, onnx_in(im, 0), false));
}

bool onnx_masked_softmax(onnx_import *im) {
    const onnx_value *condition = onnx_operand(im, 0), *zero = onnx_operand(im, 1),
                     *y = onnx_operand(im, 2);
    const onnx_node *where = im->node, *test = condition->maker, *made = y->maker;
    const bool is = !onnx_stopped(im) && test && made && strcmp(test->op, "IsNaN") == 0 &&
                    strcmp(made->op, "Softmax") == 0 && strcmp(test->in[0], where->in[2]) == 0 &&
                    zero->kind == ONNX_FOLDED && onnx_count(&zero->shape, 0) == 1 && zero->at[0][0] == 0;
    if (!is) return false;
    im->node = made;
    const uint32_t result = softmax_of(im, onnx_in(im, 0), true);
    im->node = where;
    onnx_give(im, 0, result);
    return true;
}

const onnx_rule onnx_rules_norms[] = {
    {"BatchNormalization", batch_norm},
    {"LayerNormalization", layer_norm},
    {"RMSNormalization", rms_norm},
    {"LpNormalization", lp_norm},
    {"MeanVarianceNormalization", mean_variance},
    {"GroupNormalization", group_norm},
    {"InstanceNormalization", group_norm},
    {"Softmax", softmax},
    {"LogSoftmax", softmax},
    {NULL, NULL},
};
