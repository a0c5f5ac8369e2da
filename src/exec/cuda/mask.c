/* cuda/mask.c: launches of kernels/mask.h. */
#include "exec/cuda/cuda.h"
#include "exec/cuda/kernels/mask.h"

static int64_t blocks_of(int64_t n) {
    return cuda_blocks_of(n, (int64_t)8 * CUDA_MASK_THREADS);
}

ebb_status cuda_launch_bits(ebb_backend *backend, const ebb_type *type, const void *y, uint8_t *bits,
                            ebb_bounds bounds) {
    const cuda_mask_bits_args args = {.y = y,
                                      .bits = bits,
                                      .n = ebb_type_count(type),
                                      .bounds = {(float)ebb_dtype_rounded(type->dtype, bounds.min),
                                                 (float)ebb_dtype_rounded(type->dtype, bounds.max)}};
    return cuda_launch(backend, cuda_kernel_for(CUDA_KERNEL_mask_bits, type->dtype), blocks_of(args.n),
                       &args);
}

static ebb_status relu_mask_launch(const ebb_kernel_run *run) {
    const ebb_bounds relu = {.min = 0, .max = (double)NAN};
    return cuda_launch_bits(run->backend, &run->call->in[0], run->launch->in[0], run->launch->out[0], relu);
}
CUDA_OP(relu_mask, CUDA_REALS | EBB_TAKES(U8), CUDA_SWEEP, .launch = relu_mask_launch);

static ebb_status relu_mask_grad_launch(const ebb_kernel_run *run) {
    const cuda_relu_mask_grad_args args = {run->launch->in[0], run->launch->in[1], run->launch->out[0],
                                           ebb_type_count(&run->call->in[0])};
    return cuda_launch(run->backend, cuda_kernel_for(CUDA_KERNEL_relu_mask_grad, run->call->in[0].dtype),
                       blocks_of(args.n), &args);
}
CUDA_OP(relu_mask_grad, CUDA_REALS | EBB_TAKES(U8), CUDA_SWEEP, .launch = relu_mask_grad_launch);
