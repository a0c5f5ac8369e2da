/* cuda/embedding.c: launches of kernels/embedding.h. */
#include "exec/cuda/cuda.h"
#include "exec/cuda/kernels/elementwise.h"
#include "exec/cuda/kernels/embedding.h"
#include "exec/cuda/kernels/shape.h"

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

/* ---- the gradient, by itself and onto another -------------------------------------------------------- */

/* The sort numbers ids, rows of dy and rows of the table (and one behind them) in 32 bits. */
static ebb_status runs_supports(ebb_backend *backend, const ebb_call *call) {
    const int64_t n = call->in[1].dim[0], rows = call->out[0].dim[0];
    if (n <= INT32_MAX && rows < INT32_MAX) return EBB_OK;
    return ebb_fail(backend->env, EBB_BAD_INPUT,
                    "backend cuda: %s of %lld ids to %lld rows: fewer than %d are supported",
                    call->op->name, (long long)n, (long long)rows, INT32_MAX);
}

/* Four tables of a number for each id; n is below 2^31 (supports). */
static ebb_status runs_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    (void)backend;
    *bytes = 4 * call->in[1].dim[0] * (int64_t)sizeof(int32_t);
    return EBB_OK;
}

/* Zeros, or the other gradient where it is not there already. */
static ebb_status table_begin(const ebb_kernel_run *run) {
    const ebb_type *type = &run->call->out[0];
    const ebb_dtype dtype = type->dtype;
    const cuda_fill_args zeros = {.y = run->launch->out[0], .n = ebb_type_count(type)};
    if (run->call->n_in == 2)
        return cuda_launch(run->backend, cuda_kernel_for(CUDA_KERNEL_fill, dtype),
                           cuda_blocks_of(zeros.n, cuda_pointwise_each(cuda_element_of(dtype))), &zeros);
    if (run->launch->in[2] == run->launch->out[0]) return EBB_OK;
    const cuda_copy_rows_args copy = {.from = run->launch->in[2],
                                      .to = run->launch->out[0],
                                      .width = zeros.n,
                                      .n = zeros.n,
                                      .quads = zeros.n % 4 == 0};
    return cuda_launch(run->backend,
                       cuda_kernel_by_bytes(dtype, CUDA_KERNEL_copy_byte_rows, CUDA_KERNEL_copy_half_rows,
                                            CUDA_KERNEL_copy_rows),
                       cuda_blocks_of(zeros.n, CUDA_MOVE_EACH), &copy);
}

static ebb_status runs_launch(const ebb_kernel_run *run) {
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
    const cuda_embedding_runs_args runs = {.dy = run->launch->in[0],
                                           .key = sort.key[n_rounds % 2],
                                           .row = sort.row[n_rounds % 2],
                                           .to = run->launch->out[0],
                                           .n = n,
                                           .rows = rows,
                                           .c = c,
                                           .slices = cuda_blocks_of(c, CUDA_RUNS_EACH),
                                           .quads = c % 4 == 0,
                                           .onto = run->call->n_in > 2};
    ebb_status status = cuda_launch(run->backend, CUDA_KERNEL_sort, 1, &sort);
    if (status == EBB_OK) status = table_begin(run);
    if (status != EBB_OK) return status;
    return cuda_launch(run->backend, cuda_kernel_for(CUDA_KERNEL_embedding_runs, run->call->out[0].dtype),
                       n * runs.slices, &runs);
}
CUDA_OP(embedding_grad, CUDA_REALS | EBB_TAKES(I32), CUDA_SWEEP, .supports = runs_supports,
        .scratch = runs_scratch, .launch = runs_launch);
CUDA_OP(embedding_grad_onto, CUDA_REALS | EBB_TAKES(I32), CUDA_SWEEP, .supports = runs_supports,
        .scratch = runs_scratch, .launch = runs_launch);
