/* kernels/elementwise.h: ops that look at one element at a time, 16 bytes of them to a thread. In place, an
 * output is an input: a thread reads its elements before it writes them, and no others.
 *
 * Bytes moved: an element's for each element of each operand, and of the result. */
#ifndef EBB_EXEC_CUDA_KERNELS_ELEMENTWISE_H
#define EBB_EXEC_CUDA_KERNELS_ELEMENTWISE_H

#include "exec/cuda/kernels/pointwise.h"

#define CUDA_POINTWISE_THREADS 256

/* Elements of a block. */
CUDA_BODY int64_t cuda_pointwise_each(cuda_element e) {
    return (int64_t)cuda_side(e) * CUDA_POINTWISE_THREADS;
}

typedef struct cuda_pointwise_args {
    const void *a, *b; /* b: NULL where there is one operand */
    void *y;
    int64_t n;
    float p, q;    /* what an op's attributes give */
    const void *s; /* NULL, or where p is, in device memory: an element */
} cuda_pointwise_args;

/* What a thread does with its elements; of(a, b, p, q) is the op. */
#define CUDA_POINTWISE_BODY(name)                                                                       \
    CUDA_BODY void cuda_##name##_in(const cuda_##name##_args *args, int64_t block, int32_t thread,      \
                                    int32_t phase, void *shared, cuda_element e) {                      \
        const int32_t side = cuda_side(e);                                                              \
        const int64_t begin = block * cuda_pointwise_each(e) + side * (int64_t)thread;                  \
        const int64_t left = args->n - begin;                                                           \
        const float p = args->s ? cuda_get1(e, args->s, 0) : args->p, q = args->q;                      \
        (void)phase, (void)shared;                                                                      \
        if (left <= 0) return;                                                                          \
        const cuda_f32x8 x = cuda_get_some(e, side, args->a, begin, left);                              \
        const cuda_f32x8 z = args->b ? cuda_get_some(e, side, args->b, begin, left) : x;                \
        cuda_f32x8 y = cuda_zero8();                                                                    \
        CUDA_UNROLL for (int32_t k = 0; k < side; k++) y.v[k] = cuda_##name##_of(x.v[k], z.v[k], p, q); \
        cuda_put_some(e, side, args->y, begin, y, left);                                                \
    }                                                                                                   \
    CUDA_BODIES(name)

/* The list's bodies; what is computed is cuda_<name>_of (pointwise.h). */
#define CUDA_POINTWISE(name, first, second, ...)    \
    typedef cuda_pointwise_args cuda_##name##_args; \
    CUDA_POINTWISE_BODY(name)
#include "exec/cuda/kernels/elementwise.def"

/* ---- scale and fill --------------------------------------------------------------------------------- */

typedef cuda_pointwise_args cuda_scale_args;
CUDA_POINTWISE_BODY(scale)

/* y is p everywhere. */
typedef cuda_pointwise_args cuda_fill_args;
CUDA_BODY void cuda_fill_in(const cuda_fill_args *args, int64_t block, int32_t thread, int32_t phase,
                            void *shared, cuda_element e) {
    const int32_t side = cuda_side(e);
    const int64_t begin = block * cuda_pointwise_each(e) + side * (int64_t)thread;
    cuda_f32x8 y;
    (void)phase, (void)shared;
    CUDA_UNROLL for (int32_t k = 0; k < 8; k++) y.v[k] = args->p;
    if (begin < args->n) cuda_put_some(e, side, args->y, begin, y, args->n - begin);
}
CUDA_BODIES(fill)

#endif
