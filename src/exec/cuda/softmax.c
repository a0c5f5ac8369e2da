/* cuda/softmax.c: launches of kernels/softmax.h. */
#include "exec/cuda/cuda.h"
#include "exec/cuda/kernels/softmax.h"

/* Blocks of so many rows with so many lanes each. */
static int64_t blocks_of(int64_t n_rows, int32_t lanes) {
    return cuda_blocks_of(n_rows, CUDA_SOFT_THREADS / lanes);
}

static cuda_softmax_args args_of(const ebb_kernel_run *run) {
    const ebb_type *x = &run->call->in[0];
    const int64_t k = x->dim[x->rank - 1];
    const bool causal = run->call->n_in == 1 && run->call->attr[EBB_SOFTMAX_CAUSAL].i[0];
    return (cuda_softmax_args){.x = run->launch->in[0],
                               .dy = run->call->n_in > 1 ? run->launch->in[1] : NULL,
                               .to = run->launch->out[0],
                               .n_rows = ebb_type_count(x) / k,
                               .k = k,
                               .group = causal ? x->dim[x->rank - 2] : 0,
                               .lanes = cuda_soft_lanes(k)};
}

static ebb_status softmax_launch(const ebb_kernel_run *run) {
    const cuda_softmax_args args = args_of(run);
    return cuda_launch(run->backend, cuda_kernel_for(CUDA_KERNEL_softmax, run->call->in[0].dtype),
                       blocks_of(args.n_rows, args.lanes), &args);
}
CUDA_OP(softmax, CUDA_REALS, CUDA_SWEEP, .launch = softmax_launch);

static ebb_status softmax_grad_launch(const ebb_kernel_run *run) {
    const cuda_softmax_grad_args args = args_of(run);
    return cuda_launch(run->backend, cuda_kernel_for(CUDA_KERNEL_softmax_grad, run->call->in[0].dtype),
                       blocks_of(args.n_rows, args.lanes), &args);
}
CUDA_OP(softmax_grad, CUDA_REALS, CUDA_SWEEP, .launch = softmax_grad_launch);

/* ---- cross-entropy ---------------------------------------------------------------------------------- */

static cuda_softmax_xent_args xent_args_of(ebb_backend *backend, const ebb_call *call) {
    const int64_t k = call->in[0].dim[1], n_rows = ebb_type_count(&call->in[0]) / k;
    const int32_t lanes = cuda_soft_lanes(k);
    return (cuda_softmax_xent_args){.scalars =
                                        cuda_of(backend)->device ? cuda_of(backend)->device->scalars : NULL,
                                    .n_rows = n_rows,
                                    .k = k,
                                    .n_blocks = blocks_of(n_rows, lanes),
                                    .smooth = call->attr[EBB_XENT_SMOOTH].f,
                                    .lanes = lanes};
}

/* A number for each block of rows, so fewer bytes than the logits have. */
static ebb_status softmax_xent_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    if (ebb_mul_i64(xent_args_of(backend, call).n_blocks, sizeof(double), bytes)) return EBB_OK;
    char text[EBB_TYPE_TEXT];
    return ebb_fail(backend->env, EBB_BAD_INPUT,
                    "backend cuda: %s of %s needs more than 2^63 - 1 bytes of scratch", call->op->name,
                    ebb_type_text(&call->in[0], text));
}

/* to: what the first kernel writes beside the losses of its blocks. */
static ebb_status losses_launch(const ebb_kernel_run *run, cuda_kernel_id kernel,
                                cuda_softmax_xent_args args, void *to) {
    args.logits = run->launch->in[0];
    args.labels = run->launch->in[1];
    args.losses = run->launch->scratch;
    args.to = to;
    const ebb_status status =
        cuda_launch(run->backend, cuda_kernel_for(kernel, run->call->in[0].dtype), args.n_blocks, &args);
    args.to = run->launch->out[0];
    return status == EBB_OK ? cuda_launch(run->backend, CUDA_KERNEL_softmax_xent_mean, 1, &args) : status;
}

static ebb_status softmax_xent_launch(const ebb_kernel_run *run) {
    return losses_launch(run, CUDA_KERNEL_softmax_xent, xent_args_of(run->backend, run->call), NULL);
}
CUDA_OP(softmax_xent, CUDA_REALS | EBB_TAKES(I32), CUDA_SWEEP, .scratch = softmax_xent_scratch,
        .launch = softmax_xent_launch);

static ebb_status softmax_xent_grad_launch(const ebb_kernel_run *run) {
    cuda_softmax_xent_grad_args args = xent_args_of(run->backend, run->call);
    args.logits = run->launch->in[0];
    args.labels = run->launch->in[1];
    args.dloss = run->launch->in[2];
    args.to = run->launch->out[0];
    return cuda_launch(run->backend, cuda_kernel_for(CUDA_KERNEL_softmax_xent_grad, run->call->in[0].dtype),
                       args.n_blocks, &args);
}
CUDA_OP(softmax_xent_grad, CUDA_REALS | EBB_TAKES(I32), CUDA_SWEEP, .launch = softmax_xent_grad_launch);

static ebb_status softmax_xent_value_and_grad_launch(const ebb_kernel_run *run) {
    cuda_softmax_xent_both_args args = xent_args_of(run->backend, run->call);
    args.scale = (float)((double)(float)run->call->attr[EBB_XENT_DLOSS].f / (double)args.n_rows);
    return losses_launch(run, CUDA_KERNEL_softmax_xent_both, args, run->launch->out[1]);
}
CUDA_OP(softmax_xent_value_and_grad, CUDA_REALS | EBB_TAKES(I32), CUDA_SWEEP,
        .scratch = softmax_xent_scratch, .launch = softmax_xent_value_and_grad_launch);
