/* cuda/mask.c: launches of kernels/mask.h. */
#include "exec/cuda/cuda.h"
#include "exec/cuda/kernels/mask.h"

static int64_t blocks_of(int64_t n) {
    return cuda_blocks_of(n, (int64_t)8 * CUDA_MASK_THREADS);
}

ebb_status cuda_launch_bits(ebb_backend *backend, const float *y, uint8_t *bits, int64_t n,
                            ebb_bounds bounds) {
    const cuda_mask_bits_args args = {y, bits, n, {(float)bounds.min, (float)bounds.max}};
    return cuda_launch(backend, CUDA_KERNEL_mask_bits, blocks_of(n), &args);
}

static ebb_status relu_mask_launch(ebb_backend *backend, const ebb_call *call, void *state,
                                   uint64_t seed_key, const ebb_launch *launch) {
    (void)state, (void)seed_key;
    const ebb_bounds relu = {.min = 0, .max = (double)NAN};
    return cuda_launch_bits(backend, launch->in[0], launch->out[0], ebb_type_count(&call->in[0]), relu);
}
const ebb_kernel_info ebb_cuda_relu_mask = {.launch = relu_mask_launch};

static ebb_status relu_mask_grad_launch(ebb_backend *backend, const ebb_call *call, void *state,
                                        uint64_t seed_key, const ebb_launch *launch) {
    (void)state, (void)seed_key;
    const cuda_relu_mask_grad_args args = {launch->in[0], launch->in[1], launch->out[0],
                                           ebb_type_count(&call->in[0])};
    return cuda_launch(backend, CUDA_KERNEL_relu_mask_grad, blocks_of(args.n), &args);
}
const ebb_kernel_info ebb_cuda_relu_mask_grad = {.launch = relu_mask_grad_launch};
