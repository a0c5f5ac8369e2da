/* cuda/pool.c: launches of kernels/pool.h and kernels/pool_grad.h. */
#include "exec/cuda/cuda.h"
#include "exec/cuda/kernels/pool_grad.h"

/* x and y: the types of the pool's input and result, also in gradients. */
static cuda_pool pool_of(const ebb_type *x, const ebb_type *y) {
    return (cuda_pool){.n = x->dim[0],
                       .c = x->dim[1],
                       .h = x->dim[2],
                       .w = x->dim[3],
                       .oh = y->dim[2],
                       .ow = y->dim[3],
                       .wide = x->dim[1] % 4 == 0};
}

static cuda_pool windows_of(const ebb_type *x, const ebb_type *y, const ebb_attr *attr) {
    cuda_pool s = pool_of(x, y);
    for (uint32_t axis = 0; axis < 2; axis++) {
        s.kernel[axis] = attr[EBB_POOL_KERNEL].i[axis];
        s.stride[axis] = ebb_pool_stride(attr, axis);
        s.pad[axis] = attr[EBB_POOL_PAD].i[axis];
    }
    return s;
}

static ebb_status launch_pool(ebb_backend *backend, cuda_kernel_id kernel, const cuda_pool_args *args,
                              int64_t h, int64_t w) {
    return cuda_launch(backend, kernel,
                       cuda_blocks_of(cuda_pool_threads(&args->s, h, w), CUDA_POOL_THREADS), args);
}

/* ---- forward: x -> y ------------------------------------------------------------------------------ */

static ebb_status forward(const ebb_kernel_run *run, cuda_kernel_id kernel) {
    cuda_pool_args args = {.s = windows_of(&run->call->in[0], &run->call->out[0], run->call->attr),
                           .x = run->launch->in[0],
                           .to = run->launch->out[0],
                           .place = run->call->n_out > 1 ? run->launch->out[1] : NULL};
    args.s.count_pad = kernel == CUDA_KERNEL_avg_pool && run->call->attr[EBB_POOL_COUNT_PAD].i[0] != 0;
    return launch_pool(run->backend, kernel, &args, args.s.oh, args.s.ow);
}

#define FORWARD(name, takes)                                     \
    static ebb_status name##_launch(const ebb_kernel_run *run) { \
        return forward(run, CUDA_KERNEL_##name);                 \
    }                                                            \
    CUDA_OP(name, takes, CUDA_SWEEP, .launch = name##_launch)

FORWARD(max_pool, EBB_TAKES(F32));
FORWARD(max_pool_at, EBB_TAKES(F32, U8));
FORWARD(avg_pool, EBB_TAKES(F32));

/* ---- gradients: -> dx ----------------------------------------------------------------------------- */

static ebb_status max_pool_grad_launch(const ebb_kernel_run *run) {
    const cuda_pool_args args = {.s = windows_of(&run->call->in[0], &run->call->in[1], run->call->attr),
                                 .x = run->launch->in[0],
                                 .dy = run->launch->in[1],
                                 .to = run->launch->out[0]};
    return launch_pool(run->backend, CUDA_KERNEL_max_pool_grad, &args, args.s.h, args.s.w);
}

CUDA_OP(max_pool_grad, EBB_TAKES(F32), CUDA_SWEEP, .launch = max_pool_grad_launch);

static ebb_status max_pool_at_grad_launch(const ebb_kernel_run *run) {
    const cuda_pool_args args = {.s = windows_of(&run->call->out[0], &run->call->in[0], run->call->attr),
                                 .dy = run->launch->in[0],
                                 .place = run->launch->in[1],
                                 .to = run->launch->out[0]};
    return launch_pool(run->backend, CUDA_KERNEL_max_pool_at_grad, &args, args.s.h, args.s.w);
}

CUDA_OP(max_pool_at_grad, EBB_TAKES(F32, U8), CUDA_SWEEP, .launch = max_pool_at_grad_launch);

static ebb_status avg_pool_grad_launch(const ebb_kernel_run *run) {
    cuda_pool_args args = {.s = windows_of(&run->call->out[0], &run->call->in[0], run->call->attr),
                           .dy = run->launch->in[0],
                           .to = run->launch->out[0]};
    args.s.count_pad = run->call->attr[EBB_POOL_COUNT_PAD].i[0] != 0;
    return launch_pool(run->backend, CUDA_KERNEL_avg_pool_grad, &args, args.s.h, args.s.w);
}

CUDA_OP(avg_pool_grad, EBB_TAKES(F32), CUDA_SWEEP, .launch = avg_pool_grad_launch);

/* dy is [n,c]. */
static ebb_status global_avg_pool_grad_launch(const ebb_kernel_run *run) {
    const ebb_type *dx = &run->call->out[0];
    const cuda_pool_args args = {.s = pool_of(dx, dx), .dy = run->launch->in[0], .to = run->launch->out[0]};
    return launch_pool(run->backend, CUDA_KERNEL_plane_grad, &args, args.s.h, args.s.w);
}

CUDA_OP(global_avg_pool_grad, EBB_TAKES(F32), CUDA_SWEEP, .launch = global_avg_pool_grad_launch);

/* ---- upsample: a pool's sizes, x the smaller picture ---------------------------------------------- */

static cuda_pool factors_of(const ebb_type *small, const ebb_type *large, const ebb_attr *attr) {
    cuda_pool s = pool_of(small, large);
    for (uint32_t axis = 0; axis < 2; axis++) s.stride[axis] = attr[EBB_UPSAMPLE_FACTOR].i[axis];
    return s;
}

static ebb_status upsample_launch(const ebb_kernel_run *run) {
    const cuda_pool_args args = {.s = factors_of(&run->call->in[0], &run->call->out[0], run->call->attr),
                                 .x = run->launch->in[0],
                                 .to = run->launch->out[0]};
    return launch_pool(run->backend, CUDA_KERNEL_upsample, &args, args.s.oh, args.s.ow);
}

CUDA_OP(upsample, EBB_TAKES(F32), CUDA_SWEEP, .launch = upsample_launch);

static ebb_status upsample_grad_launch(const ebb_kernel_run *run) {
    const cuda_pool_args args = {.s = factors_of(&run->call->out[0], &run->call->in[0], run->call->attr),
                                 .dy = run->launch->in[0],
                                 .to = run->launch->out[0]};
    return launch_pool(run->backend, CUDA_KERNEL_upsample_grad, &args, args.s.h, args.s.w);
}

CUDA_OP(upsample_grad, EBB_TAKES(F32), CUDA_SWEEP, .launch = upsample_grad_launch);
