/* kernels/elements.h: elements as they stand in memory, of f32 or of 16 bits, and as bodies reckon with
 * them: in f32. Each store rounds once, to nearest, as base/half.h does; what is loaded is exact.
 *
 * A body that takes both is written once, as cuda_<name>_in with the element behind its other arguments.
 * CUDA_BODIES(name) makes three kernels of it, name, name_f16 and name_bf16, and CUDA_KERNELS lists them,
 * in this order: the element is known where each is compiled, and nothing asks for it when it runs.
 *
 * Sixteen bytes are 4 elements of f32 and 8 of 16 bits (cuda_side). A thread that keeps numbers for each of
 * its lanes, as sums do, has 4 of either: then 16 bits are read 8 bytes at a time, and a warp's reads still
 * lie side by side. */
#ifndef EBB_EXEC_CUDA_KERNELS_ELEMENTS_H
#define EBB_EXEC_CUDA_KERNELS_ELEMENTS_H

#include "base/half.h"
#include "exec/cuda/kernel.h"

typedef enum cuda_element { CUDA_F32, CUDA_F16, CUDA_BF16 } cuda_element;

/* Of 16 bytes. */
CUDA_BODY int32_t cuda_side(cuda_element e) {
    return e == CUDA_F32 ? 4 : 8;
}

#define CUDA_BODY_OF(name, made, element)                                                            \
    CUDA_BODY void cuda_##made##_body(const cuda_##name##_args *args, int64_t block, int32_t thread, \
                                      int32_t phase, void *shared) {                                 \
        cuda_##name##_in(args, block, thread, phase, shared, element);                               \
    }
#define CUDA_BODIES(name)                               \
    typedef cuda_##name##_args cuda_##name##_f16_args;  \
    typedef cuda_##name##_args cuda_##name##_bf16_args; \
    CUDA_BODY_OF(name, name, CUDA_F32)                  \
    CUDA_BODY_OF(name, name##_f16, CUDA_F16)            \
    CUDA_BODY_OF(name, name##_bf16, CUDA_BF16)

/* The same of kernels that loop (CUDA_KERNEL_LOOPS). */
#define CUDA_LOOP_BODY_OF(name, made, element)                                                       \
    CUDA_BODY void cuda_##made##_body(const cuda_##name##_args *args, int64_t block, int32_t thread, \
                                      int32_t phase, void *shared, cuda_##name##_keep *keep) {       \
        cuda_##name##_in(args, block, thread, phase, shared, keep, element);                         \
    }
/* All of another one but its body. */
#define CUDA_LOOP_LIKE(name, made)                                                          \
    typedef cuda_##name##_args cuda_##made##_args;                                          \
    typedef cuda_##name##_keep cuda_##made##_keep;                                          \
    CUDA_BODY int32_t cuda_##made##_phases(const cuda_##made##_args *args, int64_t block) { \
        return cuda_##name##_phases(args, block);                                           \
    }
#define CUDA_LOOP_BODY_LIKE(name, made, element) \
    CUDA_LOOP_LIKE(name, made)                   \
    CUDA_LOOP_BODY_OF(name, made, element)
#define CUDA_LOOP_BODIES(name)                      \
    CUDA_LOOP_BODY_OF(name, name, CUDA_F32)         \
    CUDA_LOOP_BODY_LIKE(name, name##_f16, CUDA_F16) \
    CUDA_LOOP_BODY_LIKE(name, name##_bf16, CUDA_BF16)

/* ---- a number of 16 bits ---------------------------------------------------------------------------- */

CUDA_BODY float cuda_of_half(cuda_element e, uint32_t bits) {
#ifdef __CUDA_ARCH__
    float x;
    if (e == CUDA_BF16) return __uint_as_float(bits << 16);
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"((unsigned short)bits));
    return x;
#else
    return e == CUDA_BF16 ? ebb_bf16_load((uint16_t)bits) : ebb_f16_load((uint16_t)bits);
#endif
}

CUDA_BODY uint32_t cuda_half_of(cuda_element e, float x) {
#ifdef __CUDA_ARCH__
    unsigned short bits;
    if (e == CUDA_F16) {
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
        return bits;
    }
#if __CUDA_ARCH__ >= 800
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
#else
    const uint32_t all = __float_as_uint(x);
    const uint32_t rounded = (all + 0x7FFF + (all >> 16 & 1)) >> 16;
    return (all & 0x7FFFFFFF) > 0x7F800000 ? all >> 16 | 0x40 : rounded & 0xFFFF;
#endif
#else
    return e == CUDA_BF16 ? ebb_bf16_of_float(x) : ebb_f16_of_float(x);
#endif
}

/* Two, the first in the lower half. */
CUDA_BODY uint32_t cuda_halves_of(cuda_element e, float first, float second) {
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    uint32_t both;
    if (e == CUDA_BF16) {
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
    } else {
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
    }
    return both;
#else
    return cuda_half_of(e, first) | cuda_half_of(e, second) << 16;
#endif
}

/* x as it would be stored: what is fused is rounded between its steps. */
CUDA_BODY float cuda_rounded(cuda_element e, float x) {
    return e == CUDA_F32 ? x : cuda_of_half(e, cuda_half_of(e, x));
}

/* ---- n elements side by side: 4 or 8 of them -------------------------------------------------------- */

typedef struct cuda_f32x8 {
    float v[8]; /* those beyond n are 0 */
} cuda_f32x8;

CUDA_BODY cuda_f32x8 cuda_zero8(void) {
    cuda_f32x8 x;
    CUDA_UNROLL for (int32_t k = 0; k < 8; k++) x.v[k] = 0;
    return x;
}

/* 8 or 16 bytes of memory that begin at such a multiple, as 2 or 4 words. */
CUDA_BODY void cuda_load_words(const uint16_t *p, int32_t n_words, uint32_t word[4]) {
#ifdef __CUDA_ARCH__
    if (n_words == 4) {
        const uint4 q = *(const uint4 *)p;
        word[0] = q.x, word[1] = q.y, word[2] = q.z, word[3] = q.w;
    } else {
        const uint2 q = *(const uint2 *)p;
        word[0] = q.x, word[1] = q.y;
    }
#else
    assert((uintptr_t)p % (4 * (size_t)n_words) == 0);
    memcpy(word, p, 4 * (size_t)n_words);
#endif
}

CUDA_BODY void cuda_store_words(uint16_t *p, int32_t n_words, const uint32_t word[4]) {
#ifdef __CUDA_ARCH__
    if (n_words == 4) {
        __stwb((uint4 *)p, make_uint4(word[0], word[1], word[2], word[3]));
    } else {
        __stwb((uint2 *)p, make_uint2(word[0], word[1]));
    }
#else
    assert((uintptr_t)p % (4 * (size_t)n_words) == 0);
    memcpy(p, word, 4 * (size_t)n_words);
#endif
}

/* Elements at, at + 1, ... of p; they begin where n elements, or 16 bytes of them, can be read at once. */
CUDA_BODY cuda_f32x8 cuda_get(cuda_element e, int32_t n, const void *p, int64_t at) {
    cuda_f32x8 x = cuda_zero8();
    if (e == CUDA_F32) {
        CUDA_UNROLL for (int32_t h = 0; h < n; h += 4) {
            const cuda_f32x4 q = cuda_load4((const float *)p + at + h);
            CUDA_UNROLL for (int32_t k = 0; k < 4; k++) x.v[h + k] = q.v[k];
        }
    } else {
        uint32_t word[4] = {0, 0, 0, 0};
        cuda_load_words((const uint16_t *)p + at, n / 2, word);
        CUDA_UNROLL for (int32_t k = 0; k < n; k += 2) {
            x.v[k] = cuda_of_half(e, word[k / 2] & 0xFFFF);
            x.v[k + 1] = cuda_of_half(e, word[k / 2] >> 16);
        }
    }
    return x;
}

CUDA_BODY void cuda_put(cuda_element e, int32_t n, void *p, int64_t at, cuda_f32x8 x) {
    if (e == CUDA_F32) {
        CUDA_UNROLL for (int32_t h = 0; h < n; h += 4) {
            cuda_f32x4 q;
            CUDA_UNROLL for (int32_t k = 0; k < 4; k++) q.v[k] = x.v[h + k];
            cuda_store4((float *)p + at + h, q);
        }
    } else {
        uint32_t word[4] = {0, 0, 0, 0};
        CUDA_UNROLL for (int32_t k = 0; k < n; k += 2) {
            word[k / 2] = cuda_halves_of(e, x.v[k], x.v[k + 1]);
        }
        cuda_store_words((uint16_t *)p + at, n / 2, word);
    }
}

/* One. */
CUDA_BODY float cuda_get1(cuda_element e, const void *p, int64_t at) {
    return e == CUDA_F32 ? ((const float *)p)[at] : cuda_of_half(e, ((const uint16_t *)p)[at]);
}

CUDA_BODY void cuda_put1(cuda_element e, void *p, int64_t at, float x) {
    if (e == CUDA_F32) {
        ((float *)p)[at] = x;
    } else {
        ((uint16_t *)p)[at] = (uint16_t)cuda_half_of(e, x);
    }
}

/* Of n, as many as are left (>= 1): the rest is zeros and is not touched. */
CUDA_BODY cuda_f32x8 cuda_get_some(cuda_element e, int32_t n, const void *p, int64_t at, int64_t left) {
    if (left >= n) return cuda_get(e, n, p, at);
    cuda_f32x8 x = cuda_zero8();
    CUDA_UNROLL for (int32_t k = 0; k < n; k++) {
        if (k < left) x.v[k] = cuda_get1(e, p, at + k);
    }
    return x;
}

CUDA_BODY void cuda_put_some(cuda_element e, int32_t n, void *p, int64_t at, cuda_f32x8 x, int64_t left) {
    if (left >= n) {
        cuda_put(e, n, p, at, x);
        return;
    }
    CUDA_UNROLL for (int32_t k = 0; k < n; k++) {
        if (k < left) cuda_put1(e, p, at + k, x.v[k]);
    }
}

/* ---- four, for threads that have four lanes --------------------------------------------------------- */

CUDA_BODY cuda_f32x4 cuda_get4(cuda_element e, const void *p, int64_t at) {
    const cuda_f32x8 all = cuda_get(e, 4, p, at);
    cuda_f32x4 x;
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) x.v[k] = all.v[k];
    return x;
}

CUDA_BODY void cuda_put4(cuda_element e, void *p, int64_t at, cuda_f32x4 x) {
    cuda_f32x8 all = cuda_zero8();
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) all.v[k] = x.v[k];
    cuda_put(e, 4, p, at, all);
}

#endif
