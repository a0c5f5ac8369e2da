/* kernels/elementwise.h: ops that look at one element at a time, four to a thread. In place, an output is
 * an input: a thread reads its elements before it writes them, and no others.
 *
 * Bytes moved: 4 for each element of each operand, and 4 for each of the result. */
#ifndef EBB_EXEC_CUDA_KERNELS_ELEMENTWISE_H
#define EBB_EXEC_CUDA_KERNELS_ELEMENTWISE_H

#include "exec/cuda/kernel.h"

#define CUDA_POINTWISE_THREADS 256
#define CUDA_POINTWISE_EACH    (INT64_C(4) * CUDA_POINTWISE_THREADS) /* elements of a block */

typedef struct cuda_pointwise_args {
    const float *a, *b; /* b: NULL where there is one operand */
    float *y;
    int64_t n;
    float p, q;     /* what an op's attributes give */
    const float *s; /* NULL, or where p is, in device memory */
} cuda_pointwise_args;

/* What a thread does with its four elements; of(a, b, p, q) is the op. */
#define CUDA_POINTWISE_BODY(name)                                                                        \
    CUDA_BODY void cuda_##name##_body(const cuda_##name##_args *args, int64_t block, int32_t thread,     \
                                      int32_t phase, void *shared) {                                     \
        const int64_t begin = block * CUDA_POINTWISE_EACH + 4 * (int64_t)thread, left = args->n - begin; \
        const float p = args->s ? *args->s : args->p, q = args->q;                                       \
        (void)phase, (void)shared;                                                                       \
        if (left <= 0) return;                                                                           \
        const cuda_f32x4 x = cuda_load_some(args->a + begin, left);                                      \
        const cuda_f32x4 z = args->b ? cuda_load_some(args->b + begin, left) : x;                        \
        cuda_f32x4 y;                                                                                    \
        CUDA_UNROLL for (int k = 0; k < 4; k++) y.v[k] = cuda_##name##_of(x.v[k], z.v[k], p, q);         \
        cuda_store_some(args->y + begin, y, left);                                                       \
    }

#define CUDA_GELU_FIRST (-1.5957691216F)
#define CUDA_GELU_THIRD (-0.0713548162726F)

/* The list's bodies. */
#define CUDA_POINTWISE(name, first, second, ...)                           \
    typedef cuda_pointwise_args cuda_##name##_args;                        \
    CUDA_BODY float cuda_##name##_of(float a, float b, float p, float q) { \
        (void)a, (void)b, (void)p, (void)q;                                \
        __VA_ARGS__                                                        \
    }                                                                      \
    CUDA_POINTWISE_BODY(name)
#include "exec/cuda/kernels/elementwise.def"

/* ---- scale and fill --------------------------------------------------------------------------------- */

typedef cuda_pointwise_args cuda_scale_args;
CUDA_BODY float cuda_scale_of(float a, float b, float p, float q) {
    (void)b, (void)q;
    return p * a;
}
CUDA_POINTWISE_BODY(scale)

/* y is p everywhere. */
typedef cuda_pointwise_args cuda_fill_args;
CUDA_BODY void cuda_fill_body(const cuda_fill_args *args, int64_t block, int32_t thread, int32_t phase,
                              void *shared) {
    const int64_t begin = block * CUDA_POINTWISE_EACH + 4 * (int64_t)thread;
    cuda_f32x4 y;
    (void)phase, (void)shared;
    CUDA_UNROLL for (int k = 0; k < 4; k++) y.v[k] = args->p;
    if (begin < args->n) cuda_store_some(args->y + begin, y, args->n - begin);
}

#endif
