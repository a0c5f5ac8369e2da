/* kernels/attention_grad.h: the gradient of attention. The weights of a tile are exp(score - lse), computed
 * again; with D = sum of dy * y over a row and head, which attention_inner makes first,
 *
 *     dS = P * (dy vT - D) * scale,  dq = dS k,  dk = dST q,  dv = PT dy
 *
 * Two kernels, so that each number has one writer and its sum one order: attention_dq has a tile of queries
 * in each block and goes through keys; attention_dkv has a tile of keys and goes through queries. Both make
 * the scores of a pair of tiles again.
 *
 * For a pair of tiles of d = 64: dq 6 * 64^3 operations and dkv 8 * 64^3 (10 would do for both in one
 * kernel, with atomics), on 80 KiB and 96 KiB from the caches: 19 and 21 a byte. Numbers moved of
 * memory for each of y: inner 2; then 7 each (qkv, dy and one or two of dq, dk, dv). */
#ifndef EBB_EXEC_CUDA_KERNELS_ATTENTION_GRAD_H
#define EBB_EXEC_CUDA_KERNELS_ATTENTION_GRAD_H

#include "exec/cuda/kernels/attention.h"

typedef struct cuda_attention_dq_args {
    const void *qkv, *y, *dy;
    const float *lse;
    const float *bias; /* attention_bias_dq and attention_bias_dkv only */
    void *dqkv;
    float *inner; /* D[image, head, row] */
    int64_t n;    /* of D */
    cuda_heads h;
} cuda_attention_dq_args;

/* ---- D ---------------------------------------------------------------------------------------------- */

#define CUDA_INNER_LANES   8 /* threads of a row */
#define CUDA_INNER_THREADS 256
#define CUDA_INNER_ROWS    (CUDA_INNER_THREADS / CUDA_INNER_LANES) /* of a block */
#define CUDA_INNER_SHARED  (4 * CUDA_INNER_THREADS)

/* Rows of this kernel are numbered [image, row, head], as they lie in y. */
typedef cuda_attention_dq_args cuda_attention_inner_args;
CUDA_BODY void cuda_attention_inner_in(const cuda_attention_inner_args *args, int64_t block, int32_t thread,
                                       int32_t phase, void *shared, cuda_element e) {
    const cuda_heads *h = &args->h;
    float *found = (float *)shared;
    const int32_t lane = thread % CUDA_INNER_LANES;
    const int64_t at = block * CUDA_INNER_ROWS + thread / CUDA_INNER_LANES;
    if (at >= args->n) return;
    if (phase == 0) {
        const int64_t first = at * h->d;
        float sum = 0;
        if (h->d % 4 == 0) {
            for (int64_t k = 4 * lane; k < h->d; k += 4 * CUDA_INNER_LANES) {
                const cuda_f32x4 a = cuda_get4(e, args->y, first + k),
                                 b = cuda_get4(e, args->dy, first + k);
                sum += (a.v[0] * b.v[0] + a.v[1] * b.v[1]) + (a.v[2] * b.v[2] + a.v[3] * b.v[3]);
            }
        } else {
            for (int64_t k = lane; k < h->d; k += CUDA_INNER_LANES)
                sum += cuda_get1(e, args->y, first + k) * cuda_get1(e, args->dy, first + k);
        }
        found[thread] = sum;
    } else if (lane == 0) {
        const int64_t row = cuda_divide(at, h->heads), image = cuda_divide(row, h->t);
        float sum = 0;
        CUDA_UNROLL for (int i = 0; i < CUDA_INNER_LANES; i++) sum += found[thread + i];
        args->inner[(image * h->heads + at - row * h->heads) * h->t + row - image * h->t] = sum;
    }
}
CUDA_BODIES(attention_inner)

/* ---- both ------------------------------------------------------------------------------------------- */

#define CUDA_ATTENTION_GRAD_SHARED (4 * 3 * CUDA_TILE_FLOATS)

typedef struct cuda_attention_grad_shared {
    float *a, *b;  /* factors of scores, and of dy vT: halves of a tile */
    float *weight; /* P or dS: the tile that the last product sums over by its first index */
    float *rows;   /* the other factor of the last product */
} cuda_attention_grad_shared;

CUDA_BODY cuda_attention_grad_shared cuda_attention_grad_shared_of(void *shared) {
    cuda_attention_grad_shared s;
    s.a = (float *)shared;
    s.b = s.a + CUDA_TILE_HALF;
    s.weight = s.a + CUDA_TILE_FLOATS;
    s.rows = s.weight + CUDA_TILE_FLOATS;
    return s;
}

/* What a head's rows give to step `step` of scores (then of dy vT): columns of q and k (then of dy and v).
 * a has rows of keys and b of queries, or, with swap, the other way round. */
CUDA_BODY void cuda_attention_grad_load(const cuda_attention_dq_args *args, const float *bias,
                                        const cuda_attention_grad_shared *s, const cuda_head *at,
                                        int32_t query, int32_t key, int32_t step, bool swap, int32_t thread,
                                        cuda_element e) {
    const cuda_heads *h = &args->h;
    const int32_t n_steps = cuda_head_steps(h);
    const bool second = step >= n_steps;
    const int64_t column = (int64_t)(second ? step - n_steps : step) * CUDA_TILE_STEP;
    const cuda_matrix q = second ? cuda_head_rows(h, at, args->dy, query, column)
                                 : cuda_head_part(h, at, args->qkv, bias, 0, query, column);
    const cuda_matrix k = cuda_head_part(h, at, args->qkv, bias, second ? 2 : 1, key, column);
    cuda_tile_load_columns(swap ? s->a : s->b, &q, thread, e);
    cuda_tile_load_columns(swap ? s->b : s->a, &k, thread, e);
}

/* The score becomes its weight P, and dy vT becomes dS; 0 where a query does not see a key. */
CUDA_BODY void cuda_attention_grad_weigh(const cuda_attention_dq_args *args, const cuda_head *at,
                                         int32_t query, int32_t key, float *score, float *dp) {
    const cuda_heads *h = &args->h;
    if (!cuda_head_sees(h, query, key)) {
        *score = *dp = 0;
        return;
    }
    const int64_t row = cuda_head_row(h, at, query);
    *score = expf(*score * h->scale - args->lse[row]);
    *dp = *score * (*dp - args->inner[row]) * h->scale;
}

/* Rows [first, first + 64) of dq, dk or dv (part: where it begins), from numbers of the block's chunk. */
CUDA_BODY void cuda_attention_grad_write(const cuda_attention_dq_args *args, const cuda_head *at,
                                         int64_t part, const cuda_tile *sum, int32_t thread,
                                         cuda_element e) {
    const cuda_heads *h = &args->h;
    const int64_t column = (int64_t)at->chunk * CUDA_TILE + thread % 16 * 4;
    CUDA_UNROLL for (int i = 0; i < CUDA_TILE_ROWS; i++) {
        const int64_t row = (int64_t)at->tile * CUDA_TILE + thread / 16 * CUDA_TILE_ROWS + i;
        if (row < h->t)
            cuda_tile_store(args->dqkv, part + cuda_head_index(h, at, row, 3 * h->c) + column, sum->at[i],
                            1, h->d - column, h->d % 4 == 0, e);
    }
}

/* ---- dq: phases of a tile of keys: 4 for each 32 columns, then the sum ------------------------------ */

typedef struct cuda_attention_dq_keep {
    cuda_walk walk;
    cuda_tile score, dp, dq; /* the first two [key][query] */
} cuda_attention_dq_keep;

CUDA_BODY int32_t cuda_attention_dq_phases(const cuda_attention_dq_args *args, int64_t block) {
    const cuda_head at = cuda_head_of(&args->h, block, true);
    return (int32_t)cuda_attention_keys(&args->h, at.tile) * (4 * cuda_head_steps(&args->h) + 1) + 1;
}

/* bias: args->bias, or NULL. */
CUDA_BODY void cuda_attention_dq_phase(const cuda_attention_dq_args *args, const float *bias, int64_t block,
                                       int32_t thread, int32_t phase, void *shared,
                                       cuda_attention_dq_keep *keep, cuda_element e) {
    const cuda_heads *h = &args->h;
    const cuda_attention_grad_shared s = cuda_attention_grad_shared_of(shared);
    const int32_t n_steps = cuda_head_steps(h);
    cuda_walk_on(&keep->walk, h, block, true, phase, 4 * n_steps + 1);
    const cuda_head at = keep->walk.at;
    const int32_t tile = keep->walk.tile, step = keep->walk.step;
    const int32_t query = at.tile * CUDA_TILE, key = tile * CUDA_TILE;
    if (phase == 0) cuda_tile_zero(&keep->dq);
    if (tile == cuda_attention_keys(h, at.tile)) {
        cuda_attention_grad_write(args, &at, 0, &keep->dq, thread, e);
    } else if (step == 4 * n_steps) {
        cuda_tile_multiply(&keep->dq, s.weight, s.rows, CUDA_TILE, thread);
    } else if (step % 2 == 0) {
        cuda_attention_grad_load(args, bias, &s, &at, query, key, step / 2, false, thread, e);
        if (step == 4 * n_steps - 2) {
            const cuda_matrix k =
                cuda_head_part(h, &at, args->qkv, bias, 1, key, (int64_t)at.chunk * CUDA_TILE);
            cuda_tile_load_rows(s.rows, &k, thread, e);
        }
    } else if (step < 2 * n_steps) {
        if (step == 1) cuda_tile_zero(&keep->score);
        cuda_tile_multiply(&keep->score, s.a, s.b, CUDA_TILE_STEP, thread);
    } else {
        if (step == 2 * n_steps + 1) cuda_tile_zero(&keep->dp);
        cuda_tile_multiply(&keep->dp, s.a, s.b, CUDA_TILE_STEP, thread);
        if (step != 4 * n_steps - 1) return;
        CUDA_UNROLL for (int k = 0; k < CUDA_TILE_ROWS; k++) {
            CUDA_UNROLL for (int q = 0; q < 4; q++) cuda_attention_grad_weigh(
                args, &at, query + thread % 16 * 4 + q, key + thread / 16 * CUDA_TILE_ROWS + k,
                &keep->score.at[k][q], &keep->dp.at[k][q]);
        }
        cuda_tile_put(s.weight, &keep->dp, thread);
    }
}

CUDA_BODY void cuda_attention_dq_in(const cuda_attention_dq_args *args, int64_t block, int32_t thread,
                                    int32_t phase, void *shared, cuda_attention_dq_keep *keep,
                                    cuda_element e) {
    cuda_attention_dq_phase(args, NULL, block, thread, phase, shared, keep, e);
}
CUDA_LOOP_BODIES(attention_dq)

/* In f32, where the sum with the bias needs no rounding. */
CUDA_LOOP_LIKE(attention_dq, attention_bias_dq)
CUDA_BODY void cuda_attention_bias_dq_body(const cuda_attention_bias_dq_args *args, int64_t block,
                                           int32_t thread, int32_t phase, void *shared,
                                           cuda_attention_bias_dq_keep *keep) {
    cuda_attention_dq_phase(args, args->bias, block, thread, phase, shared, keep, CUDA_F32);
}

/* ---- dk, dv: phases of a tile of queries: 4 for each 32 columns, dv, dS and q, dk ------------------- */

typedef cuda_attention_dq_args cuda_attention_dkv_args;
typedef struct cuda_attention_dkv_keep {
    cuda_walk walk;
    cuda_tile score, dp, dk, dv; /* the first two [query][key] */
} cuda_attention_dkv_keep;

/* The tile of queries that a tile of keys meets first. */
CUDA_BODY int64_t cuda_attention_queries(const cuda_heads *h, int64_t tile) {
    return h->causal ? tile : 0;
}

CUDA_BODY int32_t cuda_attention_dkv_phases(const cuda_attention_dkv_args *args, int64_t block) {
    const cuda_heads *h = &args->h;
    const cuda_head at = cuda_head_of(h, block, false);
    return (int32_t)(h->tiles - cuda_attention_queries(h, at.tile)) * (4 * cuda_head_steps(h) + 3) + 1;
}

/* The steps behind the scores: dv += PT dy; dS and q to shared bytes; dk += dST q. */
CUDA_BODY void cuda_attention_dkv_sum(const cuda_attention_dkv_args *args, const float *bias,
                                      const cuda_attention_grad_shared *s, const cuda_head *at,
                                      int32_t query, int32_t step, int32_t thread,
                                      cuda_attention_dkv_keep *keep, cuda_element e) {
    if (step == 0) {
        cuda_tile_multiply(&keep->dv, s->weight, s->rows, CUDA_TILE, thread);
    } else if (step == 1) {
        const cuda_matrix q =
            cuda_head_part(&args->h, at, args->qkv, bias, 0, query, (int64_t)at->chunk * CUDA_TILE);
        cuda_tile_load_rows(s->rows, &q, thread, e);
        cuda_tile_put(s->weight, &keep->dp, thread);
    } else {
        cuda_tile_multiply(&keep->dk, s->weight, s->rows, CUDA_TILE, thread);
    }
}

/* bias: args->bias, or NULL. */
CUDA_BODY void cuda_attention_dkv_phase(const cuda_attention_dkv_args *args, const float *bias,
                                        int64_t block, int32_t thread, int32_t phase, void *shared,
                                        cuda_attention_dkv_keep *keep, cuda_element e) {
    const cuda_heads *h = &args->h;
    const cuda_attention_grad_shared s = cuda_attention_grad_shared_of(shared);
    const int32_t n_steps = cuda_head_steps(h);
    cuda_walk_on(&keep->walk, h, block, false, phase, 4 * n_steps + 3);
    const cuda_head at = keep->walk.at;
    const int32_t step = keep->walk.step;
    const int32_t tile = (int32_t)cuda_attention_queries(h, at.tile) + keep->walk.tile;
    const int32_t query = tile * CUDA_TILE, key = at.tile * CUDA_TILE;
    if (phase == 0) cuda_tile_zero(&keep->dk), cuda_tile_zero(&keep->dv);
    if (tile == h->tiles) {
        cuda_attention_grad_write(args, &at, h->c, &keep->dk, thread, e);
        cuda_attention_grad_write(args, &at, 2 * h->c, &keep->dv, thread, e);
    } else if (step >= 4 * n_steps) {
        cuda_attention_dkv_sum(args, bias, &s, &at, query, step - 4 * n_steps, thread, keep, e);
    } else if (step % 2 == 0) {
        cuda_attention_grad_load(args, bias, &s, &at, query, key, step / 2, true, thread, e);
        if (step == 4 * n_steps - 2) {
            const cuda_matrix dy = cuda_head_rows(h, &at, args->dy, query, (int64_t)at.chunk * CUDA_TILE);
            cuda_tile_load_rows(s.rows, &dy, thread, e);
        }
    } else if (step < 2 * n_steps) {
        if (step == 1) cuda_tile_zero(&keep->score);
        cuda_tile_multiply(&keep->score, s.a, s.b, CUDA_TILE_STEP, thread);
    } else {
        if (step == 2 * n_steps + 1) cuda_tile_zero(&keep->dp);
        cuda_tile_multiply(&keep->dp, s.a, s.b, CUDA_TILE_STEP, thread);
        if (step != 4 * n_steps - 1) return;
        CUDA_UNROLL for (int q = 0; q < CUDA_TILE_ROWS; q++) {
            CUDA_UNROLL for (int k = 0; k < 4; k++) cuda_attention_grad_weigh(
                args, &at, query + thread / 16 * CUDA_TILE_ROWS + q, key + thread % 16 * 4 + k,
                &keep->score.at[q][k], &keep->dp.at[q][k]);
        }
        cuda_tile_put(s.weight, &keep->score, thread);
    }
}

CUDA_BODY void cuda_attention_dkv_in(const cuda_attention_dkv_args *args, int64_t block, int32_t thread,
                                     int32_t phase, void *shared, cuda_attention_dkv_keep *keep,
                                     cuda_element e) {
    cuda_attention_dkv_phase(args, NULL, block, thread, phase, shared, keep, e);
}
CUDA_LOOP_BODIES(attention_dkv)

/* In f32, where the sum with the bias needs no rounding. */
CUDA_LOOP_LIKE(attention_dkv, attention_bias_dkv)
CUDA_BODY void cuda_attention_bias_dkv_body(const cuda_attention_bias_dkv_args *args, int64_t block,
                                            int32_t thread, int32_t phase, void *shared,
                                            cuda_attention_bias_dkv_keep *keep) {
    cuda_attention_dkv_phase(args, args->bias, block, thread, phase, shared, keep, CUDA_F32);
}

#endif
