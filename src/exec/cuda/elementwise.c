/* cuda/elementwise.c: launches of kernels/elementwise.h. */
#include "exec/cuda/arguments.h"
#include "exec/cuda/cuda.h"
#include "exec/cuda/kernels/elementwise.h"

static ebb_status launch_pointwise(const ebb_kernel_run *run, cuda_kernel_id kernel,
                                   const cuda_pointwise_args *args) {
    const ebb_dtype dtype = run->call->out[0].dtype;
    return cuda_launch(run->backend, cuda_kernel_for(kernel, dtype),
                       cuda_blocks_of(args->n, cuda_pointwise_each(cuda_element_of(dtype))), args);
}

/* A kernel's operands, one or two of them, and its result. */
static cuda_pointwise_args operands_of(const ebb_kernel_run *run) {
    return (cuda_pointwise_args){.a = run->call->n_in > 0 ? run->launch->in[0] : NULL,
                                 .b = run->call->n_in > 1 ? run->launch->in[1] : NULL,
                                 .y = run->launch->out[0],
                                 .n = ebb_type_count(&run->call->out[0])};
}

#define CUDA_POINTWISE(name, first, second, ...)                 \
    static ebb_status name##_launch(const ebb_kernel_run *run) { \
        cuda_pointwise_args args = operands_of(run);             \
        float number[2] = {0};                                   \
        (void)cuda_pointwise_numbers(run->call, number);         \
        args.p = number[0];                                      \
        args.q = number[1];                                      \
        return launch_pointwise(run, CUDA_KERNEL_##name, &args); \
    }                                                            \
    CUDA_OP(name, CUDA_REALS, CUDA_SWEEP, .launch = name##_launch);
#include "exec/cuda/kernels/elementwise.def"

static ebb_status fill_launch(const ebb_kernel_run *run) {
    cuda_fill_args args = operands_of(run);
    args.p = (float)run->call->attr[EBB_FILL_VALUE].f;
    return launch_pointwise(run, CUDA_KERNEL_fill, &args);
}
CUDA_OP(fill, CUDA_REALS, CUDA_SWEEP, .launch = fill_launch);

static ebb_status scale_launch(const ebb_kernel_run *run) {
    cuda_scale_args args = operands_of(run);
    args.b = NULL;
    args.s = run->launch->in[1];
    return launch_pointwise(run, CUDA_KERNEL_scale, &args);
}
CUDA_OP(scale, CUDA_REALS, CUDA_SWEEP, .launch = scale_launch);
