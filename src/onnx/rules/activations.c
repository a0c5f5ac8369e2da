/* rules_activations: Clip, and activations that Ebb has no op for: a few pointwise ops each. */
#include <float.h>

#include "onnx/import.h"

/* Bounds that the op clip has not are comparisons with numbers: one alone, one beyond those that docs/ir.md
 * has, and a lower one that is not below the upper one, which then is everywhere. */
static uint32_t clipped(onnx_import *im, uint32_t x, double low, double high) {
    const onnx_shape one = {.rank = 0};
    const bool from_low = low > -(double)FLT_MAX, from_high = high < (double)FLT_MAX;
    char text[2][EBB_REAL_TEXT];
    if (from_low && from_high && low < high && low > -1e30 && high < 1e30)
        return onnx_op1(im, "clip", x, "min=%s max=%s", ebb_real_text(low, text[0]),
                        ebb_real_text(high, text[1]));
    if (from_low) x = onnx_op2(im, "maximum", x, onnx_fill(im, &one, x, low));
    return from_high ? onnx_op2(im, "minimum", x, onnx_fill(im, &one, x, high)) : x;
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

const onnx_rule onnx_rules_activations[] = {
    {"Clip", clip},         {"LeakyRelu", leaky},  {"PRelu", leaky},       {"Elu", elu},
    {"Selu", elu},          {"Celu", elu},         {"Softplus", softplus}, {"Mish", softplus},
    {"Softsign", softsign}, {"HardSigmoid", hard}, {"HardSwish", hard},    {"Gelu", gelu},
    {NULL, NULL},
};
