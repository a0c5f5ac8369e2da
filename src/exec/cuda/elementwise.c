/* cuda/elementwise.c: launches of kernels/elementwise.h. */
#include "exec/cuda/cuda.h"
#include "exec/cuda/kernels/elementwise.h"

/* Launches a kernel of one or two operands; p, q: what its attributes give. */
static ebb_status launch_pointwise(const ebb_kernel_run *run, cuda_kernel_id kernel, double p, double q) {
    const cuda_pointwise_args args = {.a = run->launch->in[0],
                                      .b = run->call->n_in > 1 ? run->launch->in[1] : NULL,
                                      .y = run->launch->out[0],
                                      .n = ebb_type_count(&run->call->out[0]),
                                      .p = (float)p,
                                      .q = (float)q};
    return cuda_launch(run->backend, kernel, cuda_blocks_of(args.n, CUDA_POINTWISE_EACH), &args);
}

#define CUDA_POINTWISE(name, p, q, ...)                             \
    static ebb_status name##_launch(const ebb_kernel_run *run) {    \
        return launch_pointwise(run, CUDA_KERNEL_##name, (p), (q)); \
    }                                                               \
    CUDA_OP(name, EBB_TAKES(F32), CUDA_SWEEP, .launch = name##_launch);
#include "exec/cuda/kernels/elementwise.def"

static ebb_status fill_launch(const ebb_kernel_run *run) {
    const cuda_fill_args args = {.y = run->launch->out[0],
                                 .n = ebb_type_count(&run->call->out[0]),
                                 .p = (float)run->call->attr[EBB_FILL_VALUE].f};
    return cuda_launch(run->backend, CUDA_KERNEL_fill, cuda_blocks_of(args.n, CUDA_POINTWISE_EACH), &args);
}
CUDA_OP(fill, EBB_TAKES(F32), CUDA_SWEEP, .launch = fill_launch);

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
    const cuda_scale_args args = {.a = run->launch->in[0],
                                  .y = run->launch->out[0],
                                  .n = ebb_type_count(&run->call->out[0]),
                                  .s = run->launch->in[1]};
    return cuda_launch(run->backend, CUDA_KERNEL_scale, cuda_blocks_of(args.n, CUDA_POINTWISE_EACH), &args);
}
CUDA_OP(scale, EBB_TAKES(F32), CUDA_SWEEP, .launch = scale_launch);
