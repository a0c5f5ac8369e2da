/* cuda/group_norm.c: launches of kernels/group_norm.h. */
#include "exec/cuda/kernels/group_norm.h"
#include "exec/cuda/reduction.h"

static cuda_groups groups_of(const ebb_call *call) {
    const ebb_type *x = &call->in[0];
    const int64_t groups = call->attr[EBB_GN_GROUPS].i[0];
    return (cuda_groups){.images = x->dim[0],
                         .places = x->rank == 4 ? x->dim[2] * x->dim[3] : 1,
                         .c = x->dim[1],
                         .groups = groups,
                         .each = x->dim[1] / groups};
}

static ebb_status gn_stats_launch(const ebb_kernel_run *run) {
    const cuda_gn_stats_args args = {.s = groups_of(run->call),
                                     .x = run->launch->in[0],
                                     .to_mean = run->launch->out[0],
                                     .to_variance = run->launch->out[1]};
    return cuda_launch(run->backend, cuda_kernel_for(CUDA_KERNEL_gn_stats, run->call->in[0].dtype),
                       args.s.images * args.s.groups, &args);
}

CUDA_OP(gn_stats, CUDA_REALS, CUDA_SWEEP, .launch = gn_stats_launch);

static cuda_gn_args with_statistics(const ebb_kernel_run *run) {
    return (cuda_gn_args){.s = groups_of(run->call),
                          .x = run->launch->in[0],
                          .mean = run->launch->in[1],
                          .variance = run->launch->in[2],
                          .to = run->launch->out[0],
                          .eps = (float)run->call->attr[EBB_GN_EPS].f};
}

static ebb_status gn_apply_launch(const ebb_kernel_run *run) {
    cuda_gn_apply_args args = with_statistics(run);
    args.gamma = run->launch->in[3];
    args.beta = run->launch->in[4];
    const int64_t n = ebb_type_count(&run->call->in[0]);
    return cuda_launch(run->backend, cuda_kernel_for(CUDA_KERNEL_gn_apply, run->call->in[0].dtype),
                       cuda_blocks_of(n, CUDA_GN_EACH), &args);
}

CUDA_OP(gn_apply, CUDA_REALS, CUDA_SWEEP, .launch = gn_apply_launch);

static ebb_status gn_grad_launch(const ebb_kernel_run *run) {
    cuda_gn_grad_args args = with_statistics(run);
    args.gamma = run->launch->in[3];
    args.dy = run->launch->in[4];
    return cuda_launch(run->backend, cuda_kernel_for(CUDA_KERNEL_gn_grad, run->call->in[0].dtype),
                       args.s.images * args.s.groups, &args);
}

CUDA_OP(gn_grad, CUDA_REALS, CUDA_SWEEP, .launch = gn_grad_launch);

static ebb_status gn_grad_sums_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    const cuda_lanes lanes = cuda_lanes_for_sums(&call->in[0]);
    return cuda_sums_scratch(backend, call, &lanes, 2, bytes);
}

static ebb_status gn_grad_sums_launch(const ebb_kernel_run *run) {
    cuda_gn_sums_args args = with_statistics(run);
    args.lanes = cuda_lanes_for_sums(&run->call->in[0]);
    args.dy = run->launch->in[3];
    args.to = NULL;
    args.sums = (cuda_sums_to){.partial = run->launch->scratch};
    const ebb_status status =
        cuda_launch(run->backend, cuda_kernel_for(CUDA_KERNEL_gn_sums, run->call->in[0].dtype),
                    cuda_lanes_blocks(&args.lanes), &args);
    if (status != EBB_OK) return status;
    const cuda_sums_join_args join = {.n_sums = 2,
                                      .what = CUDA_JOIN_PLAIN,
                                      .divisor = 1,
                                      .a = run->launch->out[0],
                                      .b = run->launch->out[1]};
    return cuda_sums_join(run->backend, &args.lanes, run->launch->scratch, join);
}

CUDA_OP(gn_grad_sums, CUDA_REALS, CUDA_SWEEP, .supports = cuda_channels_supports,
        .scratch = gn_grad_sums_scratch, .launch = gn_grad_sums_launch);
