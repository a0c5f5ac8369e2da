/* cuda/take.c: launches of kernels/take.h. */
#include "exec/cuda/broadcast.h"
#include "exec/cuda/cuda.h"
#include "exec/cuda/kernels/embedding.h"
#include "exec/cuda/kernels/take.h"

/* Where a thread goes its own way through x or dy. */
#define TAKE_RATE EBB_RATE(50, 40, 2500)

/* ---- take, pick, and sort_grad --------------------------------------------------------------- */

static ebb_status chosen_launch(const ebb_kernel_run *run, uint32_t n_i, bool whole) {
    const ebb_type *x = &run->call->in[0];
    const ebb_axis axis = ebb_axis_of(x, run->call->attr[EBB_TAKE_AXIS].i[0]);
    cuda_take_args args = {.x = run->launch->in[0],
                           .i = run->launch->in[1],
                           .y = run->launch->out[0],
                           .scalars = cuda_of(run->backend)->device->scalars,
                           .n = ebb_type_count(&run->call->out[0]),
                           .places = axis.size,
                           .stride = axis.inner};
    ebb_walk walk;
    ebb_take_walk(run->call, n_i, whole, &walk);
    cuda_strides_of(&walk, &args.walk);
    return cuda_launch(
        run->backend,
        cuda_kernel_by_bytes(x->dtype, CUDA_KERNEL_take_8, CUDA_KERNEL_take_16, CUDA_KERNEL_take_32),
        cuda_blocks_of(args.n, CUDA_PLACES_EACH), &args);
}

static ebb_status take_launch(const ebb_kernel_run *run) {
    return chosen_launch(run, run->call->in[1].rank, false);
}
CUDA_OP(take, CUDA_ALL, TAKE_RATE, .launch = take_launch);

static ebb_status pick_launch(const ebb_kernel_run *run) {
    return chosen_launch(run, 0, true);
}
CUDA_OP(pick, CUDA_ALL, TAKE_RATE, .launch = pick_launch);

static ebb_status sort_grad_launch(const ebb_kernel_run *run) {
    return chosen_launch(run, 1, true);
}
CUDA_OP(sort_grad, CUDA_REALS | EBB_TAKES(I32), TAKE_RATE, .launch = sort_grad_launch);

/* ---- gradients -------------------------------------------------------------------------------------- */

/* The sort numbers indices and places (and one behind them) in 32 bits. */
static ebb_status take_grad_supports(ebb_backend *backend, const ebb_call *call) {
    const int64_t n = ebb_type_count(&call->in[1]), places = call->attr[EBB_TAKE_SIZE].i[0];
    if (n <= INT32_MAX && places < INT32_MAX) return EBB_OK;
    return ebb_fail(backend->env, EBB_BAD_INPUT,
                    "backend cuda: take_grad of %lld indices to %lld places: fewer than %d are supported",
                    (long long)n, (long long)places, INT32_MAX);
}

/* Four tables of a number for each index; there are fewer than 2^31 (supports). */
static ebb_status take_grad_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    (void)backend;
    *bytes = 4 * ebb_type_count(&call->in[1]) * (int64_t)sizeof(int32_t);
    return EBB_OK;
}

static ebb_status sort_indices(const ebb_kernel_run *run, cuda_take_sums_args *sums) {
    const int64_t n = sums->n_indices, places = run->call->attr[EBB_TAKE_SIZE].i[0];
    int32_t *tables = run->launch->scratch, n_rounds = 0;
    while (places >> (n_rounds * CUDA_SORT_BITS)) n_rounds++;
    const cuda_sort_args sort = {.ids = run->launch->in[1],
                                 .key = {tables, tables + n},
                                 .row = {tables + 2 * n, tables + 3 * n},
                                 .scalars = cuda_of(run->backend)->device->scalars,
                                 .n = n,
                                 .rows = places,
                                 .n_rounds = n_rounds,
                                 .from_end = 1};
    sums->key = sort.key[n_rounds % 2];
    sums->row = sort.row[n_rounds % 2];
    return cuda_launch(run->backend, CUDA_KERNEL_sort, 1, &sort);
}

static ebb_status take_grad_launch(const ebb_kernel_run *run) {
    const ebb_call *call = run->call;
    cuda_take_sums_args args = {.dy = run->launch->in[0],
                                .dx = run->launch->out[0],
                                .n = ebb_type_count(&call->out[0]),
                                .n_indices = ebb_type_count(&call->in[1])};
    ebb_walk walk, indices;
    ebb_take_index_walk(call, &indices);
    ebb_take_grad_walk(call, false, &walk);
    cuda_strides_of(&walk, &args.walk);
    cuda_strides_of(&indices, &args.indices);
    const ebb_status status = sort_indices(run, &args);
    return status == EBB_OK
               ? cuda_launch(run->backend, cuda_kernel_for(CUDA_KERNEL_take_sums, call->in[0].dtype),
                             cuda_blocks_of(args.n, CUDA_PLACES_THREADS), &args)
               : status;
}
CUDA_OP(take_grad, CUDA_REALS | EBB_TAKES(I32), TAKE_RATE, .supports = take_grad_supports,
        .scratch = take_grad_scratch, .launch = take_grad_launch);

static ebb_status pick_grad_launch(const ebb_kernel_run *run) {
    cuda_pick_grad_args args = {.dy = run->launch->in[0],
                                .i = run->launch->in[1],
                                .dx = run->launch->out[0],
                                .scalars = cuda_of(run->backend)->device->scalars,
                                .n = ebb_type_count(&run->call->out[0]),
                                .places = run->call->attr[EBB_TAKE_SIZE].i[0]};
    ebb_walk walk;
    ebb_take_grad_walk(run->call, true, &walk);
    cuda_strides_of(&walk, &args.walk);
    return cuda_launch(run->backend, cuda_kernel_for(CUDA_KERNEL_pick_grad, run->call->in[0].dtype),
                       cuda_blocks_of(args.n, CUDA_PLACES_THREADS), &args);
}
CUDA_OP(pick_grad, CUDA_REALS | EBB_TAKES(I32), CUDA_SWEEP, .launch = pick_grad_launch);
