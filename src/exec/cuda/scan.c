/* cuda/scan.c: launches of kernels/scan.h. */
#include "exec/cuda/cuda.h"
#include "exec/cuda/kernels/scan.h"

/* Places of a line that are a block's, not a thread's. */
enum { BLOCK_LEAST = 512 };

static ebb_status cumsum_launch(const ebb_kernel_run *run) {
    const ebb_axis axis = ebb_axis_of(&run->call->in[0], run->call->attr[EBB_CUMSUM_AXIS].i[0]);
    const cuda_scan_args args = {.x = run->launch->in[0],
                                 .y = run->launch->out[0],
                                 .n_lines = axis.outer * axis.inner,
                                 .size = axis.size,
                                 .inner = axis.inner,
                                 .reverse = run->call->attr[EBB_CUMSUM_REVERSE].i[0] != 0};
    const ebb_dtype dtype = run->call->in[0].dtype;
    const bool blocks = axis.size >= BLOCK_LEAST;
    const cuda_kernel_id whole = blocks ? CUDA_KERNEL_cumsum_block_i32 : CUDA_KERNEL_cumsum_i32;
    const cuda_kernel_id real = blocks ? CUDA_KERNEL_cumsum_block_f32 : CUDA_KERNEL_cumsum_f32;
    return cuda_launch(run->backend, dtype == EBB_I32 ? whole : cuda_kernel_for(real, dtype),
                       blocks ? args.n_lines : cuda_blocks_of(args.n_lines, CUDA_SCAN_THREADS), &args);
}
CUDA_OP(cumsum, CUDA_REALS | EBB_TAKES(I32), EBB_RATE(30, 30, 2500), .launch = cumsum_launch);
