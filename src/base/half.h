/* base/half.h: converts 16-bit floating-point numbers from and to float and double: IEEE 754's binary16
 * ("f16": 5 bits of exponent, 10 of fraction) and bfloat16 ("bf16": 8 and 7, the upper half of a float).
 *
 * Every conversion to 16 bits rounds once, to nearest, ties to even; it gives an infinity beyond the
 * largest number and keeps subnormal numbers. A NaN stays a NaN and keeps its sign. Conversions from 16
 * bits are exact. Pure, for any number of threads; those of floats have no branches, so that loops over
 * them vectorize.
 */
#ifndef EBB_BASE_HALF_H
#define EBB_BASE_HALF_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline float ebb_float_of_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static inline uint32_t ebb_bits_of_float(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float ebb_bf16_load(uint16_t bits) {
    return ebb_float_of_bits((uint32_t)bits << 16);
}
/* All ones where a condition holds, else 0. Selects by masks stay arithmetic: a compiler turns ?: around a
 * float's operation into a branch, and then no loop over it vectorizes. */
static inline uint32_t ebb_mask_if(bool condition) {
    return 0U - (uint32_t)condition;
}
static inline uint32_t ebb_mask_select(uint32_t mask, uint32_t yes, uint32_t no) {
    return (yes & mask) | (no & ~mask);
}

static inline float ebb_f16_load(uint16_t bits) {
    const uint32_t exponent = UINT32_C(0x1F) << 23, shifted = (uint32_t)(bits & 0x7FFF) << 13;
    const uint32_t of = shifted & exponent, rebias = UINT32_C(112) << 23;
    /* 112 is the difference of the biases; it is added twice for infinities and NaNs. */
    const uint32_t normal = shifted + rebias + (ebb_mask_if(of == exponent) & rebias);
    /* A subnormal number is its fraction times 2^-24: take it as the fraction of 2^-14 and subtract
     * 2^-14. */
    const uint32_t small = ebb_bits_of_float(ebb_float_of_bits(shifted + (UINT32_C(113) << 23)) - 0x1p-14f);
    return ebb_float_of_bits(ebb_mask_select(ebb_mask_if(of == 0), small, normal) |
                             (uint32_t)(bits & 0x8000) << 16);
}

static inline uint16_t ebb_bf16_of_float(float x) {
    const uint32_t bits = ebb_bits_of_float(x);
    const uint32_t rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16, nan = bits >> 16 | 0x40;
    return (uint16_t)ebb_mask_select(ebb_mask_if((bits & 0x7FFFFFFF) > 0x7F800000), nan, rounded);
}
static inline uint16_t ebb_f16_of_float(float x) {
    const uint32_t bits = ebb_bits_of_float(x), sign = bits >> 16 & 0x8000, size = bits & 0x7FFFFFFF;
    const uint32_t is_small = ebb_mask_if(size < 0x38800000); /* below 2^-14 */
    /* 13 fraction bits fewer, and exponents reduced by 112. */
    const uint32_t normal = (size + 0xFFF + (size >> 13 & 1) - (UINT32_C(112) << 23)) >> 13;
    /* Rounds to multiples of 2^-24 by adding 1/2, a float with that unit in the last place. */
    const uint32_t small =
        ebb_bits_of_float(ebb_float_of_bits(size & is_small) + 0.5f) - ebb_bits_of_float(0.5f);
    const uint32_t finite = ebb_mask_select(is_small, small, normal);
    const uint32_t beyond = 0x7C00 | (ebb_mask_if(size > 0x7F800000) & 0x0200); /* infinity or NaN */
    /* from 2^16 on; 65520 rounds up to it */
    return (uint16_t)(sign | ebb_mask_select(ebb_mask_if(size >= 0x47800000), beyond, finite));
}

/* Converts a double with one rounding, to n_fraction bits of fraction and n_exponent of exponent. */
static inline uint16_t ebb_half_of_double(double x, int n_fraction, int n_exponent) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int least = 2 - (1 << (n_exponent - 1)); /* the exponent of the smallest normal number */
    const int exponent = (int)(bits >> 52 & 0x7FF) - 1023;
    const uint64_t sign = bits >> 63 << 15, fraction = bits & ((UINT64_C(1) << 52) - 1);
    const uint64_t infinity = ((UINT64_C(1) << n_exponent) - 1) << n_fraction;
    if (exponent == 1024)
        return (uint16_t)(sign | infinity | (fraction ? UINT64_C(1) << (n_fraction - 1) : 0));
    const int off = 52 - n_fraction + (exponent < least ? least - exponent : 0);
    if (off > 54 || exponent == -1023) return (uint16_t)sign; /* less than half of the smallest */
    const uint64_t whole = UINT64_C(1) << 52 | fraction, rest = whole & ((UINT64_C(1) << off) - 1);
    const uint64_t half = UINT64_C(1) << (off - 1), kept = whole >> off;
    const uint64_t rounded = kept + (rest > half || (rest == half && kept & 1));
    const uint64_t above = exponent > least ? (uint64_t)(exponent - least) << n_fraction : 0;
    const uint64_t size = above + rounded;
    return (uint16_t)(sign | (size < infinity ? size : infinity));
}
static inline uint16_t ebb_bf16_of_double(double x) {
    return ebb_half_of_double(x, 7, 8);
}
static inline uint16_t ebb_f16_of_double(double x) {
    return ebb_half_of_double(x, 10, 5);
}

#endif
