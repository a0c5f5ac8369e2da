/* cuda/layer_norm.c: launches of kernels/layer_norm.h. */
#include "exec/cuda/kernels/layer_norm.h"
#include "exec/cuda/reduction.h"

static cuda_rows rows_of(const ebb_call *call) {
    return (cuda_rows){call->in[0].dim[0], call->in[0].dim[1]};
}

static ebb_status ln_stats_launch(ebb_backend *backend, const ebb_call *call, void *state,
                                  uint64_t seed_key, const ebb_launch *launch) {
    (void)state, (void)seed_key;
    const cuda_ln_stats_args args = {
        .rows = rows_of(call), .x = launch->in[0], .mean = launch->out[0], .variance = launch->out[1]};
    return cuda_launch(backend, CUDA_KERNEL_ln_stats, cuda_rows_blocks(&args.rows), &args);
}

const ebb_kernel_info ebb_cuda_ln_stats = {.launch = ln_stats_launch};

static ebb_status ln_apply_launch(ebb_backend *backend, const ebb_call *call, void *state,
                                  uint64_t seed_key, const ebb_launch *launch) {
    (void)state, (void)seed_key;
    const cuda_ln_apply_args args = {.lanes = cuda_lanes_for_each(&call->in[0]),
                                     .x = launch->in[0],
                                     .mean = launch->in[1],
                                     .variance = launch->in[2],
                                     .gamma = launch->in[3],
                                     .beta = launch->in[4],
                                     .y = launch->out[0],
                                     .eps = (float)call->attr[EBB_LN_EPS].f};
    return cuda_launch(backend, CUDA_KERNEL_ln_apply, cuda_lanes_blocks(&args.lanes), &args);
}

const ebb_kernel_info ebb_cuda_ln_apply = {.supports = cuda_channels_supports, .launch = ln_apply_launch};

static ebb_status ln_grad_sums_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    const cuda_lanes lanes = cuda_lanes_for_sums(&call->in[0]);
    return cuda_sums_scratch(backend, call, &lanes, 2, bytes);
}

static ebb_status ln_grad_sums_launch(ebb_backend *backend, const ebb_call *call, void *state,
                                      uint64_t seed_key, const ebb_launch *launch) {
    (void)state, (void)seed_key;
    const cuda_ln_sums_args args = {.lanes = cuda_lanes_for_sums(&call->in[0]),
                                    .x = launch->in[0],
                                    .mean = launch->in[1],
                                    .variance = launch->in[2],
                                    .dy = launch->in[3],
                                    .eps = (float)call->attr[EBB_LN_EPS].f,
                                    .to = {.partial = launch->scratch}};
    const ebb_status status =
        cuda_launch(backend, CUDA_KERNEL_ln_sums, cuda_lanes_blocks(&args.lanes), &args);
    if (status != EBB_OK) return status;
    const cuda_sums_join_args join = {
        .n_sums = 2, .what = CUDA_JOIN_PLAIN, .divisor = 1, .a = launch->out[0], .b = launch->out[1]};
    return cuda_sums_join(backend, &args.lanes, launch->scratch, join);
}

const ebb_kernel_info ebb_cuda_ln_grad_sums = {
    .supports = cuda_channels_supports, .scratch = ln_grad_sums_scratch, .launch = ln_grad_sums_launch};

static ebb_status ln_grad_launch(ebb_backend *backend, const ebb_call *call, void *state, uint64_t seed_key,
                                 const ebb_launch *launch) {
    (void)state, (void)seed_key;
    const cuda_ln_grad_args args = {.rows = rows_of(call),
                                    .x = launch->in[0],
                                    .mean = launch->in[1],
                                    .variance = launch->in[2],
                                    .gamma = launch->in[3],
                                    .dy = launch->in[4],
                                    .dx = launch->out[0],
                                    .eps = (float)call->attr[EBB_LN_EPS].f};
    return cuda_launch(backend, CUDA_KERNEL_ln_grad, cuda_rows_blocks(&args.rows), &args);
}

const ebb_kernel_info ebb_cuda_ln_grad = {.launch = ln_grad_launch};
