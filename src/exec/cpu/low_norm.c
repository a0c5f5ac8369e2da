/* cpu/low_norm.c: in f32 that holds 16 bits: what is fused with batch norm. */
#include "exec/cpu/bits.h"
#include "exec/cpu/low.h"

typedef struct line {
    const void *from;
    void *to;
    float min, max; /* as the dtype holds them; NaN: none */
    int64_t n;
} line;

static line line_of(ebb_dtype dtype, const void *from, void *to, ebb_bounds bounds, int64_t n) {
    return (line){from, to, (float)ebb_dtype_rounded(dtype, bounds.min),
                  (float)ebb_dtype_rounded(dtype, bounds.max), n};
}

/* Comparisons as in ebb_bounds: false of a NaN. begin and end of _bits in bytes. */
#define SPANS(name)                                                                                     \
    CPU_INLINE float name##_rounded(float x) {                                                          \
        return ebb_##name##_load(ebb_##name##_of_float(x));                                             \
    }                                                                                                   \
    CPU_VECTOR static void name##_activate(const void *ctx, int64_t begin, int64_t end) {               \
        const line l = *(const line *)ctx;                                                              \
        float *y = l.to;                                                                                \
        _Pragma("omp simd") for (int64_t i = begin; i < end; i++) {                                     \
            const float u = name##_rounded(y[i]), low = u < l.min ? l.min : u;                          \
            y[i] = low > l.max ? l.max : low;                                                           \
        }                                                                                               \
    }                                                                                                   \
    CPU_VECTOR static void name##_add(const void *ctx, int64_t begin, int64_t end) {                    \
        const line l = *(const line *)ctx;                                                              \
        const uint16_t *more = l.from;                                                                  \
        float *to = l.to;                                                                               \
        _Pragma("omp simd") for (int64_t i = begin; i < end; i++) to[i] =                               \
            name##_rounded(name##_rounded(to[i]) + ebb_##name##_load(more[i]));                         \
    }                                                                                                   \
    CPU_VECTOR static void name##_cut(const void *ctx, int64_t begin, int64_t end) {                    \
        const line l = *(const line *)ctx;                                                              \
        const float *y = l.from;                                                                        \
        float *dy = l.to;                                                                               \
        _Pragma("omp simd") for (int64_t i = begin; i < end; i++) {                                     \
            const float u = name##_rounded(y[i]), kept = u <= l.min ? 0 : dy[i];                        \
            dy[i] = u >= l.max ? 0 : kept;                                                              \
        }                                                                                               \
    }                                                                                                   \
    CPU_VECTOR static void name##_bits(const void *ctx, int64_t begin, int64_t end) {                   \
        const line l = *(const line *)ctx;                                                              \
        const uint16_t *y = l.from;                                                                     \
        uint8_t *to = l.to;                                                                             \
        for (int64_t b = begin; b < end; b += CPU_BITS_GROUP / 8) {                                     \
            float u[CPU_BITS_GROUP];                                                                    \
            const int64_t left = ebb_min_i64(l.n, 8 * end) - 8 * b;                                     \
            const int64_t n = ebb_min_i64(left, CPU_BITS_GROUP);                                        \
            _Pragma("omp simd") for (int64_t k = 0; k < n; k++) u[k] = ebb_##name##_load(y[8 * b + k]); \
            cpu_bits_make(u, 0, n, l.min, l.max, to + b);                                               \
        }                                                                                               \
    }
SPANS(f16)
SPANS(bf16)

enum {
    UNIT = CPU_ALIGNMENT / sizeof(float),
    EACH = 8
}; /* elements of a cache line; bytes read and written */

static const ebb_bounds no_bounds = {(double)NAN, (double)NAN};

void cpu_low_activate(cpu_backend *cpu, ebb_dtype dtype, float *y, const void *skip, ebb_bounds bounds,
                      int64_t n) {
    const line l = line_of(dtype, NULL, y, bounds, n);
    if (skip) cpu_low_add(cpu, dtype, skip, y, n);
    cpu_spans(cpu, n, UNIT, EACH * n, dtype == EBB_F16 ? f16_activate : bf16_activate, &l);
}

void cpu_low_cut_gradient(cpu_backend *cpu, ebb_dtype dtype, const float *y, float *dy, ebb_bounds bounds,
                          int64_t n) {
    const line l = line_of(dtype, y, dy, bounds, n);
    cpu_spans(cpu, n, UNIT, EACH * n, dtype == EBB_F16 ? f16_cut : bf16_cut, &l);
}

void cpu_low_add(cpu_backend *cpu, ebb_dtype dtype, const void *more, float *to, int64_t n) {
    const line l = line_of(dtype, more, to, no_bounds, n);
    cpu_spans(cpu, n, UNIT, EACH * n, dtype == EBB_F16 ? f16_add : bf16_add, &l);
}

void cpu_low_bits(cpu_backend *cpu, ebb_dtype dtype, const void *y, ebb_bounds bounds, uint8_t *bits,
                  int64_t n) {
    const line l = line_of(dtype, y, bits, bounds, n);
    cpu_spans(cpu, ebb_mask_bytes(n), CPU_ALIGNMENT, EACH * n, dtype == EBB_F16 ? f16_bits : bf16_bits, &l);
}
