/* cuda/reduce.c: launches of kernels/reduce.h, and which of them sums a shape. */
#include "exec/cuda/broadcast.h"
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
    const cuda_element result = cuda_element_of(run->call->out[0].dtype);
    const cuda_column_args args = {.lanes = *lanes,
                                   .x = run->launch->in[0],
                                   .to = {.partial = run->launch->scratch,
                                          .direct = last ? run->launch->out[0] : NULL,
                                          .divisor = divisor,
                                          .element = result}};
    const ebb_status status = cuda_launch(run->backend, cuda_kernel_for(kernel, run->call->in[0].dtype),
                                          cuda_lanes_blocks(lanes), &args);
    if (status != EBB_OK || last) return status;
    const cuda_sums_join_args join = {.n_sums = 1,
                                      .what = CUDA_JOIN_PLAIN,
                                      .divisor = divisor,
                                      .result = result,
                                      .a = run->launch->out[0]};
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

CUDA_OP(bias_grad, CUDA_REALS, CUDA_SWEEP, .supports = cuda_channels_supports, .scratch = bias_grad_scratch,
        .launch = bias_grad_launch);

void cuda_rate_again(const ebb_call *call, double bytes, ebb_kernel_rate *rate) {
    ebb_cost cost;
    call->op->cost(call, &cost);
    const double counted = (double)cost.bytes;
    rate->bytes = ebb_max_i64((int64_t)((double)rate->bytes * counted / (counted + bytes)), 1);
}

ebb_status cuda_bias_sums_launch(const ebb_kernel_run *run, const ebb_call *sum, uint32_t of, uint32_t to) {
    const ebb_launch launch = {.in = &run->launch->out[of],
                               .out = &run->launch->out[to],
                               .scratch = run->launch->scratch,
                               .scratch_bytes = run->launch->scratch_bytes};
    return bias_grad_launch(&(ebb_kernel_run){.backend = run->backend, .call = sum, .launch = &launch});
}

/* All elements are one channel's. */
static cuda_lanes squares_lanes(const ebb_call *call) {
    return cuda_lanes_of(1, ebb_type_count(&call->in[0]), 1, 4, CUDA_LANES_SUM_ROWS, CUDA_LANES_SUM_BLOCKS);
}

static ebb_status sum_squares_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    const cuda_lanes lanes = squares_lanes(call);
    return columns_scratch(backend, call, &lanes, bytes);
}

static ebb_status sum_squares_launch(const ebb_kernel_run *run) {
    const cuda_lanes lanes = squares_lanes(run->call);
    return run_columns(run, CUDA_KERNEL_square_sums, &lanes, 1);
}

CUDA_OP(sum_squares, CUDA_REALS, CUDA_SWEEP, .scratch = sum_squares_scratch, .launch = sum_squares_launch);

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
        r.lanes = cuda_lanes_of(a.outer, a.size * a.inner, a.inner, 4, CUDA_LANES_SUM_ROWS,
                                CUDA_LANES_SUM_BLOCKS);
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
    const ebb_dtype dtype = run->call->in[0].dtype;
    if (r.way == BY_COLUMNS) return run_columns(run, CUDA_KERNEL_column_sums, &r.lanes, divisor);
    if (r.way == BY_ROWS) {
        const cuda_row_sums_args args = {.rows = {axis.outer, axis.size},
                                         .x = run->launch->in[0],
                                         .y = run->launch->out[0],
                                         .divisor = divisor};
        return cuda_launch(run->backend, cuda_kernel_for(CUDA_KERNEL_row_sums, dtype),
                           cuda_rows_blocks(&args.rows), &args);
    }
    const cuda_strip_sums_args args = {.x = run->launch->in[0],
                                       .y = run->launch->out[0],
                                       .outer = axis.outer,
                                       .size = axis.size,
                                       .inner = axis.inner,
                                       .wide = axis.inner % 4 == 0,
                                       .factor = 1 / divisor};
    return cuda_launch(run->backend, cuda_kernel_for(CUDA_KERNEL_strip_sums, dtype),
                       cuda_blocks_of(cuda_strip_total(&args), CUDA_STRIP_THREADS), &args);
}

/* x as outer x size x inner, the axes in the middle: where they are one run of x's bytes and the result's
 * bytes are what is left in its order. */
static bool one_run(const ebb_call *call, ebb_axis *out) {
    const ebb_type *x = &call->in[0], *y = &call->out[0];
    const uint32_t axes = ebb_reduce_axes(x, call->attr);
    bool good =
        ebb_dtype_real(x->dtype) && axes != 0 && (y->rank == x->rank || (x->rank != 4 && y->rank != 4));
    *out = (ebb_axis){1, 1, 1};
    for (uint32_t a = 0, n = 0; a < x->rank && good; a++) {
        if (!(axes >> a & 1)) continue;
        const ebb_axis axis = ebb_axis_of(x, a);
        if (n++ == 0) {
            *out = axis;
        } else if (out->inner == axis.size * axis.inner) { /* the next one inwards */
            *out = (ebb_axis){out->outer, out->size * axis.size, axis.inner};
        } else {
            good = false;
        }
    }
    return good;
}

/* Numbers to a result that are a block's, not a thread's. */
enum { BLOCK_LEAST = 64 };

static cuda_reduce_args walks_of(const ebb_kernel_run *run, uint32_t axes) {
    const ebb_type *x = &run->call->in[0], *y = &run->call->out[0];
    ebb_walk kept, gone;
    uint32_t along[EBB_MAX_RANK], itself[EBB_MAX_RANK];
    for (uint32_t d = 0; d < EBB_MAX_RANK; d++) itself[d] = d;
    ebb_reduce_along(x, y, axes, along);
    ebb_walk_begin(&kept, y);
    ebb_walk_operand(&kept, x, along, NULL, NULL);
    ebb_walk_end(&kept);
    ebb_walk_begin_axes(&gone, x, axes);
    ebb_walk_operand(&gone, x, itself, NULL, NULL);
    ebb_walk_end(&gone);
    cuda_reduce_args args = {.x = run->launch->in[0],
                             .y = run->launch->out[0],
                             .n_results = ebb_walk_count(&kept),
                             .n_each = ebb_walk_count(&gone),
                             .divisor = 1};
    cuda_strides_of(&kept, &args.kept);
    cuda_strides_of(&gone, &args.gone);
    return args;
}

static ebb_status walk_launch(const ebb_kernel_run *run, cuda_reduce_what what, bool mean) {
    cuda_reduce_args args = walks_of(run, ebb_reduce_axes(&run->call->in[0], run->call->attr));
    args.what = (int32_t)what;
    if (mean) args.divisor = (double)args.n_each;
    const bool whole = run->call->in[0].dtype == EBB_I32, blocks = args.n_each >= BLOCK_LEAST;
    const cuda_kernel_id kernel =
        blocks ? (whole ? CUDA_KERNEL_reduce_block_i32 : CUDA_KERNEL_reduce_block_f32)
               : (whole ? CUDA_KERNEL_reduce_i32 : CUDA_KERNEL_reduce_f32);
    return cuda_launch(run->backend, cuda_kernel_for(kernel, run->call->in[0].dtype),
                       blocks ? args.n_results : cuda_blocks_of(args.n_results, CUDA_REDUCE_THREADS),
                       &args);
}

static ebb_status sums_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    ebb_axis axis;
    *bytes = 0;
    return one_run(call, &axis) ? along_scratch(backend, call, axis, bytes) : EBB_OK;
}

static ebb_status sums_launch(const ebb_kernel_run *run, bool mean) {
    ebb_axis axis;
    if (!one_run(run->call, &axis)) return walk_launch(run, CUDA_REDUCE_SUM, mean);
    return along_launch(run, axis, mean ? (double)axis.size : 1);
}

static ebb_status reduce_sum_launch(const ebb_kernel_run *run) {
    return sums_launch(run, false);
}
CUDA_OP(reduce_sum, CUDA_REALS | EBB_TAKES(I32), CUDA_SWEEP, .scratch = sums_scratch,
        .launch = reduce_sum_launch);

static ebb_status reduce_mean_launch(const ebb_kernel_run *run) {
    return sums_launch(run, true);
}
CUDA_OP(reduce_mean, CUDA_REALS, CUDA_SWEEP, .scratch = sums_scratch, .launch = reduce_mean_launch);

static ebb_status reduce_max_launch(const ebb_kernel_run *run) {
    return walk_launch(run, CUDA_REDUCE_MAX, false);
}
CUDA_OP(reduce_max, CUDA_REALS | EBB_TAKES(I32), CUDA_SWEEP, .launch = reduce_max_launch);

static ebb_status reduce_min_launch(const ebb_kernel_run *run) {
    return walk_launch(run, CUDA_REDUCE_MIN, false);
}
CUDA_OP(reduce_min, CUDA_REALS | EBB_TAKES(I32), CUDA_SWEEP, .launch = reduce_min_launch);

static ebb_status reduce_prod_launch(const ebb_kernel_run *run) {
    return walk_launch(run, CUDA_REDUCE_PROD, false);
}
CUDA_OP(reduce_prod, CUDA_REALS | EBB_TAKES(I32), CUDA_SWEEP, .launch = reduce_prod_launch);

static ebb_status best_launch(const ebb_kernel_run *run, cuda_kernel_id real, cuda_kernel_id whole) {
    const cuda_reduce_args args = walks_of(run, UINT32_C(1) << run->call->attr[EBB_ARGMAX_AXIS].i[0]);
    const ebb_dtype dtype = run->call->in[0].dtype;
    return cuda_launch(run->backend, dtype == EBB_I32 ? whole : cuda_kernel_for(real, dtype),
                       cuda_blocks_of(args.n_results, CUDA_REDUCE_THREADS), &args);
}

static ebb_status argmax_launch(const ebb_kernel_run *run) {
    return best_launch(run, CUDA_KERNEL_argmax_f32, CUDA_KERNEL_argmax_i32);
}
CUDA_OP(argmax, CUDA_REALS | EBB_TAKES(I32), CUDA_SWEEP, .launch = argmax_launch);

static ebb_status argmin_launch(const ebb_kernel_run *run) {
    return best_launch(run, CUDA_KERNEL_argmin_f32, CUDA_KERNEL_argmin_i32);
}
CUDA_OP(argmin, CUDA_REALS | EBB_TAKES(I32), CUDA_SWEEP, .launch = argmin_launch);

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

CUDA_OP(global_avg_pool, CUDA_REALS, CUDA_SWEEP, .scratch = global_avg_pool_scratch,
        .launch = global_avg_pool_launch);
