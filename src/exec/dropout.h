/* exec/dropout.h: defines which elements dropout keeps, the same on every backend.
 *
 * Pure: the mask is a function of (seed, the node's seed_key, step, logical index of the element), so a
 * recomputed dropout, its gradient, another layout and another number of threads draw the same bits.
 *
 *     logical index  0 1 2 3 | 4 5 6 7 | ...      [n,c,h,w] row-major, whatever the storage order is
 *     philox block      0    |    1    | ...      lane = index % 4
 *
 * Device code uses this header too.
 */
#ifndef EBB_EXEC_DROPOUT_H
#define EBB_EXEC_DROPOUT_H

#include "base/philox.h"

/* Ops called one by one draw by the number of draws before them: the n-th op that draws after step s is
 * node EBB_DRAW_KEY(n) of a program's step s, which equals EBB_DRAW_KEY(0) of step s + n. A name's hash is
 * this large only with a probability of 2^-32, and is then still a valid key. */
#define EBB_DRAW_KEY(n) (UINT64_C(0xFFFFFFFF00000000) + (n))

EBB_ANYWHERE uint64_t ebb_dropout_step(uint64_t seed_key, uint64_t step) {
    return seed_key > EBB_DRAW_KEY(0) ? step + (seed_key - EBB_DRAW_KEY(0)) : step;
}

/* Philox's key: seed and seed_key mixed, so that neighbouring pairs do not share streams. The constants are
 * those of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014).
 */
EBB_ANYWHERE uint64_t ebb_dropout_key(uint64_t seed, uint64_t seed_key) {
    if (seed_key > EBB_DRAW_KEY(0)) seed_key = EBB_DRAW_KEY(0);
    uint64_t z = seed + (seed_key + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* An element is kept when its 32 random bits are at least this; p in [0, 1]. */
EBB_ANYWHERE uint64_t ebb_dropout_threshold(double p) {
    return (uint64_t)(p * 4294967296.0);
}

/* The factor of a kept element. */
EBB_ANYWHERE double ebb_dropout_scale(double p) {
    return p < 1 ? 1 / (1 - p) : 0;
}

/* The 4 random words of the elements [4 * block, 4 * block + 4). */
EBB_ANYWHERE ebb_u32x4 ebb_dropout_block(uint64_t key, uint64_t step, uint64_t block) {
    ebb_u32x4 counter;
    counter.v[0] = (uint32_t)block, counter.v[1] = (uint32_t)(block >> 32);
    counter.v[2] = (uint32_t)step, counter.v[3] = (uint32_t)(step >> 32);
    return ebb_philox(counter, key);
}

EBB_ANYWHERE bool ebb_dropout_keep(uint64_t key, uint64_t step, uint64_t threshold, uint64_t index) {
    return ebb_dropout_block(key, step, index / 4).v[index % 4] >= threshold;
}

#endif
