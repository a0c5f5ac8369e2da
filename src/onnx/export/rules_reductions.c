/* rules_reductions: sums, means and the like along axes; places of the largest; running sums. */
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

onnx_out_rule *onnx_rule_reductions(ebb_opcode op) {
    static onnx_out_rule *const rules[EBB_N_OPS] = {
        [EBB_OP_sum_squares] = sum_squares,
        [EBB_OP_argmax] = arg,
        [EBB_OP_argmin] = arg,
        [EBB_OP_cumsum] = cumsum,
    };
    return reduction(op) ? reduce : rules[op];
}
