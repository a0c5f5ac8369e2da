/* kernels/pointwise.h: what ops of one element at a time make of numbers: cuda_<op>_of of those in
 * elementwise.def, cuda_<op>_<dtype>_of of those in broadcast.def. A helper of families, no family: an op's
 * own kernel calls them, and so does the code of a chain that it is a step of (kernels/fused.h). */
#ifndef EBB_EXEC_CUDA_KERNELS_POINTWISE_H
#define EBB_EXEC_CUDA_KERNELS_POINTWISE_H

#include "exec/cuda/kernels/strides.h"

#define CUDA_GELU_FIRST (-1.5957691216F)
#define CUDA_GELU_THIRD (-0.0713548162726F)

#define CUDA_POINTWISE(name, first, second, ...)                           \
    CUDA_BODY float cuda_##name##_of(float a, float b, float p, float q) { \
        (void)a, (void)b, (void)p, (void)q;                                \
        __VA_ARGS__                                                        \
    }
#include "exec/cuda/kernels/elementwise.def"

CUDA_BODY float cuda_scale_of(float a, float b, float p, float q) {
    (void)b, (void)q;
    return p * a;
}

CUDA_BODY int32_t cuda_whole_of(float a) {
    if (a != a) return 0;
    return a < -2147483648.0F ? INT32_MIN : a >= 2147483648.0F ? INT32_MAX : (int32_t)a;
}

CUDA_BODY int32_t cuda_floor_div_whole(int32_t a, int32_t b) {
    if (b == 0) return 0;
    if (b == -1) return (int32_t)(0U - (uint32_t)a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

#define CUDA_PLACES_1(name, T, R, ...)                            \
    CUDA_BODY cuda_value_##R cuda_##name##_of(cuda_value_##T a) { \
        __VA_ARGS__                                               \
    }
#define CUDA_PLACES_2(name, T, R, ...)                                              \
    CUDA_BODY cuda_value_##R cuda_##name##_of(cuda_value_##T a, cuda_value_##T b) { \
        __VA_ARGS__                                                                 \
    }
#include "exec/cuda/kernels/broadcast.def"

#endif
