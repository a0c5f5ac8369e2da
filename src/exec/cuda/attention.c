/* cuda/attention.c: launches of kernels/attention.h and attention_grad.h. */
#include "exec/cuda/cuda.h"
#include "exec/cuda/kernels/attention_grad.h"
#include "exec/cuda/reduction.h"

static cuda_heads heads_of(const ebb_call *call) {
    const int64_t *dim = call->in[0].dim, heads = call->attr[EBB_ATTENTION_HEADS].i[0];
    cuda_heads h = {.t = dim[1], .c = dim[2] / 3, .heads = heads};
    h.d = h.c / heads;
    h.tiles = cuda_blocks_of(h.t, CUDA_TILE);
    h.chunks = cuda_blocks_of(h.d, CUDA_TILE);
    h.scale = (float)(1 / sqrt((double)h.d));
    h.causal = call->attr[EBB_ATTENTION_CAUSAL].i[0] != 0;
    return h;
}

static int64_t n_blocks(const ebb_call *call, const cuda_heads *h) {
    return call->in[0].dim[0] * h->heads * h->tiles * h->chunks;
}

/* 2^20 rows and heads of 2^15 numbers: phases are counted in 32 bits. */
static ebb_status attention_supports(ebb_backend *backend, const ebb_call *call) {
    enum { MOST_ROWS = 1 << 20, MOST_NUMBERS = 1 << 15 };
    const cuda_heads h = heads_of(call);
    if (h.t <= MOST_ROWS && h.d <= MOST_NUMBERS) return EBB_OK;
    char text[EBB_TYPE_TEXT];
    return ebb_fail(
        backend->env, EBB_BAD_INPUT,
        "backend cuda: %s of %s: %lld rows and heads of %lld numbers: at most %d and %d are supported",
        call->op->name, ebb_type_text(&call->in[0], text), (long long)h.t, (long long)h.d, MOST_ROWS,
        MOST_NUMBERS);
}

static ebb_status attention_launch(const ebb_kernel_run *run) {
    const cuda_attention_args args = {.qkv = run->launch->in[0],
                                      .y = run->launch->out[0],
                                      .lse = run->launch->out[1],
                                      .h = heads_of(run->call)};
    return cuda_launch(run->backend, cuda_kernel_for(CUDA_KERNEL_attention, run->call->in[0].dtype),
                       n_blocks(run->call, &args.h), &args);
}
CUDA_OP(attention, CUDA_REALS, CUDA_SWEEP, .supports = attention_supports, .launch = attention_launch);

static ebb_status attention_bias_launch(const ebb_kernel_run *run) {
    const cuda_attention_bias_args args = {.qkv = run->launch->in[0],
                                           .bias = run->launch->in[1],
                                           .y = run->launch->out[0],
                                           .lse = run->launch->out[1],
                                           .h = heads_of(run->call)};
    return cuda_launch(run->backend, CUDA_KERNEL_attention_bias, n_blocks(run->call, &args.h), &args);
}
CUDA_OP(attention_bias, EBB_TAKES(F32), CUDA_SWEEP, .supports = attention_supports,
        .launch = attention_bias_launch);

/* ---- the gradient ----------------------------------------------------------------------------------- */

/* D: as many numbers as lse has. */
static ebb_status attention_grad_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    (void)backend;
    *bytes = ebb_type_bytes(&call->in[2]);
    return EBB_OK;
}

/* Kernels of dq, and of dk and dv. */
static ebb_status grad_launch(const ebb_kernel_run *run, const float *bias, cuda_kernel_id dq,
                              cuda_kernel_id dkv) {
    const cuda_attention_dq_args args = {.qkv = run->launch->in[0],
                                         .y = run->launch->in[1],
                                         .lse = run->launch->in[2],
                                         .dy = run->launch->in[3],
                                         .bias = bias,
                                         .dqkv = run->launch->out[0],
                                         .inner = run->launch->scratch,
                                         .n = ebb_type_count(&run->call->in[2]),
                                         .h = heads_of(run->call)};
    const int64_t blocks = n_blocks(run->call, &args.h);
    const cuda_kernel_id inner = cuda_kernel_for(CUDA_KERNEL_attention_inner, run->call->in[0].dtype);
    ebb_status status = cuda_launch(run->backend, inner, cuda_blocks_of(args.n, CUDA_INNER_ROWS), &args);
    if (status == EBB_OK) status = cuda_launch(run->backend, dq, blocks, &args);
    return status == EBB_OK ? cuda_launch(run->backend, dkv, blocks, &args) : status;
}

static ebb_status attention_grad_launch(const ebb_kernel_run *run) {
    const ebb_dtype dtype = run->call->in[0].dtype;
    return grad_launch(run, NULL, cuda_kernel_for(CUDA_KERNEL_attention_dq, dtype),
                       cuda_kernel_for(CUDA_KERNEL_attention_dkv, dtype));
}
CUDA_OP(attention_grad, CUDA_REALS, CUDA_SWEEP, .supports = attention_supports,
        .scratch = attention_grad_scratch, .launch = attention_grad_launch);

static ebb_status attention_bias_grad_launch(const ebb_kernel_run *run) {
    return grad_launch(run, run->launch->in[4], CUDA_KERNEL_attention_bias_dq,
                       CUDA_KERNEL_attention_bias_dkv);
}
CUDA_OP(attention_bias_grad, EBB_TAKES(F32), CUDA_SWEEP, .supports = attention_supports,
        .scratch = attention_grad_scratch, .launch = attention_bias_grad_launch);

/* ---- with the bias's gradient, launched behind it ------------------------------------------------------
 */

typedef struct sum_call {
    ebb_type rows; /* dqkv as the rows that the bias was added to */
    ebb_call call;
} sum_call;

static void sum_call_of(const ebb_call *call, sum_call *out) {
    const ebb_type *dqkv = &call->out[0];
    out->rows =
        (ebb_type){.dtype = dqkv->dtype, .rank = 2, .dim = {dqkv->dim[0] * dqkv->dim[1], dqkv->dim[2]}};
    out->call =
        (ebb_call){.op = &ebb_op_bias_grad, .in = &out->rows, .out = &call->out[1], .n_in = 1, .n_out = 1};
}

/* dqkv is read again. */
static void backward_rate(const ebb_backend *backend, const ebb_call *call, ebb_kernel_rate *rate,
                          const char **kind) {
    (void)backend, (void)kind;
    cuda_rate_again(call, (double)ebb_type_bytes(&call->out[0]), rate);
    rate->start_ns += ebb_cuda_bias_grad.rate.start_ns;
}

static ebb_status attention_bias_backward_supports(ebb_backend *backend, const ebb_call *call) {
    sum_call sum;
    const ebb_status status = attention_supports(backend, call);
    sum_call_of(call, &sum);
    return status == EBB_OK ? ebb_cuda_bias_grad.supports(backend, &sum.call) : status;
}

/* One after the other. */
static ebb_status attention_bias_backward_scratch(ebb_backend *backend, const ebb_call *call,
                                                  int64_t *bytes) {
    sum_call sum;
    int64_t own = 0;
    sum_call_of(call, &sum);
    ebb_status status = attention_grad_scratch(backend, call, bytes);
    if (status == EBB_OK) status = ebb_cuda_bias_grad.scratch(backend, &sum.call, &own);
    if (status == EBB_OK) *bytes = ebb_max_i64(*bytes, own);
    return status;
}

static ebb_status attention_bias_backward_launch(const ebb_kernel_run *run) {
    sum_call sum;
    sum_call_of(run->call, &sum);
    const ebb_status status = attention_bias_grad_launch(run);
    return status == EBB_OK ? cuda_bias_sums_launch(run, &sum.call, 0, 1) : status;
}
CUDA_OP(attention_bias_backward, EBB_TAKES(F32), CUDA_SWEEP, .rate_of = backward_rate,
        .supports = attention_bias_backward_supports, .scratch = attention_bias_backward_scratch,
        .launch = attention_bias_backward_launch);
