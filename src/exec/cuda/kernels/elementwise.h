/* kernels/elementwise.h: ops that look at one element at a time, four to a thread. In place, an output is an
 * input: a thread reads its elements before it writes them, and no others. */
#ifndef EBB_EXEC_CUDA_KERNELS_ELEMENTWISE_H
#define EBB_EXEC_CUDA_KERNELS_ELEMENTWISE_H

#include "exec/cuda/kernel.h"

#define CUDA_POINTWISE_THREADS 256
#define CUDA_POINTWISE_EACH    (4 * CUDA_POINTWISE_THREADS) /* elements of a block */

typedef struct cuda_pointwise_args {
    const float *a, *b; /* b: NULL where there is one operand */
    float *y;
    int64_t n;
    float p, q; /* what an op's attributes give */
} cuda_pointwise_args;

/* expression: of float a, b and of p, q. */
#define CUDA_POINTWISE(name, expression)                                                                \
    typedef cuda_pointwise_args cuda_##name##_args;                                                     \
    CUDA_BODY float cuda_##name##_of(float a, float b, float p, float q) {                              \
        (void)a, (void)b, (void)p, (void)q;                                                             \
        return expression;                                                                              \
    }                                                                                                   \
    CUDA_BODY void cuda_##name##_body(const cuda_##name##_args *args, int64_t block, int32_t thread,    \
                                      int32_t phase, void *shared) {                                    \
        const float *a = args->a, *b = args->b ? args->b : args->a;                                     \
        const float p = args->p, q = args->q;                                                           \
        const int64_t begin = block * CUDA_POINTWISE_EACH + 4 * (int64_t)thread, n = args->n;           \
        (void)phase, (void)shared;                                                                      \
        if (begin + 4 <= n) {                                                                           \
            const cuda_f32x4 x = cuda_load4(a + begin), z = cuda_load4(b + begin);                      \
            cuda_f32x4 y;                                                                               \
            for (int k = 0; k < 4; k++) y.v[k] = cuda_##name##_of(x.v[k], z.v[k], p, q);                \
            cuda_store4(args->y + begin, y);                                                            \
        } else {                                                                                        \
            for (int64_t i = begin; i < n; i++) args->y[i] = cuda_##name##_of(a[i], b[i], p, q);        \
        }                                                                                               \
    }

/* A NaN must show in the loss, so it is asked what is cut, not what is kept. */
CUDA_POINTWISE(relu, a < 0 ? 0 : a)
CUDA_POINTWISE(add, a + b)

#endif
