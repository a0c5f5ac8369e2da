/* kernels/fused.h: what the text of a chain of pointwise ops is written with (../fused.h). No family: its
 * kernels are made while the backend runs, each of a text that begins with this header and all those that
 * it includes.
 *
 * A thread has 4 results side by side. Of an operand it takes the 4 elements at once where they stand as
 * the results do (get); else they are found by their places (find), or are one number (one). In place, a
 * result lies over an operand of its shape: a thread reads all of its elements before it writes one, and no
 * other thread's.
 *
 * Numbers of attributes are arguments, as they are of the ops' own kernels: a compiler that knew them might
 * find another way to the result.
 *
 * Bytes moved: those of each operand and result once; an operand that is broadcast comes from a cache. */
#ifndef EBB_EXEC_CUDA_KERNELS_FUSED_H
#define EBB_EXEC_CUDA_KERNELS_FUSED_H

#include "exec/cuda/kernels/pointwise.h"

#define CUDA_FUSED_THREADS  256
#define CUDA_FUSED_SIDE     4
#define CUDA_FUSED_EACH     (INT64_C(4) * CUDA_FUSED_THREADS) /* results of a block */
#define CUDA_FUSED_OPERANDS 10
#define CUDA_FUSED_RESULTS  3
#define CUDA_FUSED_STEPS    32

typedef struct cuda_fused_args {
    cuda_strides walk[CUDA_FUSED_OPERANDS]; /* operand 0 of each: of operands that are found */
    const void *in[CUDA_FUSED_OPERANDS];
    void *out[CUDA_FUSED_RESULTS];
    int64_t n;                          /* elements of each result */
    int32_t quads;                      /* bit i: operand i's 4 elements are as far apart as those of its
                                           walk's last dimension */
    float number[2 * CUDA_FUSED_STEPS]; /* two of each step */
    uint32_t zero;                      /* 0, which no compiler knows (halide/ptx.cpp) */
} cuda_fused_args;

/* Where a thread's first element is, and how many are left from there on. */
CUDA_BODY int64_t cuda_fused_begin(int64_t block, int32_t thread) {
    return (block * CUDA_FUSED_THREADS + thread) * CUDA_FUSED_SIDE;
}

/* ---- 4 elements, or as many as are left of them (>= 1) ---------------------------------------- */

#define CUDA_FUSED_REAL(T, e)                                                                \
    CUDA_BODY void cuda_fused_get_##T(const void *p, int64_t at, int64_t left, float x[4]) { \
        const cuda_f32x8 all = cuda_get_some(e, CUDA_FUSED_SIDE, p, at, left);               \
        CUDA_UNROLL for (int32_t k = 0; k < CUDA_FUSED_SIDE; k++) x[k] = all.v[k];           \
    }                                                                                        \
    CUDA_BODY void cuda_fused_put_##T(void *p, int64_t at, int64_t left, const float x[4]) { \
        cuda_f32x8 all = cuda_zero8();                                                       \
        CUDA_UNROLL for (int32_t k = 0; k < CUDA_FUSED_SIDE; k++) all.v[k] = x[k];           \
        cuda_put_some(e, CUDA_FUSED_SIDE, p, at, all, left);                                 \
    }
CUDA_FUSED_REAL(float, CUDA_F32)
CUDA_FUSED_REAL(f16, CUDA_F16)
CUDA_FUSED_REAL(bf16, CUDA_BF16)

CUDA_BODY void cuda_fused_get_int32_t(const void *p, int64_t at, int64_t left, int32_t x[4]) {
    uint32_t word[4] = {0, 0, 0, 0};
    if (left >= CUDA_FUSED_SIDE) {
        cuda_load_words((const uint16_t *)p + 2 * at, 4, word);
    } else {
        CUDA_UNROLL for (int32_t k = 0; k < CUDA_FUSED_SIDE; k++) {
            if (k < left) word[k] = ((const uint32_t *)p)[at + k];
        }
    }
    CUDA_UNROLL for (int32_t k = 0; k < CUDA_FUSED_SIDE; k++) x[k] = (int32_t)word[k];
}

CUDA_BODY void cuda_fused_put_int32_t(void *p, int64_t at, int64_t left, const int32_t x[4]) {
    uint32_t word[4];
    CUDA_UNROLL for (int32_t k = 0; k < CUDA_FUSED_SIDE; k++) word[k] = (uint32_t)x[k];
    if (left >= CUDA_FUSED_SIDE) {
        cuda_store_words((uint16_t *)p + 2 * at, 4, word);
        return;
    }
    CUDA_UNROLL for (int32_t k = 0; k < CUDA_FUSED_SIDE; k++) {
        if (k < left) ((uint32_t *)p)[at + k] = word[k];
    }
}

/* 4 bytes of memory that begin at such a multiple, as one word. */
CUDA_BODY uint32_t cuda_load_word(const uint8_t *p) {
#ifdef __CUDA_ARCH__
    return *(const uint32_t *)p;
#else
    uint32_t word;
    assert((uintptr_t)p % 4 == 0);
    memcpy(&word, p, 4);
    return word;
#endif
}

CUDA_BODY void cuda_store_word(uint8_t *p, uint32_t word) {
#ifdef __CUDA_ARCH__
    *(uint32_t *)p = word;
#else
    assert((uintptr_t)p % 4 == 0);
    memcpy(p, &word, 4);
#endif
}

CUDA_BODY void cuda_fused_get_uint8_t(const void *p, int64_t at, int64_t left, uint8_t x[4]) {
    const uint8_t *from = (const uint8_t *)p + at;
    uint32_t word = 0;
    if (left >= CUDA_FUSED_SIDE) {
        word = cuda_load_word(from);
    } else {
        CUDA_UNROLL for (int32_t k = 0; k < CUDA_FUSED_SIDE; k++) {
            if (k < left) word |= (uint32_t)from[k] << 8 * k;
        }
    }
    CUDA_UNROLL for (int32_t k = 0; k < CUDA_FUSED_SIDE; k++) x[k] = (uint8_t)(word >> 8 * k & 0xFF);
}

CUDA_BODY void cuda_fused_put_uint8_t(void *p, int64_t at, int64_t left, const uint8_t x[4]) {
    uint8_t *to = (uint8_t *)p + at;
    uint32_t word = 0;
    CUDA_UNROLL for (int32_t k = 0; k < CUDA_FUSED_SIDE; k++) word |= (uint32_t)x[k] << 8 * k;
    if (left >= CUDA_FUSED_SIDE) {
        cuda_store_word(to, word);
        return;
    }
    CUDA_UNROLL for (int32_t k = 0; k < CUDA_FUSED_SIDE; k++) {
        if (k < left) to[k] = x[k];
    }
}

/* ---- operands that do not stand as the results do -------------------------------------------------- */

/* Where an operand's element of place i is. A text of 2^32 places or more defines CUDA_FUSED_WIDE: a device
 * divides 32 bits several times faster, and in fewer registers. */
CUDA_BODY int64_t cuda_fused_at(const cuda_strides *w, int64_t i) {
#ifdef CUDA_FUSED_WIDE
    return cuda_strides_at(w, 0, i);
#else
    int64_t at = 0;
    uint32_t left = (uint32_t)i;
    CUDA_ONE_BY_ONE for (int32_t d = w->n_dims - 1; d > 0; d--) {
        const uint32_t size = (uint32_t)w->size[d], next = left / size;
        at += (int64_t)(left - next * size) * w->stride[0][d];
        left = next;
    }
    return at + (int64_t)left * w->stride[0][0];
#endif
}

/* Where a run of the last dimension is whole quads, so are all elements: none of the 4 is beyond the last.
 * One by one, x is indexed by constants alone: it is registers. */
#define CUDA_FUSED_FOUND(T)                                                                              \
    CUDA_BODY void cuda_fused_find_##T(const cuda_fused_args *args, int32_t i, int64_t at, int64_t left, \
                                       cuda_value_##T x[4]) {                                            \
        const cuda_strides *w = &args->walk[i];                                                          \
        CUDA_UNROLL for (int32_t k = 0; k < CUDA_FUSED_SIDE; k++) x[k] = 0;                              \
        if (args->quads >> i & 1) {                                                                      \
            const int64_t from = cuda_fused_at(w, at), step = w->stride[0][w->n_dims - 1];               \
            CUDA_UNROLL for (int32_t k = 0; k < CUDA_FUSED_SIDE; k++) x[k] =                             \
                cuda_places_get_##T(args->in[i], from + k * step);                                       \
            return;                                                                                      \
        }                                                                                                \
        CUDA_ONE_BY_ONE for (int32_t j = 0; j < CUDA_FUSED_SIDE && j < left; j++) {                      \
            const cuda_value_##T one = cuda_places_get_##T(args->in[i], cuda_fused_at(w, at + j));       \
            CUDA_UNROLL for (int32_t k = 0; k < CUDA_FUSED_SIDE; k++) {                                  \
                if (k == j) x[k] = one;                                                                  \
            }                                                                                            \
        }                                                                                                \
    }                                                                                                    \
    CUDA_BODY void cuda_fused_one_##T(const void *p, cuda_value_##T x[4]) {                              \
        CUDA_UNROLL for (int32_t k = 0; k < CUDA_FUSED_SIDE; k++) x[k] = cuda_places_get_##T(p, 0);      \
    }
CUDA_FUSED_FOUND(float)
CUDA_FUSED_FOUND(f16)
CUDA_FUSED_FOUND(bf16)
CUDA_FUSED_FOUND(int32_t)
CUDA_FUSED_FOUND(uint8_t)

/* ---- the kernel ------------------------------------------------------------------------------------ */

/* Of a text's body, cuda_fused_body: on the device, and what a host calls for each thread of each block.
 * One block has to fit a multiprocessor: where nothing is said, the assembler spills for more of them. */
#ifdef __CUDACC__
#define CUDA_FUSED_KERNEL                                                  \
    extern "C" __global__ void __launch_bounds__(CUDA_FUSED_THREADS, 1)    \
        cuda_fused(const __grid_constant__ cuda_fused_args args) {         \
        cuda_fused_body(&args, (int64_t)blockIdx.x, (int32_t)threadIdx.x); \
    }
#else
#define CUDA_FUSED_KERNEL                                                         \
    void cuda_fused(const cuda_fused_args *args, int64_t block, int32_t thread);  \
    void cuda_fused(const cuda_fused_args *args, int64_t block, int32_t thread) { \
        cuda_fused_body(args, block, thread);                                     \
    }
#endif

#endif
