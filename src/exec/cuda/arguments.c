/* cuda/arguments.c: see arguments.h. */
#include "exec/cuda/arguments.h"

#include "exec/cuda/kernels/elementwise.h"

void cuda_strides_of(const ebb_walk *walk, cuda_strides *out) {
    *out = (cuda_strides){.n_dims = (int32_t)walk->n_dims};
    for (uint32_t d = 0; d < walk->n_dims; d++) {
        out->size[d] = walk->size[d];
        for (uint32_t j = 0; j < walk->n_operands; j++) out->stride[j][d] = walk->stride[j][d];
    }
    for (uint32_t j = 0; j < walk->n_operands; j++) {
        int64_t next = 1;
        bool along = true;
        for (uint32_t d = walk->n_dims; d-- > 0; next *= walk->size[d])
            along = along && (walk->stride[j][d] == next || walk->size[d] == 1);
        out->along |= along ? 1 << j : 0;
    }
}

/* p: rounded as an element would be: what a clip leaves of a larger number is found to be at its bound. */
static float attribute(const ebb_call *call, double p) {
    return (float)ebb_dtype_rounded(call->out[0].dtype, p);
}

#define CUDA_POINTWISE(name, first, second, ...)                        \
    static void name##_numbers(const ebb_call *call, float number[2]) { \
        (void)call;                                                     \
        number[0] = (first);                                            \
        number[1] = (second);                                           \
    }
#include "exec/cuda/kernels/elementwise.def"

bool cuda_pointwise_numbers(const ebb_call *call, float number[2]) {
    static void (*const numbers[EBB_N_OPS])(const ebb_call *call, float number[2]) = {
#define CUDA_POINTWISE(name, first, second, ...) [EBB_OP_##name] = name##_numbers,
#include "exec/cuda/kernels/elementwise.def"
    };
    if (!numbers[call->op->code]) return false;
    numbers[call->op->code](call, number);
    return true;
}
