/* kernels/dropout.h: dropout by exec/dropout.h's bits, which are numbered in logical order. Its gradient is
 * the same function of dy. Seed and step are read in device memory, so that a recorded run draws those of
 * its step.
 *
 * Bytes moved: twice an element's; and 10 rounds of philox for four of them, twice as many in
 * dropout_planes where the four are not one block of it. */
#ifndef EBB_EXEC_CUDA_KERNELS_DROPOUT_H
#define EBB_EXEC_CUDA_KERNELS_DROPOUT_H

#include "exec/cuda/kernels/elements.h"
#include "exec/dropout.h"

#define CUDA_DROPOUT_THREADS 256
#define CUDA_DROPOUT_EACH    (INT64_C(4) * CUDA_DROPOUT_THREADS) /* elements of a block of dropout */

typedef struct cuda_dropout_args {
    const void *x;
    void *y; /* may be x */
    const cuda_scalars *scalars;
    uint64_t seed_key, threshold;
    float scale;
    int64_t n;                        /* elements */
    int64_t channels, places, groups; /* dropout_planes: of an image; groups of 4 places */
    int64_t n_groups;                 /* of all channels and images */
} cuda_dropout_args;

CUDA_BODY float cuda_dropout_of(const cuda_dropout_args *args, uint32_t random, float x) {
    return random >= args->threshold ? x * args->scale : 0;
}

/* The order of the bytes is the logical one: a thread has a block of philox. */
CUDA_BODY void cuda_dropout_in(const cuda_dropout_args *args, int64_t block, int32_t thread, int32_t phase,
                               void *shared, cuda_element e) {
    const int64_t at = block * CUDA_DROPOUT_THREADS + thread, left = args->n - 4 * at;
    (void)phase, (void)shared;
    if (left <= 0) return;
    const uint64_t key = ebb_dropout_key(args->scalars->seed, args->seed_key),
                   step = ebb_dropout_step(args->seed_key, args->scalars->step);
    const ebb_u32x4 random = ebb_dropout_block(key, step, (uint64_t)at);
    cuda_f32x8 x = cuda_get_some(e, 4, args->x, 4 * at, left);
    CUDA_UNROLL for (int k = 0; k < 4; k++) x.v[k] = cuda_dropout_of(args, random.v[k], x.v[k]);
    cuda_put_some(e, 4, args->y, 4 * at, x, left);
}
CUDA_BODIES(dropout)

/* Channels last: a thread has 4 places of one channel, which are neighbours in logical order, and the
 * threads beside it have the channels beside it, which are neighbours in memory. */
typedef cuda_dropout_args cuda_dropout_planes_args;
CUDA_BODY void cuda_dropout_planes_in(const cuda_dropout_planes_args *args, int64_t block, int32_t thread,
                                      int32_t phase, void *shared, cuda_element e) {
    const int64_t at = block * CUDA_DROPOUT_THREADS + thread;
    (void)phase, (void)shared;
    if (at >= args->n_groups) return;
    const int64_t row = cuda_divide(at, args->channels), c = at - row * args->channels;
    const int64_t image = cuda_divide(row, args->groups), place = 4 * (row - image * args->groups);
    const uint64_t first = (uint64_t)((image * args->channels + c) * args->places + place);
    const uint64_t key = ebb_dropout_key(args->scalars->seed, args->seed_key),
                   step = ebb_dropout_step(args->seed_key, args->scalars->step);
    const uint32_t skip = (uint32_t)(first % 4);
    const ebb_u32x4 low = ebb_dropout_block(key, step, first / 4);
    ebb_u32x4 high = low;
    if (skip) high = ebb_dropout_block(key, step, first / 4 + 1);
    uint32_t word[8]; /* moved down by `skip` with constant indices: it stays in registers */
    CUDA_UNROLL for (int k = 0; k < 4; k++) word[k] = low.v[k], word[k + 4] = high.v[k];
    CUDA_UNROLL for (int k = 0; k < 7; k++) word[k] = skip & 1 ? word[k + 1] : word[k];
    CUDA_UNROLL for (int k = 0; k < 4; k++) word[k] = skip & 2 ? word[k + 2] : word[k];
    const int64_t from = (image * args->places + place) * args->channels + c;
    CUDA_UNROLL for (int k = 0; k < 4; k++) {
        const int64_t i = from + k * args->channels;
        if (place + k < args->places)
            cuda_put1(e, args->y, i, cuda_dropout_of(args, word[k], cuda_get1(e, args->x, i)));
    }
}
CUDA_BODIES(dropout_planes)

#endif
