/* peak: see peak.h. The best of several runs, by the env's clock. */
#include "peak.h"

#include <math.h>

enum { ROUNDS = 5, STREAM_BYTES = 1 << 26 };

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

enum {
    CHAINS = 12,
    FMA_TIMES = 1 << 20
}; /* independent chains hide the latency, and fit in 16 registers */

/* The sum is asked for so that nothing is left out. */
#define FMA_LOOP(name, isa, vector, set, fma, add, store, lanes)                                       \
    __attribute__((target(isa))) static float name(void) {                                             \
        vector sum[CHAINS], half = set(0.5F), one = set(1.0F);                                         \
        float to[lanes];                                                                               \
        for (int i = 0; i < CHAINS; i++) sum[i] = set((float)i);                                       \
        for (int k = 0; k < FMA_TIMES; k++) {                                                          \
            _Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++) sum[i] = fma(sum[i], half, one); \
        }                                                                                              \
        for (int i = 1; i < CHAINS; i++) sum[0] = add(sum[0], sum[i]);                                 \
        store(to, sum[0]);                                                                             \
        return to[0];                                                                                  \
    }
FMA_LOOP(fma_32, "avx2,fma", __m256, _mm256_set1_ps, _mm256_fmadd_ps, _mm256_add_ps, _mm256_storeu_ps, 8)
FMA_LOOP(fma_64, "avx512f", __m512, _mm512_set1_ps, _mm512_fmadd_ps, _mm512_add_ps, _mm512_storeu_ps, 16)

double peak_gflops(ebb_env *env, int vector_bytes) {
    const bool wide = vector_bytes == 64;
    double best = 0;
    if (wide ? !__builtin_cpu_supports("avx512f")
             : !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")))
        return 0;
    for (int round = 0; round < ROUNDS; round++) {
        const uint64_t begin = ebb_clock_ns(env);
        volatile float sum = wide ? fma_64() : fma_32();
        const double ns = (double)(ebb_clock_ns(env) - begin), lanes = wide ? 16 : 8;
        (void)sum;
        best = fmax(best, 2.0 * lanes * CHAINS * FMA_TIMES / fmax(ns, 1));
    }
    return best;
}
#else
double peak_gflops(ebb_env *env, int vector_bytes) {
    (void)env, (void)vector_bytes;
    return 0;
}
#endif

double peak_gb_per_s(ebb_env *env) {
    const size_t n = STREAM_BYTES / sizeof(float);
    float *at = ebb_calloc(env, 3 * n, sizeof *at), *a = at, *b = at + n, *y = at + 2 * n;
    double best = 0;
    for (int round = 0; at && round <= ROUNDS; round++) { /* the first one touches the pages */
        const uint64_t begin = ebb_clock_ns(env);
#pragma omp simd
        for (size_t i = 0; i < n; i++) y[i] = a[i] + b[i];
        const double ns = (double)(ebb_clock_ns(env) - begin);
        if (round) best = fmax(best, 3.0 * STREAM_BYTES / fmax(ns, 1));
        a[round] = y[n - 1]; /* the sums are looked at */
    }
    if (at) ebb_cfree(env, at, 3 * n, sizeof *at);
    return best;
}
