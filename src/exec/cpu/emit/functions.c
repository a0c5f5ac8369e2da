/* cpu/emit/functions.c: exp.h and functions.h in plain operations, in their order. */
#include "exec/cpu/emit/parts.h"

#include <math.h>

/* The polynomial of x, its highest coefficient first. */
static R polynomial(emit *e, R x, const float *coefficient, size_t n) {
    R p = emit_float(e, coefficient[0]);
    for (size_t k = 1; k < n; k++) p = plus(e, fmul(e, p, x), coefficient[k]);
    return p;
}
#define POLYNOMIAL(e, x, ...) \
    polynomial(e, x, (const float[]){__VA_ARGS__}, sizeof((const float[]){__VA_ARGS__}) / sizeof(float))

static R bits_and(emit *e, R x, uint32_t mask) {
    return emit_2(e, EMIT_IAND, emit_1(e, EMIT_BITS, x), emit_int(e, mask));
}
/* y with the sign of x. */
static R signed_as(emit *e, R y, R x) {
    const R number = bits_and(e, y, UINT32_C(0x7FFFFFFF)), sign = bits_and(e, x, UINT32_C(0x80000000));
    return emit_1(e, EMIT_OF_BITS, emit_2(e, EMIT_IOR, number, sign));
}
static R whole_plus(emit *e, R whole, uint32_t more) {
    return emit_2(e, EMIT_IADD, whole, emit_int(e, more));
}
static R power_of_2(emit *e, R biased) {
    return emit_1(e, EMIT_OF_BITS, emit_2(e, EMIT_SHL, biased, emit_int(e, 23)));
}

/* x = n log 2 + r. biased: n + NEAR as i32, whose last bits are n's, for those of NEAR are 0; so nothing
 * need be subtracted from what is shifted to an exponent. */
#define NEAR UINT32_C(0x4B400000)
typedef struct reduced {
    R biased;
    R r;
} reduced;
static reduced reduce(emit *e, R x, float low, float high) {
    const R in = at_most(e, at_least(e, x, low), high), shift = emit_float(e, 12582912.0F);
    const R t = fadd(e, times(e, in, 1.44269504F), shift), n = emit_2(e, EMIT_FSUB, t, shift);
    const R near = emit_2(e, EMIT_FSUB, in, times(e, n, 0.693359375F));
    return (reduced){emit_1(e, EMIT_BITS, t), emit_2(e, EMIT_FSUB, near, times(e, n, -2.12194440e-4F))};
}

/* ---- exp.h ----------------------------------------------------------------------------------- */

R emit_exponential(emit *e, R x) {
    const reduced v = reduce(e, x, -87.3F, 88.3F);
    const R p =
        POLYNOMIAL(e, v.r, 1.0F / 5040, 1.0F / 720, 1.0F / 120, 1.0F / 24, 1.0F / 6, 0.5F, 1.0F, 1.0F);
    return fmul(e, p, power_of_2(e, whole_plus(e, v.biased, 127)));
}

R emit_tanh(emit *e, R x) {
    const R a = emit_1(e, EMIT_FABS, x), z = fmul(e, a, a), two = emit_float(e, 2), one = emit_float(e, 1);
    const R p = POLYNOMIAL(e, z, -5.70498872745e-3F, 2.06390887954e-2F, -5.37397155531e-2F,
                           1.33314422036e-1F, -3.33332819422e-1F);
    const R near = fadd(e, a, fmul(e, a, fmul(e, p, z)));
    const R below = fadd(e, one, emit_exponential(e, fmul(e, two, a)));
    const R far = emit_2(e, EMIT_FSUB, one, emit_2(e, EMIT_FDIV, two, below));
    return signed_as(e, select(e, less(e, a, emit_float(e, 0.625F)), near, far), x);
}

/* ---- functions.h ----------------------------------------------------------------------------- */

static R exp_near(emit *e, R r) {
    const R p =
        POLYNOMIAL(e, r, 1.3765021e-3F, 8.39286018e-3F, 4.16715182e-2F, 1.66662544e-1F, 4.99999702e-1F);
    return fadd(e, r, fmul(e, fmul(e, r, r), p));
}

/* 2^n exp(r). 2^n alone may be beyond all floats, so it is two factors: 2^(h - 128) and 2^(n + 128 - h),
 * where h is half of n + 256, rounded down. */
static R exp_of(emit *e, reduced v, R r) {
    const R over = whole_plus(e, v.biased, 256 - NEAR), half = emit_2(e, EMIT_SHR, over, emit_int(e, 1));
    const R first = power_of_2(e, whole_plus(e, half, UINT32_MAX));
    const R rest = power_of_2(e, whole_plus(e, emit_2(e, EMIT_ISUB, over, half), UINT32_MAX));
    return fmul(e, fmul(e, plus(e, exp_near(e, r), 1), first), rest);
}

/* exp(high + low) */
static R exp_sum(emit *e, R high, R low) {
    const reduced v = reduce(e, high, -104, 89);
    return exp_of(e, v, fadd(e, v.r, low));
}

/* Of r + 0 and of r, where that is -0, exp is 1. */
R emit_exp(emit *e, R x) {
    const reduced v = reduce(e, x, -104, 89);
    return exp_of(e, v, v.r);
}

R emit_expm1(emit *e, R x) {
    const reduced v = reduce(e, x, -18, 89);
    const R power = power_of_2(e, whole_plus(e, v.biased, 126));
    const R less_half = emit_2(e, EMIT_FSUB, power, emit_float(e, 0.5F));
    return signed_as(e, times(e, fadd(e, fmul(e, power, exp_near(e, v.r)), less_half), 2), x);
}

R emit_log(emit *e, R x) {
    const R tiny = less(e, x, emit_float(e, 1.17549435e-38F)), from = emit_int(e, UINT32_C(0x3F2AAAAB));
    const R bits = emit_1(e, EMIT_BITS, select(e, tiny, times(e, x, 8388608.0F), x));
    const R over = whole_plus(e, emit_2(e, EMIT_ISUB, bits, from), UINT32_C(0x40000000));
    const R whole = emit_1(e, EMIT_TO_FLOAT, emit_2(e, EMIT_SHR, over, emit_int(e, 23)));
    const R bias = select(e, tiny, emit_float(e, 151.0F), emit_float(e, 128.0F));
    const R n = emit_2(e, EMIT_FSUB, whole, bias);
    const R mantissa = emit_2(e, EMIT_IAND, over, emit_int(e, UINT32_C(0x7FFFFF)));
    const R m = emit_1(e, EMIT_OF_BITS, emit_2(e, EMIT_IADD, mantissa, from));
    const R f = emit_2(e, EMIT_FSUB, m, emit_float(e, 1)), z = fmul(e, f, f);
    const R p = POLYNOMIAL(e, f, -1.28916219e-1F, 1.3984488e-1F, -1.21842735e-1F, 1.40058592e-1F,
                           -1.66804865e-1F, 2.00104073e-1F, -2.49997973e-1F, 3.33332151e-1F);
    const R cube = fadd(e, fmul(e, fmul(e, f, z), p), times(e, n, -2.12194440e-4F));
    const R beyond = emit_2(e, EMIT_FSUB, cube, times(e, z, 0.5F));
    const R y = fadd(e, fadd(e, f, beyond), times(e, n, 0.693359375F));
    const R zero = emit_float(e, 0), infinite = emit_float(e, INFINITY);
    const R beside = select(e, emit_2(e, EMIT_FEQ, x, zero), emit_float(e, -INFINITY), emit_float(e, NAN));
    return select(e, less(e, zero, x), select(e, less(e, x, infinite), y, x), beside);
}

R emit_log1p(emit *e, R x) {
    const R one = emit_float(e, 1), u = fadd(e, one, x);
    const R taken = emit_2(e, EMIT_FSUB, x, emit_2(e, EMIT_FSUB, u, one));
    const R left = emit_2(e, EMIT_FDIV, taken, u), y = emit_log(e, u);
    const R above = less(e, emit_float(e, 0), u), finite = less(e, u, emit_float(e, INFINITY));
    return signed_as(e, select(e, emit_2(e, EMIT_AND, above, finite), fadd(e, y, left), y), x);
}

static R erfc_above(emit *e, R a) {
    const R in = at_most(e, a, 10.125F), one = emit_float(e, 1);
    const R t = emit_2(e, EMIT_FDIV, one, fadd(e, one, times(e, in, 0.5F)));
    const R c = emit_2(e, EMIT_FSUB, t, emit_float(e, 0.5F));
    const R p = POLYNOMIAL(e, c, 3.57671455e-2F, -1.21978559e-2F, -7.58506879e-2F, 5.32927327e-2F,
                           9.7998105e-2F, -1.03617132e-1F, -1.7204532e-1F, 1.45767227e-1F, 5.5894351e-1F,
                           6.87160671e-1F, 5.10791361e-1F);
    const R h = emit_1(e, EMIT_OF_BITS, bits_and(e, in, UINT32_C(0xFFFFF000)));
    const R low = fmul(e, emit_2(e, EMIT_FSUB, h, in), fadd(e, in, h));
    return fmul(e, exp_sum(e, emit_1(e, EMIT_FNEG, fmul(e, h, h)), low), fmul(e, t, p));
}

R emit_erfc(emit *e, R x) {
    const R y = erfc_above(e, emit_1(e, EMIT_FABS, x));
    return select(e, less(e, x, emit_float(e, 0)), emit_2(e, EMIT_FSUB, emit_float(e, 2), y), y);
}

R emit_erf(emit *e, R x) {
    const R a = emit_1(e, EMIT_FABS, x), z = fmul(e, a, a);
    const R p = POLYNOMIAL(e, z, -6.31512725e-4F, 5.05109457e-3F, -2.68025473e-2F, 1.12827174e-1F,
                           -3.76125723e-1F, 1.28379166e-1F);
    const R near = fadd(e, a, fmul(e, a, p));
    const R far = emit_2(e, EMIT_FSUB, emit_float(e, 1), erfc_above(e, a));
    return signed_as(e, select(e, less(e, a, emit_float(e, 0.85F)), near, far), x);
}
