/* cuda/elementwise.c: launches of kernels/elementwise.h. */
#include "exec/cuda/cuda.h"
#include "exec/cuda/kernels/elementwise.h"

/* p: rounded as an element would be: what a clip leaves of a larger number is found to be at its bound. */
static float attribute(const ebb_kernel_run *run, double p) {
    return (float)ebb_dtype_rounded(run->call->out[0].dtype, p);
}

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
        args.p = (first);                                        \
        args.q = (second);                                       \
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

/* No kernel of a body is made at run time here: ebb_backend_api.fuses is not set. */
static ebb_status fused_supports(ebb_backend *backend, const ebb_call *call) {
    return ebb_fail(backend->env, EBB_BAD_INPUT,
                    "backend %s: %s is not supported: plan without --opt-level 3, or use the device cpu",
                    backend->api->name, call->op->name);
}
static ebb_status fused_launch(const ebb_kernel_run *run) {
    return fused_supports(run->backend, run->call);
}
CUDA_OP(fused, EBB_TAKES_ALL, CUDA_SWEEP, .supports = fused_supports, .launch = fused_launch);

static ebb_status scale_launch(const ebb_kernel_run *run) {
    cuda_scale_args args = operands_of(run);
    args.b = NULL;
    args.s = run->launch->in[1];
    return launch_pointwise(run, CUDA_KERNEL_scale, &args);
}
CUDA_OP(scale, CUDA_REALS, CUDA_SWEEP, .launch = scale_launch);
