/* Counter-based random numbers: streams over philox.h. */
#include "base/plain/plain.h"

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
