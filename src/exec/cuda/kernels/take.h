/* kernels/take.h: places by indices (take, pick), and their gradients. Indices below 0 count from the end.
 *
 * take's gradient sorts the indices first (kernels/embedding.h), which leaves equal ones in their order;
 * then a thread to a number finds the first of its place by halves, and adds what follows, in double: no
 * atomics.
 *
 * Bytes moved: twice an element's for each of y, 4 for each index; the gradients an element's for each of
 * dx and of dy; take's 16 an index and digit. */
#ifndef EBB_EXEC_CUDA_KERNELS_TAKE_H
#define EBB_EXEC_CUDA_KERNELS_TAKE_H

#include "exec/cuda/kernels/broadcast.h"

/* From the front; -1: outside. */
CUDA_BODY int64_t cuda_index_of(cuda_scalars *scalars, int32_t index, int64_t places) {
    const int64_t from_front = index < 0 ? index + places : index;
    if (from_front >= 0 && from_front < places) return from_front;
    cuda_fault(scalars, CUDA_FAULT_INDEX, index, places);
    return -1;
}

/* ---- take, pick ------------------------------------------------------------------------------------- */

typedef struct cuda_take_args {
    cuda_strides walk; /* ebb_take_walk */
    const void *x;
    const int32_t *i;
    void *y;
    cuda_scalars *scalars;
    int64_t n, places, stride; /* places, stride: of x's axis */
} cuda_take_args;

#define CUDA_TAKE(name, T)                                                                           \
    typedef cuda_take_args cuda_##name##_args;                                                       \
    CUDA_BODY void cuda_##name##_body(const cuda_##name##_args *args, int64_t block, int32_t thread, \
                                      int32_t phase, void *shared) {                                 \
        (void)phase, (void)shared;                                                                   \
        CUDA_PLACES_ONE_BY_ONE(k, 4) {                                                               \
            int64_t at[2]; /* of x's first along the axis, of the index */                           \
            cuda_strides_each(&args->walk, 2, k, at);                                                \
            const int64_t place = cuda_index_of(args->scalars, args->i[at[1]], args->places);        \
            const T *x = (const T *)args->x + at[0];                                                 \
            ((T *)args->y)[k] = place >= 0 ? x[place * args->stride] : 0;                            \
        }                                                                                            \
    }
CUDA_TAKE(take_32, int32_t)
CUDA_TAKE(take_16, uint16_t)
CUDA_TAKE(take_8, uint8_t)

/* ---- gradients: a thread to a number of dx ---------------------------------------------------------- */

typedef struct cuda_take_sums_args {
    cuda_strides walk, indices; /* ebb_take_grad_walk, ebb_take_index_walk */
    const int32_t *key, *row;   /* sorted: places, and which indices name them */
    const void *dy;
    void *dx;
    int64_t n, n_indices;
} cuda_take_sums_args;

CUDA_BODY void cuda_take_sums_in(const cuda_take_sums_args *args, int64_t block, int32_t thread,
                                 int32_t phase, void *shared, cuda_element e) {
    const int64_t k = block * CUDA_PLACES_THREADS + thread;
    (void)phase, (void)shared;
    if (k >= args->n) return;
    const int64_t place = cuda_strides_at(&args->walk, 1, k);
    const int64_t from = cuda_strides_at(&args->walk, 0, k);
    int64_t first = 0, end = args->n_indices;
    while (first < end) {
        const int64_t middle = (first + end) / 2;
        if (args->key[middle] < place) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    double sum = 0;
    for (; first < args->n_indices && args->key[first] == place; first++)
        sum += (double)cuda_get1(e, args->dy, from + cuda_strides_at(&args->indices, 0, args->row[first]));
    cuda_put1(e, args->dx, k, (float)sum);
}
CUDA_BODIES(take_sums)

typedef struct cuda_pick_grad_args {
    cuda_strides walk; /* ebb_take_grad_walk */
    const void *dy;
    const int32_t *i;
    void *dx;
    cuda_scalars *scalars;
    int64_t n, places;
} cuda_pick_grad_args;

CUDA_BODY void cuda_pick_grad_in(const cuda_pick_grad_args *args, int64_t block, int32_t thread,
                                 int32_t phase, void *shared, cuda_element e) {
    const int64_t k = block * CUDA_PLACES_THREADS + thread;
    (void)phase, (void)shared;
    if (k >= args->n) return;
    const int32_t index = args->i[cuda_strides_at(&args->walk, 2, k)];
    const bool here =
        cuda_index_of(args->scalars, index, args->places) == cuda_strides_at(&args->walk, 1, k);
    cuda_put1(e, args->dx, k, here ? cuda_get1(e, args->dy, cuda_strides_at(&args->walk, 0, k)) : 0);
}
CUDA_BODIES(pick_grad)

#endif
