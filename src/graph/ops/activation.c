/* Activations beside relu (which is in elementwise.c): clip, gelu, silu and their gradients.
 *
 *     clip   y = min where x < min, max where x > max, else x;  dx = dy where min < y < max, else 0
 *     gelu   y = x / 2 * (1 + tanh(u)),  u = sqrt(2 / pi) * (x + 0.044715 x^3)
 *     gelu_erf  y = x * P(x), dx = dy * (P(x) + x * p(x)): P, p the normal distribution, its density
 *     silu   y = x / (1 + e^-x);  dx = dy * s * (1 + x * (1 - s)), s = 1 / (1 + e^-x)
 *
 * With min=0 and max=6 clip is relu6 (Howard et al., "MobileNets", 2017). gelu is the form by tanh of
 * Hendrycks and Gimpel, "Gaussian error linear units", 2016, which GPT-2 uses, gelu_erf what it stands for.
 * silu is of the same paper; Ramachandran, Zoph and Le, "Searching for activation functions", 2017, call it
 * swish. All fall before they rise: y does not determine x, so their gradients read x. */
#include "graph/ops/rule.h"

/* ---- clip --------------------------------------------------------------------------------------- */

static const ebb_attr_info clip_attrs[] = {[EBB_CLIP_MIN] = EBB_REAL_NEEDED("min", -1e30, 1e30),
                                           [EBB_CLIP_MAX] = EBB_REAL_NEEDED("max", -1e30, 1e30)};

static ebb_status bounds_check(ebb_env *env, const ebb_call *call, ebb_rule *rule) {
    (void)rule;
    const double min = call->attr[EBB_CLIP_MIN].f, max = call->attr[EBB_CLIP_MAX].f;
    if (min < max) return EBB_OK;
    return ebb_fail(env, EBB_BAD_INPUT, "%s: min %g must be less than max %g", call->op->name, min, max);
}

/* Two comparisons. What was cut shows in y, which is then min or max: keeping y lets y lie over x. */
EBB_UNARY(clip, 2, EBB_LIST(attrs, clip_attrs), .bind = bounds_check, EBB_GRAD(clip_grad, "y dy"),
          EBB_RUNS(FOLLOWS));
EBB_UNARY_GRAD(clip_grad, "y", 2, EBB_LIST(attrs, clip_attrs), .bind = bounds_check, EBB_OVER({0, 1}),
               .grad = ebb_grad_by_jumps);

/* ---- gradients of gradients ---------------------------------------------------------------------- */

/* Of (x, dy) -> dy f'(x), where f' is smooth: to dy f'(x) times what arrives, to x dy f''(x) times it. */
static void smooth_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout,
                        ebb_id (*bend)(ebb_rewriter *rw, ebb_id x)) {
    if (ebb_grad_wants(rw, node, 0)) {
        const ebb_id dy = ebb_emit_2(rw, &ebb_op_mul, ebb_rw_value(rw, node->in[1]), dout[0]);
        const ebb_id second = bend(rw, ebb_rw_value(rw, node->in[0]));
        ebb_grad_give(rw, node, 0, ebb_emit_2(rw, &ebb_op_mul, dy, second));
    }
    ebb_grad_same(rw, node, dout, 1);
}

/* (1 - t^2) (u' + x / 2 u'' - x t u'^2), t = tanh(u), u = k (x + c x^3) */
static ebb_id gelu_bend(ebb_rewriter *rw, ebb_id x) {
    const double k = 0.7978845608028654, c = 0.044715; /* sqrt(2 / pi) */
    const ebb_id square = ebb_emit_2(rw, &ebb_op_mul, x, x);
    const ebb_id u = ebb_emit_2(rw, &ebb_op_mul, x, ebb_emit_rescale(rw, square, k * c, k));
    const ebb_id t = ebb_emit_1(rw, &ebb_op_tanh, u);
    const ebb_id slope = ebb_emit_rescale(rw, square, 3 * k * c, k); /* u'; x / 2 u'' is 3 k c x^2 */
    const ebb_id sum = ebb_emit_rescale(rw, square, 6 * k * c, k);
    const ebb_id far = ebb_emit_2(rw, &ebb_op_mul, x, t);
    const ebb_id turn = ebb_emit_2(rw, &ebb_op_mul, far, ebb_emit_2(rw, &ebb_op_mul, slope, slope));
    const ebb_id rest = ebb_emit_rescale(rw, ebb_emit_2(rw, &ebb_op_mul, t, t), -1, 1);
    return ebb_emit_2(rw, &ebb_op_mul, rest, ebb_emit_2(rw, &ebb_op_sub, sum, turn));
}

/* p(x) (2 - x^2) */
static ebb_id gelu_erf_bend(ebb_rewriter *rw, ebb_id x) {
    const ebb_id square = ebb_emit_2(rw, &ebb_op_mul, x, x);
    const ebb_id bell = ebb_emit_1(rw, &ebb_op_exp, ebb_emit_rescale(rw, square, -0.5, 0));
    const double height = 0.3989422804014327; /* 1 / sqrt(2 pi) */
    return ebb_emit_2(rw, &ebb_op_mul, bell, ebb_emit_rescale(rw, square, -height, 2 * height));
}

/* s (1 - s) (2 + x (1 - 2 s)) */
static ebb_id silu_bend(ebb_rewriter *rw, ebb_id x) {
    const ebb_id s = ebb_emit_1(rw, &ebb_op_sigmoid, x);
    const ebb_id slope = ebb_emit_2(rw, &ebb_op_mul, s, ebb_emit_rescale(rw, s, -1, 1));
    const ebb_id turn = ebb_emit_2(rw, &ebb_op_mul, x, ebb_emit_rescale(rw, s, -2, 1));
    return ebb_emit_2(rw, &ebb_op_mul, slope, ebb_emit_rescale(rw, turn, 1, 2));
}

#define SMOOTH(name)                                                                           \
    static void name##_grad_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) { \
        smooth_grad(rw, node, dout, name##_bend);                                              \
    }
SMOOTH(gelu)
SMOOTH(gelu_erf)
SMOOTH(silu)

/* ---- gelu --------------------------------------------------------------------------------------- */

/* Products, sums, a division, and an exponential of about 15. */
EBB_UNARY(gelu, 22, EBB_GRAD(gelu_grad, "x dy"), EBB_RUNS(FOLLOWS));
EBB_UNARY_GRAD(gelu_grad, "x", 31, EBB_OVER({0, 1}, {0, 0}), .grad = gelu_grad_grad);

/* The error function is about 30 products and sums. */
EBB_UNARY(gelu_erf, 34, EBB_GRAD(gelu_erf_grad, "x dy"), EBB_RUNS(FOLLOWS));
EBB_UNARY_GRAD(gelu_erf_grad, "x", 55, EBB_OVER({0, 1}, {0, 0}), .grad = gelu_erf_grad_grad);

/* ---- silu --------------------------------------------------------------------------------------- */

EBB_UNARY(silu, 18, EBB_GRAD(silu_grad, "x dy"), EBB_RUNS(FOLLOWS));
EBB_UNARY_GRAD(silu_grad, "x", 25, EBB_OVER({0, 1}, {0, 0}), .grad = silu_grad_grad);
