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

/* expression: of float a, b and of p, q. */
#define CUDA_POINTWISE(name, expression)                                                                 \
    typedef cuda_pointwise_args cuda_##name##_args;                                                      \
    CUDA_BODY float cuda_##name##_of(float a, float b, float p, float q) {                               \
        (void)a, (void)b, (void)p, (void)q;                                                              \
        return expression;                                                                               \
    }                                                                                                    \
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

/* A NaN must show in the loss, so it is asked what is cut, not what is kept. */
CUDA_POINTWISE(relu, a < 0 ? 0 : a)
CUDA_POINTWISE(relu_grad, a <= 0 ? 0 : b) /* of y and dy */
CUDA_POINTWISE(clip, a<p ? p : a> q ? q : a)
CUDA_POINTWISE(clip_grad, a <= p || a >= q ? 0 : b) /* of y and dy */
CUDA_POINTWISE(add, a + b)
CUDA_POINTWISE(sub, a - b)
CUDA_POINTWISE(mul, a *b)
CUDA_POINTWISE(div, a / b)
CUDA_POINTWISE(rescale, p *a + q)
CUDA_POINTWISE(scale, p *a)
CUDA_POINTWISE(exp, expf(a))

/* ---- gelu ------------------------------------------------------------------------------------------- */

/* (1 + tanh(u)) / 2 = 1 / (1 + exp(-2 u)), and -2 u = x * (FIRST + THIRD * x^2). */
#define CUDA_GELU_FIRST (-1.5957691216F)
#define CUDA_GELU_THIRD (-0.0713548162726F)

CUDA_POINTWISE(gelu, a / (1 + expf(a * (CUDA_GELU_FIRST + CUDA_GELU_THIRD * (a * a)))))

/* dy * (s + x * s * (1 - s) * 2 u'), s = 1 / (1 + e), e = exp(-2 u), 1 - s = e * s. Where |x| is large s is
 * 0 or 1 to the last bit: x and e stop short of what would overflow. A NaN passes. */
CUDA_BODY float cuda_gelu_slope(float wide) {
    const float x = wide > 1e4F ? 1e4F : wide < -1e4F ? -1e4F : wide;
    const float twice = x * (CUDA_GELU_FIRST + CUDA_GELU_THIRD * (x * x));
    const float e = expf(twice > 88 ? 88 : twice), s = 1 / (1 + e);
    return s - s * (e * s) * (x * (CUDA_GELU_FIRST + 3 * CUDA_GELU_THIRD * (x * x)));
}
CUDA_POINTWISE(gelu_grad, b *cuda_gelu_slope(a))

/* ---- fill ------------------------------------------------------------------------------------------- */

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
