/* rules_reductions: sums, means and the like along axes; statistics, losses; places of the largest, order;
 * running sums. */
#include "onnx/export/state.h"

static const char *reduction(ebb_opcode op) {
    return op == EBB_OP_reduce_sum    ? "ReduceSum"
           : op == EBB_OP_reduce_mean ? "ReduceMean"
           : op == EBB_OP_reduce_max  ? "ReduceMax"
           : op == EBB_OP_reduce_min  ? "ReduceMin"
           : op == EBB_OP_reduce_prod ? "ReduceProd"
                                      : NULL;
}

static void reduce(onnx_out *o) {
    const ebb_node *node = onnx_out_node(o);
    const uint32_t bits = ebb_reduce_axes(onnx_out_type(o, 0, node->in[0]), node->attr);
    int64_t axes[EBB_MAX_RANK];
    uint32_t n = 0;
    for (uint32_t d = 0; d < EBB_MAX_RANK; d++)
        if (bits >> d & 1) axes[n++] = d;
    const char *x = onnx_arg(o, 0);
    if (n == 0) { /* of a scalar */
        onnx_is(o, x);
        return;
    }
    const char *along = onnx_known_ints(o, axes, n);
    onnx_set_int(o, "keepdims", node->attr[EBB_REDUCE_KEEP].i[0]);
    (void)onnx_make2(o, reduction(node->op->code), NULL, x, along);
}

static void sum_squares(onnx_out *o) {
    const char *x = onnx_arg(o, 0);
    onnx_set_int(o, "keepdims", 0);
    (void)onnx_make1(o, "ReduceSumSquare", NULL, x);
}

static void arg(onnx_out *o) {
    const char *x = onnx_arg(o, 0);
    onnx_set_int(o, "axis", onnx_out_attr(o, 0, EBB_ARGMAX_AXIS)->i[0]);
    onnx_set_int(o, "keepdims", 0);
    const char *places =
        onnx_make1(o, onnx_out_node(o)->op == &ebb_op_argmax ? "ArgMax" : "ArgMin", "places", x);
    onnx_set_int(o, "to", onnx_dtype_code(EBB_I32));
    (void)onnx_make1(o, "Cast", NULL, places);
}

static void cumsum(onnx_out *o) {
    const ebb_type scalar = {.dtype = EBB_I32};
    const int32_t axis = (int32_t)onnx_out_attr(o, 0, EBB_CUMSUM_AXIS)->i[0];
    const char *x = onnx_arg(o, 0), *along = onnx_known(o, &scalar, &axis, sizeof axis);
    onnx_set_int(o, "reverse", onnx_out_attr(o, 0, EBB_CUMSUM_REVERSE)->i[0]);
    (void)onnx_make2(o, "CumSum", NULL, x, along);
}

/* All of them are the largest or the smallest; of equal ones the first comes first in both. */
static void sort(onnx_out *o) {
    const ebb_node *node = onnx_out_node(o);
    const int64_t axis = node->attr[EBB_SORT_AXIS].i[0];
    const onnx_sizes whole = onnx_shape_sizes(o, node->in[0]);
    const onnx_sizes size = {.n = 1, .at = {{whole.at[0][axis]}, {whole.at[1][axis]}}};
    const char *in[2] = {onnx_arg(o, 0), onnx_known_sizes(o, &size)};
    const char *result[2] = {onnx_own_name(o, node->out[0]), onnx_part_name(o, "places")};
    onnx_set_int(o, "axis", axis);
    onnx_set_int(o, "largest", node->attr[EBB_SORT_DESCENDING].i[0]);
    onnx_make_several(o, "TopK", result, 2, in, 2);
    onnx_is(o, result[0]);
    o->result = node->out[1];
    onnx_set_int(o, "to", onnx_dtype_code(EBB_I32));
    (void)onnx_make1(o, "Cast", NULL, result[1]);
}

/* Over all axes but the channels'. */
static void bn_stats(onnx_out *o) {
    const ebb_node *node = onnx_out_node(o);
    const ebb_type *type = onnx_out_type(o, 0, node->in[0]);
    int64_t axes[EBB_MAX_RANK];
    uint32_t n = 0;
    for (uint32_t d = 0; d < type->rank; d++)
        if (d != 1) axes[n++] = d;
    const char *x = onnx_arg(o, 0), *along = onnx_known_ints(o, axes, n);
    if (ebb_dtype_low(type->dtype)) {
        onnx_set_int(o, "to", onnx_dtype_code(EBB_F32));
        x = onnx_make1(o, "Cast", "wide", x);
    }
    const char *mean = onnx_make2(o, "ReduceMean", "mean", x, along);
    const char *far = onnx_make2(o, "Sub", "far", x, mean);
    (void)onnx_make2(o, "Squeeze", NULL, mean, along);
    o->result = node->out[1];
    const char *square = onnx_make2(o, "Mul", "square", far, far);
    onnx_set_int(o, "keepdims", 0);
    (void)onnx_make2(o, "ReduceMean", NULL, square, along);
}

/* The mean over rows of -log(softmax), at the label's place or, where labels are smoothed, also of the mean
 * over all classes. */
static void softmax_xent(onnx_out *o) {
    ebb_dtype dtype = onnx_out_type(o, 0, onnx_out_node(o)->in[0])->dtype;
    const double smooth = onnx_out_attr(o, 0, EBB_XENT_SMOOTH)->f;
    const char *axes = onnx_known_ints(o, (const int64_t[]){1}, 1), *x = onnx_arg(o, 0);
    if (ebb_dtype_low(dtype)) { /* the loss is f32 */
        dtype = EBB_F32;
        onnx_set_int(o, "to", onnx_dtype_code(EBB_F32));
        x = onnx_make1(o, "Cast", "wide", x);
    }
    onnx_set_int(o, "axis", 1);
    const char *log = onnx_make1(o, "LogSoftmax", "log", x);
    const char *labels = onnx_make2(o, "Unsqueeze", "labels", onnx_arg(o, 1), axes);
    onnx_set_int(o, "axis", 1);
    const char *of = onnx_make2(o, "GatherElements", "picked", log, labels);
    if (smooth > 0) {
        const char *all = onnx_make2(o, "ReduceMean", "all", log, axes);
        of = onnx_make2(o, "Mul", "picked", of, onnx_known_real(o, dtype, 1 - smooth));
        all = onnx_make2(o, "Mul", "all", all, onnx_known_real(o, dtype, smooth));
        of = onnx_make2(o, "Add", "target", of, all);
    }
    onnx_set_int(o, "keepdims", 0);
    (void)onnx_make1(o, "Neg", NULL, onnx_make1(o, "ReduceMean", "mean", of));
}

onnx_out_rule *onnx_rule_reductions(ebb_opcode op) {
    static onnx_out_rule *const rules[EBB_N_OPS] = {
        [EBB_OP_sum_squares] = sum_squares,
        [EBB_OP_argmax] = arg,
        [EBB_OP_argmin] = arg,
        [EBB_OP_cumsum] = cumsum,
        [EBB_OP_sort] = sort,
        [EBB_OP_bn_stats] = bn_stats,
        [EBB_OP_softmax_xent] = softmax_xent,
    };
    return reduction(op) ? reduce : rules[op];
}
