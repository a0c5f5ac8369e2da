/* fold_made: what is known without known operands: shapes of values, constants. */
#include "onnx/fold/fold.h"

/* ---- Shape, Size, Constant, ConstantOfShape ---- */

static bool shape_of(onnx_import *im) {
    const bool size = strcmp(im->node->op, "Size") == 0;
    if (!size && strcmp(im->node->op, "Shape") != 0) return false;
    const onnx_value *v = onnx_operand(im, 0);
    if (onnx_stopped(im)) return true;
    const onnx_shape of = v->kind == ONNX_GRAPH ? onnx_shape_of(im, v->id) : v->shape;
    const int64_t rank = of.rank;
    int64_t from = onnx_attr_int(im, "start", 0), to = onnx_attr_int(im, "end", rank);
    from = from < 0 ? ebb_max_i64(0, from + rank) : ebb_min_i64(from, rank);
    to = to < 0 ? ebb_max_i64(0, to + rank) : ebb_min_i64(to, rank);
    const onnx_shape one = {.rank = size ? 0 : 1,
                            .dim = {{ebb_max_i64(0, to - from)}, {ebb_max_i64(0, to - from)}}};
    const double *at[2] = {NULL, NULL};
    for (uint32_t k = 0; k < 2; k++) {
        double *to_k = onnx_folded(im, onnx_count(&one, 0));
        if (!to_k) return true;
        if (size) to_k[0] = (double)onnx_count(&of, k);
        for (int64_t d = from; d < to && !size; d++) to_k[d - from] = (double)of.dim[k][d];
        at[k] = to_k;
    }
    onnx_give_known(im, 0, ONNX_INT64, &one, at);
    return true;
}

/* Many floats are a table or weights, as an initializer is. */
static void give_tensor(onnx_import *im, const onnx_tensor *t) {
    enum { MANY = 4096 };
    if (t->count > MANY && t->bytes && !onnx_is_whole(t->type)) {
        onnx_give_tensor(im, 0, t);
        return;
    }
    onnx_shape shape = {.rank = t->rank};
    double *at = t->bytes || t->count == 0 ? onnx_folded(im, t->count) : NULL;
    if (!at) {
        onnx_refuse(im, "a constant of %s", onnx_type_name(t->type));
        return;
    }
    for (uint32_t d = 0; d < t->rank; d++) shape.dim[0][d] = shape.dim[1][d] = t->dim[d];
    for (int64_t i = 0; i < t->count; i++) at[i] = onnx_tensor_at(t, i);
    onnx_give_known(im, 0, t->type, &shape, (const double *[2]){at, at});
}

static bool constant(onnx_import *im) {
    if (strcmp(im->node->op, "Constant") != 0) return false;
    const onnx_attribute *a = im->node->n_attributes > 0 ? &im->node->attributes[0] : NULL;
    if (a && a->tensor) return give_tensor(im, a->tensor), true;
    const bool real = a && strncmp(a->name, "value_float", 11) == 0,
               many = a && a->name[0] && a->name[strlen(a->name) - 1] == 's';
    if (!a || strncmp(a->name, "value_", 6) != 0 || strncmp(a->name, "value_string", 12) == 0)
        return onnx_refuse(im, "a constant that is no tensor of numbers"), true;
    const int64_t n = !many ? 1 : real ? a->n_floats : a->n_ints;
    const onnx_shape shape = {.rank = many ? 1 : 0, .dim = {{n}, {n}}};
    double *at = onnx_folded(im, n);
    for (int64_t i = 0; at && i < n; i++)
        at[i] = !many ? (real ? a->f : (double)a->i) : real ? a->floats[i] : (double)a->ints[i];
    if (at) onnx_give_known(im, 0, real ? ONNX_FLOAT : ONNX_INT64, &shape, (const double *[2]){at, at});
    return true;
}

/* Known where its shape does not depend on the batch, a constant of the graph otherwise. */
static bool constant_of_shape(onnx_import *im) {
    const double *size[2];
    int64_t n;
    if (strcmp(im->node->op, "ConstantOfShape") != 0) return false;
    const onnx_attribute *a = onnx_attr(im, "value");
    const double value =
        a && a->tensor && a->tensor->bytes && a->tensor->count == 1 ? onnx_tensor_at(a->tensor, 0) : 0;
    if (!onnx_numbers(im, 0, size, &n)) return true;
    if (onnx_beyond_rank(im, n)) return true;
    onnx_shape shape = {.rank = (uint32_t)n};
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t d = 0; d < shape.rank; d++) {
            if (!(size[k][d] >= 0 && size[k][d] < 0x1p40)) /* two of them may have a product above 0 */
                return onnx_refuse(im, "axis %u of %g places", d, size[k][d]), true;
            shape.dim[k][d] = (int64_t)size[k][d];
        }
    const int64_t count = onnx_count(&shape, 0);
    const onnx_shape other = shape;
    if (count < 0 || onnx_count(&other, 1) < 0) return onnx_refuse(im, "too many places"), true;
    const int32_t type = a && a->tensor ? a->tensor->type : ONNX_FLOAT;
    if (count > 0 && (count != onnx_count(&other, 1) || !onnx_fold_is_small(im, count))) {
        double *one = onnx_folded(im, 1);
        if (one) one[0] = value;
        const bool filled = onnx_is_f32(type) && value - value == 0; /* a fill is finite */
        const uint32_t like =
            one && !filled ? onnx_table(im, type, &(onnx_shape){.rank = 0}, one) : EBB_BUILD_NONE;
        if (one)
            onnx_give(im, 0,
                      filled ? onnx_fill(im, &shape, like, value) : onnx_broadcast(im, like, &shape));
        return true;
    }
    double *at = onnx_folded(im, count);
    for (int64_t i = 0; at && i < count; i++) at[i] = value;
    if (at) onnx_give_known(im, 0, type, &shape, (const double *[2]){at, at});
    return true;
}

bool onnx_fold_made(onnx_import *im) {
    return shape_of(im) || constant(im) || constant_of_shape(im);
}
