/* rules_pointwise: ops that look at one element at a time. */
#include <float.h>

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

/* The number of an operand that is one known number of at most like's rank; false: it is more. */
static bool single(onnx_import *im, uint32_t i, double *out) {
    const onnx_value *v = onnx_operand(im, i);
    if (v->kind != ONNX_FOLDED || onnx_count(&v->shape, 0) != 1 || v->at[0][0] != v->at[1][0]) return false;
    *out = v->at[0][0];
    return *out - *out == 0;
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

/* Integers are divided towards zero, which is the floor of what is not negative. */
static void two(onnx_import *im) {
    const bool arithmetic = strcmp(im->node->op, "Add") == 0 || strcmp(im->node->op, "Mul") == 0 ||
                            strcmp(im->node->op, "Sub") == 0 || strcmp(im->node->op, "Pow") == 0;
    if (arithmetic && with_number(im)) return;
    const uint32_t a = onnx_in(im, 0), b = onnx_in(im, 1);
    if (strcmp(im->node->op, "Div") == 0 && !onnx_stopped(im) && !onnx_is_real(im, a))
        onnx_refuse(im, "integers that are computed from data are not divided");
    onnx_give(im, 0, onnx_op2(im, ours(im, true), a, b));
}

static void several(onnx_import *im) {
    uint32_t sum = onnx_in(im, 0);
    for (uint32_t i = 1; i < im->node->n_in; i++) sum = onnx_op2(im, ours(im, true), sum, onnx_in(im, i));
    if (strcmp(im->node->op, "Mean") == 0) sum = onnx_rescale(im, sum, 1 / (double)im->node->n_in, 0);
    onnx_give(im, 0, sum);
}

static void greater(onnx_import *im) {
    const uint32_t a = onnx_in(im, 0), b = onnx_in(im, 1);
    onnx_give(im, 0, onnx_op2(im, strcmp(im->node->op, "Greater") == 0 ? "less" : "less_equal", b, a));
}

static void where(onnx_import *im) {
    const uint32_t in[3] = {onnx_in(im, 0), onnx_in(im, 1), onnx_in(im, 2)};
    onnx_give(im, 0, onnx_op(im, "where", in, 3, NULL));
}

static void identity(onnx_import *im) {
    onnx_give(im, 0, onnx_in(im, 0));
}

static void mod(onnx_import *im) {
    if (onnx_attr_int(im, "fmod", 0)) onnx_refuse(im, "fmod=1: with the sign of the first operand");
    const uint32_t a = onnx_in(im, 0), b = onnx_in(im, 1);
    onnx_give(im, 0, onnx_op2(im, "mod", a, b));
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

/* One bound alone, or one beyond those that docs/ir.md has, is a comparison with a number. */
static uint32_t clipped(onnx_import *im, uint32_t x, double low, double high) {
    const onnx_shape one = {.rank = 0};
    const bool from_low = low > -1e30, from_high = high < 1e30;
    char text[2][EBB_REAL_TEXT];
    if (!from_low && !from_high) return x;
    if (!from_low || !from_high)
        return onnx_op2(im, from_low ? "maximum" : "minimum", x,
                        onnx_fill(im, &one, x, from_low ? low : high));
    return onnx_op1(im, "clip", x, "min=%s max=%s", ebb_real_text(low, text[0]),
                    ebb_real_text(high, text[1]));
}

/* Bounds that are computed are compared with each place. */
static void clip(onnx_import *im) {
    double bound[2] = {onnx_attr_real(im, "min", -DBL_MAX), onnx_attr_real(im, "max", DBL_MAX)};
    uint32_t x = onnx_in(im, 0);
    bool computed = !onnx_is_real(im, x);
    for (uint32_t i = 0; i < 2; i++)
        computed |= onnx_has(im, i + 1) && onnx_operand(im, i + 1)->kind == ONNX_GRAPH;
    for (uint32_t i = 0; i < 2; i++) {
        int64_t n;
        if (computed && onnx_has(im, i + 1))
            x = onnx_op2(im, i == 0 ? "maximum" : "minimum", x, onnx_in(im, i + 1));
        const double *at = !computed && onnx_has(im, i + 1) ? onnx_fixed(im, i + 1, &n) : NULL;
        if (at && n != 1) onnx_refuse(im, "a bound of %lld numbers", (long long)n);
        if (at && n == 1) bound[i] = at[0];
    }
    if (bound[0] > bound[1]) bound[0] = bound[1];
    onnx_give(im, 0, computed ? x : clipped(im, x, bound[0], bound[1]));
}

/* The least of x and 0, as x - relu(x) is not where x is infinite. */
static uint32_t below_zero(onnx_import *im, uint32_t x) {
    const onnx_shape one = {.rank = 0};
    return onnx_op2(im, "minimum", x, onnx_fill(im, &one, x, 0));
}

/* relu(x) + slope * min(x, 0) */
static void leaky(onnx_import *im) {
    const uint32_t x = onnx_in(im, 0), top = onnx_op(im, "relu", &x, 1, NULL);
    const uint32_t low = below_zero(im, x);
    const bool learned = strcmp(im->node->op, "PRelu") == 0;
    const uint32_t part = learned ? onnx_op2(im, "mul", low, onnx_in(im, 1))
                                  : onnx_rescale(im, low, onnx_attr_real(im, "alpha", 0.01), 0);
    onnx_give(im, 0, onnx_op2(im, "add", top, part));
}

/* gamma * (relu(x) + alpha * (e^(scale * min(x, 0)) - 1)) */
static void elu(onnx_import *im) {
    const bool selu = im->node->op[0] == 'S', celu = im->node->op[0] == 'C';
    const double alpha = onnx_attr_real(im, "alpha", selu ? 1.67326319217681884765625 : 1);
    const uint32_t x = onnx_in(im, 0), top = onnx_op(im, "relu", &x, 1, NULL);
    const uint32_t low = onnx_rescale(im, below_zero(im, x), celu ? 1 / alpha : 1, 0);
    const uint32_t part = onnx_rescale(im, onnx_op(im, "expm1", &low, 1, NULL), alpha, 0);
    const uint32_t sum = onnx_op2(im, "add", top, part);
    onnx_give(im, 0,
              onnx_rescale(im, sum, selu ? onnx_attr_real(im, "gamma", 1.05070102214813232421875) : 1, 0));
}

/* relu(x) + log(1 + e^-|x|). At 0, minimum's slope is its first operand's: with relu's, 0, together 1/2. */
static uint32_t softplus_of(onnx_import *im, uint32_t x) {
    const uint32_t low = onnx_op2(im, "minimum", x, onnx_op(im, "neg", &x, 1, NULL));
    const uint32_t e = onnx_op(im, "exp", &low, 1, NULL), log = onnx_op(im, "log1p", &e, 1, NULL);
    return onnx_op2(im, "add", onnx_op(im, "relu", &x, 1, NULL), log);
}

static void softplus(onnx_import *im) {
    const uint32_t x = onnx_in(im, 0), y = softplus_of(im, x);
    if (im->node->op[0] == 'S')
        onnx_give(im, 0, y);
    else
        onnx_give(im, 0, onnx_op2(im, "mul", x, onnx_op(im, "tanh", &y, 1, NULL))); /* Mish */
}

static void softsign(onnx_import *im) {
    const uint32_t x = onnx_in(im, 0), size = onnx_op(im, "abs", &x, 1, NULL);
    onnx_give(im, 0, onnx_op2(im, "div", x, onnx_rescale(im, size, 1, 1)));
}

static void hard(onnx_import *im) {
    const bool swish = strcmp(im->node->op, "HardSwish") == 0;
    const uint32_t x = onnx_in(im, 0);
    const double alpha = swish ? 1.0 / 6 : onnx_attr_real(im, "alpha", 0.2);
    const double beta = swish ? 0.5 : onnx_attr_real(im, "beta", 0.5);
    const uint32_t gate = clipped(im, onnx_rescale(im, x, alpha, beta), 0, 1);
    onnx_give(im, 0, swish ? onnx_op2(im, "mul", x, gate) : gate);
}

static void gelu(onnx_import *im) {
    const uint32_t x = onnx_in(im, 0);
    const bool tanh = strcmp(onnx_attr_text(im, "approximate", "none"), "tanh") == 0;
    onnx_give(im, 0, onnx_op(im, tanh ? "gelu" : "gelu_erf", &x, 1, NULL));
}

static void reciprocal(onnx_import *im) {
    const uint32_t x = onnx_in(im, 0);
    const onnx_shape one = {.rank = 0};
    onnx_give(im, 0, onnx_op2(im, "div", onnx_fill(im, &one, x, 1), x));
}

static void cast(onnx_import *im) {
    const int64_t to =
        strcmp(im->node->op, "CastLike") == 0 ? onnx_type_of(im, 1) : onnx_attr_int(im, "to", 0);
    const char *dtype = to == ONNX_FLOAT                       ? "f32"
                        : to == ONNX_DOUBLE                    ? "f64"
                        : to == ONNX_BOOL                      ? "bool"
                        : to == ONNX_INT32 || to == ONNX_INT64 ? "i32"
                                                               : NULL;
    char now[8];
    const uint32_t x = onnx_in(im, 0);
    if (!dtype) {
        onnx_refuse(im, "to %s", onnx_type_name((int32_t)to));
        return;
    }
    onnx_give(im, 0,
              strcmp(onnx_dtype_of(im, x, now), dtype) == 0 ? x : onnx_op1(im, "cast", x, "to=%s", dtype));
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
    {"Pow", two},
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
    {"Clip", clip},
    {"LeakyRelu", leaky},
    {"PRelu", leaky},
    {"Elu", elu},
    {"Selu", elu},
    {"Celu", elu},
    {"Softplus", softplus},
    {"Mish", softplus},
    {"Softsign", softsign},
    {"HardSigmoid", hard},
    {"HardSwish", hard},
    {"Gelu", gelu},
    {"Reciprocal", reciprocal},
    {"Cast", cast},
    {"CastLike", cast},
    {NULL, NULL},
};
