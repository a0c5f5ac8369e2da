/* cuda/embedding.c: launches of kernels/embedding.h. */
#include "exec/cuda/cuda.h"
#include "exec/cuda/kernels/elementwise.h"
#include "exec/cuda/kernels/embedding.h"

static ebb_status embedding_launch(const ebb_kernel_run *run) {
    const cuda_embedding_args args = {.table = run->launch->in[0],
                                      .ids = run->launch->in[1],
                                      .y = run->launch->out[0],
                                      .scalars = cuda_of(run->backend)->device->scalars,
                                      .rows = run->call->in[0].dim[0],
                                      .c = run->call->in[0].dim[1],
                                      .n = ebb_type_count(&run->call->out[0]),
                                      .quads = run->call->in[0].dim[1] % 4 == 0};
    return cuda_launch(run->backend, cuda_kernel_for(CUDA_KERNEL_embedding, run->call->out[0].dtype),
                       cuda_blocks_of(args.n, CUDA_EMBEDDING_EACH), &args);
}
CUDA_OP(embedding, CUDA_REALS | EBB_TAKES(I32), CUDA_SWEEP, .launch = embedding_launch);

/* ---- the gradient ----------------------------------------------------------------------------------- */

/* The sort numbers ids, rows of dy and rows of the table (and one behind them) in 32 bits. */
static ebb_status embedding_grad_supports(ebb_backend *backend, const ebb_call *call) {
    const int64_t n = call->in[1].dim[0], rows = call->out[0].dim[0];
    if (n <= INT32_MAX && rows < INT32_MAX) return EBB_OK;
    return ebb_fail(backend->env, EBB_BAD_INPUT,
                    "backend cuda: embedding_grad of %lld ids to %lld rows: fewer than %d are supported",
                    (long long)n, (long long)rows, INT32_MAX);
}

/* Four tables of a number for each id; n is below 2^31 (supports). */
static ebb_status embedding_grad_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    (void)backend;
    *bytes = 4 * call->in[1].dim[0] * (int64_t)sizeof(int32_t);
    return EBB_OK;
}

static ebb_status embedding_grad_launch(const ebb_kernel_run *run) {
    const int64_t n = run->call->in[1].dim[0], rows = run->call->out[0].dim[0],
                  c = run->call->out[0].dim[1];
    int32_t *tables = run->launch->scratch, n_rounds = 0;
    while (rows >> (n_rounds * CUDA_SORT_BITS)) n_rounds++;
    const cuda_sort_args sort = {.ids = run->launch->in[1],
                                 .key = {tables, tables + n},
                                 .row = {tables + 2 * n, tables + 3 * n},
                                 .scalars = cuda_of(run->backend)->device->scalars,
                                 .n = n,
                                 .rows = rows,
                                 .n_rounds = n_rounds};
    const cuda_fill_args zeros = {.y = run->launch->out[0], .n = rows * c};
    const cuda_embedding_runs_args runs = {.dy = run->launch->in[0],
                                           .key = sort.key[n_rounds % 2],
                                           .row = sort.row[n_rounds % 2],
                                           .to = run->launch->out[0],
                                           .n = n,
                                           .rows = rows,
                                           .c = c,
                                           .slices = cuda_blocks_of(c, CUDA_RUNS_EACH),
                                           .quads = c % 4 == 0};
    const ebb_dtype dtype = run->call->out[0].dtype;
    ebb_status status = cuda_launch(run->backend, CUDA_KERNEL_sort, 1, &sort);
    if (status == EBB_OK)
        status = cuda_launch(run->backend, cuda_kernel_for(CUDA_KERNEL_fill, dtype),
                             cuda_blocks_of(zeros.n, cuda_pointwise_each(cuda_element_of(dtype))), &zeros);
    return status == EBB_OK ? cuda_launch(run->backend, cuda_kernel_for(CUDA_KERNEL_embedding_runs, dtype),
                                          n * runs.slices, &runs)
                            : status;
}
CUDA_OP(embedding_grad, CUDA_REALS | EBB_TAKES(I32), CUDA_SWEEP, .supports = embedding_grad_supports,
        .scratch = embedding_grad_scratch, .launch = embedding_grad_launch);
