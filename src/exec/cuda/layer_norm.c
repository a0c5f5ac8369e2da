/* cuda/layer_norm.c: launches of kernels/layer_norm.h. */
#include "exec/cuda/kernels/layer_norm.h"
#include "exec/cuda/reduction.h"

static cuda_rows rows_of(const ebb_call *call) {
    return (cuda_rows){call->in[0].dim[0], call->in[0].dim[1]};
}

static ebb_status ln_stats_launch(const ebb_kernel_run *run) {
    const cuda_ln_stats_args args = {.rows = rows_of(run->call),
                                     .x = run->launch->in[0],
                                     .mean = run->launch->out[0],
                                     .variance = run->launch->out[1]};
    return cuda_launch(run->backend, cuda_kernel_for(CUDA_KERNEL_ln_stats, run->call->in[0].dtype),
                       cuda_rows_blocks(&args.rows), &args);
}

CUDA_OP(ln_stats, CUDA_REALS, CUDA_SWEEP, .launch = ln_stats_launch);

static ebb_status ln_apply_launch(const ebb_kernel_run *run) {
    const cuda_ln_apply_args args = {.lanes = cuda_lanes_for_each(&run->call->in[0], 4),
                                     .x = run->launch->in[0],
                                     .mean = run->launch->in[1],
                                     .variance = run->launch->in[2],
                                     .gamma = run->launch->in[3],
                                     .beta = run->launch->in[4],
                                     .y = run->launch->out[0],
                                     .eps = (float)run->call->attr[EBB_LN_EPS].f};
    return cuda_launch(run->backend, cuda_kernel_for(CUDA_KERNEL_ln_apply, run->call->in[0].dtype),
                       cuda_lanes_blocks(&args.lanes), &args);
}

CUDA_OP(ln_apply, CUDA_REALS, CUDA_SWEEP, .supports = cuda_channels_supports, .launch = ln_apply_launch);

static ebb_status ln_grad_sums_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    const cuda_lanes lanes = cuda_lanes_for_sums(&call->in[0]);
    return cuda_sums_scratch(backend, call, &lanes, 2, bytes);
}

static ebb_status ln_grad_sums_launch(const ebb_kernel_run *run) {
    const cuda_ln_sums_args args = {.lanes = cuda_lanes_for_sums(&run->call->in[0]),
                                    .x = run->launch->in[0],
                                    .mean = run->launch->in[1],
                                    .variance = run->launch->in[2],
                                    .dy = run->launch->in[3],
                                    .eps = (float)run->call->attr[EBB_LN_EPS].f,
                                    .to = {.partial = run->launch->scratch}};
    const ebb_status status =
        cuda_launch(run->backend, cuda_kernel_for(CUDA_KERNEL_ln_sums, run->call->in[0].dtype),
                    cuda_lanes_blocks(&args.lanes), &args);
    if (status != EBB_OK) return status;
    const cuda_sums_join_args join = {.n_sums = 2,
                                      .what = CUDA_JOIN_PLAIN,
                                      .divisor = 1,
                                      .a = run->launch->out[0],
                                      .b = run->launch->out[1]};
    return cuda_sums_join(run->backend, &args.lanes, run->launch->scratch, join);
}

CUDA_OP(ln_grad_sums, CUDA_REALS, CUDA_SWEEP, .supports = cuda_channels_supports,
        .scratch = ln_grad_sums_scratch, .launch = ln_grad_sums_launch);

static ebb_status ln_grad_launch(const ebb_kernel_run *run) {
    const cuda_ln_grad_args args = {.rows = rows_of(run->call),
                                    .x = run->launch->in[0],
                                    .mean = run->launch->in[1],
                                    .variance = run->launch->in[2],
                                    .gamma = run->launch->in[3],
                                    .dy = run->launch->in[4],
                                    .dx = run->launch->out[0],
                                    .eps = (float)run->call->attr[EBB_LN_EPS].f};
    return cuda_launch(run->backend, cuda_kernel_for(CUDA_KERNEL_ln_grad, run->call->in[0].dtype),
                       cuda_rows_blocks(&args.rows), &args);
}

CUDA_OP(ln_grad, CUDA_REALS, CUDA_SWEEP, .launch = ln_grad_launch);
