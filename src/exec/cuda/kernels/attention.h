/* kernels/attention.h: attention, forward (Dao et al., "FlashAttention", NeurIPS 2022): a block has 64
 * queries and meets the keys 64 at a time; what was summed so far shrinks when a larger score comes.
 *
 *     scores   [key][query] = k qT * scale    in registers, from 32 columns of both at a time
 *     weights  exp(scores - max)              in shared bytes, where a query's 2 threads have 32 keys each
 *     sum      [query][number] += weightsT v  in registers
 *
 * Scores are made transposed so that they are stored along their rows and read as the second product's
 * factor. Phases of a tile of keys: for each 32 columns load and multiply; maxima (and load v); weights;
 * second product.
 *
 * A pair of tiles of d = 64 is 2^20 operations on 48 KiB (q, k, v) from the caches: 21 a byte. Moved
 * of memory: 4 numbers for each of y, and 4 bytes a row and head; k and v are read again by every tile of
 * queries, from L2. */
#ifndef EBB_EXEC_CUDA_KERNELS_ATTENTION_H
#define EBB_EXEC_CUDA_KERNELS_ATTENTION_H

#include <float.h>

#include "exec/cuda/kernels/tiles.h"

/* threads of a query when weights are made */
#define CUDA_ATTENTION_PARTS  (CUDA_TILE_THREADS / CUDA_TILE)
#define CUDA_ATTENTION_SHARED (4 * (2 * CUDA_TILE_FLOATS + (4 + 2 * CUDA_ATTENTION_PARTS) * CUDA_TILE))

typedef struct cuda_attention_args {
    const void *qkv;
    const float *bias; /* attention_bias only */
    void *y;
    float *lse;
    cuda_heads h;
} cuda_attention_args;

typedef struct cuda_attention_keep {
    cuda_walk walk;
    cuda_tile score, sum;
} cuda_attention_keep;

typedef struct cuda_attention_shared {
    float *a, *b;            /* factors: halves of a tile, or one tile of v in both */
    float *weight;           /* [key][query] */
    float *max;              /* [2][query] so far, by even and by odd tiles */
    float *sum, *shrink;     /* [query] */
    float *maxima, *weights; /* [part][query] of this tile: largest score, sum of weights */
} cuda_attention_shared;

CUDA_BODY cuda_attention_shared cuda_attention_shared_of(void *shared) {
    cuda_attention_shared s;
    s.a = (float *)shared;
    s.b = s.a + CUDA_TILE_HALF;
    s.weight = s.a + CUDA_TILE_FLOATS;
    s.max = s.weight + CUDA_TILE_FLOATS;
    s.sum = s.max + 2 * CUDA_TILE;
    s.shrink = s.sum + CUDA_TILE;
    s.maxima = s.shrink + CUDA_TILE;
    s.weights = s.maxima + CUDA_ATTENTION_PARTS * CUDA_TILE;
    return s;
}

/* Tiles of keys that a tile of queries meets. */
CUDA_BODY int64_t cuda_attention_keys(const cuda_heads *h, int64_t tile) {
    return h->causal ? tile + 1 : h->tiles;
}

CUDA_BODY int32_t cuda_attention_phases(const cuda_attention_args *args, int64_t block) {
    const cuda_head at = cuda_head_of(&args->h, block, true);
    return (int32_t)cuda_attention_keys(&args->h, at.tile) * (2 * cuda_head_steps(&args->h) + 3) + 1;
}

/* Scaled scores, and -inf for keys that a query does not see, to shared bytes. */
CUDA_BODY void cuda_attention_put_scores(const cuda_heads *h, const cuda_attention_shared *s,
                                         cuda_tile *score, int32_t query, int32_t key, int32_t thread) {
    CUDA_UNROLL for (int k = 0; k < CUDA_TILE_ROWS; k++) {
        CUDA_UNROLL for (int q = 0; q < 4; q++) {
            const bool seen =
                cuda_head_sees(h, query + thread % 16 * 4 + q, key + thread / 16 * CUDA_TILE_ROWS + k);
            score->at[k][q] = seen ? score->at[k][q] * h->scale : -INFINITY;
        }
    }
    cuda_tile_put(s->weight, score, thread);
}

/* fmaxf passes over NaNs; they come back as weights. */
CUDA_BODY void cuda_attention_maxima(const cuda_attention_shared *s, int32_t thread) {
    const int32_t query = thread % CUDA_TILE, part = thread / CUDA_TILE,
                  n = CUDA_TILE / CUDA_ATTENTION_PARTS;
    float max = -FLT_MAX;
    for (int32_t i = part * n; i < (part + 1) * n; i++) max = fmaxf(max, s->weight[i * CUDA_TILE + query]);
    s->maxima[part * CUDA_TILE + query] = max;
}

CUDA_BODY void cuda_attention_weights(const cuda_attention_shared *s, int64_t tile, int32_t thread) {
    const int32_t query = thread % CUDA_TILE, part = thread / CUDA_TILE,
                  n = CUDA_TILE / CUDA_ATTENTION_PARTS;
    const float old = tile > 0 ? s->max[tile % 2 * CUDA_TILE + query] : -FLT_MAX;
    float max = old, sum = 0;
    CUDA_UNROLL for (int32_t i = 0; i < CUDA_ATTENTION_PARTS; i++) max =
        fmaxf(max, s->maxima[i * CUDA_TILE + query]);
    for (int32_t i = part * n; i < (part + 1) * n; i++) {
        const float weight = expf(s->weight[i * CUDA_TILE + query] - max);
        s->weight[i * CUDA_TILE + query] = weight;
        sum += weight;
    }
    s->weights[part * CUDA_TILE + query] = sum;
    if (part != 0) return;
    s->max[(tile + 1) % 2 * CUDA_TILE + query] = max;
    s->shrink[query] = expf(old - max);
}

/* A thread has the sums of 8 queries and 4 numbers; those of part 0 keep the queries' sums of weights. */
CUDA_BODY void cuda_attention_add(const cuda_attention_shared *s, cuda_tile *sum, int64_t tile,
                                  int32_t thread) {
    if (thread < CUDA_TILE) {
        float weights = 0;
        CUDA_UNROLL for (int32_t i = 0; i < CUDA_ATTENTION_PARTS; i++) weights +=
            s->weights[i * CUDA_TILE + thread];
        s->sum[thread] = tile > 0 ? s->sum[thread] * s->shrink[thread] + weights : weights;
    }
    if (tile == 0) {
        cuda_tile_zero(sum);
    } else {
        CUDA_UNROLL for (int i = 0; i < CUDA_TILE_ROWS; i++) {
            const float shrink = s->shrink[thread / 16 * CUDA_TILE_ROWS + i];
            CUDA_UNROLL for (int j = 0; j < 4; j++) sum->at[i][j] *= shrink;
        }
    }
    cuda_tile_multiply(sum, s->weight, s->a, CUDA_TILE, thread);
}

CUDA_BODY void cuda_attention_write(const cuda_attention_args *args, const cuda_attention_shared *s,
                                    const cuda_head *at, const cuda_tile *sum, int32_t thread,
                                    cuda_element e) {
    const cuda_heads *h = &args->h;
    const int64_t first = (int64_t)at->tile * CUDA_TILE;
    const int64_t column = (int64_t)at->chunk * CUDA_TILE + thread % 16 * 4;
    CUDA_UNROLL for (int i = 0; i < CUDA_TILE_ROWS; i++) {
        const int32_t query = thread / 16 * CUDA_TILE_ROWS + i;
        const int64_t to = cuda_head_index(h, at, first + query, h->c) + column;
        if (first + query < h->t)
            cuda_tile_store(args->y, to, sum->at[i], 1 / s->sum[query], h->d - column, h->d % 4 == 0, e);
    }
    if (at->chunk == 0 && thread < CUDA_TILE && first + thread < h->t)
        args->lse[cuda_head_row(h, at, first + thread)] =
            s->max[cuda_attention_keys(h, at->tile) % 2 * CUDA_TILE + thread] + logf(s->sum[thread]);
}

/* bias: args->bias, or NULL. */
CUDA_BODY void cuda_attention_phase(const cuda_attention_args *args, const float *bias, int64_t block,
                                    int32_t thread, int32_t phase, void *shared, cuda_attention_keep *keep,
                                    cuda_element e) {
    const cuda_heads *h = &args->h;
    const cuda_attention_shared s = cuda_attention_shared_of(shared);
    const int32_t n_steps = 2 * cuda_head_steps(h);
    cuda_walk_on(&keep->walk, h, block, true, phase, n_steps + 3);
    const cuda_head at = keep->walk.at;
    const int32_t tile = keep->walk.tile, step = keep->walk.step;
    const int32_t query = at.tile * CUDA_TILE, key = tile * CUDA_TILE;
    if (tile == cuda_attention_keys(h, at.tile)) {
        cuda_attention_write(args, &s, &at, &keep->sum, thread, e);
    } else if (step < n_steps && step % 2 == 0) {
        const int64_t column = (int64_t)step / 2 * CUDA_TILE_STEP;
        const cuda_matrix q = cuda_head_part(h, &at, args->qkv, bias, 0, query, column);
        const cuda_matrix k = cuda_head_part(h, &at, args->qkv, bias, 1, key, column);
        cuda_tile_load_columns(s.a, &k, thread, e);
        cuda_tile_load_columns(s.b, &q, thread, e);
    } else if (step < n_steps) {
        if (step == 1) cuda_tile_zero(&keep->score);
        cuda_tile_multiply(&keep->score, s.a, s.b, CUDA_TILE_STEP, thread);
        if (step == n_steps - 1) cuda_attention_put_scores(h, &s, &keep->score, query, key, thread);
    } else if (step == n_steps) {
        const cuda_matrix v =
            cuda_head_part(h, &at, args->qkv, bias, 2, key, (int64_t)at.chunk * CUDA_TILE);
        cuda_tile_load_rows(s.a, &v, thread, e);
        cuda_attention_maxima(&s, thread);
    } else if (step == n_steps + 1) {
        cuda_attention_weights(&s, tile, thread);
    } else {
        cuda_attention_add(&s, &keep->sum, tile, thread);
    }
}

CUDA_BODY void cuda_attention_in(const cuda_attention_args *args, int64_t block, int32_t thread,
                                 int32_t phase, void *shared, cuda_attention_keep *keep, cuda_element e) {
    cuda_attention_phase(args, NULL, block, thread, phase, shared, keep, e);
}
CUDA_LOOP_BODIES(attention)

/* In f32, where the sum with the bias needs no rounding. */
CUDA_LOOP_LIKE(attention, attention_bias)
CUDA_BODY void cuda_attention_bias_body(const cuda_attention_bias_args *args, int64_t block, int32_t thread,
                                        int32_t phase, void *shared, cuda_attention_bias_keep *keep) {
    cuda_attention_phase(args, args->bias, block, thread, phase, shared, keep, CUDA_F32);
}

#endif
