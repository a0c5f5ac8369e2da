/* cuda/norm_sums.c: launches of kernels/norm_sums.h. */
#include "exec/cuda/kernels/norm_sums.h"
#include "exec/cuda/reduction.h"

static ebb_status two_sums_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    const cuda_lanes lanes = cuda_lanes_for_sums(&call->in[0]);
    return cuda_sums_scratch(backend, call, &lanes, 2, bytes);
}

/* ---- bn_stats ------------------------------------------------------------------------------------- */

static cuda_lanes stats_lanes(const ebb_type *x) {
    return cuda_lanes_of(1, ebb_type_count(x), x->dim[1], 4, CUDA_LANES_SUM_ROWS, CUDA_LANES_STAT_BLOCKS);
}

static ebb_status stats_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    const cuda_lanes lanes = stats_lanes(&call->in[0]);
    return cuda_sums_scratch(backend, call, &lanes, 2, bytes);
}

static ebb_status bn_stats_launch(const ebb_kernel_run *run) {
    const cuda_norm_stats_args args = {.lanes = stats_lanes(&run->call->in[0]),
                                       .x = run->launch->in[0],
                                       .to = {.partial = run->launch->scratch}};
    const ebb_status status =
        cuda_launch(run->backend, cuda_kernel_for(CUDA_KERNEL_norm_stats, run->call->in[0].dtype),
                    cuda_lanes_blocks(&args.lanes), &args);
    if (status != EBB_OK) return status;
    const int64_t each = args.lanes.count / args.lanes.channels;
    const cuda_sums_join_args join = {.n_sums = 2,
                                      .what = CUDA_JOIN_STATS,
                                      .divisor = (double)each,
                                      .per_channel = run->launch->in[0], /* the first row */
                                      .element = cuda_element_of(run->call->in[0].dtype),
                                      .a = run->launch->out[0],
                                      .b = run->launch->out[1]};
    return cuda_sums_join(run->backend, &args.lanes, run->launch->scratch, join);
}

CUDA_OP(bn_stats, CUDA_REALS, CUDA_SWEEP, .supports = cuda_channels_supports, .scratch = stats_scratch,
        .launch = bn_stats_launch);

/* ---- sums of gradients: operands x, mean, variance, ... ------------------------------------------- */

/* x: which operand it is; the statistics stand behind it. */
static ebb_status run_sums(const ebb_kernel_run *run, uint32_t x, cuda_kernel_id kernel,
                           cuda_norm_sums_args args) {
    args.lanes = cuda_lanes_for_sums(&run->call->in[0]);
    args.x = run->launch->in[x];
    args.mean = run->launch->in[x + 1];
    args.variance = run->launch->in[x + 2];
    args.eps = (float)run->call->attr[EBB_BN_EPS].f;
    args.to.partial = run->launch->scratch;
    const ebb_status status = cuda_launch(run->backend, cuda_kernel_for(kernel, run->call->in[0].dtype),
                                          cuda_lanes_blocks(&args.lanes), &args);
    if (status != EBB_OK) return status;
    const cuda_sums_join_args join = {.n_sums = 2,
                                      .what = CUDA_JOIN_GRAD,
                                      .eps = run->call->attr[EBB_BN_EPS].f,
                                      .per_channel = run->launch->in[x + 2],
                                      .a = run->launch->out[run->call->n_out - 2],
                                      .b = run->launch->out[run->call->n_out - 1]};
    return cuda_sums_join(run->backend, &args.lanes, run->launch->scratch, join);
}

static ebb_status bn_grad_sums_launch(const ebb_kernel_run *run) {
    const cuda_norm_sums_args args = {.dy = run->launch->in[3]};
    return run_sums(run, 0, CUDA_KERNEL_norm_sums_plain, args);
}

CUDA_OP(bn_grad_sums, CUDA_REALS, CUDA_SWEEP, .supports = cuda_channels_supports,
        .scratch = two_sums_scratch, .launch = bn_grad_sums_launch);

static ebb_status bn_act_grad_sums_launch(const ebb_kernel_run *run) {
    const cuda_norm_sums_args args = {.gamma = run->launch->in[3],
                                      .beta = run->launch->in[4],
                                      .dy = run->launch->in[5],
                                      .bounds = cuda_bounds_of(run->call)};
    return run_sums(run, 0, CUDA_KERNEL_norm_sums_act, args);
}

CUDA_OP(bn_act_grad_sums, CUDA_REALS, CUDA_SWEEP, .supports = cuda_channels_supports,
        .scratch = two_sums_scratch, .launch = bn_act_grad_sums_launch);

static ebb_status bn_add_grad_sums_launch(const ebb_kernel_run *run) {
    const bool two = run->call->n_in > 5;
    const cuda_norm_sums_args args = {.y = run->launch->in[3],
                                      .dy = run->launch->in[4],
                                      .more = two ? run->launch->in[5] : NULL,
                                      .du = run->launch->out[0],
                                      .bounds = cuda_bounds_of(run->call)};
    return run_sums(run, 0, two ? CUDA_KERNEL_norm_sums_add_two : CUDA_KERNEL_norm_sums_add, args);
}

CUDA_OP(bn_add_grad_sums, CUDA_REALS, CUDA_SWEEP, .supports = cuda_channels_supports,
        .scratch = two_sums_scratch, .launch = bn_add_grad_sums_launch);

static ebb_status bn_add_bits_grad_sums_launch(const ebb_kernel_run *run) {
    const bool two = run->call->n_in > 5;
    const cuda_norm_sums_args args = {.bits = run->launch->in[4],
                                      .dy = run->launch->in[0],
                                      .more = two ? run->launch->in[5] : NULL,
                                      .du = run->launch->out[0]};
    return run_sums(run, 1, two ? CUDA_KERNEL_norm_sums_bits_two : CUDA_KERNEL_norm_sums_bits, args);
}

CUDA_OP(bn_add_bits_grad_sums, CUDA_REALS | EBB_TAKES(U8), CUDA_SWEEP, .supports = cuda_channels_supports,
        .scratch = two_sums_scratch, .launch = bn_add_bits_grad_sums_launch);
