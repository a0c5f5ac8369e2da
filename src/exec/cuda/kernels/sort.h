/* kernels/sort.h: lines along an axis in their order: places are merged by the numbers that they name, in
 * runs of 1, 2, 4, ..., a launch to each width. A thread has a place of a run, and finds by halves how many
 * of the run beside it come before.
 *
 * Bytes moved: 8 for a place and a width, and numbers from caches; at the end a place
 * read and written, and the number that it names. */
#ifndef EBB_EXEC_CUDA_KERNELS_SORT_H
#define EBB_EXEC_CUDA_KERNELS_SORT_H

#include "exec/cuda/kernels/strides.h"

#define CUDA_MERGE_THREADS 256

typedef struct cuda_merge_args {
    const void *x;
    const int32_t *from;           /* line by line; NULL: places as they are */
    int32_t *to;                   /* the result's own order at the end */
    void *y;                       /* at the end */
    int64_t n, size, inner, width; /* elements: x[(o * size + i) * inner + k] */
    int32_t descending;
} cuda_merge_args;

/* Which line element e of a table is of, and where in x it begins. */
CUDA_BODY int64_t cuda_merge_line(const cuda_merge_args *a, int64_t e, int64_t *first) {
    const int64_t line = cuda_divide(e, a->size), o = cuda_divide(line, a->inner);
    *first = o * a->size * a->inner + (line - o * a->inner);
    return line;
}

/* A NaN is larger than all numbers. */
CUDA_BODY bool cuda_before_real(float a, float b, int32_t descending) {
    if (descending) return a > b || (a != a && b == b);
    return a < b || (a == a && b != b);
}
CUDA_BODY bool cuda_before_whole(int32_t a, int32_t b, int32_t descending) {
    return descending ? a > b : a < b;
}

#define CUDA_MERGE(name, T, kind)                                                                      \
    typedef cuda_merge_args cuda_##name##_args;                                                        \
    CUDA_BODY void cuda_##name##_body(const cuda_merge_args *args, int64_t block, int32_t thread,      \
                                      int32_t phase, void *shared) {                                   \
        const int64_t e = block * CUDA_MERGE_THREADS + thread, size = args->size, width = args->width; \
        int64_t first;                                                                                 \
        (void)phase, (void)shared;                                                                     \
        if (e >= args->n) return;                                                                      \
        const int64_t table = cuda_merge_line(args, e, &first) * size, k = e - table;                  \
        const int64_t run = cuda_divide(k, width), beside = run % 2 ? run - 1 : run + 1;               \
        const int32_t own = args->from ? args->from[e] : (int32_t)k;                                   \
        const cuda_value_##T v = cuda_places_get_##T(args->x, first + own * args->inner);              \
        int64_t begin = beside * width < size ? beside * width : size;                                 \
        int64_t end = begin + width < size ? begin + width : size;                                     \
        const int64_t begun = begin;                                                                   \
        CUDA_ONE_BY_ONE while (begin < end) {                                                          \
            const int64_t middle = (begin + end) / 2;                                                  \
            const int32_t place = args->from ? args->from[table + middle] : (int32_t)middle;           \
            const cuda_value_##T other = cuda_places_get_##T(args->x, first + place * args->inner);    \
            const bool before = run % 2 ? !cuda_before_##kind(v, other, args->descending)              \
                                        : cuda_before_##kind(other, v, args->descending);              \
            if (before) {                                                                              \
                begin = middle + 1;                                                                    \
            } else {                                                                                   \
                end = middle;                                                                          \
            }                                                                                          \
        }                                                                                              \
        const int64_t pair = (run - run % 2) * width;                                                  \
        args->to[table + pair + (k - run * width) + (begin - begun)] = own;                            \
    }
CUDA_MERGE(merge_f32, float, real)
CUDA_MERGE(merge_f16, f16, real)
CUDA_MERGE(merge_bf16, bf16, real)
CUDA_MERGE(merge_i32, int32_t, whole)

/* What the places name, which are written in the result's order: bits, whatever they mean. */
#define CUDA_MERGED(name, T)                                                                       \
    typedef cuda_merge_args cuda_##name##_args;                                                    \
    CUDA_BODY void cuda_##name##_body(const cuda_merge_args *args, int64_t block, int32_t thread,  \
                                      int32_t phase, void *shared) {                               \
        const int64_t e = block * CUDA_MERGE_THREADS + thread;                                     \
        int64_t first;                                                                             \
        (void)phase, (void)shared;                                                                 \
        if (e >= args->n) return;                                                                  \
        const int64_t k = e - cuda_merge_line(args, e, &first) * args->size;                       \
        const int32_t own = args->from ? args->from[e] : (int32_t)k;                               \
        args->to[first + k * args->inner] = own;                                                   \
        ((T *)args->y)[first + k * args->inner] = ((const T *)args->x)[first + own * args->inner]; \
    }
CUDA_MERGED(merged_32, int32_t)
CUDA_MERGED(merged_16, uint16_t)

#endif
