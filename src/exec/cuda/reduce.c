/* cuda/reduce.c: launches of kernels/reduce.h, and which of them sums a shape. */
#include "exec/cuda/kernels/reduce.h"
#include "exec/cuda/reduction.h"

/* ---- per channel, and of all ---------------------------------------------------------------------- */

static ebb_status columns_scratch(ebb_backend *backend, const ebb_call *call, const cuda_lanes *lanes,
                                  int64_t *bytes) {
    *bytes = 0;
    return cuda_sums_are_last(lanes) ? EBB_OK : cuda_sums_scratch(backend, call, lanes, 1, bytes);
}

static ebb_status run_columns(const ebb_kernel_run *run, cuda_kernel_id kernel, const cuda_lanes *lanes,
                              double divisor) {
    const bool last = cuda_sums_are_last(lanes);
    const cuda_column_args args = {.lanes = *lanes,
                                   .x = run->launch->in[0],
                                   .to = {.partial = run->launch->scratch,
                                          .direct = last ? run->launch->out[0] : NULL,
                                          .divisor = divisor}};
    const ebb_status status = cuda_launch(run->backend, kernel, cuda_lanes_blocks(lanes), &args);
    if (status != EBB_OK || last) return status;
    const cuda_sums_join_args join = {
        .n_sums = 1, .what = CUDA_JOIN_PLAIN, .divisor = divisor, .a = run->launch->out[0]};
    return cuda_sums_join(run->backend, lanes, run->launch->scratch, join);
}

static ebb_status bias_grad_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    const cuda_lanes lanes = cuda_lanes_for_sums(&call->in[0]);
    return columns_scratch(backend, call, &lanes, bytes);
}

static ebb_status bias_grad_launch(const ebb_kernel_run *run) {
    const cuda_lanes lanes = cuda_lanes_for_sums(&run->call->in[0]);
    return run_columns(run, CUDA_KERNEL_bias_sums, &lanes, 1);
}

CUDA_OP(bias_grad, EBB_TAKES(F32), CUDA_SWEEP, .supports = cuda_channels_supports,
        .scratch = bias_grad_scratch, .launch = bias_grad_launch);

/* All elements are one channel's. */
static cuda_lanes squares_lanes(const ebb_call *call) {
    return cuda_lanes_of(1, ebb_type_count(&call->in[0]), 1, CUDA_LANES_SUM_ROWS, CUDA_LANES_SUM_BLOCKS);
}

static ebb_status sum_squares_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    const cuda_lanes lanes = squares_lanes(call);
    return columns_scratch(backend, call, &lanes, bytes);
}

static ebb_status sum_squares_launch(const ebb_kernel_run *run) {
    const cuda_lanes lanes = squares_lanes(run->call);
    return run_columns(run, CUDA_KERNEL_square_sums, &lanes, 1);
}

CUDA_OP(sum_squares, EBB_TAKES(F32), CUDA_SWEEP, .scratch = sum_squares_scratch,
        .launch = sum_squares_launch);

/* ---- along an axis -------------------------------------------------------------------------------- */

/* Sums that are many enough to have a thread each, and places that are too few to share out. */
enum { MANY_SUMS = 1 << 20, FEW_PLACES = 64 };

typedef enum reduction_way { BY_ROWS, BY_STRIPS, BY_COLUMNS } reduction_way;

typedef struct reduction {
    ebb_axis axis;
    reduction_way way;
    cuda_lanes lanes; /* by columns */
} reduction;

static reduction reduction_of(ebb_axis a) {
    reduction r = {.axis = a, .way = BY_COLUMNS};
    if (a.inner == 1 && a.size <= CUDA_ROWS_SHORT) {
        r.way = BY_ROWS;
    } else if (a.inner > 1 && (a.size < FEW_PLACES || a.outer * a.inner >= MANY_SUMS)) {
        r.way = BY_STRIPS;
    } else {
        r.lanes =
            cuda_lanes_of(a.outer, a.size * a.inner, a.inner, CUDA_LANES_SUM_ROWS, CUDA_LANES_SUM_BLOCKS);
    }
    return r;
}

static ebb_status along_scratch(ebb_backend *backend, const ebb_call *call, ebb_axis axis, int64_t *bytes) {
    const reduction r = reduction_of(axis);
    *bytes = 0;
    return r.way == BY_COLUMNS ? columns_scratch(backend, call, &r.lanes, bytes) : EBB_OK;
}

static ebb_status along_launch(const ebb_kernel_run *run, ebb_axis axis, double divisor) {
    const reduction r = reduction_of(axis);
    if (r.way == BY_COLUMNS) return run_columns(run, CUDA_KERNEL_column_sums, &r.lanes, divisor);
    if (r.way == BY_ROWS) {
        const cuda_row_sums_args args = {.rows = {axis.outer, axis.size},
                                         .x = run->launch->in[0],
                                         .y = run->launch->out[0],
                                         .divisor = divisor};
        return cuda_launch(run->backend, CUDA_KERNEL_row_sums, cuda_rows_blocks(&args.rows), &args);
    }
    const cuda_strip_sums_args args = {.x = run->launch->in[0],
                                       .y = run->launch->out[0],
                                       .outer = axis.outer,
                                       .size = axis.size,
                                       .inner = axis.inner,
                                       .wide = axis.inner % 4 == 0,
                                       .factor = 1 / divisor};
    return cuda_launch(run->backend, CUDA_KERNEL_strip_sums,
                       cuda_blocks_of(cuda_strip_total(&args), CUDA_STRIP_THREADS), &args);
}

static ebb_axis reduce_axis(const ebb_call *call) {
    return ebb_axis_of(&call->in[0], call->attr[EBB_REDUCE_AXIS].i[0]);
}

static ebb_status reduce_sum_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    return along_scratch(backend, call, reduce_axis(call), bytes);
}

static ebb_status reduce_sum_launch(const ebb_kernel_run *run) {
    return along_launch(run, reduce_axis(run->call), 1);
}

CUDA_OP(reduce_sum, EBB_TAKES(F32), CUDA_SWEEP, .scratch = reduce_sum_scratch, .launch = reduce_sum_launch);

/* ---- whole planes: the mean over places, which stand before channels ------------------------------ */

static ebb_axis plane_axis(const ebb_call *call) {
    const int64_t *d = call->in[0].dim;
    return (ebb_axis){.outer = d[0], .size = d[2] * d[3], .inner = d[1]};
}

static ebb_status global_avg_pool_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    return along_scratch(backend, call, plane_axis(call), bytes);
}

static ebb_status global_avg_pool_launch(const ebb_kernel_run *run) {
    const ebb_axis axis = plane_axis(run->call);
    return along_launch(run, axis, (double)axis.size);
}

CUDA_OP(global_avg_pool, EBB_TAKES(F32), CUDA_SWEEP, .scratch = global_avg_pool_scratch,
        .launch = global_avg_pool_launch);
