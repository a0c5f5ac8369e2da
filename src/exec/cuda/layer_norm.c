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

static ebb_status sums_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    const cuda_lanes lanes = cuda_lanes_for_sums(&call->in[0]);
    return cuda_sums_scratch(backend, call, &lanes, 2, bytes);
}

/* Of dy, to results first and first + 1. */
static ebb_status sums_launch(const ebb_kernel_run *run, const void *dy, uint32_t first) {
    const cuda_ln_sums_args args = {.lanes = cuda_lanes_for_sums(&run->call->in[0]),
                                    .x = run->launch->in[0],
                                    .mean = run->launch->in[1],
                                    .variance = run->launch->in[2],
                                    .dy = dy,
                                    .eps = (float)run->call->attr[EBB_LN_EPS].f,
                                    .to = {.partial = run->launch->scratch}};
    const ebb_status status =
        cuda_launch(run->backend, cuda_kernel_for(CUDA_KERNEL_ln_sums, run->call->in[0].dtype),
                    cuda_lanes_blocks(&args.lanes), &args);
    if (status != EBB_OK) return status;
    const cuda_sums_join_args join = {.n_sums = 2,
                                      .what = CUDA_JOIN_PLAIN,
                                      .divisor = 1,
                                      .a = run->launch->out[first],
                                      .b = run->launch->out[first + 1]};
    return cuda_sums_join(run->backend, &args.lanes, run->launch->scratch, join);
}

static ebb_status ln_grad_sums_launch(const ebb_kernel_run *run) {
    return sums_launch(run, run->launch->in[3], 0);
}

CUDA_OP(ln_grad_sums, CUDA_REALS, CUDA_SWEEP, .supports = cuda_channels_supports, .scratch = sums_scratch,
        .launch = ln_grad_sums_launch);

static ebb_status ln_grad_launch(const ebb_kernel_run *run) {
    const bool adds = run->call->n_in > 5;
    const cuda_ln_grad_args args = {.rows = rows_of(run->call),
                                    .x = run->launch->in[0],
                                    .mean = run->launch->in[1],
                                    .variance = run->launch->in[2],
                                    .gamma = run->launch->in[3],
                                    .dy = run->launch->in[4],
                                    .more = adds ? run->launch->in[5] : NULL,
                                    .dx = run->launch->out[0],
                                    .eps = (float)run->call->attr[EBB_LN_EPS].f};
    const cuda_kernel_id plain = cuda_kernel_for(CUDA_KERNEL_ln_grad, run->call->in[0].dtype);
    return cuda_launch(run->backend, adds ? CUDA_KERNEL_ln_grad_more : plain, cuda_rows_blocks(&args.rows),
                       &args);
}

CUDA_OP(ln_grad, CUDA_REALS, CUDA_SWEEP, .launch = ln_grad_launch);

/* ---- both: the sums by columns, then dx by rows ---- */

/* In launches of their own: x and dy are read twice, and dx again by a bias's sums. */
static void backward_rate(const ebb_backend *backend, const ebb_call *call, ebb_kernel_rate *rate,
                          const char **kind) {
    const bool bias = call->op->code == EBB_OP_ln_backward_bias;
    (void)backend, (void)kind;
    cuda_rate_again(call, (bias ? 3.0 : 2.0) * (double)ebb_type_bytes(&call->in[0]), rate);
    rate->start_ns += ebb_cuda_ln_grad_sums.rate.start_ns + (bias ? ebb_cuda_bias_grad.rate.start_ns : 0);
}

/* dx may lie over what the sums are of. */
static ebb_status ln_backward_launch(const ebb_kernel_run *run) {
    const ebb_status status = sums_launch(run, run->launch->in[4], 1);
    return status == EBB_OK ? ln_grad_launch(run) : status;
}

CUDA_OP(ln_backward, EBB_TAKES(F32), CUDA_SWEEP, .rate_of = backward_rate,
        .supports = cuda_channels_supports, .scratch = sums_scratch, .launch = ln_backward_launch);

static ebb_call bias_call(const ebb_call *call) {
    return (ebb_call){
        .op = &ebb_op_bias_grad, .in = &call->out[0], .out = &call->out[3], .n_in = 1, .n_out = 1};
}

/* One after the other. */
static ebb_status ln_backward_bias_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    const ebb_call bias = bias_call(call);
    int64_t own = 0;
    ebb_status status = sums_scratch(backend, call, bytes);
    if (status == EBB_OK) status = ebb_cuda_bias_grad.scratch(backend, &bias, &own);
    if (status == EBB_OK) *bytes = ebb_max_i64(*bytes, own);
    return status;
}

static ebb_status ln_backward_bias_launch(const ebb_kernel_run *run) {
    const ebb_call bias = bias_call(run->call);
    const ebb_status status = ln_backward_launch(run);
    return status == EBB_OK ? cuda_bias_sums_launch(run, &bias, 0, 3) : status;
}

CUDA_OP(ln_backward_bias, EBB_TAKES(F32), CUDA_SWEEP, .rate_of = backward_rate,
        .supports = cuda_channels_supports, .scratch = ln_backward_bias_scratch,
        .launch = ln_backward_bias_launch);
