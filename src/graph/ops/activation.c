/* Activations beside relu (which is in elementwise.c): clip, gelu, silu and their gradients.
 *
 *     clip   y = min where x < min, max where x > max, else x;  dx = dy where min < y < max, else 0
 *     gelu   y = x / 2 * (1 + tanh(u)),  u = sqrt(2 / pi) * (x + 0.044715 x^3)
 *     gelu_erf  y = x * P(x), dx = dy * (P(x) + x * p(x)): P, p the standard normal distribution and its
 * density silu   y = x / (1 + e^-x);  dx = dy * s * (1 + x * (1 - s)), s = 1 / (1 + e^-x)
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
EBB_UNARY_GRAD(clip_grad, "y", 2, EBB_LIST(attrs, clip_attrs), .bind = bounds_check, EBB_OVER({0, 1}));

/* ---- gelu --------------------------------------------------------------------------------------- */

/* Products, sums, a division, and an exponential of about 15. */
EBB_UNARY(gelu, 22, EBB_GRAD(gelu_grad, "x dy"), EBB_RUNS(FOLLOWS));
EBB_UNARY_GRAD(gelu_grad, "x", 31, EBB_OVER({0, 1}, {0, 0}));

/* The error function is about 30 products and sums. */
EBB_UNARY(gelu_erf, 34, EBB_GRAD(gelu_erf_grad, "x dy"), EBB_RUNS(FOLLOWS));
EBB_UNARY_GRAD(gelu_erf_grad, "x", 55, EBB_OVER({0, 1}, {0, 0}));

/* ---- silu --------------------------------------------------------------------------------------- */

EBB_UNARY(silu, 18, EBB_GRAD(silu_grad, "x dy"), EBB_RUNS(FOLLOWS));
EBB_UNARY_GRAD(silu_grad, "x", 25, EBB_OVER({0, 1}, {0, 0}));
