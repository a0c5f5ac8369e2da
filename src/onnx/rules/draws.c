/* rules_draws: random numbers, new ones in each step. */
#include <stdio.h>

#include "onnx/import.h"

/* Of operand 0's shape, or of a `shape` that is given. */
static onnx_shape shape_drawn(onnx_import *im) {
    const onnx_attribute *a = onnx_attr(im, "shape");
    onnx_shape shape = {.rank = 0};
    if (im->node->n_in > 0) {
        const onnx_value *v = onnx_operand(im, 0);
        return v->kind == ONNX_GRAPH ? onnx_shape_of(im, v->id) : v->shape;
    }
    if (!a) onnx_refuse(im, "no shape");
    if (!a || onnx_beyond_rank(im, (int64_t)a->n_ints)) return shape;
    for (; shape.rank < a->n_ints; shape.rank++)
        for (uint32_t k = 0; k < 2; k++) shape.dim[k][shape.rank] = a->ints[shape.rank];
    return shape;
}

static void draw(onnx_import *im) {
    const bool normal = strncmp(im->node->op, "RandomNormal", 12) == 0;
    const double a = onnx_attr_real(im, normal ? "mean" : "low", 0),
                 b = onnx_attr_real(im, normal ? "scale" : "high", 1);
    const int32_t type = (int32_t)onnx_attr_int(im, "dtype", ONNX_FLOAT);
    char text[ONNX_SHAPE_TEXT], all[ONNX_SHAPE_TEXT + 2 * EBB_REAL_TEXT + 32], real[2][EBB_REAL_TEXT];
    const onnx_shape shape = shape_drawn(im);
    if (im->rebind && im->batch > 0 && shape.rank > 0 && shape.dim[0][0] == im->batch &&
        shape.dim[1][0] == im->batch) /* a sample's own numbers, which all would share */
        onnx_refuse(im, "draws of the batch");
    if (!onnx_is_f32(type)) onnx_refuse(im, "of %s", onnx_type_name(type));
    if (onnx_stopped(im)) return;
    (void)snprintf(all, sizeof all, "shape=%s %s=%s %s=%s", onnx_shape_text(im, &shape, text),
                   normal ? "mean" : "low", ebb_real_text(onnx_meant(a), real[0]), normal ? "std" : "high",
                   ebb_real_text(onnx_meant(b), real[1]));
    onnx_give(im, 0, onnx_op(im, normal ? "normal" : "uniform", NULL, 0, all));
}

const onnx_rule onnx_rules_draws[] = {
    {"RandomNormal", draw},
    {"RandomNormalLike", draw},
    {"RandomUniform", draw},
    {"RandomUniformLike", draw},
    {NULL, NULL},
};
