/* cuda/optim.c: launches of kernels/optim.h. */
#include "exec/cuda/cuda.h"
#include "exec/cuda/kernels/optim.h"

static ebb_status sgd_launch(ebb_backend *backend, const ebb_call *call, void *state, uint64_t seed_key,
                             const ebb_launch *launch) {
    (void)state, (void)seed_key;
    const cuda_sgd_args args = {.scalars = cuda_of(backend)->device->scalars,
                                .w = launch->in[0],
                                .dw = launch->in[1],
                                .lr = launch->in[2],
                                .to = launch->out[0],
                                .n = ebb_type_count(&call->out[0]),
                                .decay = (float)call->attr[EBB_SGD_DECAY].f};
    return cuda_launch(backend, CUDA_KERNEL_sgd, cuda_blocks_of(args.n, CUDA_OPTIM_EACH), &args);
}
const ebb_kernel_info ebb_cuda_sgd = {.launch = sgd_launch};

static ebb_status sgd_momentum_launch(ebb_backend *backend, const ebb_call *call, void *state,
                                      uint64_t seed_key, const ebb_launch *launch) {
    (void)state, (void)seed_key;
    const ebb_attr *a = call->attr;
    const cuda_sgd_momentum_args args = {.scalars = cuda_of(backend)->device->scalars,
                                         .w = launch->in[0],
                                         .dw = launch->in[1],
                                         .m = launch->in[2],
                                         .lr = launch->in[3],
                                         .to = launch->out[0],
                                         .to_m = launch->out[1],
                                         .n = ebb_type_count(&call->out[0]),
                                         .momentum = (float)a[EBB_SGDM_MOMENTUM].f,
                                         .decay = (float)a[EBB_SGDM_DECAY].f,
                                         .nesterov = a[EBB_SGDM_NESTEROV].i[0] != 0};
    return cuda_launch(backend, CUDA_KERNEL_sgd_momentum, cuda_blocks_of(args.n, CUDA_OPTIM_EACH), &args);
}
const ebb_kernel_info ebb_cuda_sgd_momentum = {.launch = sgd_momentum_launch};

static ebb_status adamw_launch(ebb_backend *backend, const ebb_call *call, void *state, uint64_t seed_key,
                               const ebb_launch *launch) {
    (void)state, (void)seed_key;
    const double beta1 = call->attr[EBB_ADAMW_BETA1].f, beta2 = call->attr[EBB_ADAMW_BETA2].f;
    const cuda_adamw_args args = {.scalars = cuda_of(backend)->device->scalars,
                                  .w = launch->in[0],
                                  .dw = launch->in[1],
                                  .m = launch->in[2],
                                  .v = launch->in[3],
                                  .step = launch->in[4],
                                  .lr = launch->in[5],
                                  .to = launch->out[0],
                                  .to_m = launch->out[1],
                                  .to_v = launch->out[2],
                                  .n = ebb_type_count(&call->out[0]),
                                  .beta1 = beta1,
                                  .beta2 = beta2,
                                  .keep_m = (float)beta1,
                                  .new_m = (float)(1 - beta1),
                                  .keep_v = (float)beta2,
                                  .new_v = (float)(1 - beta2),
                                  .eps = (float)call->attr[EBB_ADAMW_EPS].f,
                                  .decay = (float)call->attr[EBB_ADAMW_DECAY].f};
    return cuda_launch(backend, CUDA_KERNEL_adamw, cuda_blocks_of(args.n, CUDA_ADAMW_EACH), &args);
}
const ebb_kernel_info ebb_cuda_adamw = {.launch = adamw_launch};

static ebb_status count_step_launch(ebb_backend *backend, const ebb_call *call, void *state,
                                    uint64_t seed_key, const ebb_launch *launch) {
    (void)call, (void)state, (void)seed_key;
    const cuda_count_step_args args = {
        .scalars = cuda_of(backend)->device->scalars, .x = launch->in[0], .y = launch->out[0]};
    return cuda_launch(backend, CUDA_KERNEL_count_step, 1, &args);
}
const ebb_kernel_info ebb_cuda_count_step = {.launch = count_step_launch};

static ebb_status clip_factor_launch(ebb_backend *backend, const ebb_call *call, void *state,
                                     uint64_t seed_key, const ebb_launch *launch) {
    (void)state, (void)seed_key;
    const cuda_clip_factor_args args = {
        .x = launch->in[0], .y = launch->out[0], .norm = (float)call->attr[EBB_CLIP_FACTOR_NORM].f};
    return cuda_launch(backend, CUDA_KERNEL_clip_factor, 1, &args);
}
const ebb_kernel_info ebb_cuda_clip_factor = {.launch = clip_factor_launch};
