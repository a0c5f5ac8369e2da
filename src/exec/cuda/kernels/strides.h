/* kernels/strides.h: elements of several dtypes, found by their places: a helper of families, no family. */
#ifndef EBB_EXEC_CUDA_KERNELS_STRIDES_H
#define EBB_EXEC_CUDA_KERNELS_STRIDES_H

#include "exec/cuda/kernels/elements.h"

#define CUDA_PLACES_DIMS 8
#define CUDA_PLACES_IN   3

/* As ebb_walk: size, and strides in elements, of each dimension; the last runs fastest. */
typedef struct cuda_strides {
    int64_t size[CUDA_PLACES_DIMS], stride[CUDA_PLACES_IN][CUDA_PLACES_DIMS];
    int32_t n_dims;
    int32_t along; /* bit j: operand j's elements stand as the result's */
} cuda_strides;

/* Where the first n operands' elements of place i are. */
CUDA_BODY void cuda_strides_each(const cuda_strides *w, int32_t n, int64_t i, int64_t *at) {
    CUDA_UNROLL for (int32_t j = 0; j < n; j++) at[j] = 0;
    for (int32_t d = w->n_dims - 1; d > 0; d--) {
        const int64_t next = cuda_divide(i, w->size[d]), k = i - next * w->size[d];
        CUDA_UNROLL for (int32_t j = 0; j < n; j++) at[j] += k * w->stride[j][d];
        i = next;
    }
    CUDA_UNROLL for (int32_t j = 0; j < n; j++) at[j] += i * w->stride[j][0];
}

/* Where operand j's element of place i is. */
CUDA_BODY int64_t cuda_strides_at(const cuda_strides *w, int32_t j, int64_t i) {
    int64_t at = 0;
    for (int32_t d = w->n_dims - 1; d > 0; d--) {
        const int64_t next = cuda_divide(i, w->size[d]);
        at += (i - next * w->size[d]) * w->stride[j][d];
        i = next;
    }
    return at + i * w->stride[j][0];
}

/* ---- elements --------------------------------------------------------------------------------------- */

/* Elements by the name that the list has for their type: as values, and as many as a thread takes. */
#define CUDA_PLACES_TYPE(T, value, side, get, put)                      \
    typedef value cuda_value_##T;                                       \
    enum { CUDA_SIDE_##T = side };                                      \
    CUDA_BODY value cuda_places_get_##T(const void *from, int64_t at) { \
        get;                                                            \
    }                                                                   \
    CUDA_BODY void cuda_places_put_##T(void *to, int64_t at, value y) { \
        put;                                                            \
    }
/* n elements from `begin` on, or as many as are left of them. */
#define CUDA_PLACES_WHOLE(T, side)                                                                         \
    CUDA_PLACES_TYPE(T, T, side, return ((const T *)from)[at], ((T *)to)[at] = y)                          \
    CUDA_BODY void cuda_places_load_##T(const void *from, int64_t begin, int64_t left, int32_t n,          \
                                        T to[8]) {                                                         \
        CUDA_UNROLL for (int32_t k = 0; k < n; k++) to[k] = k < left ? ((const T *)from)[begin + k] : 0;   \
    }                                                                                                      \
    CUDA_BODY void cuda_places_store_##T(void *to, int64_t begin, int64_t left, int32_t n, const T y[8]) { \
        CUDA_UNROLL for (int32_t k = 0; k < n; k++) {                                                      \
            if (k < left) ((T *)to)[begin + k] = y[k];                                                     \
        }                                                                                                  \
    }
#define CUDA_PLACES_REAL(T, e)                                                                    \
    CUDA_PLACES_TYPE(T, float, e == CUDA_F32 ? 4 : 8, return cuda_get1(e, from, at),              \
                     cuda_put1(e, to, at, y))                                                     \
    CUDA_BODY void cuda_places_load_##T(const void *from, int64_t begin, int64_t left, int32_t n, \
                                        float to[8]) {                                            \
        const cuda_f32x8 x = cuda_get_some(e, n, from, begin, left);                              \
        CUDA_UNROLL for (int32_t k = 0; k < n; k++) to[k] = x.v[k];                               \
    }                                                                                             \
    CUDA_BODY void cuda_places_store_##T(void *to, int64_t begin, int64_t left, int32_t n,        \
                                         const float y[8]) {                                      \
        cuda_f32x8 x = cuda_zero8();                                                              \
        CUDA_UNROLL for (int32_t k = 0; k < n; k++) x.v[k] = y[k];                                \
        cuda_put_some(e, n, to, begin, x, left);                                                  \
    }
CUDA_PLACES_WHOLE(int32_t, 4)
CUDA_PLACES_WHOLE(uint16_t, 8)
CUDA_PLACES_WHOLE(int16_t, 8)
CUDA_PLACES_WHOLE(uint8_t, 4)
CUDA_PLACES_WHOLE(int8_t, 4)
CUDA_PLACES_REAL(float, CUDA_F32)
CUDA_PLACES_REAL(f16, CUDA_F16)
CUDA_PLACES_REAL(bf16, CUDA_BF16)

#endif
