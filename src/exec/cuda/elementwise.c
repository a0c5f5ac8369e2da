/* cuda/elementwise.c: launches of kernels/elementwise.h. */
#include "exec/cuda/cuda.h"
#include "exec/cuda/kernels/elementwise.h"

#define POINTWISE(name)                                                                                  \
    static ebb_status name##_launch(ebb_backend *backend, const ebb_call *call, void *state,             \
                                    uint64_t seed_key, const ebb_launch *launch) {                       \
        (void)state, (void)seed_key;                                                                     \
        const cuda_##name##_args args = {.a = launch->in[0],                                             \
                                         .b = call->n_in > 1 ? launch->in[1] : NULL,                     \
                                         .y = launch->out[0],                                            \
                                         .n = ebb_type_count(&call->out[0])};                            \
        return cuda_launch(backend, CUDA_KERNEL_##name, cuda_blocks_of(args.n, CUDA_POINTWISE_EACH), &args); \
    }                                                                                                    \
    const ebb_kernel_info ebb_cuda_##name = {.launch = name##_launch};

POINTWISE(relu)
POINTWISE(add)
