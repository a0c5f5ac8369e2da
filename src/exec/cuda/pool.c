/* cuda/pool.c: launches of kernels/pool.h and kernels/pool_grad.h. */
#include "exec/cuda/broadcast.h"
#include "exec/cuda/cuda.h"
#include "exec/cuda/kernels/pool_grad.h"

/* x and y: the types of the pool's input and result, also in gradients. */
static cuda_pool pool_of(const ebb_type *x, const ebb_type *y) {
    return (cuda_pool){.n = x->dim[0],
                       .c = (int32_t)x->dim[1],
                       .h = (int32_t)x->dim[2],
                       .w = (int32_t)x->dim[3],
                       .oh = (int32_t)y->dim[2],
                       .ow = (int32_t)y->dim[3],
                       .wide = x->dim[1] % 4 == 0};
}

static cuda_pool windows_of(const ebb_type *x, const ebb_type *y, const ebb_attr *attr) {
    cuda_pool s = pool_of(x, y);
    for (uint32_t axis = 0; axis < 2; axis++) {
        s.kernel[axis] = (int32_t)attr[EBB_POOL_KERNEL].i[axis];
        s.stride[axis] = (int32_t)ebb_pool_stride(attr, axis);
        s.pad[axis] = (int32_t)attr[EBB_POOL_PAD].i[axis];
    }
    return s;
}

static bool fits(const ebb_type *type, int64_t kernel, int64_t pad) {
    return cuda_pool_fits(type->dim[1], type->rank == 4 ? type->dim[2] : 1,
                          type->rank == 4 ? type->dim[3] : 1, kernel, pad);
}

static ebb_status check_sizes(ebb_backend *backend, const ebb_call *call, int64_t kernel, int64_t stride,
                              int64_t pad) {
    const ebb_type *x = &call->in[0];
    if (fits(x, kernel, pad) && fits(&call->out[0], stride, pad)) return EBB_OK;
    char text[EBB_TYPE_TEXT];
    return ebb_fail(backend->env, EBB_BAD_INPUT,
                    "backend cuda: %s of %s: images and windows of 2^30 elements or more are not supported",
                    call->op->name, ebb_type_text(x, text));
}

static ebb_status windows_support(ebb_backend *backend, const ebb_call *call) {
    const ebb_attr *attr = call->attr;
    const int64_t *kernel = attr[EBB_POOL_KERNEL].i, *pad = attr[EBB_POOL_PAD].i;
    return check_sizes(backend, call, ebb_max_i64(kernel[0], kernel[1]),
                       ebb_max_i64(ebb_pool_stride(attr, 0), ebb_pool_stride(attr, 1)),
                       ebb_max_i64(pad[0], pad[1]));
}

static ebb_status plane_supports(ebb_backend *backend, const ebb_call *call) {
    return check_sizes(backend, call, 1, 1, 0);
}

/* In the dtype of the operand. */
static ebb_status launch_pool(const ebb_kernel_run *run, cuda_kernel_id kernel, const cuda_pool_args *args,
                              int32_t h, int32_t w) {
    return cuda_launch(run->backend, cuda_kernel_for(kernel, run->call->in[0].dtype),
                       args->s.n * cuda_pool_blocks(&args->s, h, w), args);
}

/* ---- forward: x -> y ------------------------------------------------------------------------------ */

static ebb_status forward(const ebb_kernel_run *run, cuda_kernel_id kernel) {
    cuda_pool_args args = {.s = windows_of(&run->call->in[0], &run->call->out[0], run->call->attr),
                           .x = run->launch->in[0],
                           .to = run->launch->out[0],
                           .place = run->call->n_out > 1 ? run->launch->out[1] : NULL};
    args.s.count_pad = kernel == CUDA_KERNEL_avg_pool && run->call->attr[EBB_POOL_COUNT_PAD].i[0] != 0;
    return launch_pool(run, kernel, &args, args.s.oh, args.s.ow);
}

#define FORWARD(name, kernel, takes)                             \
    static ebb_status name##_launch(const ebb_kernel_run *run) { \
        return forward(run, CUDA_KERNEL_##kernel);               \
    }                                                            \
    CUDA_OP(name, takes, CUDA_SWEEP, .supports = windows_support, .launch = name##_launch)

FORWARD(max_pool, max_pool, CUDA_REALS);
FORWARD(max_pool_at, max_pool, CUDA_REALS | EBB_TAKES(U8));
FORWARD(avg_pool, avg_pool, CUDA_REALS);

/* ---- gradients: -> dx ----------------------------------------------------------------------------- */

static ebb_status max_pool_grad_launch(const ebb_kernel_run *run) {
    const cuda_pool_args args = {.s = windows_of(&run->call->in[0], &run->call->in[1], run->call->attr),
                                 .x = run->launch->in[0],
                                 .dy = run->launch->in[1],
                                 .to = run->launch->out[0]};
    return launch_pool(run, CUDA_KERNEL_max_pool_grad, &args, args.s.h, args.s.w);
}

CUDA_OP(max_pool_grad, CUDA_REALS, CUDA_SWEEP, .supports = windows_support, .launch = max_pool_grad_launch);

static ebb_status max_pool_at_grad_launch(const ebb_kernel_run *run) {
    const cuda_pool_args args = {.s = windows_of(&run->call->out[0], &run->call->in[0], run->call->attr),
                                 .dy = run->launch->in[0],
                                 .place = run->launch->in[1],
                                 .to = run->launch->out[0]};
    return launch_pool(run, CUDA_KERNEL_max_pool_at_grad, &args, args.s.h, args.s.w);
}

CUDA_OP(max_pool_at_grad, CUDA_REALS | EBB_TAKES(U8), CUDA_SWEEP, .supports = windows_support,
        .launch = max_pool_at_grad_launch);

static ebb_status avg_pool_grad_launch(const ebb_kernel_run *run) {
    cuda_pool_args args = {.s = windows_of(&run->call->out[0], &run->call->in[0], run->call->attr),
                           .dy = run->launch->in[0],
                           .to = run->launch->out[0]};
    args.s.count_pad = run->call->attr[EBB_POOL_COUNT_PAD].i[0] != 0;
    return launch_pool(run, CUDA_KERNEL_avg_pool_grad, &args, args.s.h, args.s.w);
}

CUDA_OP(avg_pool_grad, CUDA_REALS, CUDA_SWEEP, .supports = windows_support, .launch = avg_pool_grad_launch);

/* dy is [n,c]. */
static ebb_status global_avg_pool_grad_launch(const ebb_kernel_run *run) {
    const ebb_type *dx = &run->call->out[0];
    const cuda_pool_args args = {.s = pool_of(dx, dx), .dy = run->launch->in[0], .to = run->launch->out[0]};
    return launch_pool(run, CUDA_KERNEL_plane_grad, &args, args.s.h, args.s.w);
}

CUDA_OP(global_avg_pool_grad, CUDA_REALS, CUDA_SWEEP, .supports = plane_supports,
        .launch = global_avg_pool_grad_launch);

/* ---- upsample: a pool's sizes, x the smaller picture ---------------------------------------------- */

static cuda_pool factors_of(const ebb_type *small, const ebb_type *large, const ebb_attr *attr) {
    cuda_pool s = pool_of(small, large);
    for (uint32_t axis = 0; axis < 2; axis++) s.stride[axis] = (int32_t)attr[EBB_UPSAMPLE_FACTOR].i[axis];
    return s;
}

/* What is no real number: each row and each pixel stays where it is while its copies are made. */
static ebb_status launch_repeated(const ebb_kernel_run *run) {
    const ebb_type *x = &run->call->in[0];
    const int64_t *d = x->dim, *factor = run->call->attr[EBB_UPSAMPLE_FACTOR].i, row = d[3] * d[1];
    const ebb_walk walk = {.n_dims = 5,
                           .n_operands = 1,
                           .size = {d[0] * d[2], factor[0], d[3], factor[1], d[1]},
                           .stride = {{row, 0, d[1], 0, 1}}};
    return cuda_launch_moves(run, &walk);
}

static ebb_status upsample_launch(const ebb_kernel_run *run) {
    if (!ebb_dtype_real(run->call->in[0].dtype)) return launch_repeated(run);
    const cuda_pool_args args = {.s = factors_of(&run->call->in[0], &run->call->out[0], run->call->attr),
                                 .x = run->launch->in[0],
                                 .to = run->launch->out[0]};
    return launch_pool(run, CUDA_KERNEL_upsample, &args, args.s.oh, args.s.ow);
}

CUDA_OP(upsample, CUDA_ALL, CUDA_SWEEP, .supports = plane_supports, .launch = upsample_launch);

static ebb_status upsample_grad_launch(const ebb_kernel_run *run) {
    const cuda_pool_args args = {.s = factors_of(&run->call->out[0], &run->call->in[0], run->call->attr),
                                 .dy = run->launch->in[0],
                                 .to = run->launch->out[0]};
    return launch_pool(run, CUDA_KERNEL_upsample_grad, &args, args.s.h, args.s.w);
}

CUDA_OP(upsample_grad, CUDA_REALS, CUDA_SWEEP, .supports = plane_supports, .launch = upsample_grad_launch);
