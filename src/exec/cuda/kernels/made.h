/* kernels/made.h: places counted, and draws by exec/draws.h. Seed and step are read in device memory, so
 * that a recorded run draws those of its step. A thread has four results side by side.
 *
 * Bytes moved: an element's a result. */
#ifndef EBB_EXEC_CUDA_KERNELS_MADE_H
#define EBB_EXEC_CUDA_KERNELS_MADE_H

#include "exec/cuda/kernels/broadcast.h"
#include "exec/draws.h"

typedef struct cuda_made_args {
    cuda_strides of; /* operand 0: iota's place, or the logical index */
    const cuda_scalars *scalars;
    uint64_t seed_key;
    void *y;
    int64_t n;
    float base, times; /* uniform: low, high - low; normal: mean, std */
    float most;        /* of uniform */
} cuda_made_args;

typedef cuda_made_args cuda_iota_args;
CUDA_BODY void cuda_iota_body(const cuda_iota_args *args, int64_t block, int32_t thread, int32_t phase,
                              void *shared) {
    const int64_t begin = block * CUDA_PLACES_EACH + 4 * (int64_t)thread;
    (void)phase, (void)shared;
    CUDA_ONE_BY_ONE for (int64_t i = begin; i < args->n && i < begin + 4; i++)((int32_t *)args->y)[i] =
        (int32_t)cuda_strides_at(&args->of, 0, i);
}

CUDA_BODY float cuda_uniform_of(const cuda_made_args *a, ebb_u32x4 words, uint32_t i) {
    uint32_t word = words.v[0];
    CUDA_UNROLL for (uint32_t k = 1; k < 4; k++) word = i == k ? words.v[k] : word;
    return fminf((float)((double)a->base + (double)a->times * ebb_draw_unit(word)), a->most);
}

/* Of a part of a turn: a device's sine of any angle needs a stack, that of half turns does not. */
CUDA_BODY float cuda_turned(float part, bool sine) {
#ifdef __CUDA_ARCH__
    return sine ? sinpif(2 * part) : cospif(2 * part);
#else
    return sine ? sinf(6.2831853F * part) : cosf(6.2831853F * part);
#endif
}

CUDA_BODY float cuda_normal_of(const cuda_made_args *a, ebb_u32x4 words, uint32_t i) {
    ebb_u32x4 two; /* in the first half of a block, whose indices are constants */
    two.v[0] = i & 2 ? words.v[2] : words.v[0];
    two.v[1] = i & 2 ? words.v[3] : words.v[1];
    two.v[2] = two.v[3] = 0;
    const float radius = sqrtf(-2 * logf((float)ebb_draw_radius(two, 0)));
    return a->base + a->times * (radius * cuda_turned((float)ebb_draw_unit(two.v[1]), i & 1));
}

#define CUDA_DRAWS(name)                                                                       \
    typedef cuda_made_args cuda_##name##_args;                                                 \
    CUDA_BODY void cuda_##name##_in(const cuda_made_args *args, int64_t block, int32_t thread, \
                                    int32_t phase, void *shared, cuda_element e) {             \
        const int64_t begin = block * CUDA_PLACES_EACH + 4 * (int64_t)thread;                  \
        const uint64_t key = ebb_dropout_key(args->scalars->seed, args->seed_key),             \
                       draws = ebb_dropout_step(args->seed_key, args->scalars->step);          \
        (void)phase, (void)shared;                                                             \
        CUDA_ONE_BY_ONE for (int64_t i = begin; i < args->n && i < begin + 4; i++) {           \
            const uint64_t logical = (uint64_t)cuda_strides_at(&args->of, 0, i);               \
            const ebb_u32x4 words = ebb_dropout_block(key, draws, logical / 4);                \
            cuda_put1(e, args->y, i, cuda_##name##_of(args, words, (uint32_t)(logical % 4)));  \
        }                                                                                      \
    }                                                                                          \
    CUDA_BODIES(name)
CUDA_DRAWS(uniform)
CUDA_DRAWS(normal)

#endif
