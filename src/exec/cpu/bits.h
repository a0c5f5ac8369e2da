/* cpu/bits.h: packs and unpacks a bit for each element: bit i % 8 of byte i / 8 is element i's. */
#ifndef EBB_EXEC_CPU_BITS_H
#define EBB_EXEC_CPU_BITS_H

#include "exec/cpu/cpu.h"

enum { CPU_BITS_GROUP = 64 }; /* elements processed together */

/* A NaN passes: the test is for values that are cut. */
CPU_INLINE unsigned cpu_bit_of(float y, float min, float max) {
    return ((unsigned)(y <= min) | (unsigned)(y >= max)) ^ 1U;
}

/* Joins eight bytes of 0 or 1, in memory order, into the bits of one: byte k is at 2^(8k), or at 2^(56 -
 * 8k), and a factor with eight bits moves each of them to 2^(56 + k); no two products collide there or
 * below.
 */
CPU_INLINE uint8_t cpu_bits_join(const uint8_t *pass) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    const uint64_t factor = UINT64_C(0x8040201008040201);
#else
    const uint64_t factor = UINT64_C(0x0102040810204080);
#endif
    uint64_t eight;
    memcpy(&eight, pass, sizeof eight);
    return (uint8_t)(eight * factor >> 56);
}

/* Makes the bits of elements [from, to): set where neither y <= min nor y >= max (a NaN bound cuts
 * nothing). from is a multiple of 8; to is too, or the rest of its byte becomes 0. */
CPU_INLINE void cpu_bits_make(const float *y, int64_t from, int64_t to, float min, float max,
                              uint8_t *bits) {
    int64_t i = from;
    for (; i + CPU_BITS_GROUP <= to; i += CPU_BITS_GROUP) {
        uint8_t pass[CPU_BITS_GROUP];
#pragma omp simd
        for (int64_t k = 0; k < CPU_BITS_GROUP; k++) pass[k] = (uint8_t)cpu_bit_of(y[i + k], min, max);
        for (int64_t b = 0; b < CPU_BITS_GROUP / 8; b++) bits[i / 8 + b] = cpu_bits_join(pass + 8 * b);
    }
    for (; i < to; i += 8) {
        unsigned byte = 0;
        for (int64_t k = 0; k < 8 && i + k < to; k++) byte |= cpu_bit_of(y[i + k], min, max) << k;
        bits[i / 8] = (uint8_t)byte;
    }
}

/* g where the element's bit is set, else +0. Done on the bits, as in cpu_act_pass. */
CPU_INLINE float cpu_bit_pass(unsigned bit, float g) {
    union {
        float number;
        uint32_t bits;
    } x = {g};
    x.bits &= 0U - bit;
    return x.number;
}

/* Spreads the bits of a group, whose first element is a multiple of 8, to a byte per element; element k's
 * is bit k % 8 of its byte. */
CPU_INLINE void cpu_bits_spread(const uint8_t *bits, uint8_t byte[CPU_BITS_GROUP]) {
    for (int64_t b = 0; b < CPU_BITS_GROUP / 8; b++) memset(byte + 8 * b, bits[b], 8);
}

#endif
