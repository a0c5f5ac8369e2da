/* rules_learners: what classifiers of the domain ai.onnx.ml have around networks. */
#include <stdio.h>

#include "onnx/import.h"

/* Places of the last axis, in one row. */
static void extract(onnx_import *im) {
    const uint32_t x = onnx_in(im, 0);
    uint32_t places = onnx_in(im, 1);
    const onnx_shape shape = onnx_shape_of(im, x), given = onnx_shape_of(im, places);
    if (onnx_stopped(im)) return;
    if (shape.rank < 1) onnx_refuse(im, "rank 0");
    onnx_shape line = {.rank = 1}, out = {.rank = 2, .dim = {{1, 1}, {1, 1}}};
    for (uint32_t k = 0; k < 2; k++) {
        line.dim[k][0] = out.dim[k][1] = onnx_count(&given, k);
        for (uint32_t d = 0; d + 1 < shape.rank; d++) out.dim[k][0] *= shape.dim[k][d];
    }
    places = onnx_reshape(im, places, &line);
    char text[16];
    (void)snprintf(text, sizeof text, "axis=%u", shape.rank - 1);
    onnx_give(im, 0, onnx_reshape(im, onnx_op(im, "take", (uint32_t[]){x, places}, 2, text), &out));
}

/* One number for all places of the last axis, or one for each. */
static uint32_t row_of(onnx_import *im, const char *name, int64_t n, double otherwise) {
    const onnx_attribute *a = onnx_attr(im, name);
    const onnx_shape shape = {.rank = 1, .dim = {{n}, {n}}};
    double *at = onnx_folded(im, n);
    if (a && a->n_floats != 1 && a->n_floats != n)
        onnx_refuse(im, "%s of another size than %lld", name, (long long)n);
    if (!at || onnx_stopped(im)) return EBB_BUILD_NONE;
    for (int64_t i = 0; i < n; i++) at[i] = !a ? otherwise : (double)a->floats[a->n_floats == 1 ? 0 : i];
    return onnx_table(im, ONNX_FLOAT, &shape, at);
}

static void scaler(onnx_import *im) {
    const uint32_t x = onnx_in(im, 0);
    const onnx_shape shape = onnx_shape_of(im, x);
    if (onnx_stopped(im)) return;
    const int64_t n = shape.rank > 0 ? shape.dim[0][shape.rank - 1] : 0;
    if (n < 1 || n != shape.dim[1][shape.rank - 1]) onnx_refuse(im, "rank %u", shape.rank);
    if (onnx_stopped(im)) return;
    const uint32_t offset = row_of(im, "offset", n, 0), scale = row_of(im, "scale", n, 1);
    onnx_give(im, 0, onnx_op2(im, "mul", onnx_op2(im, "sub", x, offset), scale));
}

const onnx_rule onnx_rules_learners[] = {
    {"ArrayFeatureExtractor", extract},
    {"Scaler", scaler},
    {NULL, NULL},
};
