/* kernels/broadcast.h: ops whose result at each place is of their operands' elements there, which may be
 * broadcast, moved and of several dtypes; and reductions along any axes.
 *
 * A thread has four results, or eight where an operand or the result is of 16 bits: side by side and at
 * once where every operand's elements stand as the result's; else one after the other, as far apart as the
 * block has threads, and the operands' elements are found by place (graph/walk.h), for all operands by the
 * same divisions. In place, an output is an input of its shape: a thread reads each element before it
 * writes it, and no other thread's.
 *
 * Bytes moved: those of each operand and result once; an operand that is broadcast comes from a cache. */
#ifndef EBB_EXEC_CUDA_KERNELS_BROADCAST_H
#define EBB_EXEC_CUDA_KERNELS_BROADCAST_H

#include "exec/cuda/kernels/pointwise.h"

#define CUDA_PLACES_THREADS 256
#define CUDA_PLACES_EACH    (INT64_C(4) * CUDA_PLACES_THREADS) /* results of a block, of 4 to a thread */

/* ---- places ---------------------------------------------------------------------------------------- */

typedef struct cuda_places_args {
    cuda_strides walk;
    const void *in[CUDA_PLACES_IN];
    void *y;
    int64_t n;
} cuda_places_args;

/* Results of a thread that takes T and gives R. */
#define CUDA_PLACES_SIDE(T, R) ((int)CUDA_SIDE_##T > (int)CUDA_SIDE_##R ? CUDA_SIDE_##T : CUDA_SIDE_##R)

/* Of a thread where an operand is broadcast or moved: threads side by side have results side by side. */
#define CUDA_PLACES_ONE_BY_ONE(i, side)                                                 \
    CUDA_ONE_BY_ONE for (int64_t i = (block) * (side)*CUDA_PLACES_THREADS + (thread);   \
                         i < args->n && i < ((block) + 1) * (side)*CUDA_PLACES_THREADS; \
                         i += CUDA_PLACES_THREADS)

/* T, R: the types of operands and result; what is computed is cuda_<name>_of (pointwise.h). */
#define CUDA_PLACES_1(name, T, R, ...)                                                               \
    typedef cuda_places_args cuda_##name##_args;                                                     \
    CUDA_BODY void cuda_##name##_body(const cuda_places_args *args, int64_t block, int32_t thread,   \
                                      int32_t phase, void *shared) {                                 \
        enum { SIDE = CUDA_PLACES_SIDE(T, R) };                                                      \
        const int64_t begin = (block * CUDA_PLACES_THREADS + thread) * SIDE, left = args->n - begin; \
        (void)phase, (void)shared;                                                                   \
        if (!(args->walk.along & 1)) {                                                               \
            CUDA_PLACES_ONE_BY_ONE(i, SIDE) {                                                        \
                int64_t at[1];                                                                       \
                cuda_strides_each(&args->walk, 1, i, at);                                            \
                cuda_places_put_##R(args->y, i,                                                      \
                                    cuda_##name##_of(cuda_places_get_##T(args->in[0], at[0])));      \
            }                                                                                        \
        } else if (left > 0) {                                                                       \
            cuda_value_##T a[8];                                                                     \
            cuda_value_##R y[8];                                                                     \
            cuda_places_load_##T(args->in[0], begin, left, SIDE, a);                                 \
            CUDA_UNROLL for (int k = 0; k < SIDE; k++) y[k] = cuda_##name##_of(a[k]);                \
            cuda_places_store_##R(args->y, begin, left, SIDE, y);                                    \
        }                                                                                            \
    }
#define CUDA_PLACES_2(name, T, R, ...)                                                               \
    typedef cuda_places_args cuda_##name##_args;                                                     \
    CUDA_BODY void cuda_##name##_body(const cuda_places_args *args, int64_t block, int32_t thread,   \
                                      int32_t phase, void *shared) {                                 \
        enum { SIDE = CUDA_PLACES_SIDE(T, R) };                                                      \
        const int64_t begin = (block * CUDA_PLACES_THREADS + thread) * SIDE, left = args->n - begin; \
        (void)phase, (void)shared;                                                                   \
        if ((args->walk.along & 3) != 3) {                                                           \
            CUDA_PLACES_ONE_BY_ONE(i, SIDE) {                                                        \
                int64_t at[2];                                                                       \
                cuda_strides_each(&args->walk, 2, i, at);                                            \
                cuda_places_put_##R(args->y, i,                                                      \
                                    cuda_##name##_of(cuda_places_get_##T(args->in[0], at[0]),        \
                                                     cuda_places_get_##T(args->in[1], at[1])));      \
            }                                                                                        \
        } else if (left > 0) {                                                                       \
            cuda_value_##T a[8], b[8];                                                               \
            cuda_value_##R y[8];                                                                     \
            cuda_places_load_##T(args->in[0], begin, left, SIDE, a);                                 \
            cuda_places_load_##T(args->in[1], begin, left, SIDE, b);                                 \
            CUDA_UNROLL for (int k = 0; k < SIDE; k++) y[k] = cuda_##name##_of(a[k], b[k]);          \
            cuda_places_store_##R(args->y, begin, left, SIDE, y);                                    \
        }                                                                                            \
    }
#include "exec/cuda/kernels/broadcast.def"

/* The first operand says which of the others, and just that one is read; a result at a time, for three
 * places at once take more registers than there are. f32 and i32 are 32 bits to it. */
CUDA_BODY int64_t cuda_places_at(const cuda_places_args *a, int32_t j, int64_t i) {
    return a->walk.along >> j & 1 ? i : cuda_strides_at(&a->walk, j, i);
}
#define CUDA_WHERE(name, T)                                                                        \
    typedef cuda_places_args cuda_##name##_args;                                                   \
    CUDA_BODY void cuda_##name##_body(const cuda_places_args *args, int64_t block, int32_t thread, \
                                      int32_t phase, void *shared) {                               \
        const uint8_t *c = (const uint8_t *)args->in[0];                                           \
        (void)phase, (void)shared;                                                                 \
        CUDA_PLACES_ONE_BY_ONE(i, 4) {                                                             \
            const int32_t j = c[cuda_places_at(args, 0, i)] ? 1 : 2;                               \
            ((T *)args->y)[i] = ((const T *)args->in[j])[cuda_places_at(args, j, i)];              \
        }                                                                                          \
    }
CUDA_WHERE(where_32, int32_t)
CUDA_WHERE(where_16, uint16_t)
CUDA_WHERE(where_8, uint8_t)

/* ---- reductions ------------------------------------------------------------------------------------- */

/* A block to a result where there are many numbers to it, else a thread. Sums and products are in double,
 * of i32 in 64 bits, of which 32 are kept; by blocks, those of a thread first, then threads by halves. */
#define CUDA_REDUCE_THREADS 256
#define CUDA_REDUCE_PHASES  10 /* own numbers; 128, 64, ..., 1; the result */
#define CUDA_REDUCE_SHARED  (CUDA_REDUCE_THREADS * 8)

typedef enum cuda_reduce_what {
    CUDA_REDUCE_SUM,
    CUDA_REDUCE_MAX,
    CUDA_REDUCE_MIN,
    CUDA_REDUCE_PROD
} cuda_reduce_what;

typedef struct cuda_reduce_args {
    cuda_strides kept, gone; /* operand 0: x, from each result's first number, and from there on */
    const void *x;
    void *y;
    int64_t n_results, n_each;
    double divisor; /* of sums of reals */
    int32_t what;
} cuda_reduce_args;

CUDA_BODY double cuda_reduced_double(int32_t what, double a, double b) {
    if (what == CUDA_REDUCE_SUM) return a + b;
    if (what == CUDA_REDUCE_PROD) return a * b;
    if (what == CUDA_REDUCE_MAX) return a < b || b != b ? b : a;
    return b < a || b != b ? b : a;
}
CUDA_BODY int64_t cuda_reduced_int64_t(int32_t what, int64_t a, int64_t b) {
    if (what == CUDA_REDUCE_SUM) return a + b;
    if (what == CUDA_REDUCE_PROD) return (int32_t)((uint32_t)a * (uint32_t)b);
    return what == CUDA_REDUCE_MAX ? (a < b ? b : a) : b < a ? b : a;
}
CUDA_BODY float cuda_reduce_end_double(const cuda_reduce_args *a, double x) {
    return (float)(a->what == CUDA_REDUCE_SUM ? x / a->divisor : x);
}
CUDA_BODY int32_t cuda_reduce_end_int64_t(const cuda_reduce_args *a, int64_t x) {
    (void)a;
    return (int32_t)(uint32_t)x;
}

#define CUDA_REDUCE(each, block_each, T, SUM)                                                             \
    typedef cuda_reduce_args cuda_##each##_args;                                                          \
    typedef cuda_reduce_args cuda_##block_each##_args;                                                    \
    /* Numbers first, first + step, ... of result o. */                                                   \
    CUDA_BODY SUM cuda_##each##_some(const cuda_reduce_args *a, int64_t o, int64_t first, int64_t step) { \
        const int64_t at = cuda_strides_at(&a->kept, 0, o);                                               \
        SUM sum = cuda_places_get_##T(a->x, at + cuda_strides_at(&a->gone, 0, first));                    \
        for (int64_t i = first + step; i < a->n_each; i += step)                                          \
            sum = cuda_reduced_##SUM(a->what, sum,                                                        \
                                     cuda_places_get_##T(a->x, at + cuda_strides_at(&a->gone, 0, i)));    \
        return sum;                                                                                       \
    }                                                                                                     \
    CUDA_BODY void cuda_##each##_body(const cuda_reduce_args *args, int64_t block, int32_t thread,        \
                                      int32_t phase, void *shared) {                                      \
        const int64_t o = block * CUDA_REDUCE_THREADS + thread;                                           \
        (void)phase, (void)shared;                                                                        \
        if (o < args->n_results)                                                                          \
            cuda_places_put_##T(args->y, o,                                                               \
                                cuda_reduce_end_##SUM(args, cuda_##each##_some(args, o, 0, 1)));          \
    }                                                                                                     \
    CUDA_BODY void cuda_##block_each##_body(const cuda_reduce_args *args, int64_t block, int32_t thread,  \
                                            int32_t phase, void *shared) {                                \
        SUM *sum = (SUM *)shared;                                                                         \
        const int32_t half = CUDA_REDUCE_THREADS >> phase;                                                \
        if (phase == 0) {                                                                                 \
            if (thread < args->n_each)                                                                    \
                sum[thread] = cuda_##each##_some(args, block, thread, CUDA_REDUCE_THREADS);               \
        } else if (phase < CUDA_REDUCE_PHASES - 1) {                                                      \
            if (thread < half && thread + half < args->n_each)                                            \
                sum[thread] = cuda_reduced_##SUM(args->what, sum[thread], sum[thread + half]);            \
        } else if (thread == 0) {                                                                         \
            cuda_places_put_##T(args->y, block, cuda_reduce_end_##SUM(args, sum[0]));                     \
        }                                                                                                 \
    }
CUDA_REDUCE(reduce_f32, reduce_block_f32, float, double)
CUDA_REDUCE(reduce_f16, reduce_block_f16, f16, double)
CUDA_REDUCE(reduce_bf16, reduce_block_bf16, bf16, double)
CUDA_REDUCE(reduce_i32, reduce_block_i32, int32_t, int64_t)

/* The place of the first of the largest or smallest, or of the first NaN: a thread to a result. */
#define CUDA_BEST(name, T, better)                                                                 \
    typedef cuda_reduce_args cuda_##name##_args;                                                   \
    CUDA_BODY void cuda_##name##_body(const cuda_reduce_args *args, int64_t block, int32_t thread, \
                                      int32_t phase, void *shared) {                               \
        const int64_t o = block * CUDA_REDUCE_THREADS + thread;                                    \
        (void)phase, (void)shared;                                                                 \
        if (o >= args->n_results) return;                                                          \
        const int64_t first = cuda_strides_at(&args->kept, 0, o);                                  \
        cuda_value_##T best = cuda_places_get_##T(args->x, first);                                 \
        int32_t place = 0;                                                                         \
        for (int64_t i = 1; i < args->n_each; i++) {                                               \
            const cuda_value_##T v =                                                               \
                cuda_places_get_##T(args->x, first + cuda_strides_at(&args->gone, 0, i));          \
            if (best != best || !(v better best || v != v)) continue;                              \
            best = v;                                                                              \
            place = (int32_t)i;                                                                    \
        }                                                                                          \
        ((int32_t *)args->y)[o] = place;                                                           \
    }
CUDA_BEST(argmax_f32, float, >)
CUDA_BEST(argmax_f16, f16, >)
CUDA_BEST(argmax_bf16, bf16, >)
CUDA_BEST(argmax_i32, int32_t, >)
CUDA_BEST(argmin_f32, float, <)
CUDA_BEST(argmin_f16, f16, <)
CUDA_BEST(argmin_bf16, bf16, <)
CUDA_BEST(argmin_i32, int32_t, <)

/* ---- strided_slice ---------------------------------------------------------------------------------- */

/* dx, of which a lattice gets dy's numbers; f32 and i32 are 32 bits to it. whole: dx in its storage order,
 * operand 0: dy; begin, step and many: of the lattice, along the same dimensions. */
typedef struct cuda_lattice_args {
    cuda_strides whole;
    int64_t begin[CUDA_PLACES_DIMS], step[CUDA_PLACES_DIMS], many[CUDA_PLACES_DIMS];
    const void *dy;
    void *dx;
    int64_t n;
} cuda_lattice_args;

/* Where dx's element i is in dy; -1: nowhere. */
CUDA_BODY int64_t cuda_lattice_from(const cuda_lattice_args *args, int64_t i) {
    int64_t from = 0;
    for (int32_t d = args->whole.n_dims - 1; d >= 0; d--) {
        const int64_t next = cuda_divide(i, args->whole.size[d]), step = args->step[d];
        const int64_t off = i - next * args->whole.size[d] - args->begin[d];
        const int64_t way = step < 0 ? -off : off, each = step < 0 ? -step : step;
        const int64_t k = way < 0 ? -1 : cuda_divide(way, each);
        if (k * each != way || k < 0 || k >= args->many[d]) from = -1;
        if (from >= 0) from += k * args->whole.stride[0][d];
        i = next;
    }
    return from;
}

#define CUDA_LATTICE(name, T)                                                                        \
    typedef cuda_lattice_args cuda_##name##_args;                                                    \
    CUDA_BODY void cuda_##name##_body(const cuda_##name##_args *args, int64_t block, int32_t thread, \
                                      int32_t phase, void *shared) {                                 \
        const int64_t i = block * CUDA_PLACES_THREADS + thread;                                      \
        const int64_t from = i < args->n ? cuda_lattice_from(args, i) : -1;                          \
        (void)phase, (void)shared;                                                                   \
        if (i < args->n) ((T *)args->dx)[i] = from >= 0 ? ((const T *)args->dy)[from] : 0;           \
    }
CUDA_LATTICE(lattice, int32_t)
CUDA_LATTICE(lattice_16, uint16_t)
CUDA_LATTICE(lattice_8, uint8_t)

#endif
