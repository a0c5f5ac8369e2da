/* cpu/bits.h: a bit for each element: bit i % 8 of byte i / 8 is element i's. */
#ifndef EBB_EXEC_CPU_BITS_H
#define EBB_EXEC_CPU_BITS_H

#include "exec/cpu/cpu.h"

enum { CPU_BITS_GROUP = 64 }; /* elements that are handled side by side */

/* A NaN passes: it is asked what is cut. */
CPU_INLINE unsigned cpu_bit_of(float y, float min, float max) {
    return ((unsigned)(y <= min) | (unsigned)(y >= max)) ^ 1U;
}

/* Elements [from, to): set where neither y <= min nor y >= max (a bound of NaN cuts nothing). from is a
 * multiple of 8; so is to, or what is left of its byte is 0. */
CPU_INLINE void cpu_bits_make(const float *y, int64_t from, int64_t to, float min, float max,
                              uint8_t *bits) {
    int64_t i = from;
    for (; i + CPU_BITS_GROUP <= to; i += CPU_BITS_GROUP) {
        uint8_t pass[CPU_BITS_GROUP];
#pragma omp simd
        for (int64_t k = 0; k < CPU_BITS_GROUP; k++)
            pass[k] = (uint8_t)(cpu_bit_of(y[i + k], min, max) << (k % 8));
        for (int64_t b = 0; b < CPU_BITS_GROUP / 8; b++) {
            const uint8_t *p = pass + 8 * b;
            bits[i / 8 + b] = (uint8_t)(p[0] | p[1] | p[2] | p[3] | p[4] | p[5] | p[6] | p[7]);
        }
    }
    for (; i < to; i += 8) {
        unsigned byte = 0;
        for (int64_t k = 0; k < 8 && i + k < to; k++) byte |= cpu_bit_of(y[i + k], min, max) << k;
        bits[i / 8] = (uint8_t)byte;
    }
}

/* g where the element's bit is set, else +0. By its bits, as cpu_act_pass does. */
CPU_INLINE float cpu_bit_pass(unsigned bit, float g) {
    union {
        float number;
        uint32_t bits;
    } x = {g};
    x.bits &= 0U - bit;
    return x.number;
}

/* Spreads the bits of a group, whose first element is a multiple of 8, to a byte an element; element k's is
 * bit k % 8 of its byte. */
CPU_INLINE void cpu_bits_spread(const uint8_t *bits, uint8_t byte[CPU_BITS_GROUP]) {
    for (int64_t b = 0; b < CPU_BITS_GROUP / 8; b++) memset(byte + 8 * b, bits[b], 8);
}

#endif
