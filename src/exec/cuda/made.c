/* cuda/made.c: launches of kernels/made.h. */
#include "exec/cuda/broadcast.h"
#include "exec/cuda/cuda.h"
#include "exec/cuda/kernels/made.h"

static ebb_status launch_made(const ebb_kernel_run *run, cuda_kernel_id kernel, const ebb_walk *walk,
                              double base, double times, double most) {
    cuda_made_args args = {.scalars = cuda_of(run->backend)->device->scalars,
                           .seed_key = run->seed_key,
                           .y = run->launch->out[0],
                           .n = ebb_walk_count(walk),
                           .base = (float)base,
                           .times = (float)times,
                           .most = (float)most};
    cuda_strides_of(walk, &args.of);
    return cuda_launch(run->backend, kernel, cuda_blocks_of(args.n, CUDA_PLACES_EACH), &args);
}

static ebb_status iota_launch(const ebb_kernel_run *run) {
    const ebb_type *y = &run->call->out[0];
    const uint32_t axis = (uint32_t)run->call->attr[EBB_IOTA_AXIS].i[0];
    const ebb_type line = {.dtype = EBB_I32, .rank = 1, .dim = {y->dim[axis]}};
    uint32_t along[EBB_MAX_RANK];
    for (uint32_t d = 0; d < EBB_MAX_RANK; d++) along[d] = d == axis ? 0 : EBB_NONE;
    ebb_walk walk;
    ebb_walk_begin(&walk, y);
    ebb_walk_operand(&walk, &line, along, NULL, NULL);
    ebb_walk_end(&walk);
    return launch_made(run, CUDA_KERNEL_iota, &walk, 0, 0, 0);
}
CUDA_OP(iota, EBB_TAKES(I32), CUDA_SWEEP, .launch = iota_launch);

static ebb_status uniform_launch(const ebb_kernel_run *run) {
    const double low = run->call->attr[EBB_UNIFORM_LOW].f;
    ebb_walk walk;
    ebb_walk_begin_logical(&walk, &run->call->out[0]);
    return launch_made(run, cuda_kernel_for(CUDA_KERNEL_uniform, run->call->out[0].dtype), &walk, low,
                       run->call->attr[EBB_UNIFORM_HIGH].f - low, ebb_uniform_most(run->call->attr));
}
CUDA_OP(uniform, CUDA_REALS, CUDA_SWEEP, .launch = uniform_launch);

static ebb_status normal_launch(const ebb_kernel_run *run) {
    const ebb_attr *attr = run->call->attr;
    ebb_walk walk;
    ebb_walk_begin_logical(&walk, &run->call->out[0]);
    return launch_made(run, cuda_kernel_for(CUDA_KERNEL_normal, run->call->out[0].dtype), &walk,
                       attr[EBB_NORMAL_MEAN].f, attr[EBB_NORMAL_STD].f, 0);
}
CUDA_OP(normal, CUDA_REALS, CUDA_SWEEP, .launch = normal_launch);
