/* kernels/scan.h: sums up to each place of an axis: a thread to a line where it is short, else a block,
 * each thread of which has a strip of it. Sums are in double, of i32 in 32 bits. In place, a thread reads
 * its strip before it writes it.
 *
 * Bytes moved: an element is read and written, and read once more by blocks. */
#ifndef EBB_EXEC_CUDA_KERNELS_SCAN_H
#define EBB_EXEC_CUDA_KERNELS_SCAN_H

#include "exec/cuda/kernels/strides.h"

#define CUDA_SCAN_THREADS 256
#define CUDA_SCAN_PHASES  3 /* sums of strips; what is before each; all places */
#define CUDA_SCAN_SHARED  (8 * CUDA_SCAN_THREADS)

typedef struct cuda_scan_args {
    const void *x;
    void *y;
    int64_t n_lines, size, inner; /* elements: x[(o * size + i) * inner + k] */
    int32_t reverse;
} cuda_scan_args;

/* Where place k of a line is, from the end that comes first, and how far the next one is. */
CUDA_BODY int64_t cuda_scan_at(const cuda_scan_args *a, int64_t line, int64_t k, int64_t *step) {
    const int64_t o = cuda_divide(line, a->inner);
    const int64_t place = a->reverse ? a->size - 1 - k : k;
    *step = a->reverse ? -a->inner : a->inner;
    return (o * a->size + place) * a->inner + (line - o * a->inner);
}

#define CUDA_CUMSUM(each, block_each, T, SUM)                                                             \
    typedef cuda_scan_args cuda_##each##_args;                                                            \
    typedef cuda_scan_args cuda_##block_each##_args;                                                      \
    CUDA_BODY SUM cuda_##each##_sum(const cuda_scan_args *a, int64_t line, int64_t begin, int64_t end) {  \
        int64_t step;                                                                                     \
        int64_t at = cuda_scan_at(a, line, begin, &step);                                                 \
        SUM sum = 0;                                                                                      \
        CUDA_ONE_BY_ONE for (int64_t k = begin; k < end; k++, at += step) sum +=                          \
            (SUM)cuda_places_get_##T(a->x, at);                                                           \
        return sum;                                                                                       \
    }                                                                                                     \
    CUDA_BODY void cuda_##each##_write(const cuda_scan_args *a, int64_t line, int64_t begin, int64_t end, \
                                       SUM sum) {                                                         \
        int64_t step;                                                                                     \
        int64_t at = cuda_scan_at(a, line, begin, &step);                                                 \
        CUDA_ONE_BY_ONE for (int64_t k = begin; k < end; k++, at += step) {                               \
            sum += (SUM)cuda_places_get_##T(a->x, at);                                                    \
            cuda_places_put_##T(a->y, at, (cuda_value_##T)sum);                                           \
        }                                                                                                 \
    }                                                                                                     \
    CUDA_BODY void cuda_##each##_body(const cuda_scan_args *args, int64_t block, int32_t thread,          \
                                      int32_t phase, void *shared) {                                      \
        const int64_t line = block * CUDA_SCAN_THREADS + thread;                                          \
        (void)phase, (void)shared;                                                                        \
        if (line < args->n_lines) cuda_##each##_write(args, line, 0, args->size, 0);                      \
    }                                                                                                     \
    CUDA_BODY void cuda_##block_each##_body(const cuda_scan_args *args, int64_t block, int32_t thread,    \
                                            int32_t phase, void *shared) {                                \
        const int64_t each_n = cuda_blocks_of(args->size, CUDA_SCAN_THREADS), from = thread * each_n;     \
        const int64_t begin = from < args->size ? from : args->size;                                      \
        const int64_t end = begin + each_n < args->size ? begin + each_n : args->size;                    \
        if (phase == 0) {                                                                                 \
            ((SUM *)shared)[thread] = cuda_##each##_sum(args, block, begin, end);                         \
        } else if (phase == 1 && thread == 0) {                                                           \
            SUM before = 0;                                                                               \
            CUDA_ONE_BY_ONE for (int32_t i = 0; i < CUDA_SCAN_THREADS; i++) {                             \
                const SUM own = ((SUM *)shared)[i];                                                       \
                ((SUM *)shared)[i] = before;                                                              \
                before += own;                                                                            \
            }                                                                                             \
        } else if (phase == 2) {                                                                          \
            cuda_##each##_write(args, block, begin, end, ((SUM *)shared)[thread]);                        \
        }                                                                                                 \
    }
CUDA_CUMSUM(cumsum_f32, cumsum_block_f32, float, double)
CUDA_CUMSUM(cumsum_f16, cumsum_block_f16, f16, double)
CUDA_CUMSUM(cumsum_bf16, cumsum_block_bf16, bf16, double)
CUDA_CUMSUM(cumsum_i32, cumsum_block_i32, int32_t, uint32_t)

#endif
