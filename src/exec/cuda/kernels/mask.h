/* kernels/mask.h: an activation's gradient by a bit for each element of y: a thread has 8 elements, one
 * byte of bits.
 *
 *     kernel           of                                    bytes an element
 *     mask_bits        relu_mask; bn_add_bits, behind its y  4 1/8 (channels of no whole bytes)
 *     relu_mask_grad   relu_mask_grad                        8 1/8 */
#ifndef EBB_EXEC_CUDA_KERNELS_MASK_H
#define EBB_EXEC_CUDA_KERNELS_MASK_H

#include "exec/cuda/kernels/bounds.h"

#define CUDA_MASK_THREADS 256 /* and bytes of a block */

typedef struct cuda_mask_bits_args {
    const float *y;
    uint8_t *bits;
    int64_t n;
    cuda_bounds bounds;
} cuda_mask_bits_args;

CUDA_BODY void cuda_mask_bits_body(const cuda_mask_bits_args *args, int64_t block, int32_t thread,
                                   int32_t phase, void *shared) {
    const int64_t at = block * CUDA_MASK_THREADS + thread;
    uint32_t bits = 0;
    (void)phase, (void)shared;
    if (8 * at >= args->n) return;
    CUDA_UNROLL for (int half = 0; half < 2; half++) {
        const int64_t begin = 8 * at + 4 * half, left = args->n - begin;
        if (left <= 0) break;
        const cuda_f32x4 y = cuda_load_some(args->y + begin, left);
        CUDA_UNROLL for (int k = 0; k < 4; k++) {
            const bool passes = k < left && !cuda_is_cut(args->bounds, y.v[k]);
            bits |= passes ? UINT32_C(1) << (4 * half + k) : 0;
        }
    }
    args->bits[at] = (uint8_t)bits;
}

typedef struct cuda_relu_mask_grad_args {
    const float *dy;
    const uint8_t *bits;
    float *dx; /* may be dy */
    int64_t n;
} cuda_relu_mask_grad_args;

CUDA_BODY void cuda_relu_mask_grad_body(const cuda_relu_mask_grad_args *args, int64_t block, int32_t thread,
                                        int32_t phase, void *shared) {
    const int64_t at = block * CUDA_MASK_THREADS + thread;
    (void)phase, (void)shared;
    if (8 * at >= args->n) return;
    const uint32_t bits = args->bits[at];
    CUDA_UNROLL for (int half = 0; half < 2; half++) {
        const int64_t begin = 8 * at + 4 * half, left = args->n - begin;
        if (left <= 0) break;
        cuda_f32x4 x = cuda_load_some(args->dy + begin, left);
        CUDA_UNROLL for (int k = 0; k < 4; k++) x.v[k] = bits >> (4 * half + k) & 1 ? x.v[k] : 0;
        cuda_store_some(args->dx + begin, x, left);
    }
}

#endif
