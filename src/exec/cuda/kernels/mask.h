/* kernels/mask.h: an activation's gradient by a bit for each element of y: a thread has 8 elements, one
 * byte of bits.
 *
 *     kernel           of                                    elements and bytes read and written
 *     mask_bits        relu_mask; bn_add_bits, behind its y  1 and 1/8 (channels of no whole bytes)
 *     relu_mask_grad   relu_mask_grad                        2 and 1/8 */
#ifndef EBB_EXEC_CUDA_KERNELS_MASK_H
#define EBB_EXEC_CUDA_KERNELS_MASK_H

#include "exec/cuda/kernels/bounds.h"
#include "exec/cuda/kernels/elements.h"

#define CUDA_MASK_THREADS 256 /* and bytes of a block */

typedef struct cuda_mask_bits_args {
    const void *y;
    uint8_t *bits;
    int64_t n;
    cuda_bounds bounds;
} cuda_mask_bits_args;

CUDA_BODY void cuda_mask_bits_in(const cuda_mask_bits_args *args, int64_t block, int32_t thread,
                                 int32_t phase, void *shared, cuda_element e) {
    const int64_t at = block * CUDA_MASK_THREADS + thread, left = args->n - 8 * at;
    uint32_t bits = 0;
    (void)phase, (void)shared;
    if (left <= 0) return;
    const cuda_f32x8 y = cuda_get_some(e, 8, args->y, 8 * at, left);
    CUDA_UNROLL for (int k = 0; k < 8; k++) {
        const bool passes = k < left && !cuda_is_cut(args->bounds, y.v[k]);
        bits |= passes ? UINT32_C(1) << k : 0;
    }
    args->bits[at] = (uint8_t)bits;
}
CUDA_BODIES(mask_bits)

typedef struct cuda_relu_mask_grad_args {
    const void *dy;
    const uint8_t *bits;
    void *dx; /* may be dy */
    int64_t n;
} cuda_relu_mask_grad_args;

CUDA_BODY void cuda_relu_mask_grad_in(const cuda_relu_mask_grad_args *args, int64_t block, int32_t thread,
                                      int32_t phase, void *shared, cuda_element e) {
    const int64_t at = block * CUDA_MASK_THREADS + thread, left = args->n - 8 * at;
    (void)phase, (void)shared;
    if (left <= 0) return;
    const uint32_t bits = args->bits[at];
    cuda_f32x8 x = cuda_get_some(e, 8, args->dy, 8 * at, left);
    CUDA_UNROLL for (int k = 0; k < 8; k++) x.v[k] = bits >> k & 1 ? x.v[k] : 0;
    cuda_put_some(e, 8, args->dx, 8 * at, x, left);
}
CUDA_BODIES(relu_mask_grad)

#endif
