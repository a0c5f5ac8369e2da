/* cuda/mask.c: launches of kernels/mask.h. */
#include "exec/cuda/cuda.h"
#include "exec/cuda/kernels/mask.h"

static ebb_status relu_mask_launch(ebb_backend *backend, const ebb_call *call, void *state,
                                   uint64_t seed_key, const ebb_launch *launch) {
    (void)state, (void)seed_key;
    const cuda_mask_bits_args args = {
        launch->in[0], launch->out[0], ebb_type_count(&call->in[0]), {.min = 0, .max = NAN}};
    return cuda_launch(backend, CUDA_KERNEL_mask_bits,
                       cuda_blocks_of(args.n, (int64_t)8 * CUDA_MASK_THREADS), &args);
}
const ebb_kernel_info ebb_cuda_relu_mask = {.launch = relu_mask_launch};

static ebb_status relu_mask_grad_launch(ebb_backend *backend, const ebb_call *call, void *state,
                                        uint64_t seed_key, const ebb_launch *launch) {
    (void)state, (void)seed_key;
    const cuda_relu_mask_grad_args args = {launch->in[0], launch->in[1], launch->out[0],
                                           ebb_type_count(&call->in[0])};
    return cuda_launch(backend, CUDA_KERNEL_relu_mask_grad,
                       cuda_blocks_of(args.n, (int64_t)8 * CUDA_MASK_THREADS), &args);
}
const ebb_kernel_info ebb_cuda_relu_mask_grad = {.launch = relu_mask_grad_launch};
