/* cuda/dropout.c: launches of kernels/dropout.h. The gradient is dropout of dy. */
#include "exec/cuda/cuda.h"
#include "exec/cuda/kernels/dropout.h"

static ebb_status dropout_launch(const ebb_kernel_run *run) {
    const ebb_type *x = &run->call->in[0];
    const double p = run->call->attr[EBB_DROPOUT_P].f;
    cuda_dropout_args args = {.x = run->launch->in[0],
                              .y = run->launch->out[0],
                              .scalars = cuda_of(run->backend)->device->scalars,
                              .seed_key = run->seed_key,
                              .threshold = ebb_dropout_threshold(p),
                              .scale = (float)ebb_dropout_scale(p),
                              .n = ebb_type_count(x)};
    if (x->rank != 4)
        return cuda_launch(run->backend, cuda_kernel_for(CUDA_KERNEL_dropout, x->dtype),
                           cuda_blocks_of(args.n, CUDA_DROPOUT_EACH), &args);
    args.channels = x->dim[1];
    args.places = x->dim[2] * x->dim[3];
    args.groups = cuda_blocks_of(args.places, 4);
    args.n_groups = x->dim[0] * args.groups * args.channels;
    return cuda_launch(run->backend, cuda_kernel_for(CUDA_KERNEL_dropout_planes, x->dtype),
                       cuda_blocks_of(args.n_groups, CUDA_DROPOUT_THREADS), &args);
}

CUDA_OP(dropout, CUDA_REALS, CUDA_SWEEP, .launch = dropout_launch);
CUDA_OP(dropout_grad, CUDA_REALS, CUDA_SWEEP, .launch = dropout_launch);
