/* cuda/norm.c: launches of kernels/norm.h. */
#include "exec/cuda/kernels/norm.h"
#include "exec/cuda/reduction.h"

/* ---- forward: operands x, mean, variance, gamma, beta, and skip ----------------------------------- */

static cuda_norm_args args_of(const ebb_kernel_run *run) {
    const ebb_type *x = &run->call->in[0];
    cuda_norm_args args = {.lanes = cuda_lanes_for_each(x, cuda_side(cuda_element_of(x->dtype))),
                           .x = run->launch->in[0],
                           .mean = run->launch->in[1],
                           .variance = run->launch->in[2],
                           .gamma = run->launch->in[3],
                           .to = run->launch->out[0],
                           .eps = (float)run->call->attr[EBB_BN_EPS].f,
                           .bounds = {.min = NAN, .max = NAN}};
    const int64_t each = args.lanes.count / args.lanes.channels;
    args.each = (float)each;
    return args;
}

static ebb_status launch_sweep(const ebb_kernel_run *run, cuda_kernel_id kernel,
                               const cuda_norm_args *args) {
    return cuda_launch(run->backend, cuda_kernel_for(kernel, run->call->in[0].dtype),
                       cuda_lanes_blocks(&args->lanes), args);
}

static ebb_status bn_apply_launch(const ebb_kernel_run *run) {
    cuda_norm_args args = args_of(run);
    args.beta = run->launch->in[4];
    return launch_sweep(run, CUDA_KERNEL_norm_apply, &args);
}

CUDA_OP(bn_apply, CUDA_REALS, CUDA_SWEEP, .supports = cuda_channels_supports, .launch = bn_apply_launch);

static ebb_status bn_act_launch(const ebb_kernel_run *run) {
    const bool add = run->call->n_in > 5;
    cuda_norm_args args = args_of(run);
    args.beta = run->launch->in[4];
    args.bounds = cuda_bounds_of(run->call);
    if (add) args.other = run->launch->in[5];
    return launch_sweep(run, add ? CUDA_KERNEL_norm_apply_add : CUDA_KERNEL_norm_apply, &args);
}

CUDA_OP(bn_act, CUDA_REALS, CUDA_SWEEP, .supports = cuda_channels_supports, .launch = bn_act_launch);
CUDA_OP(bn_add, CUDA_REALS, CUDA_SWEEP, .supports = cuda_channels_supports, .launch = bn_act_launch);

/* The bits are of y as it was rounded. Where a byte of them is of several rows of channels they are found
 * by a sweep of their own behind it. */
static ebb_status bn_add_bits_launch(const ebb_kernel_run *run) {
    cuda_norm_args args = args_of(run);
    if (args.lanes.channels % 8 == 0) {
        args.lanes = cuda_lanes_for_each(&run->call->in[0], 8);
        args.beta = run->launch->in[4];
        args.other = run->launch->in[5];
        args.bounds = cuda_bounds_of(run->call);
        args.bits = run->launch->out[1];
        return launch_sweep(run, CUDA_KERNEL_norm_add_bits, &args);
    }
    const ebb_status status = bn_act_launch(run);
    if (status != EBB_OK) return status;
    return cuda_launch_bits(run->backend, &run->call->out[0], run->launch->out[0], run->launch->out[1],
                            ebb_bn_act_bounds(run->call->attr));
}

CUDA_OP(bn_add_bits, CUDA_REALS | EBB_TAKES(U8), CUDA_SWEEP, .supports = cuda_channels_supports,
        .launch = bn_add_bits_launch);

/* ---- gradients ------------------------------------------------------------------------------------ */

static ebb_status bn_grad_launch(const ebb_kernel_run *run) {
    cuda_norm_args args = args_of(run);
    args.dgamma = run->launch->in[4];
    args.dbeta = run->launch->in[5];
    args.other = run->launch->in[6];
    return launch_sweep(run, CUDA_KERNEL_norm_grad, &args);
}

CUDA_OP(bn_grad, CUDA_REALS, CUDA_SWEEP, .supports = cuda_channels_supports, .launch = bn_grad_launch);

static ebb_status bn_act_grad_launch(const ebb_kernel_run *run) {
    cuda_norm_args args = args_of(run);
    args.beta = run->launch->in[4];
    args.dgamma = run->launch->in[5];
    args.dbeta = run->launch->in[6];
    args.other = run->launch->in[7];
    args.bounds = cuda_bounds_of(run->call);
    return launch_sweep(run, CUDA_KERNEL_norm_grad_act, &args);
}

CUDA_OP(bn_act_grad, CUDA_REALS, CUDA_SWEEP, .supports = cuda_channels_supports,
        .launch = bn_act_grad_launch);

/* ---- running statistics: the variance that is kept is the unbiased one ---------------------------- */

static ebb_status bn_track_launch(const ebb_kernel_run *run) {
    const double momentum = run->call->attr[EBB_BN_TRACK_MOMENTUM].f;
    const int64_t count = run->call->attr[EBB_BN_TRACK_COUNT].i[0];
    const double unbiased = count > 1 ? (double)count / (double)(count - 1) : 1;
    const cuda_norm_track_args args = {.scalars = cuda_of(run->backend)->device->scalars,
                                       .batch = {run->launch->in[0], run->launch->in[1]},
                                       .old = {run->launch->in[2], run->launch->in[3]},
                                       .apply = run->call->n_in > 4 ? run->launch->in[4] : NULL,
                                       .to = {run->launch->out[0], run->launch->out[1]},
                                       .channels = ebb_type_count(&run->call->in[0]),
                                       .keep = (float)(1 - momentum),
                                       .take = {(float)momentum, (float)(momentum * unbiased)}};
    return cuda_launch(run->backend, cuda_kernel_for(CUDA_KERNEL_norm_track, run->call->out[0].dtype),
                       cuda_blocks_of(args.channels, CUDA_TRACK_THREADS), &args);
}

CUDA_OP(bn_track, CUDA_REALS | EBB_TAKES(BOOL), CUDA_SWEEP, .launch = bn_track_launch, .obeys = true);
