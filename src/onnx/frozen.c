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

static bool are_numbers(const onnx_value *v, int64_t batch) {
    if (v->kind == ONNX_GRAPH || !onnx_is_whole(v->type) || v->shape.rank < 2) return false;
    if (v->shape.dim[0][0] != batch || onnx_count(&v->shape, 0) != batch) return false;
    if (v->kind == ONNX_INITIAL && !v->tensor->bytes) return false;
    for (int64_t i = 0; i < batch; i++)
        if (element(v, i) != (double)i || (v->kind == ONNX_FOLDED && v->at[1][i] != (double)i))
            return false;
    return true;
}

uint32_t onnx_sample_numbers(onnx_import *im, uint32_t axis, const onnx_shape *other) {
    if (!im->rebind || im->batch < 1 || onnx_stopped(im) || im->node->n_out != 1) return EBB_BUILD_NONE;
    const bool whole =
        other->rank > 1 && other->dim[0][0] == ONNX_BATCH_A && other->dim[1][0] == ONNX_BATCH_B;
    if (!whole || axis + 1 != other->rank || !are_numbers(onnx_operand(im, 0), im->batch) ||
        onnx_names_find(&im->wanted, im->node->out[0]) != ONNX_TUPLES)
        return EBB_BUILD_NONE;
    onnx_shape each = {.rank = other->rank};
    for (uint32_t d = 0; d < each.rank; d++)
        for (uint32_t k = 0; k < 2; k++) each.dim[k][d] = d == 0 ? other->dim[k][0] : 1;
    return onnx_reshape(im, onnx_op(im, "iota", NULL, 0, "shape=[N] axis=0"), &each);
}
