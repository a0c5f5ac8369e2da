/* cpu/exp.h: computes exp in float and in double in vectorizable loops: no branch, no table, and the same
 * bits in every width.
 *
 *     exp(x) = 2^n * exp(r),  n = x / log 2 rounded,  |r| <= log(2) / 2
 *
 * n is subtracted in two parts, the first so short that n times it is exact (Cody and Waite, Software
 * Manual for the Elementary Functions, 1980); exp(r) is its series up to r^7, whose remainder is below
 * 6e-9. The relative error is about 2e-7. x is clamped to [-87.3, 88.3]; exp(-87.3) is near the smallest
 * normal number. A NaN stays a NaN. */
#ifndef EBB_EXEC_CPU_EXP_H
#define EBB_EXEC_CPU_EXP_H

#include "exec/cpu/cpu.h"

#include <math.h>

CPU_INLINE float cpu_exp(float x) {
    const float low = x < -87.3F ? -87.3F : x, in = low > 88.3F ? 88.3F : low;
    const float shift = 12582912.0F; /* 1.5 * 2^23: a sum with it is rounded to a whole number */
    const float t = in * 1.44269504F + shift, n = t - shift;
    const float r = (in - n * 0.693359375F) - n * -2.12194440e-4F;
    float p = 1.0F / 5040;
    p = p * r + 1.0F / 720;
    p = p * r + 1.0F / 120;
    p = p * r + 1.0F / 24;
    p = p * r + 1.0F / 6;
    p = p * r + 0.5F;
    p = p * r + 1.0F;
    p = p * r + 1.0F;
    uint32_t bits; /* of t, whose last bits are n; then of 2^n */
    float power;
    memcpy(&bits, &t, sizeof bits);
    bits = (bits - UINT32_C(0x4B400000) + 127) << 23;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

/* tanh. Near 0 an odd polynomial, whose error there is below that of 1 - 2 / (1 + exp(2 a)) (Moshier,
 * Cephes Mathematical Library, 1992); relative error at most 1.5e-7. A NaN stays a NaN, and -0 stays -0.
 */
CPU_INLINE float cpu_tanh(float x) {
    const float a = fabsf(x), z = a * a;
    float p = -5.70498872745e-3F;
    p = p * z + 2.06390887954e-2F;
    p = p * z + -5.37397155531e-2F;
    p = p * z + 1.33314422036e-1F;
    p = p * z + -3.33332819422e-1F;
    const float near = a + a * (p * z), far = 1 - 2 / (1 + cpu_exp(2 * a));
    return copysignf(a < 0.625F ? near : far, x);
}

/* The exponential in double, for sums: the series up to r^11, whose remainder is below 1e-14. x is clamped
 * to [-708, 709]; exp(-708) is 3e-308. */
CPU_INLINE double cpu_exp_double(double x) {
    const double low = x < -708 ? -708 : x, in = low > 709 ? 709 : low;
    const double shift = 6755399441055744.0; /* 1.5 * 2^52 */
    const double t = in * 1.4426950408889634 + shift, n = t - shift;
    const double r = (in - n * 0.693145751953125) - n * 1.42860682030941723212e-6;
    double p = 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    uint64_t bits;
    double power;
    memcpy(&bits, &t, sizeof bits);
    bits = (bits - UINT64_C(0x4338000000000000) + 1023) << 52;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

#endif
