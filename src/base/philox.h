/* base/philox.h: the counter-based random generator alone, for base.h and for device code: nvcc compiles
 * this header too, so it needs nothing but integers. */
#ifndef EBB_SRC_PHILOX_H
#define EBB_SRC_PHILOX_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __CUDACC__
#define EBB_ANYWHERE static __host__ __device__ __forceinline__
#else
#define EBB_ANYWHERE static inline
#endif

typedef struct ebb_u32x4 {
    uint32_t v[4];
} ebb_u32x4;

#define EBB_PHILOX_ROUNDS 10
#define EBB_PHILOX_M0     UINT32_C(0xD2511F53)
#define EBB_PHILOX_M1     UINT32_C(0xCD9E8D57)
#define EBB_PHILOX_W0     UINT32_C(0x9E3779B9)
#define EBB_PHILOX_W1     UINT32_C(0xBB67AE85)

/* Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011): 128
 * bits of counter and 64 bits of key give 128 random bits. Pure. */
EBB_ANYWHERE ebb_u32x4 ebb_philox(ebb_u32x4 counter, uint64_t key) {
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    ebb_u32x4 c = counter;
    for (int round = 0; round < EBB_PHILOX_ROUNDS; round++) {
        const uint64_t p0 = (uint64_t)EBB_PHILOX_M0 * c.v[0];
        const uint64_t p1 = (uint64_t)EBB_PHILOX_M1 * c.v[2];
        c.v[0] = (uint32_t)(p1 >> 32) ^ c.v[1] ^ k0;
        c.v[1] = (uint32_t)p1;
        c.v[2] = (uint32_t)(p0 >> 32) ^ c.v[3] ^ k1;
        c.v[3] = (uint32_t)p0;
        k0 += EBB_PHILOX_W0;
        k1 += EBB_PHILOX_W1;
    }
    return c;
}

#endif
