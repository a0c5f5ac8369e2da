/* cuda/norm.c: launches of kernels/norm.h. */
#include "exec/cuda/kernels/norm.h"
#include "exec/cuda/reduction.h"

/* ---- forward: operands x, mean, variance, gamma, beta, and skip ----------------------------------- */

static cuda_norm_args args_of(const ebb_call *call, const ebb_launch *launch) {
    cuda_norm_args args = {.lanes = cuda_lanes_for_each(&call->in[0]),
                           .x = launch->in[0],
                           .mean = launch->in[1],
                           .variance = launch->in[2],
                           .gamma = launch->in[3],
                           .to = launch->out[0],
                           .eps = (float)call->attr[EBB_BN_EPS].f,
                           .bounds = {.min = NAN, .max = NAN}};
    const int64_t each = args.lanes.count / args.lanes.channels;
    args.each = (float)each;
    return args;
}

static ebb_status bn_apply_launch(ebb_backend *backend, const ebb_call *call, void *state,
                                  uint64_t seed_key, const ebb_launch *launch) {
    (void)state, (void)seed_key;
    cuda_norm_args args = args_of(call, launch);
    args.beta = launch->in[4];
    return cuda_launch(backend, CUDA_KERNEL_norm_apply, cuda_lanes_blocks(&args.lanes), &args);
}

const ebb_kernel_info ebb_cuda_bn_apply = {.supports = cuda_channels_supports, .launch = bn_apply_launch};

static ebb_status bn_act_launch(ebb_backend *backend, const ebb_call *call, void *state, uint64_t seed_key,
                                const ebb_launch *launch) {
    (void)state, (void)seed_key;
    const bool add = call->n_in > 5;
    cuda_norm_args args = args_of(call, launch);
    args.beta = launch->in[4];
    args.bounds = cuda_bounds_of(call);
    if (add) args.other = launch->in[5];
    return cuda_launch(backend, add ? CUDA_KERNEL_norm_apply_add : CUDA_KERNEL_norm_apply,
                       cuda_lanes_blocks(&args.lanes), &args);
}

const ebb_kernel_info ebb_cuda_bn_act = {.supports = cuda_channels_supports, .launch = bn_act_launch};
const ebb_kernel_info ebb_cuda_bn_add = {.supports = cuda_channels_supports, .launch = bn_act_launch};

/* The bits are of y as it was rounded. Where a byte of them is of several rows of channels they are found
 * by a sweep of their own behind it. */
static ebb_status bn_add_bits_launch(ebb_backend *backend, const ebb_call *call, void *state,
                                     uint64_t seed_key, const ebb_launch *launch) {
    cuda_norm_args args = args_of(call, launch);
    if (args.lanes.channels % 8 == 0) {
        args.beta = launch->in[4];
        args.other = launch->in[5];
        args.bounds = cuda_bounds_of(call);
        args.bits = launch->out[1];
        return cuda_launch(backend, CUDA_KERNEL_norm_add_bits, cuda_lanes_blocks(&args.lanes), &args);
    }
    const ebb_status status = bn_act_launch(backend, call, state, seed_key, launch);
    if (status != EBB_OK) return status;
    return cuda_launch_bits(backend, launch->out[0], launch->out[1], ebb_type_count(&call->out[0]),
                            ebb_bn_act_bounds(call->attr));
}

const ebb_kernel_info ebb_cuda_bn_add_bits = {.supports = cuda_channels_supports,
                                              .launch = bn_add_bits_launch};

/* ---- gradients ------------------------------------------------------------------------------------ */

static ebb_status bn_grad_launch(ebb_backend *backend, const ebb_call *call, void *state, uint64_t seed_key,
                                 const ebb_launch *launch) {
    (void)state, (void)seed_key;
    cuda_norm_args args = args_of(call, launch);
    args.dgamma = launch->in[4];
    args.dbeta = launch->in[5];
    args.other = launch->in[6];
    return cuda_launch(backend, CUDA_KERNEL_norm_grad, cuda_lanes_blocks(&args.lanes), &args);
}

const ebb_kernel_info ebb_cuda_bn_grad = {.supports = cuda_channels_supports, .launch = bn_grad_launch};

static ebb_status bn_act_grad_launch(ebb_backend *backend, const ebb_call *call, void *state,
                                     uint64_t seed_key, const ebb_launch *launch) {
    (void)state, (void)seed_key;
    cuda_norm_args args = args_of(call, launch);
    args.beta = launch->in[4];
    args.dgamma = launch->in[5];
    args.dbeta = launch->in[6];
    args.other = launch->in[7];
    args.bounds = cuda_bounds_of(call);
    return cuda_launch(backend, CUDA_KERNEL_norm_grad_act, cuda_lanes_blocks(&args.lanes), &args);
}

const ebb_kernel_info ebb_cuda_bn_act_grad = {.supports = cuda_channels_supports,
                                              .launch = bn_act_grad_launch};

/* ---- running statistics: the variance that is kept is the unbiased one ---------------------------- */

static ebb_status bn_track_launch(ebb_backend *backend, const ebb_call *call, void *state,
                                  uint64_t seed_key, const ebb_launch *launch) {
    (void)state, (void)seed_key;
    const double momentum = call->attr[EBB_BN_TRACK_MOMENTUM].f;
    const int64_t count = call->attr[EBB_BN_TRACK_COUNT].i[0];
    const double unbiased = count > 1 ? (double)count / (double)(count - 1) : 1;
    const cuda_norm_track_args args = {.scalars = cuda_of(backend)->device->scalars,
                                       .batch = {launch->in[0], launch->in[1]},
                                       .old = {launch->in[2], launch->in[3]},
                                       .to = {launch->out[0], launch->out[1]},
                                       .channels = ebb_type_count(&call->in[0]),
                                       .keep = (float)(1 - momentum),
                                       .take = {(float)momentum, (float)(momentum * unbiased)}};
    return cuda_launch(backend, CUDA_KERNEL_norm_track, cuda_blocks_of(args.channels, CUDA_TRACK_THREADS),
                       &args);
}

const ebb_kernel_info ebb_cuda_bn_track = {.launch = bn_track_launch};
