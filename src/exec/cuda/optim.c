/* cuda/optim.c: launches of kernels/optim.h. */
#include "exec/cuda/cuda.h"
#include "exec/cuda/kernels/optim.h"

/* An update's condition, its last operand; or NULL. */
static const uint8_t *condition_of(const ebb_kernel_run *run) {
    const ebb_call *call = run->call;
    return call->n_in == call->op->max_in ? run->launch->in[call->n_in - 1] : NULL;
}

static cuda_element gradient_of(const ebb_kernel_run *run) {
    return cuda_element_of(run->call->in[1].dtype);
}

static ebb_status assign_launch(const ebb_kernel_run *run) {
    const cuda_assign_args args = {.scalars = cuda_of(run->backend)->device->scalars,
                                   .x = run->launch->in[1],
                                   .target = run->launch->in[0],
                                   .apply = condition_of(run),
                                   .to = run->launch->out[0],
                                   .bytes = ebb_type_bytes(&run->call->out[0])};
    return cuda_launch(run->backend, CUDA_KERNEL_assign, cuda_blocks_of(args.bytes, CUDA_ASSIGN_EACH),
                       &args);
}
CUDA_OP(assign, EBB_TAKES_ALL, CUDA_SWEEP, .launch = assign_launch, .obeys = true);

static ebb_status launch_sgd(const ebb_kernel_run *run, cuda_kernel_id kernel, const cuda_sgd_args *args) {
    const ebb_dtype dtype = run->call->out[0].dtype;
    return cuda_launch(run->backend, cuda_kernel_for(kernel, dtype),
                       cuda_blocks_of(args->n, cuda_optim_each(cuda_element_of(dtype))), args);
}

static ebb_status sgd_launch(const ebb_kernel_run *run) {
    const cuda_sgd_args args = {.scalars = cuda_of(run->backend)->device->scalars,
                                .w = run->launch->in[0],
                                .dw = run->launch->in[1],
                                .lr = run->launch->in[2],
                                .apply = condition_of(run),
                                .to = run->launch->out[0],
                                .n = ebb_type_count(&run->call->out[0]),
                                .decay = (float)run->call->attr[EBB_SGD_DECAY].f,
                                .gradient = gradient_of(run)};
    return launch_sgd(run, CUDA_KERNEL_sgd, &args);
}
CUDA_OP(sgd, CUDA_REALS | EBB_TAKES(BOOL), CUDA_SWEEP, .launch = sgd_launch, .obeys = true);

static ebb_status sgd_momentum_launch(const ebb_kernel_run *run) {
    const ebb_attr *a = run->call->attr;
    const cuda_sgd_momentum_args args = {.scalars = cuda_of(run->backend)->device->scalars,
                                         .w = run->launch->in[0],
                                         .dw = run->launch->in[1],
                                         .m = run->launch->in[2],
                                         .lr = run->launch->in[3],
                                         .apply = condition_of(run),
                                         .to = run->launch->out[0],
                                         .to_m = run->launch->out[1],
                                         .n = ebb_type_count(&run->call->out[0]),
                                         .momentum = (float)a[EBB_SGDM_MOMENTUM].f,
                                         .decay = (float)a[EBB_SGDM_DECAY].f,
                                         .nesterov = a[EBB_SGDM_NESTEROV].i[0] != 0,
                                         .gradient = gradient_of(run)};
    return launch_sgd(run, CUDA_KERNEL_sgd_momentum, &args);
}
CUDA_OP(sgd_momentum, CUDA_REALS | EBB_TAKES(BOOL), CUDA_SWEEP, .launch = sgd_momentum_launch,
        .obeys = true);

static ebb_status adamw_launch(const ebb_kernel_run *run) {
    const double beta1 = run->call->attr[EBB_ADAMW_BETA1].f, beta2 = run->call->attr[EBB_ADAMW_BETA2].f;
    const cuda_adamw_args args = {.scalars = cuda_of(run->backend)->device->scalars,
                                  .w = run->launch->in[0],
                                  .dw = run->launch->in[1],
                                  .m = run->launch->in[2],
                                  .v = run->launch->in[3],
                                  .step = run->launch->in[4],
                                  .lr = run->launch->in[5],
                                  .apply = condition_of(run),
                                  .to = run->launch->out[0],
                                  .to_m = run->launch->out[1],
                                  .to_v = run->launch->out[2],
                                  .n = ebb_type_count(&run->call->out[0]),
                                  .beta1 = beta1,
                                  .beta2 = beta2,
                                  .keep_m = (float)beta1,
                                  .new_m = (float)(1 - beta1),
                                  .keep_v = (float)beta2,
                                  .new_v = (float)(1 - beta2),
                                  .eps = (float)run->call->attr[EBB_ADAMW_EPS].f,
                                  .decay = (float)run->call->attr[EBB_ADAMW_DECAY].f,
                                  .gradient = gradient_of(run)};
    return cuda_launch(run->backend, cuda_kernel_for(CUDA_KERNEL_adamw, run->call->out[0].dtype),
                       cuda_blocks_of(args.n, CUDA_ADAMW_EACH), &args);
}
CUDA_OP(adamw, CUDA_REALS | EBB_TAKES(BOOL), CUDA_SWEEP, .launch = adamw_launch, .obeys = true);

static ebb_status count_step_launch(const ebb_kernel_run *run) {
    const cuda_count_step_args args = {.scalars = cuda_of(run->backend)->device->scalars,
                                       .x = run->launch->in[0],
                                       .apply = condition_of(run),
                                       .y = run->launch->out[0]};
    return cuda_launch(run->backend, cuda_kernel_for(CUDA_KERNEL_count_step, run->call->out[0].dtype), 1,
                       &args);
}
CUDA_OP(count_step, CUDA_REALS | EBB_TAKES(BOOL), CUDA_SWEEP, .launch = count_step_launch, .obeys = true);

static ebb_status clip_factor_launch(const ebb_kernel_run *run) {
    const cuda_clip_factor_args args = {.x = run->launch->in[0],
                                        .y = run->launch->out[0],
                                        .norm = (float)run->call->attr[EBB_CLIP_FACTOR_NORM].f};
    return cuda_launch(run->backend, cuda_kernel_for(CUDA_KERNEL_clip_factor, run->call->out[0].dtype), 1,
                       &args);
}
CUDA_OP(clip_factor, CUDA_REALS, CUDA_SWEEP, .launch = clip_factor_launch);

static ebb_status loss_scale_launch(const ebb_kernel_run *run) {
    const ebb_attr *a = run->call->attr;
    const cuda_loss_scale_args args = {.scalars = cuda_of(run->backend)->device->scalars,
                                       .scale = run->launch->in[0],
                                       .clean = run->launch->in[1],
                                       .squares = run->launch->in[2],
                                       .next = run->launch->out[0],
                                       .next_clean = run->launch->out[1],
                                       .factor = run->launch->out[2],
                                       .apply = run->launch->out[3],
                                       .growth = a[EBB_LOSS_SCALE_GROWTH].f,
                                       .backoff = a[EBB_LOSS_SCALE_BACKOFF].f,
                                       .norm = a[EBB_LOSS_SCALE_NORM].f,
                                       .interval = (float)a[EBB_LOSS_SCALE_INTERVAL].i[0]};
    return cuda_launch(run->backend, CUDA_KERNEL_loss_scale, 1, &args);
}
CUDA_OP(loss_scale, EBB_TAKES(F32, BOOL), CUDA_SWEEP, .launch = loss_scale_launch);
