/* cpu/activation.c: clip, gelu in both forms, and silu. */
#include "exec/cpu/functions.h"
#include "exec/cpu/pointwise.h"

#include <math.h>

/* ---- clip ------------------------------------------------------------------------------------------ */

/* A NaN must show in the loss, so it is asked what is cut, not what is kept. */
CPU_INLINE float clipped(float x, float min, float max) {
    const float above = x < min ? min : x;
    return above > max ? max : above;
}

CPU_UNARY_OF(clip, CPU_STREAM, 12, attr[EBB_CLIP_MIN].f, attr[EBB_CLIP_MAX].f, clipped(a, p, q));
/* a is y, b is dy */
CPU_BINARY_OF(clip_grad, CPU_STREAM, 12, attr[EBB_CLIP_MIN].f, attr[EBB_CLIP_MAX].f,
              (a <= p) | (a >= q) ? 0 : b);

/* ---- gelu ------------------------------------------------------------------------------------------ */

/* (1 + tanh(u)) / 2 = 1 / (1 + exp(-2 u)), and -2 u = x * (A + B x^2). */
#define A         (-1.5957691216F)
#define B         (-0.0713548162726F)

/* Beyond it s is 0 or 1 to the last bit, and powers of x would overflow; cpu_exp stays finite, so a larger
 * x would still weigh. */
#define GELU_FLAT 1e4F

CPU_INLINE float gelu_bound(float x) {
    return x < -GELU_FLAT ? -GELU_FLAT : x; /* a NaN passes */
}

CPU_UNARY(gelu, CPU_RATE(32000, 25000), 20, gelu_bound(a) / (1 + cpu_exp(a * (A + B * (a * a)))));

/* With s = 1 / (1 + exp(-2 u)): dy/dx = s + x * s * (1 - s) * 2 u', and 2 u' = -(A + 3 B x^2). */
CPU_INLINE float gelu_slope(float wide) {
    /* A NaN passes. */
    const float x = wide > GELU_FLAT ? GELU_FLAT : wide < -GELU_FLAT ? -GELU_FLAT : wide;
    const float e = cpu_exp(x * (A + B * (x * x))), s = 1 / (1 + e);
    const float slope = x * -(A + 3 * B * (x * x));
    return s + s * (e * s) * slope;
}

CPU_BINARY(gelu_grad, CPU_RATE(32000, 25000), 20, b *gelu_slope(a));

CPU_INLINE float normal_below(float x) {
    return cpu_erfc(x * -0.70710678F) * 0.5F;
}
CPU_UNARY(gelu_erf, CPU_RATE(32000, 25000), 20, a *normal_below(a));
CPU_BINARY(gelu_erf_grad, CPU_RATE(32000, 25000), 20,
           b *(normal_below(a) + a * (cpu_exp_full(a * a * -0.5F) * 0.39894228F)));

/* ---- silu ------------------------------------------------------------------------------------------ */

/* Beyond it y is 0 or x to the last bit; cpu_exp stays finite, so a larger x would still weigh. */
CPU_INLINE float silu_bound(float x) {
    return x < -1e4F ? -1e4F : x; /* a NaN passes */
}

CPU_UNARY(silu, CPU_RATE(32000, 25000), 20, silu_bound(a) / (1 + cpu_exp(-a)));

/* s + x * s * (1 - s), and 1 - s = e * s. */
CPU_INLINE float silu_slope(float wide) {
    const float below = silu_bound(wide), x = below > 1e4F ? 1e4F : below;
    const float e = cpu_exp(-x), s = 1 / (1 + e);
    return s + s * (e * s) * x;
}

CPU_BINARY(silu_grad, CPU_RATE(32000, 25000), 20, b *silu_slope(a));
