/* rules_pointwise: ops that look at one element at a time. */
#include "onnx/import.h"

/* Ops that Ebb has under another name or the same one. */
static const struct {
    const char *theirs, *ours;
} unary[] =
    {
        {"Relu", "relu"}, {"Exp", "exp"},     {"Log", "log"},         {"Sqrt", "sqrt"},
        {"Neg", "neg"},   {"Abs", "abs"},     {"Sign", "sign"},       {"Floor", "floor"},
        {"Ceil", "ceil"}, {"Round", "round"}, {"Sin", "sin"},         {"Cos", "cos"},
        {"Tanh", "tanh"}, {"Erf", "erf"},     {"Sigmoid", "sigmoid"}, {"Not", "logical_not"},
},
  binary[] = {
      {"Add", "add"},         {"Sub", "sub"},       {"Mul", "mul"},         {"Div", "div"},
      {"Pow", "pow"},         {"Equal", "equal"},   {"Less", "less"},       {"LessOrEqual", "less_equal"},
      {"And", "logical_and"}, {"Or", "logical_or"}, {"Xor", "logical_xor"}, {"Max", "maximum"},
      {"Min", "minimum"},     {"Sum", "add"},       {"Mean", "add"},
};

static const char *ours(const onnx_import *im, bool two) {
    for (size_t i = 0; i < EBB_COUNT(unary) && !two; i++)
        if (strcmp(unary[i].theirs, im->node->op) == 0) return unary[i].ours;
    for (size_t i = 0; i < EBB_COUNT(binary) && two; i++)
        if (strcmp(binary[i].theirs, im->node->op) == 0) return binary[i].ours;
    return "relu";
}

static void same(onnx_import *im) {
    const uint32_t x = onnx_in(im, 0);
    onnx_give(im, 0, onnx_op(im, ours(im, false), &x, 1, NULL));
}

/* The number of an operand that is one known number; false: it is more. */
static bool single(onnx_import *im, uint32_t i, double *out) {
    const onnx_value *v = onnx_operand(im, i);
    if (v->kind != ONNX_FOLDED && v->kind != ONNX_INITIAL) return false;
    if (onnx_count(&v->shape, 0) != 1) return false;
    if (v->kind == ONNX_INITIAL) { /* those that are not whole are trained */
        if (!onnx_is_whole(v->type) || !v->tensor->bytes) return false;
        *out = onnx_tensor_at(v->tensor, 0);
    } else {
        if (v->at[0][0] != v->at[1][0]) return false;
        *out = v->at[0][0];
    }
    return *out >= -1e30 && *out <= 1e30; /* as rescale takes them */
}

/* x op number, number op x: by rescale, so that no constant needs bytes. */
static bool with_number(onnx_import *im) {
    const char op = im->node->op[0];
    double a = 0, b = 0;
    const bool left = single(im, 0, &a), right = !left && single(im, 1, &b);
    if (!left && !right) return false;
    const uint32_t x = onnx_in(im, left ? 1 : 0);
    const onnx_value *v = onnx_operand(im, left ? 0 : 1);
    if (!onnx_is_real(im, x) || onnx_shape_of(im, x).rank < v->shape.rank) return false;
    if (strcmp(im->node->op, "Add") == 0)
        onnx_give(im, 0, onnx_rescale(im, x, 1, left ? a : b));
    else if (op == 'M')
        onnx_give(im, 0, onnx_rescale(im, x, left ? a : b, 0));
    else if (op == 'S')
        onnx_give(im, 0, left ? onnx_rescale(im, x, -1, a) : onnx_rescale(im, x, 1, -b));
    else if (op == 'P' && right && b == 2)
        onnx_give(im, 0, onnx_op2(im, "mul", x, x));
    else if (op == 'P' && right && b == 3)
        onnx_give(im, 0, onnx_op2(im, "mul", x, onnx_op2(im, "mul", x, x)));
    else if (op == 'P' && right && b == 0.5)
        onnx_give(im, 0, onnx_op(im, "sqrt", &x, 1, NULL));
    else
        return false;
    return true;
}

/* The shape with most samples of the first n operands. */
static onnx_shape widest(onnx_import *im, uint32_t n) {
    onnx_shape wide = {.rank = 0};
    for (uint32_t i = 0; i < n; i++) {
        const onnx_shape shape = onnx_shape_of(im, onnx_in(im, i));
        const bool varies = shape.rank > 0 && shape.dim[0][0] != shape.dim[1][0];
        if (shape.rank > wide.rank || (shape.rank == wide.rank && varies)) wide = shape;
    }
    return wide;
}

/* Integers are divided towards zero, which is the floor of what is not negative. */
static void two(onnx_import *im) {
    const bool arithmetic = strcmp(im->node->op, "Add") == 0 || strcmp(im->node->op, "Mul") == 0 ||
                            strcmp(im->node->op, "Sub") == 0;
    if (arithmetic && with_number(im)) return;
    const onnx_shape wide = widest(im, 2);
    const uint32_t a = onnx_in_beside(im, 0, &wide), b = onnx_in_beside(im, 1, &wide);
    if (strcmp(im->node->op, "Div") == 0 && !onnx_stopped(im) && !onnx_is_real(im, a))
        onnx_refuse(im, "integers that are computed from data are not divided");
    onnx_give(im, 0, onnx_op2(im, ours(im, true), a, b));
}

static uint32_t cast_to(onnx_import *im, uint32_t x, const char *dtype) {
    char now[8];
    return strcmp(onnx_dtype_of(im, x, now), dtype) == 0 ? x : onnx_op1(im, "cast", x, "to=%s", dtype);
}

/* The result has the base's type, whatever the exponent's is. */
static void power(onnx_import *im) {
    char dtype[8];
    double exponent = 0;
    if (with_number(im)) return;
    const uint32_t x = onnx_in(im, 0);
    (void)onnx_dtype_of(im, x, dtype);
    if (!onnx_is_real(im, x)) onnx_refuse(im, "powers of %s: cast its base to float32", dtype);
    const uint32_t by = single(im, 1, &exponent) ? onnx_fill(im, &onnx_operand(im, 1)->shape, x, exponent)
                                                 : cast_to(im, onnx_in(im, 1), dtype);
    onnx_give(im, 0, onnx_op2(im, "pow", x, by));
}

static void several(onnx_import *im) {
    const onnx_shape wide = widest(im, im->node->n_in);
    uint32_t sum = onnx_in_beside(im, 0, &wide);
    for (uint32_t i = 1; i < im->node->n_in; i++)
        sum = onnx_op2(im, ours(im, true), sum, onnx_in_beside(im, i, &wide));
    if (strcmp(im->node->op, "Mean") == 0) sum = onnx_rescale(im, sum, 1 / (double)im->node->n_in, 0);
    onnx_give(im, 0, sum);
}

static void greater(onnx_import *im) {
    const onnx_shape wide = widest(im, 2);
    const uint32_t a = onnx_in_beside(im, 0, &wide), b = onnx_in_beside(im, 1, &wide);
    onnx_give(im, 0, onnx_op2(im, strcmp(im->node->op, "Greater") == 0 ? "less" : "less_equal", b, a));
}

static void where(onnx_import *im) {
    if (onnx_masked_softmax(im)) return;
    const onnx_shape wide = widest(im, 3);
    uint32_t in[3];
    for (uint32_t i = 0; i < 3; i++) in[i] = onnx_in_beside(im, i, &wide);
    onnx_give(im, 0, onnx_op(im, "where", in, 3, NULL));
}

/* Exporters join tensors that are equal, such as the zeros and ones that biases and scales start from, and
 * keep their names so: each is its own. Others, such as an embedding that is a head, too, are one. */
static void identity(onnx_import *im) {
    const onnx_value *v = onnx_operand(im, 0);
    if (v->kind == ONNX_INITIAL && v->shape.rank == 1 && v->tensor->bytes && onnx_is_uniform(v))
        onnx_give_tensor(im, 0, v->tensor);
    else
        onnx_give(im, 0, onnx_in(im, 0));
}

/* By fmod=1 with the sign of the first operand. */
static void mod(onnx_import *im) {
    const uint32_t a = onnx_in(im, 0), b = onnx_in(im, 1), left = onnx_op2(im, "mod", a, b);
    if (!onnx_attr_int(im, "fmod", 0) || onnx_stopped(im)) {
        onnx_give(im, 0, left);
    } else if (onnx_is_real(im, a)) {
        const uint32_t size =
            onnx_op2(im, "mod", onnx_op(im, "abs", &a, 1, NULL), onnx_op(im, "abs", &b, 1, NULL));
        onnx_give(im, 0, onnx_op2(im, "mul", onnx_op(im, "sign", &a, 1, NULL), size));
    } else { /* abs of the least i32 is none */
        const onnx_shape one = {.rank = 0};
        const uint32_t zero = onnx_fill(im, &one, a, 0);
        const uint32_t differ =
            onnx_op2(im, "logical_xor", onnx_op2(im, "less", a, zero), onnx_op2(im, "less", b, zero));
        const uint32_t same = onnx_op(im, "logical_not", &differ, 1, NULL);
        const uint32_t keeps = onnx_op2(im, "logical_or", same, onnx_op2(im, "equal", left, zero));
        const uint32_t in[] = {keeps, left, onnx_op2(im, "sub", left, b)};
        onnx_give(im, 0, onnx_op(im, "where", in, 3, NULL));
    }
}

static void dropout(onnx_import *im) {
    double p = onnx_attr_real(im, "ratio", 0.5);
    int64_t n;
    char real[EBB_REAL_TEXT];
    const uint32_t x = onnx_in(im, 0);
    if (onnx_has(im, 1)) {
        const double *at = onnx_fixed(im, 1, &n);
        if (at && n == 1) p = at[0];
    }
    if (onnx_wants(im, 1)) onnx_refuse(im, "its mask is read");
    onnx_give(im, 0, p > 0 ? onnx_op1(im, "dropout", x, "p=%s", ebb_real_text(onnx_meant(p), real)) : x);
}

static void reciprocal(onnx_import *im) {
    const uint32_t x = onnx_in(im, 0);
    const onnx_shape one = {.rank = 0};
    onnx_give(im, 0, onnx_op2(im, "div", onnx_fill(im, &one, x, 1), x));
}

static void cast(onnx_import *im) {
    const int64_t to =
        strcmp(im->node->op, "CastLike") == 0 ? onnx_type_of(im, 1) : onnx_attr_int(im, "to", 0);
    const char *dtype = onnx_is_f32((int32_t)to)               ? "f32"
                        : to == ONNX_DOUBLE                    ? "f64"
                        : to == ONNX_BOOL                      ? "bool"
                        : to == ONNX_INT32 || to == ONNX_INT64 ? "i32"
                                                               : NULL;
    const uint32_t x = onnx_in(im, 0);
    if (!dtype) {
        onnx_refuse(im, "to %s", onnx_type_name((int32_t)to));
        return;
    }
    onnx_give(im, 0, cast_to(im, x, dtype));
}

const onnx_rule onnx_rules_pointwise[] = {
    {"Relu", same},
    {"Exp", same},
    {"Log", same},
    {"Sqrt", same},
    {"Neg", same},
    {"Abs", same},
    {"Sign", same},
    {"Floor", same},
    {"Ceil", same},
    {"Round", same},
    {"Sin", same},
    {"Cos", same},
    {"Tanh", same},
    {"Erf", same},
    {"Sigmoid", same},
    {"Not", same},
    {"Add", two},
    {"Sub", two},
    {"Mul", two},
    {"Div", two},
    {"Pow", power},
    {"Equal", two},
    {"Less", two},
    {"LessOrEqual", two},
    {"And", two},
    {"Or", two},
    {"Xor", two},
    {"Max", several},
    {"Min", several},
    {"Sum", several},
    {"Mean", several},
    {"Greater", greater},
    {"GreaterOrEqual", greater},
    {"Where", where},
    {"Identity", identity},
    {"Mod", mod},
    {"Dropout", dropout},
    {"Reciprocal", reciprocal},
    {"Cast", cast},
    {"CastLike", cast},
    {NULL, NULL},
};
