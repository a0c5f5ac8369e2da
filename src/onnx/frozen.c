/* frozen: tensors of the file that an exporter made for the batch it was given: the same for each sample.
 */
#include "onnx/import.h"

static double element(const onnx_value *v, int64_t i) {
    return v->kind == ONNX_FOLDED ? v->at[0][i] : onnx_tensor_at(v->tensor, i);
}

static bool is_same_for_all(const onnx_value *v, int64_t batch) {
    if (v->kind == ONNX_GRAPH) return true; /* it was expanded */
    const int64_t row = onnx_count(&v->shape, 0) / batch;
    if (v->kind == ONNX_INITIAL && !v->tensor->bytes) return false;
    for (int64_t i = row; i < row * batch; i++)
        if (element(v, i) != element(v, i % row)) return false;
    return true;
}

uint32_t onnx_in_beside(onnx_import *im, uint32_t i, const onnx_shape *other) {
    const uint32_t id = onnx_in(im, i);
    const onnx_value *v = onnx_operand(im, i);
    if (!im->rebind || im->batch < 1 || onnx_stopped(im)) return id;
    if (v->kind == ONNX_GRAPH && !im->samples.at[id].alike) return id;
    const onnx_shape shape = onnx_shape_of(im, id);
    const bool beside =
        other->rank == shape.rank && other->rank > 1 && other->dim[0][0] != other->dim[1][0];
    if (!beside || shape.dim[0][0] != im->batch || !is_same_for_all(v, im->batch)) return id;
    return im->batch == 1 ? id : onnx_slice(im, id, 0, (int64_t[]){0, 0}, (int64_t[]){1, 1});
}
