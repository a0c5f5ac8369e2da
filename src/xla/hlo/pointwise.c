/* xla/hlo/pointwise.c: ops that look at one element at a time, operands broadcast as in NumPy. */
#include "xla/hlo/rows.h"

#include <math.h>

/* Operand i, broadcast to the result's shape. */
static hlo_value operand(const hlo_op *op, uint32_t i) {
    const ebb_type *from = &op->call->in[i], *to = &op->call->out[0];
    uint32_t axis[HLO_MAX_RANK];
    for (uint32_t d = 0; d < from->rank; d++)
        axis[ebb_hlo_axis(from->rank, d)] = ebb_hlo_axis(to->rank, d + to->rank - from->rank);
    return hlo_spread(op->to, op->in[i], hlo_type_of(to), axis);
}

static hlo_value one(const hlo_op *op, double x) {
    return hlo_full(op->to, hlo_type_of(&op->call->out[0]), x);
}

/* Of one operand, and of two: by one operation. */
#define ONE(name, operation)                              \
    HLO(name) {                                           \
        op->out[0] = hlo_1(op->to, operation, op->in[0]); \
    }
#define TWO(name, operation)                                                   \
    HLO(name) {                                                                \
        op->out[0] = hlo_2(op->to, operation, operand(op, 0), operand(op, 1)); \
    }
#define COMPARED(name, how)                                                    \
    HLO(name) {                                                                \
        op->out[0] = hlo_compare(op->to, how, operand(op, 0), operand(op, 1)); \
    }

ONE(neg, "negate")
ONE(abs, "abs")
ONE(sign, "sign")
ONE(floor, "floor")
ONE(ceil, "ceil")
ONE(round, "round_nearest_even")
ONE(sqrt, "sqrt")
ONE(log, "log")
ONE(log1p, "log_plus_one")
ONE(expm1, "exponential_minus_one")
ONE(exp, "exponential")
ONE(sin, "sine")
ONE(cos, "cosine")
ONE(tanh, "tanh")
ONE(sigmoid, "logistic")
ONE(logical_not, "not")
TWO(add, "add")
TWO(sub, "subtract")
TWO(mul, "multiply")
TWO(div, "divide")
TWO(pow, "power")
TWO(maximum, "maximum")
TWO(minimum, "minimum")
TWO(logical_and, "and")
TWO(logical_or, "or")
TWO(logical_xor, "xor")
COMPARED(equal, "EQ")
COMPARED(less, "LT")
COMPARED(less_equal, "LE")

/* ---- divisions ---- */

/* Of whole numbers by a divisor that is not 0: towards minus infinity. */
static hlo_value floor_divided(hlo *h, hlo_value a, hlo_value b) {
    const hlo_value quotient = hlo_div(h, a, b), left = hlo_2(h, "remainder", a, b);
    const hlo_value zero = hlo_like(h, &a, 0);
    const hlo_value apart = hlo_2(h, "xor", hlo_compare(h, "LT", a, zero), hlo_compare(h, "LT", b, zero));
    const hlo_value below = hlo_2(h, "and", hlo_compare(h, "NE", left, zero), apart);
    return hlo_select(h, below, hlo_2c(h, "subtract", quotient, 1), quotient);
}

/* What whole numbers give where the divisor is 0: 0. */
static hlo_value unless_zero(hlo *h, hlo_value divisor, hlo_value *safe) {
    const hlo_value none = hlo_compare(h, "EQ", divisor, hlo_like(h, &divisor, 0));
    *safe = hlo_select(h, none, hlo_like(h, &divisor, 1), divisor);
    return none;
}

HLO(floor_div) {
    hlo *h = op->to;
    const hlo_value a = operand(op, 0), b = operand(op, 1);
    if (hlo_real(a.type.kind)) {
        op->out[0] = hlo_1(h, "floor", hlo_div(h, a, b));
        return;
    }
    hlo_value safe;
    const hlo_value none = unless_zero(h, b, &safe);
    op->out[0] = hlo_select(h, none, hlo_like(h, &a, 0), floor_divided(h, a, safe));
}

HLO(mod) {
    hlo *h = op->to;
    const hlo_value a = operand(op, 0), b = operand(op, 1), zero = hlo_like(h, &a, 0);
    hlo_value by = b, none = {0};
    const bool whole = !hlo_real(a.type.kind);
    if (whole) none = unless_zero(h, b, &by);
    const hlo_value left = hlo_2(h, "remainder", a, by);
    const hlo_value apart =
        hlo_2(h, "xor", hlo_compare(h, "LT", left, zero), hlo_compare(h, "LT", by, zero));
    const hlo_value moves = hlo_2(h, "and", hlo_compare(h, "NE", left, zero), apart);
    const hlo_value y = hlo_select(h, moves, hlo_add(h, left, by), left);
    op->out[0] = whole ? hlo_select(h, none, zero, y) : y;
}

/* ---- choices, casts, made ones ---- */

HLO(where) {
    op->out[0] = hlo_select(op->to, operand(op, 0), operand(op, 1), operand(op, 2));
}

/* A NaN is 0 as a whole number, and what is too large the nearest there is: as XLA converts, too. */
HLO(cast) {
    const hlo_type to = hlo_type_of(&op->call->out[0]);
    op->out[0] = to.kind == HLO_PRED && op->in[0].type.kind != HLO_PRED
                     ? hlo_compare(op->to, "NE", op->in[0], hlo_like(op->to, &op->in[0], 0))
                     : hlo_convert(op->to, to.kind, op->in[0]);
}

HLO(fill) {
    op->out[0] = one(op, op->call->attr[EBB_FILL_VALUE].f);
}

HLO(iota) {
    const ebb_type *y = &op->call->out[0];
    op->out[0] =
        hlo_iota(op->to, hlo_type_of(y), ebb_hlo_axis(y->rank, op->call->attr[EBB_IOTA_AXIS].i[0]));
}

HLO(rescale) {
    const ebb_attr *a = op->call->attr;
    const hlo_value scaled = hlo_2c(op->to, "multiply", op->in[0], a[EBB_RESCALE_TIMES].f);
    op->out[0] = hlo_2c(op->to, "add", scaled, a[EBB_RESCALE_PLUS].f);
}

HLO(scale) {
    op->out[0] = hlo_mul(op->to, hlo_everywhere(op->to, op->in[1], op->in[0].type), op->in[0]);
}

HLO(bias) {
    const hlo_type type = op->in[0].type;
    op->out[0] = hlo_add(op->to, op->in[0], hlo_along(op->to, op->in[1], type, ebb_hlo_axis(type.rank, 1)));
}

HLO(assign) {
    op->out[0] = op->in[1];
}

/* ---- activations ---- */

HLO(relu) {
    op->out[0] = hlo_2c(op->to, "maximum", op->in[0], 0);
}

HLO(relu_grad) {
    const hlo_value zero = hlo_like(op->to, &op->in[0], 0);
    op->out[0] = hlo_select(op->to, hlo_compare(op->to, "LE", op->in[0], zero), zero, op->in[1]);
}

HLO(clip) {
    const ebb_attr *a = op->call->attr;
    const hlo_value above = hlo_2c(op->to, "maximum", op->in[0], a[EBB_CLIP_MIN].f);
    op->out[0] = hlo_2c(op->to, "minimum", above, a[EBB_CLIP_MAX].f);
}

HLO(clip_grad) {
    hlo *h = op->to;
    const ebb_attr *a = op->call->attr;
    const hlo_value y = op->in[0];
    const hlo_value low = hlo_compare(h, "LE", y, hlo_like(h, &y, a[EBB_CLIP_MIN].f));
    const hlo_value high = hlo_compare(h, "GE", y, hlo_like(h, &y, a[EBB_CLIP_MAX].f));
    op->out[0] = hlo_select(h, hlo_2(h, "or", low, high), hlo_like(h, &y, 0), op->in[1]);
}

/* gelu(x) = x / 2 * (1 + tanh(u)), u = sqrt(2 / pi) * (x + 0.044715 x^3) */
#define GELU_ROOT 0.79788456080286535588
#define GELU_CUBE 0.044715

static hlo_value gelu_tanh(hlo *h, hlo_value x, hlo_value square) {
    const hlo_value cube = hlo_2c(h, "multiply", hlo_mul(h, square, x), GELU_CUBE);
    return hlo_1(h, "tanh", hlo_2c(h, "multiply", hlo_add(h, x, cube), GELU_ROOT));
}

HLO(gelu) {
    hlo *h = op->to;
    const hlo_value x = op->in[0], t = gelu_tanh(h, x, hlo_mul(h, x, x));
    op->out[0] = hlo_mul(h, hlo_2c(h, "multiply", x, 0.5), hlo_2c(h, "add", t, 1));
}

HLO(gelu_grad) {
    hlo *h = op->to;
    const hlo_value x = op->in[0], square = hlo_mul(h, x, x), t = gelu_tanh(h, x, square);
    const hlo_value du =
        hlo_2c(h, "add", hlo_2c(h, "multiply", square, 3 * GELU_CUBE * GELU_ROOT), GELU_ROOT);
    const hlo_value flat = hlo_sub(h, hlo_like(h, &t, 1), hlo_mul(h, t, t));
    const hlo_value slope = hlo_mul(h, hlo_mul(h, hlo_2c(h, "multiply", x, 0.5), flat), du);
    const hlo_value half = hlo_2c(h, "multiply", hlo_2c(h, "add", t, 1), 0.5);
    op->out[0] = hlo_mul(h, op->in[1], hlo_add(h, half, slope));
}

/* x / (1 + e^-x) */
HLO(silu) {
    op->out[0] = hlo_mul(op->to, op->in[0], hlo_1(op->to, "logistic", op->in[0]));
}

HLO(silu_grad) {
    hlo *h = op->to;
    const hlo_value x = op->in[0], s = hlo_1(h, "logistic", x), flat = hlo_sub(h, hlo_like(h, &s, 1), s);
    const hlo_value slope = hlo_mul(h, s, hlo_2c(h, "add", hlo_mul(h, x, flat), 1));
    op->out[0] = hlo_mul(h, op->in[1], slope);
}

HLO(erf) {
    op->out[0] = hlo_erf(op->to, op->in[0]);
}

/* The share of normal numbers below x: (1 + erf(x / sqrt(2))) / 2. */
static hlo_value normal_below(hlo *h, hlo_value x) {
    const hlo_value e = hlo_erf(h, hlo_2c(h, "multiply", x, 0.70710678118654752440));
    return hlo_2c(h, "multiply", hlo_2c(h, "add", e, 1), 0.5);
}

HLO(gelu_erf) {
    op->out[0] = hlo_mul(op->to, op->in[0], normal_below(op->to, op->in[0]));
}

HLO(gelu_erf_grad) {
    hlo *h = op->to;
    const hlo_value x = op->in[0], half = hlo_2c(h, "multiply", hlo_mul(h, x, x), -0.5);
    const hlo_value density = hlo_2c(h, "multiply", hlo_1(h, "exponential", half), 0.39894228040143267794);
    const hlo_value slope = hlo_add(h, normal_below(h, x), hlo_mul(h, x, density));
    op->out[0] = hlo_mul(h, op->in[1], slope);
}
