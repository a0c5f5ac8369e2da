/* cuda/shape.c: launches of kernels/shape.h. Channels are innermost, in rank 2 and 4 alike. */
#include "exec/cuda/cuda.h"
#include "exec/cuda/kernels/shape.h"

/* ---- concat, slice ---------------------------------------------------------------------------------- */

static bool whole_quads(const cuda_copy_rows_args *a) {
    return (a->width | a->from_row | a->from_first | a->to_row | a->to_first) % 4 == 0;
}

/* Elements of 16 bits as pairs, where everything is even: true. */
static bool pair_up(const ebb_type *type, cuda_copy_rows_args *a) {
    const bool even = (a->width | a->from_row | a->from_first | a->to_row | a->to_first) % 2 == 0;
    if (ebb_dtype_bytes(type->dtype) != 2 || !even) return false;
    a->width /= 2;
    a->from_row /= 2;
    a->from_first /= 2;
    a->to_row /= 2;
    a->to_first /= 2;
    a->n /= 2;
    return true;
}

/* f32, i32 and pairs are 32 bits to it. */
static ebb_status launch_copy_rows(const ebb_kernel_run *run, cuda_copy_rows_args args) {
    const ebb_type *type = &run->call->out[0];
    const bool pairs = pair_up(type, &args);
    args.quads = whole_quads(&args);
    return cuda_launch(run->backend,
                       pairs ? CUDA_KERNEL_copy_rows
                             : cuda_kernel_by_bytes(type->dtype, CUDA_KERNEL_copy_byte_rows,
                                                    CUDA_KERNEL_copy_half_rows, CUDA_KERNEL_copy_rows),
                       cuda_blocks_of(args.n, CUDA_MOVE_EACH), &args);
}

static ebb_status concat_launch(const ebb_kernel_run *run) {
    const int64_t axis = run->call->attr[EBB_CONCAT_AXIS].i[0];
    const ebb_axis whole = ebb_axis_of(&run->call->out[0], axis);
    cuda_copy_rows_args args = {.to = run->launch->out[0], .to_row = whole.size * whole.inner};
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; i < run->call->n_in && status == EBB_OK; i++) {
        args.from = run->launch->in[i];
        args.width = args.from_row = run->call->in[i].dim[axis] * whole.inner;
        args.n = whole.outer * args.width;
        status = launch_copy_rows(run, args);
        args.to_first += args.width;
    }
    return status;
}
CUDA_OP(concat, CUDA_ALL, CUDA_SWEEP, .launch = concat_launch);

static ebb_status slice_launch(const ebb_kernel_run *run) {
    const ebb_attr *attr = run->call->attr;
    const ebb_axis x = ebb_axis_of(&run->call->in[0], attr[EBB_SLICE_AXIS].i[0]);
    cuda_copy_rows_args args = {.from = run->launch->in[0],
                                .to = run->launch->out[0],
                                .width = attr[EBB_SLICE_SIZE].i[0] * x.inner,
                                .from_row = x.size * x.inner,
                                .from_first = attr[EBB_SLICE_BEGIN].i[0] * x.inner,
                                .to_row = attr[EBB_SLICE_SIZE].i[0] * x.inner,
                                .n = ebb_type_count(&run->call->out[0])};
    return launch_copy_rows(run, args);
}
CUDA_OP(slice, CUDA_ALL, CUDA_SWEEP, .launch = slice_launch);

static ebb_status slice_grad_launch(const ebb_kernel_run *run) {
    const ebb_attr *attr = run->call->attr;
    const ebb_axis dy = ebb_axis_of(&run->call->in[0], attr[EBB_SLICE_GRAD_AXIS].i[0]);
    cuda_embed_rows_args args = {.from = run->launch->in[0],
                                 .to = run->launch->out[0],
                                 .width = dy.size * dy.inner,
                                 .from_row = dy.size * dy.inner,
                                 .to_row = attr[EBB_SLICE_GRAD_TOTAL].i[0] * dy.inner,
                                 .to_first = attr[EBB_SLICE_GRAD_BEGIN].i[0] * dy.inner,
                                 .n = ebb_type_count(&run->call->out[0])};
    const ebb_type *type = &run->call->out[0];
    const bool pairs = pair_up(type, &args);
    args.quads = whole_quads(&args);
    return cuda_launch(run->backend,
                       pairs ? CUDA_KERNEL_embed_rows
                             : cuda_kernel_by_bytes(type->dtype, CUDA_KERNEL_embed_byte_rows,
                                                    CUDA_KERNEL_embed_half_rows, CUDA_KERNEL_embed_rows),
                       cuda_blocks_of(args.n, CUDA_MOVE_EACH), &args);
}
CUDA_OP(slice_grad, CUDA_ALL, CUDA_SWEEP, .launch = slice_grad_launch);

/* ---- expand, bias ----------------------------------------------------------------------------------- */

static ebb_status expand_launch(const ebb_kernel_run *run) {
    const ebb_type *type = &run->call->out[0];
    const ebb_axis y = ebb_axis_of(type, run->call->attr[EBB_EXPAND_AXIS].i[0]);
    const bool pairs = ebb_dtype_bytes(type->dtype) == 2 && y.inner % 2 == 0;
    const int64_t each = pairs ? 2 : 1, inner = y.inner / each;
    const cuda_expand_args args = {.x = run->launch->in[0],
                                   .y = run->launch->out[0],
                                   .size = y.size,
                                   .inner = inner,
                                   .n = ebb_type_count(type) / each,
                                   .quads = inner % 4 == 0};
    return cuda_launch(run->backend,
                       pairs ? CUDA_KERNEL_expand
                             : cuda_kernel_by_bytes(type->dtype, CUDA_KERNEL_expand_byte,
                                                    CUDA_KERNEL_expand_half, CUDA_KERNEL_expand),
                       cuda_blocks_of(args.n, CUDA_MOVE_EACH), &args);
}
CUDA_OP(expand, CUDA_ALL, CUDA_SWEEP, .launch = expand_launch);

static ebb_status bias_launch(const ebb_kernel_run *run) {
    const ebb_type *x = &run->call->in[0];
    const cuda_element e = cuda_element_of(x->dtype);
    const cuda_bias_args args = {.x = run->launch->in[0],
                                 .b = run->launch->in[1],
                                 .y = run->launch->out[0],
                                 .size = x->dim[1],
                                 .n = ebb_type_count(x),
                                 .quads = x->dim[1] % cuda_side(e) == 0};
    return cuda_launch(run->backend, cuda_kernel_for(CUDA_KERNEL_bias, x->dtype),
                       cuda_blocks_of(args.n, cuda_bias_each(e)), &args);
}
CUDA_OP(bias, CUDA_REALS, CUDA_SWEEP, .launch = bias_launch);

/* ---- planes ----------------------------------------------------------------------------------------- */

static ebb_status planes_launch(const ebb_kernel_run *run, int64_t n_images, int64_t rows,
                                int64_t columns) {
    const cuda_planes_args args = {.from = run->launch->in[0],
                                   .to = run->launch->out[0],
                                   .rows = rows,
                                   .columns = columns,
                                   .tiles_down = cuda_blocks_of(rows, CUDA_PLANES_TILE),
                                   .tiles_across = cuda_blocks_of(columns, CUDA_PLANES_TILE)};
    return cuda_launch(run->backend,
                       cuda_kernel_by_bytes(run->call->out[0].dtype, CUDA_KERNEL_byte_planes,
                                            CUDA_KERNEL_half_planes, CUDA_KERNEL_planes),
                       n_images * args.tiles_down * args.tiles_across, &args);
}

static ebb_status to_planes_launch(const ebb_kernel_run *run) {
    const int64_t *x = run->call->in[0].dim;
    return planes_launch(run, x[0], x[2] * x[3], x[1]);
}
CUDA_OP(to_planes, CUDA_ALL, CUDA_SWEEP, .launch = to_planes_launch);

static ebb_status from_planes_launch(const ebb_kernel_run *run) {
    const int64_t *y = run->call->out[0].dim;
    return planes_launch(run, y[0], y[1], y[2] * y[3]);
}
CUDA_OP(from_planes, CUDA_ALL, CUDA_SWEEP, .launch = from_planes_launch);
