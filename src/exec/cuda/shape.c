/* cuda/shape.c: launches of kernels/shape.h. Channels are innermost, in rank 2 and 4 alike. */
#include "exec/cuda/cuda.h"
#include "exec/cuda/kernels/shape.h"

/* ---- concat, slice ---------------------------------------------------------------------------------- */

static bool whole_quads(const cuda_copy_rows_args *a) {
    return (a->width | a->from_row | a->from_first | a->to_row | a->to_first) % 4 == 0;
}

static ebb_status concat_launch(ebb_backend *backend, const ebb_call *call, void *state, uint64_t seed_key,
                                const ebb_launch *launch) {
    (void)state, (void)seed_key;
    const int64_t channels = call->out[0].dim[1], rows = ebb_type_count(&call->out[0]) / channels;
    cuda_copy_rows_args args = {.to = launch->out[0], .to_row = channels};
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; i < call->n_in && status == EBB_OK; i++) {
        args.from = launch->in[i];
        args.width = args.from_row = call->in[i].dim[1];
        args.n = rows * args.width;
        args.quads = whole_quads(&args);
        status = cuda_launch(backend, CUDA_KERNEL_copy_rows, cuda_blocks_of(args.n, CUDA_MOVE_EACH), &args);
        args.to_first += args.width;
    }
    return status;
}
const ebb_kernel_info ebb_cuda_concat = {.launch = concat_launch};

static ebb_status slice_launch(ebb_backend *backend, const ebb_call *call, void *state, uint64_t seed_key,
                               const ebb_launch *launch) {
    (void)state, (void)seed_key;
    cuda_copy_rows_args args = {.from = launch->in[0],
                                .to = launch->out[0],
                                .width = call->out[0].dim[1],
                                .from_row = call->in[0].dim[1],
                                .from_first = call->attr[EBB_SLICE_BEGIN].i[0],
                                .to_row = call->out[0].dim[1],
                                .n = ebb_type_count(&call->out[0])};
    args.quads = whole_quads(&args);
    return cuda_launch(backend, CUDA_KERNEL_copy_rows, cuda_blocks_of(args.n, CUDA_MOVE_EACH), &args);
}
const ebb_kernel_info ebb_cuda_slice = {.launch = slice_launch};

static ebb_status slice_grad_launch(ebb_backend *backend, const ebb_call *call, void *state,
                                    uint64_t seed_key, const ebb_launch *launch) {
    (void)state, (void)seed_key;
    cuda_embed_rows_args args = {.from = launch->in[0],
                                 .to = launch->out[0],
                                 .width = call->in[0].dim[1],
                                 .from_row = call->in[0].dim[1],
                                 .to_row = call->out[0].dim[1],
                                 .to_first = call->attr[EBB_SLICE_GRAD_BEGIN].i[0],
                                 .n = ebb_type_count(&call->out[0])};
    args.quads = whole_quads(&args);
    return cuda_launch(backend, CUDA_KERNEL_embed_rows, cuda_blocks_of(args.n, CUDA_MOVE_EACH), &args);
}
const ebb_kernel_info ebb_cuda_slice_grad = {.launch = slice_grad_launch};

/* ---- expand, bias ----------------------------------------------------------------------------------- */

static ebb_status expand_launch(ebb_backend *backend, const ebb_call *call, void *state, uint64_t seed_key,
                                const ebb_launch *launch) {
    (void)state, (void)seed_key;
    const ebb_axis y = ebb_axis_of(&call->out[0], call->attr[EBB_EXPAND_AXIS].i[0]);
    const cuda_expand_args args = {.x = launch->in[0],
                                   .y = launch->out[0],
                                   .size = y.size,
                                   .inner = y.inner,
                                   .n = ebb_type_count(&call->out[0]),
                                   .quads = y.inner % 4 == 0};
    return cuda_launch(backend, CUDA_KERNEL_expand, cuda_blocks_of(args.n, CUDA_MOVE_EACH), &args);
}
const ebb_kernel_info ebb_cuda_expand = {.launch = expand_launch};

static ebb_status bias_launch(ebb_backend *backend, const ebb_call *call, void *state, uint64_t seed_key,
                              const ebb_launch *launch) {
    (void)state, (void)seed_key;
    const cuda_bias_args args = {.x = launch->in[0],
                                 .b = launch->in[1],
                                 .y = launch->out[0],
                                 .size = call->in[0].dim[1],
                                 .n = ebb_type_count(&call->out[0]),
                                 .quads = call->in[0].dim[1] % 4 == 0};
    return cuda_launch(backend, CUDA_KERNEL_bias, cuda_blocks_of(args.n, CUDA_MOVE_EACH), &args);
}
const ebb_kernel_info ebb_cuda_bias = {.launch = bias_launch};

/* ---- planes ----------------------------------------------------------------------------------------- */

static ebb_status planes_launch(ebb_backend *backend, const ebb_launch *launch, int64_t n_images,
                                int64_t rows, int64_t columns) {
    const cuda_planes_args args = {.from = launch->in[0],
                                   .to = launch->out[0],
                                   .rows = rows,
                                   .columns = columns,
                                   .tiles_down = cuda_blocks_of(rows, CUDA_PLANES_TILE),
                                   .tiles_across = cuda_blocks_of(columns, CUDA_PLANES_TILE)};
    return cuda_launch(backend, CUDA_KERNEL_planes, n_images * args.tiles_down * args.tiles_across, &args);
}

static ebb_status to_planes_launch(ebb_backend *backend, const ebb_call *call, void *state,
                                   uint64_t seed_key, const ebb_launch *launch) {
    (void)state, (void)seed_key;
    const int64_t *x = call->in[0].dim;
    return planes_launch(backend, launch, x[0], x[2] * x[3], x[1]);
}
const ebb_kernel_info ebb_cuda_to_planes = {.launch = to_planes_launch};

static ebb_status from_planes_launch(ebb_backend *backend, const ebb_call *call, void *state,
                                     uint64_t seed_key, const ebb_launch *launch) {
    (void)state, (void)seed_key;
    const int64_t *y = call->out[0].dim;
    return planes_launch(backend, launch, y[0], y[1], y[2] * y[3]);
}
const ebb_kernel_info ebb_cuda_from_planes = {.launch = from_planes_launch};
