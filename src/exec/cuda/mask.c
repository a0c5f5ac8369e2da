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

static ebb_status relu_mask_launch(const ebb_kernel_run *run) {
    const ebb_bounds relu = {.min = 0, .max = (double)NAN};
    return cuda_launch_bits(run->backend, run->launch->in[0], run->launch->out[0],
                            ebb_type_count(&run->call->in[0]), relu);
}
CUDA_OP(relu_mask, EBB_TAKES(F32, U8), CUDA_SWEEP, .launch = relu_mask_launch);

static ebb_status relu_mask_grad_launch(const ebb_kernel_run *run) {
    const cuda_relu_mask_grad_args args = {run->launch->in[0], run->launch->in[1], run->launch->out[0],
                                           ebb_type_count(&run->call->in[0])};
    return cuda_launch(run->backend, CUDA_KERNEL_relu_mask_grad, blocks_of(args.n), &args);
}
CUDA_OP(relu_mask_grad, EBB_TAKES(F32, U8), CUDA_SWEEP, .launch = relu_mask_grad_launch);
