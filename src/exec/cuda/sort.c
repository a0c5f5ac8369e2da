/* cuda/sort.c: launches of kernels/sort.h. Scratch: two tables of places, of which each width reads one and
 * writes the other. */
#include "exec/cuda/cuda.h"
#include "exec/cuda/kernels/sort.h"

static ebb_status sort_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    char text[EBB_TYPE_TEXT];
    if (ebb_mul_i64(ebb_type_count(&call->in[0]), 2 * sizeof(int32_t), bytes)) return EBB_OK;
    return ebb_fail(backend->env, EBB_BAD_INPUT,
                    "backend cuda: sort of %s needs more than 2^63 - 1 bytes of scratch",
                    ebb_type_text(&call->in[0], text));
}

static ebb_status sort_launch(const ebb_kernel_run *run) {
    const ebb_type *x = &run->call->in[0];
    const ebb_axis axis = ebb_axis_of(x, run->call->attr[EBB_SORT_AXIS].i[0]);
    const int64_t n = ebb_type_count(x), n_blocks = cuda_blocks_of(n, CUDA_MERGE_THREADS);
    const cuda_kernel_id kernel =
        x->dtype == EBB_I32 ? CUDA_KERNEL_merge_i32 : cuda_kernel_for(CUDA_KERNEL_merge_f32, x->dtype);
    int32_t *tables = run->launch->scratch;
    cuda_merge_args args = {.x = run->launch->in[0],
                            .to = tables,
                            .n = n,
                            .size = axis.size,
                            .inner = axis.inner,
                            .descending = run->call->attr[EBB_SORT_DESCENDING].i[0] != 0};
    ebb_status status = EBB_OK;
    for (args.width = 1; args.width < axis.size && status == EBB_OK; args.width *= 2) {
        status = cuda_launch(run->backend, kernel, n_blocks, &args);
        args.from = args.to;
        args.to = args.to == tables ? tables + n : tables;
    }
    args.to = run->launch->out[1];
    args.y = run->launch->out[0];
    const cuda_kernel_id merged = ebb_dtype_low(x->dtype) ? CUDA_KERNEL_merged_16 : CUDA_KERNEL_merged_32;
    return status == EBB_OK ? cuda_launch(run->backend, merged, n_blocks, &args) : status;
}
CUDA_OP(sort, CUDA_REALS | EBB_TAKES(I32), EBB_RATE(2, 40, 20000), .scratch = sort_scratch,
        .launch = sort_launch);
