/* cuda/reduction.h: how kernels over rows of lanes are launched, above all those that sum (kernels/lanes.h,
 * kernels/sums.h). */
#ifndef EBB_EXEC_CUDA_REDUCTION_H
#define EBB_EXEC_CUDA_REDUCTION_H

#include "exec/cuda/cuda.h"
#include "exec/cuda/kernels/norm.h"
#include "exec/cuda/kernels/sums.h"

/* EBB_BAD_INPUT where input 0 has more channels than lanes can be numbered. */
EBB_CHECKED ebb_status cuda_channels_supports(ebb_backend *backend, const ebb_call *call);

/* Of [n,c] and [n,c,h,w], for kernels that leave sums behind, or none; side: lanes of a thread. */
cuda_lanes cuda_lanes_for_sums(const ebb_type *type);
cuda_lanes cuda_lanes_for_each(const ebb_type *type, int32_t side);
int64_t cuda_lanes_blocks(const cuda_lanes *lanes);

/* Bytes of the partials of n_sums sums, or EBB_BAD_INPUT where they do not fit in 63 bits. */
EBB_CHECKED ebb_status cuda_sums_scratch(ebb_backend *backend, const ebb_call *call,
                                         const cuda_lanes *lanes, int32_t n_sums, int64_t *bytes);

/* Launches the join of partials. The caller gives n_sums, what, divisor, eps, per_channel, a and b. */
EBB_CHECKED ebb_status cuda_sums_join(ebb_backend *backend, const cuda_lanes *lanes, const void *partial,
                                      cuda_sums_join_args join);

/* The rate of a kernel that reads so many bytes more than its op counts. */
void cuda_rate_again(const ebb_call *call, double bytes, ebb_kernel_rate *rate);

/* Launches `sum`, a call of bias_grad, of result `of` of the run to result `to`, with the run's scratch. */
ebb_status cuda_bias_sums_launch(const ebb_kernel_run *run, const ebb_call *sum, uint32_t of, uint32_t to);

/* Of bn_act, bn_add and their gradients: as an element holds them. */
static inline cuda_bounds cuda_bounds_of(const ebb_call *call) {
    const ebb_bounds bounds = ebb_bn_act_bounds(call->attr);
    const ebb_dtype dtype = call->in[0].dtype;
    return (cuda_bounds){(float)ebb_dtype_rounded(dtype, bounds.min),
                         (float)ebb_dtype_rounded(dtype, bounds.max)};
}

#endif
