/* cuda/norm_sums.c: launches of kernels/norm_sums.h. */
#include "exec/cuda/kernels/norm_sums.h"
#include "exec/cuda/reduction.h"

static ebb_status two_sums_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    const cuda_lanes lanes = cuda_lanes_for_sums(&call->in[0]);
    return cuda_sums_scratch(backend, call, &lanes, 2, bytes);
}

/* ---- bn_stats ------------------------------------------------------------------------------------- */

static ebb_status bn_stats_launch(ebb_backend *backend, const ebb_call *call, void *state,
                                  uint64_t seed_key, const ebb_launch *launch) {
    (void)state, (void)seed_key;
    const cuda_norm_stats_args args = {
        .lanes = cuda_lanes_for_sums(&call->in[0]), .x = launch->in[0], .to = {.partial = launch->scratch}};
    const ebb_status status =
        cuda_launch(backend, CUDA_KERNEL_norm_stats, cuda_lanes_blocks(&args.lanes), &args);
    if (status != EBB_OK) return status;
    const int64_t each = args.lanes.count / args.lanes.channels;
    const cuda_sums_join_args join = {.n_sums = 2,
                                      .what = CUDA_JOIN_STATS,
                                      .divisor = (double)each,
                                      .per_channel = launch->in[0], /* the first row */
                                      .a = launch->out[0],
                                      .b = launch->out[1]};
    return cuda_sums_join(backend, &args.lanes, launch->scratch, join);
}

const ebb_kernel_info ebb_cuda_bn_stats = {
    .supports = cuda_channels_supports, .scratch = two_sums_scratch, .launch = bn_stats_launch};

/* ---- sums of gradients: operands x, mean, variance, ... ------------------------------------------- */

/* x: which operand it is; the statistics stand behind it. */
static ebb_status run_sums(ebb_backend *backend, const ebb_call *call, const ebb_launch *launch, uint32_t x,
                           cuda_kernel_id kernel, cuda_norm_sums_args args) {
    args.lanes = cuda_lanes_for_sums(&call->in[0]);
    args.x = launch->in[x];
    args.mean = launch->in[x + 1];
    args.variance = launch->in[x + 2];
    args.eps = (float)call->attr[EBB_BN_EPS].f;
    args.to.partial = launch->scratch;
    const ebb_status status = cuda_launch(backend, kernel, cuda_lanes_blocks(&args.lanes), &args);
    if (status != EBB_OK) return status;
    const cuda_sums_join_args join = {.n_sums = 2,
                                      .what = CUDA_JOIN_GRAD,
                                      .eps = call->attr[EBB_BN_EPS].f,
                                      .per_channel = launch->in[x + 2],
                                      .a = launch->out[call->n_out - 2],
                                      .b = launch->out[call->n_out - 1]};
    return cuda_sums_join(backend, &args.lanes, launch->scratch, join);
}

static ebb_status bn_grad_sums_launch(ebb_backend *backend, const ebb_call *call, void *state,
                                      uint64_t seed_key, const ebb_launch *launch) {
    (void)state, (void)seed_key;
    const cuda_norm_sums_args args = {.dy = launch->in[3]};
    return run_sums(backend, call, launch, 0, CUDA_KERNEL_norm_sums_plain, args);
}

const ebb_kernel_info ebb_cuda_bn_grad_sums = {
    .supports = cuda_channels_supports, .scratch = two_sums_scratch, .launch = bn_grad_sums_launch};

static ebb_status bn_act_grad_sums_launch(ebb_backend *backend, const ebb_call *call, void *state,
                                          uint64_t seed_key, const ebb_launch *launch) {
    (void)state, (void)seed_key;
    const cuda_norm_sums_args args = {
        .gamma = launch->in[3], .beta = launch->in[4], .dy = launch->in[5], .bounds = cuda_bounds_of(call)};
    return run_sums(backend, call, launch, 0, CUDA_KERNEL_norm_sums_act, args);
}

const ebb_kernel_info ebb_cuda_bn_act_grad_sums = {
    .supports = cuda_channels_supports, .scratch = two_sums_scratch, .launch = bn_act_grad_sums_launch};

static ebb_status bn_add_grad_sums_launch(ebb_backend *backend, const ebb_call *call, void *state,
                                          uint64_t seed_key, const ebb_launch *launch) {
    (void)state, (void)seed_key;
    const bool two = call->n_in > 5;
    const cuda_norm_sums_args args = {.y = launch->in[3],
                                      .dy = launch->in[4],
                                      .more = two ? launch->in[5] : NULL,
                                      .du = launch->out[0],
                                      .bounds = cuda_bounds_of(call)};
    return run_sums(backend, call, launch, 0,
                    two ? CUDA_KERNEL_norm_sums_add_two : CUDA_KERNEL_norm_sums_add, args);
}

const ebb_kernel_info ebb_cuda_bn_add_grad_sums = {
    .supports = cuda_channels_supports, .scratch = two_sums_scratch, .launch = bn_add_grad_sums_launch};

static ebb_status bn_add_bits_grad_sums_launch(ebb_backend *backend, const ebb_call *call, void *state,
                                               uint64_t seed_key, const ebb_launch *launch) {
    (void)state, (void)seed_key;
    const bool two = call->n_in > 5;
    const cuda_norm_sums_args args = {.bits = launch->in[4],
                                      .dy = launch->in[0],
                                      .more = two ? launch->in[5] : NULL,
                                      .du = launch->out[0]};
    return run_sums(backend, call, launch, 1,
                    two ? CUDA_KERNEL_norm_sums_bits_two : CUDA_KERNEL_norm_sums_bits, args);
}

const ebb_kernel_info ebb_cuda_bn_add_bits_grad_sums = {.supports = cuda_channels_supports,
                                                        .scratch = two_sums_scratch,
                                                        .launch = bn_add_bits_grad_sums_launch};
