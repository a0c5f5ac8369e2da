/* Counter-based random numbers: Philox4x32-10 (J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random
 * numbers: as easy as 1, 2, 3", SC 2011), and streams over it. */
#include "base/base.h"

ebb_u32x4 ebb_philox(ebb_u32x4 counter, uint64_t key) {
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    ebb_u32x4 c = counter;
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)UINT32_C(0xD2511F53) * c.v[0];
        uint64_t p1 = (uint64_t)UINT32_C(0xCD9E8D57) * c.v[2];
        c = (ebb_u32x4){{(uint32_t)(p1 >> 32) ^ c.v[1] ^ k0, (uint32_t)p1,
                         (uint32_t)(p0 >> 32) ^ c.v[3] ^ k1, (uint32_t)p0}};
        k0 += UINT32_C(0x9E3779B9);
        k1 += UINT32_C(0xBB67AE85);
    }
    return c;
}

void ebb_rng_init(ebb_rng *rng, uint64_t seed, uint64_t stream) {
    *rng = (ebb_rng){.key = seed, .stream = stream};
}

uint32_t ebb_rng_u32(ebb_rng *rng) {
    if (rng->left == 0) {
        ebb_u32x4 counter = {{(uint32_t)rng->at, (uint32_t)(rng->at >> 32), (uint32_t)rng->stream,
                              (uint32_t)(rng->stream >> 32)}};
        rng->block = ebb_philox(counter, rng->key);
        rng->at++;
        rng->left = 4;
    }
    return rng->block.v[4 - rng->left--];
}

/* D. Lemire, "Fast random integer generation in an interval", ACM TOMACS 29(1), 2019: the high half of a
 * product, with the few draws that would be counted twice thrown away. */
uint32_t ebb_rng_below(ebb_rng *rng, uint32_t n) {
    uint64_t product = (uint64_t)ebb_rng_u32(rng) * n;
    if ((uint32_t)product < n) {
        uint32_t excess = (uint32_t)-n % n;
        while ((uint32_t)product < excess) product = (uint64_t)ebb_rng_u32(rng) * n;
    }
    return (uint32_t)(product >> 32);
}

double ebb_rng_unit(ebb_rng *rng) {
    uint64_t high = ebb_rng_u32(rng), low = ebb_rng_u32(rng);
    return (double)((high << 32 | low) >> 11) * 0x1p-53;
}
