/* shapes: what moves elements, in calls that any shape can be given to. */
#include <float.h>
#include <stdio.h>

#include "onnx/emit.h"
#include "onnx/import.h"

uint32_t onnx_rescale(onnx_import *im, uint32_t x, double times, double plus) {
    if (times == 1 && plus == 0) return x;
    char text[2][EBB_REAL_TEXT];
    return onnx_op1(im, "rescale", x, "times=%s plus=%s", ebb_real_text(times, text[0]),
                    ebb_real_text(plus, text[1]));
}

uint32_t onnx_fill(onnx_import *im, const onnx_shape *shape, uint32_t like, double value) {
    char text[ONNX_SHAPE_TEXT], type[ONNX_SHAPE_TEXT + 8], dtype[8];
    if (value > (double)FLT_MAX) value = (double)FLT_MAX; /* docs/ir.md has no infinity */
    if (value < -(double)FLT_MAX) value = -(double)FLT_MAX;
    (void)snprintf(type, sizeof type, "%s%s", onnx_dtype_of(im, like, dtype),
                   onnx_shape_text(im, shape, text));
    return onnx_declare(im, "constant", im->node ? im->node->out[0] : "constant", type, value);
}

uint32_t onnx_number(onnx_import *im, uint32_t like, double value) {
    const onnx_shape single = {.rank = 0};
    return onnx_fill(im, &single, like, value);
}

uint32_t onnx_either(onnx_import *im, uint32_t condition, uint32_t a, uint32_t b) {
    return onnx_op(im, "where", (uint32_t[]){condition, a, b}, 3, NULL);
}

bool onnx_beyond_rank(onnx_import *im, int64_t rank) {
    if (rank > ONNX_MAX_RANK) onnx_refuse(im, "rank %lld: at most %d axes", (long long)rank, ONNX_MAX_RANK);
    return rank > ONNX_MAX_RANK;
}

/* Rank 4 lies channels-last: to any other shape by way of its elements in logical order. */
uint32_t onnx_reshape(onnx_import *im, uint32_t x, const onnx_shape *shape) {
    char text[ONNX_SHAPE_TEXT], size[3][ONNX_SIZE_TEXT];
    const onnx_shape now = onnx_shape_of(im, x);
    if (onnx_stopped(im) || onnx_same_shape(&now, shape)) return x;
    if (onnx_beyond_rank(im, shape->rank)) return EBB_BUILD_NONE;
    for (uint32_t k = 0; k < 2; k++)
        if (onnx_count(&now, k) != onnx_count(shape, k)) {
            onnx_refuse(im, "%lld elements as a shape of %lld", (long long)onnx_count(&now, k),
                        (long long)onnx_count(shape, k));
            return EBB_BUILD_NONE;
        }
    if (now.rank == 4) x = onnx_op(im, "flatten", &x, 1, NULL);
    if (shape->rank != 4) return onnx_op1(im, "reshape", x, "shape=%s", onnx_shape_text(im, shape, text));
    onnx_shape flat = {.rank = 2};
    for (uint32_t k = 0; k < 2; k++) {
        flat.dim[k][0] = shape->dim[k][0];
        flat.dim[k][1] = shape->dim[k][1] * shape->dim[k][2] * shape->dim[k][3];
    }
    const onnx_shape before = onnx_shape_of(im, x);
    if (!onnx_same_shape(&before, &flat))
        x = onnx_op1(im, "reshape", x, "shape=%s", onnx_shape_text(im, &flat, text));
    for (uint32_t d = 0; d < 3; d++)
        (void)onnx_size_text(im, shape->dim[0][d + 1], shape->dim[1][d + 1], size[d]);
    return onnx_op1(im, "from_planes", x, "size=[%s,%s,%s]", size[0], size[1], size[2]);
}

uint32_t onnx_permute(onnx_import *im, uint32_t x, const uint32_t *order, uint32_t n) {
    const onnx_shape shape = onnx_shape_of(im, x);
    char text[64];
    int at = 0;
    bool same = true;
    if (shape.rank != n || n > ONNX_MAX_RANK)
        onnx_refuse(im, "an operand of rank %u, not %u", shape.rank, n);
    for (uint32_t d = 0; d < n && !onnx_stopped(im); d++) {
        at += snprintf(text + at, sizeof text - (size_t)at, "%s%u", d > 0 ? "," : "", order[d]);
        same &= order[d] == d;
    }
    return same || onnx_stopped(im) ? x : onnx_op1(im, "permute", x, "order=[%s]", text);
}

uint32_t onnx_broadcast(onnx_import *im, uint32_t x, const onnx_shape *shape) {
    char text[ONNX_SHAPE_TEXT];
    const onnx_shape now = onnx_shape_of(im, x);
    if (onnx_stopped(im) || onnx_same_shape(&now, shape)) return x;
    return onnx_op1(im, "broadcast_to", x, "shape=%s", onnx_shape_text(im, shape, text));
}

uint32_t onnx_slice(onnx_import *im, uint32_t x, uint32_t axis, const int64_t begin[2],
                    const int64_t size[2]) {
    const onnx_shape shape = onnx_shape_of(im, x);
    char from[ONNX_SIZE_TEXT], n[ONNX_SIZE_TEXT];
    if (onnx_stopped(im) || axis >= shape.rank) return EBB_BUILD_NONE;
    if (begin[0] == 0 && begin[1] == 0 && size[0] == shape.dim[0][axis] && size[1] == shape.dim[1][axis])
        return x;
    if (size[0] < 1 || size[1] < 1) return onnx_refuse(im, "an empty slice"), EBB_BUILD_NONE;
    (void)onnx_size_text(im, begin[0], begin[1], from);
    return onnx_op1(im, "slice", x, "axis=%u begin=%s size=%s", axis, from,
                    onnx_size_text(im, size[0], size[1], n));
}

uint32_t onnx_take(onnx_import *im, uint32_t x, uint32_t axis, const double *places, int64_t n) {
    char text[32];
    const onnx_shape shape = {.rank = 1, .dim = {{n}, {n}}};
    (void)snprintf(text, sizeof text, "axis=%u", axis);
    return onnx_op(im, "take", (uint32_t[]){x, onnx_table(im, ONNX_INT64, &shape, places)}, 2, text);
}

/* More than a node has operands: by the square root of them, and these. */
static uint32_t concat_many(onnx_import *im, const uint32_t *in, uint32_t n, uint32_t axis) {
    uint32_t part[EBB_MAX_OPERANDS], n_parts = 0;
    for (uint32_t i = 0; i < n && n_parts < EBB_MAX_OPERANDS; i += EBB_MAX_OPERANDS)
        part[n_parts++] =
            onnx_concat(im, in + i, n - i < EBB_MAX_OPERANDS ? n - i : EBB_MAX_OPERANDS, axis);
    return onnx_concat(im, part, n_parts, axis);
}

uint32_t onnx_concat(onnx_import *im, const uint32_t *in, uint32_t n, uint32_t axis) {
    enum { MOST = EBB_MAX_OPERANDS * EBB_MAX_OPERANDS };
    char text[32];
    if (n == 1) return in[0];
    if (n > MOST) return onnx_refuse(im, "%u operands: at most %d", n, MOST), EBB_BUILD_NONE;
    if (n > EBB_MAX_OPERANDS) return concat_many(im, in, n, axis);
    (void)snprintf(text, sizeof text, "axis=%u", axis);
    return onnx_op(im, "concat", in, n, text);
}

uint32_t onnx_pad(onnx_import *im, uint32_t x, uint32_t axis, int64_t before, int64_t after, double value) {
    onnx_shape shape = onnx_shape_of(im, x);
    uint32_t parts[3], n = 0;
    if (onnx_stopped(im) || axis >= shape.rank) return x;
    if (before < 0 || after < 0) { /* negative pads cut */
        const int64_t begin[2] = {before < 0 ? -before : 0, before < 0 ? -before : 0};
        int64_t size[2];
        for (uint32_t k = 0; k < 2; k++) size[k] = shape.dim[k][axis] - begin[k] + (after < 0 ? after : 0);
        x = onnx_slice(im, x, axis, begin, size);
        return onnx_pad(im, x, axis, before > 0 ? before : 0, after > 0 ? after : 0, value);
    }
    shape.dim[0][axis] = shape.dim[1][axis] = before;
    if (before > 0) parts[n++] = onnx_fill(im, &shape, x, value);
    parts[n++] = x;
    shape.dim[0][axis] = shape.dim[1][axis] = after;
    if (after > 0) parts[n++] = onnx_fill(im, &shape, x, value);
    return onnx_concat(im, parts, n, axis);
}
