/* cuda/elementwise.c: launches of kernels/elementwise.h. */
#include "exec/cuda/cuda.h"
#include "exec/cuda/kernels/elementwise.h"

static cuda_pointwise_args args_of(const ebb_call *call, const ebb_launch *launch) {
    return (cuda_pointwise_args){.a = launch->in[0],
                                 .b = call->n_in > 1 ? launch->in[1] : NULL,
                                 .y = launch->out[0],
                                 .n = ebb_type_count(&call->out[0])};
}

/* first, second: what p and q are. */
#define POINTWISE(name, first, second)                                                               \
    static ebb_status name##_launch(ebb_backend *backend, const ebb_call *call, void *state,         \
                                    uint64_t seed_key, const ebb_launch *launch) {                   \
        (void)state, (void)seed_key;                                                                 \
        cuda_##name##_args args = args_of(call, launch);                                             \
        args.p = (float)(first);                                                                     \
        args.q = (float)(second);                                                                    \
        return cuda_launch(backend, CUDA_KERNEL_##name, cuda_blocks_of(args.n, CUDA_POINTWISE_EACH), \
                           &args);                                                                   \
    }                                                                                                \
    const ebb_kernel_info ebb_cuda_##name = {.launch = name##_launch};

POINTWISE(relu, 0, 0)
POINTWISE(relu_grad, 0, 0)
POINTWISE(clip, call->attr[EBB_CLIP_MIN].f, call->attr[EBB_CLIP_MAX].f)
POINTWISE(clip_grad, call->attr[EBB_CLIP_MIN].f, call->attr[EBB_CLIP_MAX].f)
POINTWISE(add, 0, 0)
POINTWISE(sub, 0, 0)
POINTWISE(mul, 0, 0)
POINTWISE(div, 0, 0)
POINTWISE(rescale, call->attr[EBB_RESCALE_TIMES].f, call->attr[EBB_RESCALE_PLUS].f)
POINTWISE(exp, 0, 0)
POINTWISE(gelu, 0, 0)
POINTWISE(gelu_grad, 0, 0)

static ebb_status fill_launch(ebb_backend *backend, const ebb_call *call, void *state, uint64_t seed_key,
                              const ebb_launch *launch) {
    (void)state, (void)seed_key;
    const cuda_fill_args args = {
        .y = launch->out[0], .n = ebb_type_count(&call->out[0]), .p = (float)call->attr[EBB_FILL_VALUE].f};
    return cuda_launch(backend, CUDA_KERNEL_fill, cuda_blocks_of(args.n, CUDA_POINTWISE_EACH), &args);
}
const ebb_kernel_info ebb_cuda_fill = {.launch = fill_launch};

static ebb_status scale_launch(ebb_backend *backend, const ebb_call *call, void *state, uint64_t seed_key,
                               const ebb_launch *launch) {
    (void)state, (void)seed_key;
    const cuda_scale_args args = {
        .a = launch->in[0], .y = launch->out[0], .n = ebb_type_count(&call->out[0]), .s = launch->in[1]};
    return cuda_launch(backend, CUDA_KERNEL_scale, cuda_blocks_of(args.n, CUDA_POINTWISE_EACH), &args);
}
const ebb_kernel_info ebb_cuda_scale = {.launch = scale_launch};
