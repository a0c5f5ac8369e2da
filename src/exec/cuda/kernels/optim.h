/* kernels/optim.h: updates of parameters, each one sweep: every number of a parameter and of its states is
 * read once and written once, by the thread that read it, so results may stand where operands do.
 *
 * After a fault of this run nothing is updated: a step that is refused leaves parameters as they were.
 * Where a call has a condition and it is false, what was there stays.
 *
 * In 16 bits each store rounds, as ref's do; what is between is in f32. Gradients may be of 16 bits where
 * the rest is f32.
 *
 * Bytes moved an element: assign twice its own, sgd three times, sgd_momentum five, adamw seven times. */
#ifndef EBB_EXEC_CUDA_KERNELS_OPTIM_H
#define EBB_EXEC_CUDA_KERNELS_OPTIM_H

#include "exec/cuda/kernels/elements.h"

#define CUDA_OPTIM_THREADS 256

/* Elements of a block of sgd. */
CUDA_BODY int64_t cuda_optim_each(cuda_element e) {
    return (int64_t)cuda_side(e) * CUDA_OPTIM_THREADS;
}

/* n gradients. One branch for all threads alike: that is worth less than another kernel for each pair. */
CUDA_BODY cuda_f32x8 cuda_gradient(cuda_element e, int32_t n, const void *dw, cuda_element of, int64_t at,
                                   int64_t left) {
    if (e == CUDA_F32 && of == CUDA_BF16) return cuda_get_some(CUDA_BF16, n, dw, at, left);
    if (e == CUDA_F32 && of == CUDA_F16) return cuda_get_some(CUDA_F16, n, dw, at, left);
    return cuda_get_some(e, n, dw, at, left);
}

/* Is there a condition, and is it false? */
CUDA_BODY bool cuda_is_held(const uint8_t *apply) {
    return apply && !*apply;
}
CUDA_BODY void cuda_keep_some(cuda_element e, int32_t n, void *to, const void *from, int64_t at,
                              int64_t left) {
    cuda_put_some(e, n, to, at, cuda_get_some(e, n, from, at, left), left);
}

/* Of elements of any kind: 16 bytes to a thread. */
#define CUDA_ASSIGN_EACH (INT64_C(16) * CUDA_OPTIM_THREADS) /* bytes of a block */

typedef struct cuda_assign_args {
    const cuda_scalars *scalars;
    const void *x, *target; /* target: what stays where apply is false */
    const uint8_t *apply;   /* NULL: always; so of every update */
    void *to;
    int64_t bytes;
} cuda_assign_args;

CUDA_BODY void cuda_assign_body(const cuda_assign_args *args, int64_t block, int32_t thread, int32_t phase,
                                void *shared) {
    const int64_t at = block * CUDA_ASSIGN_EACH + 16 * (int64_t)thread, left = args->bytes - at;
    (void)phase, (void)shared;
    if (left <= 0 || args->scalars->fault) return;
    const void *x = cuda_is_held(args->apply) ? args->target : args->x;
    if (left >= 16) {
        cuda_store4((float *)args->to + at / 4, cuda_load4((const float *)x + at / 4));
        return;
    }
    CUDA_ONE_BY_ONE for (int64_t i = at; i < args->bytes; i++)((uint8_t *)args->to)[i] =
        ((const uint8_t *)x)[i];
}

typedef struct cuda_sgd_args {
    const cuda_scalars *scalars;
    const void *w, *dw, *m, *lr;
    const uint8_t *apply;
    void *to, *to_m;
    int64_t n;
    float momentum, decay;
    int32_t nesterov;
    cuda_element gradient; /* of dw */
} cuda_sgd_args;

/* w' = w - lr * (dw + decay * w) */
CUDA_BODY void cuda_sgd_in(const cuda_sgd_args *args, int64_t block, int32_t thread, int32_t phase,
                           void *shared, cuda_element e) {
    const int32_t side = cuda_side(e);
    const int64_t at = block * cuda_optim_each(e) + side * (int64_t)thread, left = args->n - at;
    (void)phase, (void)shared;
    if (left <= 0 || args->scalars->fault) return;
    if (cuda_is_held(args->apply)) {
        cuda_keep_some(e, side, args->to, args->w, at, left);
        return;
    }
    const float rate = cuda_get1(e, args->lr, 0);
    const cuda_f32x8 dw = cuda_gradient(e, side, args->dw, args->gradient, at, left);
    cuda_f32x8 w = cuda_get_some(e, side, args->w, at, left);
    CUDA_UNROLL for (int32_t k = 0; k < side; k++) w.v[k] -= rate * (dw.v[k] + args->decay * w.v[k]);
    cuda_put_some(e, side, args->to, at, w, left);
}
CUDA_BODIES(sgd)

/* d = dw + decay * w;  m' = momentum * m + d;  w' = w - lr * (nesterov ? d + momentum * m' : m') */
typedef cuda_sgd_args cuda_sgd_momentum_args;
CUDA_BODY void cuda_sgd_momentum_in(const cuda_sgd_momentum_args *args, int64_t block, int32_t thread,
                                    int32_t phase, void *shared, cuda_element e) {
    const int32_t side = cuda_side(e);
    const int64_t at = block * cuda_optim_each(e) + side * (int64_t)thread, left = args->n - at;
    (void)phase, (void)shared;
    if (left <= 0 || args->scalars->fault) return;
    if (cuda_is_held(args->apply)) {
        cuda_keep_some(e, side, args->to, args->w, at, left);
        cuda_keep_some(e, side, args->to_m, args->m, at, left);
        return;
    }
    const float rate = cuda_get1(e, args->lr, 0);
    const cuda_f32x8 dw = cuda_gradient(e, side, args->dw, args->gradient, at, left);
    cuda_f32x8 w = cuda_get_some(e, side, args->w, at, left);
    cuda_f32x8 m = cuda_get_some(e, side, args->m, at, left);
    CUDA_UNROLL for (int32_t k = 0; k < side; k++) {
        const float d = dw.v[k] + args->decay * w.v[k];
        m.v[k] = args->momentum * m.v[k] + d;
        w.v[k] -= rate * (args->nesterov ? d + args->momentum * m.v[k] : m.v[k]);
    }
    cuda_put_some(e, side, args->to, at, w, left);
    cuda_put_some(e, side, args->to_m, at, m, left);
}
CUDA_BODIES(sgd_momentum)

/* ---- adamw ------------------------------------------------------------------------------------------ */

#define CUDA_ADAMW_ROUNDS \
    4 /* of 4 elements to a thread: what a block works out first is worth more of them */
#define CUDA_ADAMW_EACH   (INT64_C(4) * CUDA_ADAMW_ROUNDS * CUDA_OPTIM_THREADS) /* of any kind */
#define CUDA_ADAMW_SHARED 16

typedef struct cuda_adamw_args {
    const cuda_scalars *scalars;
    const void *w, *dw, *m, *v, *step, *lr;
    const uint8_t *apply;
    void *to, *to_m, *to_v;
    int64_t n;
    double beta1, beta2;
    float keep_m, new_m, keep_v, new_v; /* beta1, 1 - beta1, and so for beta2 */
    float eps, decay;
    cuda_element gradient; /* of dw */
} cuda_adamw_args;

/* The step's number is in device memory: what its powers give is worked out once a block. In shared bytes:
 * lr / (1 - beta1^n), 1 / sqrt(1 - beta2^n), lr * decay. */
CUDA_BODY void cuda_adamw_rates(const cuda_adamw_args *args, float *rates, cuda_element e) {
    const double n = (double)cuda_get1(e, args->step, 0), lr = (double)cuda_get1(e, args->lr, 0);
    rates[0] = (float)(lr / (1 - pow(args->beta1, n)));
    rates[1] = (float)(1 / sqrt(1 - pow(args->beta2, n)));
    rates[2] = (float)(lr * (double)args->decay);
}

CUDA_BODY void cuda_adamw_in(const cuda_adamw_args *args, int64_t block, int32_t thread, int32_t phase,
                             void *shared, cuda_element e) {
    float *rates = (float *)shared;
    if (args->scalars->fault) return;
    if (phase == 0) {
        if (thread == 0) cuda_adamw_rates(args, rates, e);
        return;
    }
    for (int round = 0; round < CUDA_ADAMW_ROUNDS; round++) {
        const int64_t at = block * CUDA_ADAMW_EACH + 4 * ((int64_t)round * CUDA_OPTIM_THREADS + thread);
        const int64_t left = args->n - at;
        if (left <= 0) return;
        if (cuda_is_held(args->apply)) {
            cuda_keep_some(e, 4, args->to, args->w, at, left);
            cuda_keep_some(e, 4, args->to_m, args->m, at, left);
            cuda_keep_some(e, 4, args->to_v, args->v, at, left);
            continue;
        }
        const cuda_f32x8 g = cuda_gradient(e, 4, args->dw, args->gradient, at, left);
        cuda_f32x8 w = cuda_get_some(e, 4, args->w, at, left), m = cuda_get_some(e, 4, args->m, at, left);
        cuda_f32x8 v = cuda_get_some(e, 4, args->v, at, left);
        CUDA_UNROLL for (int k = 0; k < 4; k++) {
            m.v[k] = args->keep_m * m.v[k] + args->new_m * g.v[k];
            v.v[k] = args->keep_v * v.v[k] + args->new_v * (g.v[k] * g.v[k]);
            const float way = rates[0] * m.v[k] / (sqrtf(v.v[k]) * rates[1] + args->eps);
            w.v[k] -= way + rates[2] * w.v[k];
        }
        cuda_put_some(e, 4, args->to, at, w, left);
        cuda_put_some(e, 4, args->to_m, at, m, left);
        cuda_put_some(e, 4, args->to_v, at, v, left);
    }
}
CUDA_BODIES(adamw)

/* ---- single numbers --------------------------------------------------------------------------------- */

#define CUDA_SINGLE_THREADS 32

typedef struct cuda_count_step_args {
    const cuda_scalars *scalars;
    const void *x;
    const uint8_t *apply;
    void *y; /* may be x */
} cuda_count_step_args;

CUDA_BODY void cuda_count_step_in(const cuda_count_step_args *args, int64_t block, int32_t thread,
                                  int32_t phase, void *shared, cuda_element e) {
    (void)block, (void)phase, (void)shared;
    if (thread == 0 && !args->scalars->fault)
        cuda_put1(e, args->y, 0, cuda_get1(e, args->x, 0) + (cuda_is_held(args->apply) ? 0.0f : 1.0f));
}
CUDA_BODIES(count_step)

typedef struct cuda_clip_factor_args {
    const void *x;
    void *y;
    float norm;
} cuda_clip_factor_args;

/* A norm that is no number shows in all gradients. */
CUDA_BODY void cuda_clip_factor_in(const cuda_clip_factor_args *args, int64_t block, int32_t thread,
                                   int32_t phase, void *shared, cuda_element e) {
    (void)block, (void)phase, (void)shared;
    if (thread != 0) return;
    const double factor = (double)args->norm / (sqrt((double)cuda_get1(e, args->x, 0)) + 1e-6);
    cuda_put1(e, args->y, 0, (float)(factor > 1 ? 1 : factor));
}
CUDA_BODIES(clip_factor)

typedef struct cuda_loss_scale_args {
    const cuda_scalars *scalars;
    const float *scale, *clean, *squares;
    float *next, *next_clean, *factor; /* the first two may be scale and clean */
    uint8_t *apply;
    double growth, backoff, norm; /* norm 0: nothing is clipped */
    float interval;
} cuda_loss_scale_args;

/* The scale and its reciprocal stay normal numbers. A sum is finite where it less itself is 0. */
CUDA_BODY void cuda_loss_scale_body(const cuda_loss_scale_args *args, int64_t block, int32_t thread,
                                    int32_t phase, void *shared) {
    (void)block, (void)phase, (void)shared;
    if (thread != 0 || args->scalars->fault) return;
    const double was = (double)*args->scale, sum = (double)*args->squares;
    const float n = *args->clean + 1;
    const bool finite = sum - sum == 0, grows = finite && n >= args->interval;
    const double clip = args->norm / (sqrt(sum) / was + 1e-6);
    const double next = was * (!finite ? args->backoff : grows ? args->growth : 1.0);
    *args->next = (float)(next >= 0x1p-100 && next <= 0x1p100 ? next : was);
    *args->next_clean = finite && !grows ? n : 0.0F;
    *args->factor = (float)(finite ? (args->norm > 0 && clip < 1 ? clip : 1.0) / was : 0.0);
    *args->apply = finite;
}

#endif
