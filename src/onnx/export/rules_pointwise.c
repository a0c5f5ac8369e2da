/* rules_pointwise: ops of one element at a time; casts, and what is nothing in evaluation. */
#include "onnx/export/state.h"

/* The same op under ONNX's name. */
static const char *theirs(ebb_opcode op) {
    static const char *const names[EBB_N_OPS] = {
        [EBB_OP_relu] = "Relu",       [EBB_OP_add] = "Add",
        [EBB_OP_sub] = "Sub",         [EBB_OP_mul] = "Mul",
        [EBB_OP_scale] = "Mul",       [EBB_OP_div] = "Div",
        [EBB_OP_pow] = "Pow",         [EBB_OP_maximum] = "Max",
        [EBB_OP_minimum] = "Min",     [EBB_OP_neg] = "Neg",
        [EBB_OP_abs] = "Abs",         [EBB_OP_sign] = "Sign",
        [EBB_OP_floor] = "Floor",     [EBB_OP_ceil] = "Ceil",
        [EBB_OP_round] = "Round",     [EBB_OP_sqrt] = "Sqrt",
        [EBB_OP_log] = "Log",         [EBB_OP_exp] = "Exp",
        [EBB_OP_sin] = "Sin",         [EBB_OP_cos] = "Cos",
        [EBB_OP_tanh] = "Tanh",       [EBB_OP_erf] = "Erf",
        [EBB_OP_sigmoid] = "Sigmoid", [EBB_OP_equal] = "Equal",
        [EBB_OP_less] = "Less",       [EBB_OP_less_equal] = "LessOrEqual",
        [EBB_OP_logical_and] = "And", [EBB_OP_logical_or] = "Or",
        [EBB_OP_logical_xor] = "Xor", [EBB_OP_logical_not] = "Not",
        [EBB_OP_where] = "Where",
    };
    return names[op];
}

static void plain(onnx_out *o) {
    const ebb_node *node = onnx_out_node(o);
    const char *in[3] = {"", "", ""};
    for (uint32_t i = 0; i < node->n_in; i++) in[i] = onnx_arg(o, i);
    (void)onnx_make(o, theirs(node->op->code), NULL, in, node->n_in);
}

static ebb_dtype dtype_of(const onnx_out *o) {
    return onnx_out_type(o, 0, onnx_out_node(o)->in[0])->dtype;
}

static void rescale(onnx_out *o) {
    const double times = onnx_out_attr(o, 0, EBB_RESCALE_TIMES)->f,
                 plus = onnx_out_attr(o, 0, EBB_RESCALE_PLUS)->f;
    const char *x = onnx_arg(o, 0);
    if (times == 1 && plus == 0) {
        onnx_is(o, x);
        return;
    }
    if (times != 1)
        x = onnx_make2(o, "Mul", plus == 0 ? NULL : "times", x, onnx_known_real(o, dtype_of(o), times));
    if (plus != 0) (void)onnx_make2(o, "Add", NULL, x, onnx_known_real(o, dtype_of(o), plus));
}

static void clip(onnx_out *o) {
    const char *in[3] = {onnx_arg(o, 0),
                         onnx_known_real(o, dtype_of(o), onnx_out_attr(o, 0, EBB_CLIP_MIN)->f),
                         onnx_known_real(o, dtype_of(o), onnx_out_attr(o, 0, EBB_CLIP_MAX)->f)};
    (void)onnx_make(o, "Clip", NULL, in, 3);
}

static void gelu(onnx_out *o) {
    const char *x = onnx_arg(o, 0);
    onnx_set_text(o, "approximate", onnx_out_node(o)->op == &ebb_op_gelu ? "tanh" : "none");
    (void)onnx_make1(o, "Gelu", NULL, x);
}

static void silu(onnx_out *o) {
    const char *x = onnx_arg(o, 0);
    (void)onnx_make2(o, "Mul", NULL, x, onnx_make1(o, "Sigmoid", "gate", x));
}

static void log1p_of(onnx_out *o) {
    const char *x = onnx_arg(o, 0), *one = onnx_known_real(o, dtype_of(o), 1);
    (void)onnx_make1(o, "Log", NULL, onnx_make2(o, "Add", "plus", x, one));
}

static void expm1_of(onnx_out *o) {
    const char *e = onnx_make1(o, "Exp", "exp", onnx_arg(o, 0));
    (void)onnx_make2(o, "Sub", NULL, e, onnx_known_real(o, dtype_of(o), 1));
}

static void floor_div(onnx_out *o) {
    const char *a = onnx_arg(o, 0), *b = onnx_arg(o, 1);
    if (!ebb_dtype_real(dtype_of(o))) onnx_out_refuse(o, "ONNX divides integers towards zero");
    (void)onnx_make1(o, "Floor", NULL, onnx_make2(o, "Div", "quotient", a, b));
}

static void cast(onnx_out *o) {
    const char *x = onnx_arg(o, 0);
    onnx_set_int(o, "to", onnx_dtype_code((ebb_dtype)onnx_out_attr(o, 0, EBB_CAST_TO)->i[0]));
    (void)onnx_make1(o, "Cast", NULL, x);
}

static void same_value(onnx_out *o) {
    onnx_is(o, onnx_arg(o, 0));
}

onnx_out_rule *onnx_rule_pointwise(ebb_opcode op) {
    static onnx_out_rule *const rules[EBB_N_OPS] = {
        [EBB_OP_rescale] = rescale,
        [EBB_OP_clip] = clip,
        [EBB_OP_gelu] = gelu,
        [EBB_OP_gelu_erf] = gelu,
        [EBB_OP_silu] = silu,
        [EBB_OP_log1p] = log1p_of,
        [EBB_OP_expm1] = expm1_of,
        [EBB_OP_floor_div] = floor_div,
        [EBB_OP_cast] = cast,
        [EBB_OP_dropout] = same_value,
        [EBB_OP_stop_gradient] = same_value,
    };
    return theirs(op) ? plain : rules[op];
}
