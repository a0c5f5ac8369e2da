/* cpu/functions.h: computes functions of one float in vectorizable loops, like exp.h: no branch, no table,
 * the same bits in every width. emit/functions.c emits the same operations.
 *
 * Polynomials minimize the largest relative error over their interval (Lawson's weights, 1961), rounded to
 * float. tests/exec/test_functions.c checks each function's largest relative error over all floats: at most
 * 1.7e-7, and 3.7e-7 for erfc. A result is subnormal, infinite or NaN where the exact one is; an odd
 * function keeps the sign of 0. */
#ifndef EBB_EXEC_CPU_FUNCTIONS_H
#define EBB_EXEC_CPU_FUNCTIONS_H

#include "exec/cpu/exp.h"

CPU_INLINE uint32_t cpu_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
CPU_INLINE float cpu_of_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* ---- exponentials ---------------------------------------------------------------------------------- */

/* Each decomposes x itself: with one shared function gcc 12 makes erf half as fast. */

/* exp(r) - 1 for |r| below 0.45. */
CPU_INLINE float cpu_exp_near(float r) {
    float p = 1.3765021e-3F;
    p = p * r + 8.39286018e-3F;
    p = p * r + 4.16715182e-2F;
    p = p * r + 1.66662544e-1F;
    p = p * r + 4.99999702e-1F;
    return r + r * r * p;
}

/* exp(high + low), |low| below 0.1: 2^n as two factors, so that the last of them rounds to a subnormal
 * number or to infinity. */
CPU_INLINE float cpu_exp_sum(float high, float low) {
    const float bound = high < -104 ? -104 : high, in = bound > 89 ? 89 : bound;
    const float shift = 12582912.0F; /* 1.5 * 2^23, as cpu_exp's */
    const float t = in * 1.44269504F + shift, n = t - shift;
    const float r = ((in - n * 0.693359375F) - n * -2.12194440e-4F) + low;
    const uint32_t whole = cpu_bits(t) - UINT32_C(0x4B400000), half = ((whole + 256) >> 1) - 1; /* + 127 */
    const float first = cpu_of_bits(half << 23), second = cpu_of_bits((whole - half + 254) << 23);
    return (cpu_exp_near(r) + 1) * first * second;
}

CPU_INLINE float cpu_exp_full(float x) {
    return cpu_exp_sum(x, 0);
}

/* 2^n (exp(r) - 1) + (2^n - 1), halved until the end, because 2^128 is not a float. */
CPU_INLINE float cpu_expm1(float x) {
    const float bound = x < -18 ? -18 : x, in = bound > 89 ? 89 : bound;
    const float shift = 12582912.0F;
    const float t = in * 1.44269504F + shift, n = t - shift;
    const float r = (in - n * 0.693359375F) - n * -2.12194440e-4F;
    const float power = cpu_of_bits((cpu_bits(t) - UINT32_C(0x4B400000) + 126) << 23);
    return copysignf((power * cpu_exp_near(r) + (power - 0.5F)) * 2, x);
}

/* ---- logarithms ------------------------------------------------------------------------------------ */

/* x = 2^n (1 + f) with 1 + f in [2/3, 4/3): log(x) = n log 2 + f - f^2 / 2 + f^3 p(f). */
CPU_INLINE float cpu_log(float x) {
    const bool tiny = x < 1.17549435e-38F;
    const uint32_t bits = cpu_bits(tiny ? x * 8388608.0F : x), from = UINT32_C(0x3F2AAAAB);
    const uint32_t over = bits - from + UINT32_C(0x40000000); /* + 128 * 2^23: not below 0 */
    const float n = (float)(int32_t)(over >> 23) - (tiny ? 151.0F : 128.0F);
    const float f = cpu_of_bits((over & UINT32_C(0x7FFFFF)) + from) - 1, z = f * f;
    float p = -1.28916219e-1F;
    p = p * f + 1.3984488e-1F;
    p = p * f + -1.21842735e-1F;
    p = p * f + 1.40058592e-1F;
    p = p * f + -1.66804865e-1F;
    p = p * f + 2.00104073e-1F;
    p = p * f + -2.49997973e-1F;
    p = p * f + 3.33332151e-1F;
    const float y = (f + ((f * z * p + n * -2.12194440e-4F) - z * 0.5F)) + n * 0.693359375F;
    const float beside = x == 0 ? -INFINITY : NAN; /* for 0, and for negative numbers and NaN */
    return x > 0 ? (x < INFINITY ? y : x) : beside;
}

/* log(u) of u = 1 + x rounded, plus the rounding error divided by u. */
CPU_INLINE float cpu_log1p(float x) {
    const float u = 1 + x, left = (x - (u - 1)) / u, y = cpu_log(u);
    return copysignf((u > 0) & (u < INFINITY) ? y + left : y, x);
}

/* ---- the error function ---------------------------------------------------------------------------- */

/* erfc(a) for a >= 0: exp(-a^2) t p(t), t = 1 / (1 + a / 2). a^2 needs more digits than a float has: h^2 +
 * (a - h) (a + h), h being a without its last 12 bits. */
CPU_INLINE float cpu_erfc_above(float a) {
    const float in = a > 10.125F ? 10.125F : a, t = 1 / (1 + in * 0.5F), c = t - 0.5F;
    float p = 3.57671455e-2F;
    p = p * c + -1.21978559e-2F;
    p = p * c + -7.58506879e-2F;
    p = p * c + 5.32927327e-2F;
    p = p * c + 9.7998105e-2F;
    p = p * c + -1.03617132e-1F;
    p = p * c + -1.7204532e-1F;
    p = p * c + 1.45767227e-1F;
    p = p * c + 5.5894351e-1F;
    p = p * c + 6.87160671e-1F;
    p = p * c + 5.10791361e-1F;
    const float h = cpu_of_bits(cpu_bits(in) & UINT32_C(0xFFFFF000));
    return cpu_exp_sum(-(h * h), (h - in) * (in + h)) * (t * p);
}

CPU_INLINE float cpu_erfc(float x) {
    const float y = cpu_erfc_above(fabsf(x));
    return x < 0 ? 2 - y : y;
}

/* erf: x p(x^2) near 0. */
CPU_INLINE float cpu_erf(float x) {
    const float a = fabsf(x), z = a * a;
    float p = -6.31512725e-4F;
    p = p * z + 5.05109457e-3F;
    p = p * z + -2.68025473e-2F;
    p = p * z + 1.12827174e-1F;
    p = p * z + -3.76125723e-1F;
    p = p * z + 1.28379166e-1F;
    return copysignf(a < 0.85F ? a + a * p : 1 - cpu_erfc_above(a), x);
}

#endif
