/* Arithmetic of one place at a time, its operands broadcast together, and functions of one number.
 * Gradients are made of the same ops, so that they can be differentiated again; what a rule gives may have
 * more places than the operand had: ebb_grad_give sums it. */
#include "graph/ops/rule.h"

#define NUMBERS "a:num[~] b:num[~] -> [~]"
#define REALS   "a[~] b[~] -> [~]"

/* ---- add, sub, mul, div --------------------------------------------------------------------------- */

static void add_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    for (uint32_t i = 0; i < 2; i++) {
        if (ebb_grad_wants(rw, node, i)) ebb_grad_give(rw, node, i, dout[0]);
    }
}
EBB_BINARY(add, 1, NUMBERS, .grad = add_grad, EBB_RUNS(FOLLOWS));

/* mul(a, a) works out too: both halves are given to a, and their sum is 2 a dy. */
static void mul_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    for (uint32_t i = 0; i < 2; i++) {
        if (!ebb_grad_wants(rw, node, i)) continue;
        ebb_grad_give(rw, node, i, ebb_emit_2(rw, &ebb_op_mul, dout[0], ebb_rw_value(rw, node->in[1 - i])));
    }
}
EBB_BINARY(mul, 1, NUMBERS, .grad = mul_grad, EBB_RUNS(FOLLOWS));

static void sub_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (ebb_grad_wants(rw, node, 0)) ebb_grad_give(rw, node, 0, dout[0]);
    if (ebb_grad_wants(rw, node, 1)) ebb_grad_give(rw, node, 1, ebb_emit_rescale(rw, dout[0], -1, 0));
}
EBB_BINARY(sub, 1, NUMBERS, .grad = sub_grad, EBB_RUNS(FOLLOWS));

/* da = dy / b and db = -y * dy / b = -y * da: y is read, so that a need not be. */
static void div_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0) && !ebb_grad_wants(rw, node, 1)) return;
    const ebb_id da = ebb_emit_2(rw, &ebb_op_div, dout[0], ebb_rw_value(rw, node->in[1]));
    if (ebb_grad_wants(rw, node, 0)) ebb_grad_give(rw, node, 0, da);
    if (!ebb_grad_wants(rw, node, 1)) return;
    const ebb_id product = ebb_emit_2(rw, &ebb_op_mul, da, ebb_rw_value(rw, node->out[0]));
    ebb_grad_give(rw, node, 1, ebb_emit_rescale(rw, product, -1, 0));
}
EBB_BINARY(div, 1, REALS, .grad = div_grad, EBB_RUNS(FOLLOWS));

/* ---- floor_div, mod ------------------------------------------------------------------------------- */

EBB_BINARY(floor_div, 4, NUMBERS, .grad = ebb_grad_zero);

/* a - b * floor(a / b), and the quotient changes by jumps alone. */
static void mod_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (ebb_grad_wants(rw, node, 0)) ebb_grad_give(rw, node, 0, dout[0]);
    if (!ebb_grad_wants(rw, node, 1)) return;
    const ebb_id times =
        ebb_emit_2(rw, &ebb_op_floor_div, ebb_rw_value(rw, node->in[0]), ebb_rw_value(rw, node->in[1]));
    ebb_grad_give(rw, node, 1, ebb_emit_rescale(rw, ebb_emit_2(rw, &ebb_op_mul, dout[0], times), -1, 0));
}
EBB_BINARY(mod, 8, NUMBERS, .grad = mod_grad);

/* ---- pow ------------------------------------------------------------------------------------------ */

/* The least normal number of a dtype: from there on reciprocals are finite. */
static double least_normal(ebb_rewriter *rw, ebb_id x) {
    const ebb_dtype dtype = ebb_builder_type(ebb_rw_builder(rw), x)->dtype;
    return dtype == EBB_F16 ? 0x1p-14 : dtype == EBB_F64 ? 0x1p-1022 : 0x1p-126;
}

static ebb_id chosen_by(ebb_rewriter *rw, ebb_id condition, ebb_id a, ebb_id b) {
    return ebb_rw_emit(rw, &ebb_op_where, (const ebb_id[]){condition, a, b}, 3, NULL)[0];
}

/* b * a^(b - 1), and 0 where b is 0: from there on it grows by 1 / a, so the power stays in the product,
 * except where it is infinite or a is 0. */
static ebb_id pow_slope_of_base(ebb_rewriter *rw, ebb_id a, ebb_id b) {
    const ebb_id zero = ebb_emit_number(rw, b, 0), one = ebb_emit_number(rw, a, 1),
                 least = ebb_emit_number(rw, a, least_normal(rw, a));
    const ebb_id is_tiny = ebb_emit_2(rw, &ebb_op_less, ebb_emit_1(rw, &ebb_op_abs, a), least),
                 is_zero = ebb_emit_2(rw, &ebb_op_equal, b, zero),
                 flat = ebb_emit_2(rw, &ebb_op_logical_and, is_tiny, is_zero);
    const ebb_id base = chosen_by(rw, flat, one, a), less = ebb_emit_rescale(rw, b, 1, -1);
    const ebb_id power = ebb_emit_2(rw, &ebb_op_pow, base, less);
    return chosen_by(rw, flat, zero, ebb_emit_2(rw, &ebb_op_mul, power, b));
}

/* y * log(a), and 0 where a is 0, which no b from 0 on changes. */
static ebb_id pow_slope_of_power(ebb_rewriter *rw, ebb_id a, ebb_id b, ebb_id y) {
    const ebb_id zero = ebb_emit_number(rw, a, 0), one = ebb_emit_number(rw, a, 1);
    const ebb_id is_zero = ebb_emit_2(rw, &ebb_op_equal, a, zero),
                 is_more = ebb_emit_2(rw, &ebb_op_less_equal, zero, b),
                 flat = ebb_emit_2(rw, &ebb_op_logical_and, is_zero, is_more);
    return ebb_emit_2(rw, &ebb_op_mul, y, ebb_emit_1(rw, &ebb_op_log, chosen_by(rw, flat, one, a)));
}

static void pow_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    const ebb_id a = ebb_rw_value(rw, node->in[0]), b = ebb_rw_value(rw, node->in[1]);
    if (ebb_grad_wants(rw, node, 0))
        ebb_grad_give(rw, node, 0, ebb_emit_2(rw, &ebb_op_mul, dout[0], pow_slope_of_base(rw, a, b)));
    if (!ebb_grad_wants(rw, node, 1)) return;
    const ebb_id slope = pow_slope_of_power(rw, a, b, ebb_rw_value(rw, node->out[0]));
    ebb_grad_give(rw, node, 1, ebb_emit_2(rw, &ebb_op_mul, dout[0], slope));
}
EBB_BINARY(pow, 40, REALS, .grad = pow_grad);

/* ---- maximum, minimum ----------------------------------------------------------------------------- */

/* Where one operand is chosen by `second`, a bool, dy goes to it; equal ones: to the first. */
static void chosen_grad(ebb_rewriter *rw, const ebb_node *node, ebb_id dy, ebb_id second) {
    const ebb_id zero = ebb_emit_number(rw, dy, 0);
    for (uint32_t i = 0; i < 2; i++) {
        if (!ebb_grad_wants(rw, node, i)) continue;
        const ebb_id in[] = {second, i == 0 ? zero : dy, i == 0 ? dy : zero};
        ebb_grad_give(rw, node, i, ebb_rw_emit(rw, &ebb_op_where, in, 3, NULL)[0]);
    }
}

static void maximum_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    const ebb_id a = ebb_rw_value(rw, node->in[0]), b = ebb_rw_value(rw, node->in[1]);
    chosen_grad(rw, node, dout[0], ebb_emit_2(rw, &ebb_op_less, a, b));
}
EBB_BINARY(maximum, 1, NUMBERS, .grad = maximum_grad, EBB_RUNS(FOLLOWS));

static void minimum_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    const ebb_id a = ebb_rw_value(rw, node->in[0]), b = ebb_rw_value(rw, node->in[1]);
    chosen_grad(rw, node, dout[0], ebb_emit_2(rw, &ebb_op_less, b, a));
}
EBB_BINARY(minimum, 1, NUMBERS, .grad = minimum_grad, EBB_RUNS(FOLLOWS));

/* ---- functions of one number ------------------------------------------------------------------------
 *
 * Each gradient is dy times what stands here, of x or y, whichever says it with less. */

typedef ebb_id slope_rule(ebb_rewriter *rw, ebb_id x, ebb_id y);

static void times_slope(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout, slope_rule *slope) {
    const ebb_id s = slope(rw, ebb_rw_value(rw, node->in[0]), ebb_rw_value(rw, node->out[0]));
    ebb_grad_give(rw, node, 0, ebb_emit_2(rw, &ebb_op_mul, dout[0], s));
}

#define SLOPE(name, each, takes, expression, ...)                                           \
    static ebb_id name##_slope(ebb_rewriter *rw, ebb_id x, ebb_id y) {                      \
        (void)x, (void)y;                                                                   \
        return (expression);                                                                \
    }                                                                                       \
    static void name##_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {   \
        times_slope(rw, node, dout, name##_slope);                                          \
    }                                                                                       \
    EBB_DEFINE(name, EBB_RULE(1, 1, takes "[*] -> [*]"), EBB_OVER({0, 0}), EBB_FLOPS(each), \
               .grad = name##_grad, __VA_ARGS__)

#define TWO_BY_ROOT_PI 1.1283791670955126 /* 2 / sqrt(pi) */

SLOPE(abs, 1, "x:num", ebb_emit_1(rw, &ebb_op_sign, x), EBB_RUNS(FOLLOWS));
SLOPE(expm1, 30, "x", ebb_emit_rescale(rw, y, 1, 1), EBB_RUNS(WIDE));
SLOPE(sin, 20, "x", ebb_emit_1(rw, &ebb_op_cos, x), EBB_RUNS(WIDE));
SLOPE(cos, 20, "x", ebb_emit_rescale(rw, ebb_emit_1(rw, &ebb_op_sin, x), -1, 0), EBB_RUNS(WIDE));
SLOPE(tanh, 30, "x", ebb_emit_rescale(rw, ebb_emit_2(rw, &ebb_op_mul, y, y), -1, 1), EBB_RUNS(FOLLOWS));
SLOPE(erf, 30, "x",
      ebb_emit_rescale(rw,
                       ebb_emit_1(rw, &ebb_op_exp,
                                  ebb_emit_rescale(rw, ebb_emit_2(rw, &ebb_op_mul, x, x), -1, 0)),
                       TWO_BY_ROOT_PI, 0),
      EBB_RUNS(WIDE));
SLOPE(sigmoid, 22, "x", ebb_emit_2(rw, &ebb_op_mul, y, ebb_emit_rescale(rw, y, -1, 1)), EBB_RUNS(FOLLOWS));

static void neg_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    ebb_grad_give(rw, node, 0, ebb_emit_1(rw, &ebb_op_neg, dout[0]));
}
EBB_DEFINE(neg, EBB_RULE(1, 1, "x:num[*] -> [*]"), EBB_OVER({0, 0}), EBB_FLOPS(1), .grad = neg_grad,
           EBB_RUNS(FOLLOWS));

static void log_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    ebb_grad_give(rw, node, 0, ebb_emit_2(rw, &ebb_op_div, dout[0], ebb_rw_value(rw, node->in[0])));
}
EBB_UNARY(log, 30, .grad = log_grad);

static void log1p_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    const ebb_id below = ebb_emit_rescale(rw, ebb_rw_value(rw, node->in[0]), 1, 1);
    ebb_grad_give(rw, node, 0, ebb_emit_2(rw, &ebb_op_div, dout[0], below));
}
EBB_UNARY(log1p, 30, .grad = log1p_grad);

static void sqrt_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    const ebb_id half = ebb_emit_rescale(rw, dout[0], 0.5, 0);
    ebb_grad_give(rw, node, 0, ebb_emit_2(rw, &ebb_op_div, half, ebb_rw_value(rw, node->out[0])));
}
EBB_UNARY(sqrt, 4, .grad = sqrt_grad);

EBB_DEFINE(sign, EBB_RULE(1, 1, "x:num[*] -> [*]"), EBB_OVER({0, 0}), EBB_FLOPS(1), .grad = ebb_grad_zero);
EBB_UNARY(floor, 1, .grad = ebb_grad_zero);
EBB_UNARY(ceil, 1, .grad = ebb_grad_zero);
EBB_UNARY(round, 1, .grad = ebb_grad_zero);
