/* cpu/low_span.c: between 16 bits and 32. */
#include "exec/cpu/low.h"

typedef struct line {
    const void *from;
    void *to;
} line;

#define SPANS(name)                                                                                       \
    CPU_VECTOR static void name##_widen(const void *ctx, int64_t begin, int64_t end) {                    \
        const line *l = ctx;                                                                              \
        const uint16_t *from = l->from;                                                                   \
        float *to = l->to;                                                                                \
        _Pragma("omp simd") for (int64_t i = begin; i < end; i++) to[i] = ebb_##name##_load(from[i]);     \
    }                                                                                                     \
    CPU_VECTOR static void name##_round(const void *ctx, int64_t begin, int64_t end) {                    \
        const line *l = ctx;                                                                              \
        const float *from = l->from;                                                                      \
        uint16_t *to = l->to;                                                                             \
        _Pragma("omp simd") for (int64_t i = begin; i < end; i++) to[i] = ebb_##name##_of_float(from[i]); \
    }
SPANS(f16)
SPANS(bf16)

enum {
    UNIT = CPU_ALIGNMENT / sizeof(uint16_t),
    EACH = 6
}; /* elements of a cache line; bytes read and written */

void cpu_low_widen(cpu_backend *cpu, ebb_dtype dtype, const void *from, float *to, int64_t n) {
    const line l = {from, to};
    cpu_spans(cpu, n, UNIT, EACH * n, dtype == EBB_F16 ? f16_widen : bf16_widen, &l);
}

void cpu_low_round(cpu_backend *cpu, ebb_dtype dtype, const float *from, void *to, int64_t n) {
    const line l = {from, to};
    cpu_spans(cpu, n, UNIT, EACH * n, dtype == EBB_F16 ? f16_round : bf16_round, &l);
}
