/* kernels/softmax.h: softmax of rows (soft.h) and what stands on it: its gradient, the cross-entropy and
 * its gradient. All look at a row, join what its lanes found in two phases, and go through it again: its
 * numbers come from a cache then, if they are few enough. In place: a row is written when all of it was
 * read, each number by who reads it.
 *
 * Bytes moved a number, of memory; again as many are read from caches, or from memory where rows are so
 * long that those in work are more than the caches hold: softmax 8, softmax_grad 12, softmax_xent 4 (read
 * once), softmax_xent_grad 8. */
#ifndef EBB_EXEC_CUDA_KERNELS_SOFTMAX_H
#define EBB_EXEC_CUDA_KERNELS_SOFTMAX_H

#include "exec/cuda/kernels/soft.h"

#define CUDA_SOFTMAX_SHARED (CUDA_SOFT_THREADS * 8)

typedef struct cuda_softmax_args {
    const float *x, *dy; /* softmax_grad: x is y */
    float *to;
    int64_t n_rows, k, group; /* causal: rows of a group, else 0 */
    int32_t lanes;
} cuda_softmax_args;

/* How many numbers the row sees. */
CUDA_BODY int64_t cuda_softmax_seen(const cuda_softmax_args *args, int64_t row) {
    if (row >= args->n_rows) return 0;
    if (!args->group) return args->k;
    return row - cuda_divide(row, args->group) * args->group + 1 + args->k - args->group;
}

CUDA_BODY void cuda_softmax_write(const cuda_softmax_args *args, const cuda_soft_row *r, cuda_soft s) {
    const float *x = args->x;
    float *to = args->to;
    if (r->lane < r->head) to[r->first + r->lane] = expf(x[r->first + r->lane] - s.max) / s.sum;
    CUDA_AHEAD for (int64_t q = r->lane; q < r->n_quads; q += r->lanes) {
        cuda_f32x4 v = cuda_load4(x + r->quads_at + 4 * q);
        CUDA_UNROLL for (int i = 0; i < 4; i++) v.v[i] = expf(v.v[i] - s.max) / s.sum;
        cuda_store4(to + r->quads_at + 4 * q, v);
    }
    if (r->lane < r->tail) to[r->tail_at + r->lane] = expf(x[r->tail_at + r->lane] - s.max) / s.sum;
    for (int64_t i = r->tail_at + r->tail + r->lane; i < r->first + args->k; i += r->lanes) to[i] = 0;
}

CUDA_BODY void cuda_softmax_body(const cuda_softmax_args *args, int64_t block, int32_t thread,
                                 int32_t phase, void *shared) {
    cuda_soft *found = (cuda_soft *)shared;
    cuda_soft_row r = cuda_soft_row_of(block, thread, args->lanes, args->k);
    cuda_soft_row_see(&r, cuda_softmax_seen(args, r.row));
    if (phase == 0) found[thread] = cuda_soft_of(&r, args->x);
    if (phase == 1) cuda_soft_join_16(&r, thread, found);
    if (phase == 2 && r.row < args->n_rows)
        cuda_softmax_write(args, &r, cuda_soft_join_all(&r, thread, found));
}

/* ---- its gradient: dx = y * (dy - sum of y * dy) ------------------------------------------------- */

typedef cuda_softmax_args cuda_softmax_grad_args;

CUDA_BODY float cuda_softmax_inner(const cuda_softmax_grad_args *args, const cuda_soft_row *r) {
    const float *y = args->x, *dy = args->dy;
    float sum[4] = {0, 0, 0, 0};
    if (r->lane < r->head) sum[0] += y[r->first + r->lane] * dy[r->first + r->lane];
    CUDA_AHEAD for (int64_t q = r->lane; q < r->n_quads; q += r->lanes) {
        const cuda_f32x4 a = cuda_load4(y + r->quads_at + 4 * q), b = cuda_load4(dy + r->quads_at + 4 * q);
        CUDA_UNROLL for (int i = 0; i < 4; i++) sum[i] += a.v[i] * b.v[i];
    }
    if (r->lane < r->tail) sum[1] += y[r->tail_at + r->lane] * dy[r->tail_at + r->lane];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

CUDA_BODY void cuda_softmax_grad_write(const cuda_softmax_grad_args *args, const cuda_soft_row *r,
                                       float inner) {
    const float *y = args->x, *dy = args->dy;
    float *to = args->to;
    if (r->lane < r->head) {
        const int64_t i = r->first + r->lane;
        to[i] = y[i] * (dy[i] - inner);
    }
    CUDA_AHEAD for (int64_t q = r->lane; q < r->n_quads; q += r->lanes) {
        const int64_t at = r->quads_at + 4 * q;
        const cuda_f32x4 a = cuda_load4(y + at);
        cuda_f32x4 b = cuda_load4(dy + at);
        CUDA_UNROLL for (int i = 0; i < 4; i++) b.v[i] = a.v[i] * (b.v[i] - inner);
        cuda_store4(to + at, b);
    }
    if (r->lane < r->tail) {
        const int64_t i = r->tail_at + r->lane;
        to[i] = y[i] * (dy[i] - inner);
    }
}

CUDA_BODY void cuda_softmax_grad_body(const cuda_softmax_grad_args *args, int64_t block, int32_t thread,
                                      int32_t phase, void *shared) {
    float *found = (float *)shared;
    cuda_soft_row r = cuda_soft_row_of(block, thread, args->lanes, args->k);
    cuda_soft_row_see(&r, r.row < args->n_rows ? args->k : 0);
    if (phase == 0) found[thread] = cuda_softmax_inner(args, &r);
    if (phase == 1 && r.lane % CUDA_SOFT_JOIN == 0) {
        float sum = found[thread];
        for (int32_t i = 1; i < CUDA_SOFT_JOIN && i < r.lanes; i++) sum += found[thread + i];
        found[thread] = sum;
    }
    if (phase == 2 && r.row < args->n_rows) {
        float inner = found[thread - r.lane];
        for (int32_t i = CUDA_SOFT_JOIN; i < r.lanes; i += CUDA_SOFT_JOIN)
            inner += found[thread - r.lane + i];
        cuda_softmax_grad_write(args, &r, inner);
    }
}

/* ---- cross-entropy: the mean over rows of log(sum) - (x[label] - max) ------------------------------- */

#define CUDA_XENT_LOSSES (CUDA_SOFT_THREADS / 4 * 8)
#define CUDA_XENT_SHARED \
    (CUDA_SOFTMAX_SHARED + CUDA_XENT_LOSSES + CUDA_SOFT_THREADS * 8) /* found, losses of rows, sums */

typedef struct cuda_softmax_xent_args {
    const float *logits;
    const int32_t *labels;
    const float *dloss; /* softmax_xent_grad only */
    float *to;          /* the loss, by xent_mean; dlogits */
    double *losses;     /* of each block of rows */
    cuda_scalars *scalars;
    int64_t n_rows, k, n_blocks;
    double smooth; /* the labels' */
    int32_t lanes;
} cuda_softmax_xent_args;

/* What a lane has of the sum of the logits. */
CUDA_BODY double cuda_xent_sum(const cuda_soft_row *r, const float *x) {
    double sum = 0;
    if (r->lane < r->head) sum += x[r->first + r->lane];
    CUDA_AHEAD for (int64_t q = r->lane; q < r->n_quads; q += r->lanes) {
        const cuda_f32x4 v = cuda_load4(x + r->quads_at + 4 * q);
        sum += ((double)v.v[0] + v.v[1]) + ((double)v.v[2] + v.v[3]);
    }
    if (r->lane < r->tail) sum += x[r->tail_at + r->lane];
    return sum;
}

/* sums: of the row's lanes, each 16th of 16, where labels are smoothed. NaN where the label is none: the
 * run is refused at its end. */
CUDA_BODY double cuda_xent_loss(const cuda_softmax_xent_args *args, const cuda_soft_row *r, cuda_soft s,
                                const double *sums) {
    const int64_t label = args->labels[r->row];
    if (label >= 0 && label < args->k) {
        double target = (double)args->logits[r->first + label] - s.max, sum = 0;
        if (args->smooth > 0) {
            for (int32_t i = 0; i < r->lanes; i += CUDA_SOFT_JOIN) sum += sums[i];
            target = (1 - args->smooth) * target + args->smooth * (sum / (double)args->k - s.max);
        }
        return (double)logf(s.sum) - target;
    }
    cuda_fault(args->scalars, CUDA_FAULT_LABEL, label, args->k);
    return (double)NAN;
}

/* A block's rows are added up in order; softmax_xent_mean adds up blocks. */
CUDA_BODY void cuda_softmax_xent_body(const cuda_softmax_xent_args *args, int64_t block, int32_t thread,
                                      int32_t phase, void *shared) {
    cuda_soft *found = (cuda_soft *)shared;
    double *losses = (double *)((unsigned char *)shared + CUDA_SOFTMAX_SHARED);
    double *sums = losses + CUDA_SOFT_THREADS / 4;
    cuda_soft_row r = cuda_soft_row_of(block, thread, args->lanes, args->k);
    if (phase == 0) {
        cuda_soft_row_see(&r, r.row < args->n_rows ? args->k : 0);
        found[thread] = cuda_soft_of(&r, args->logits);
        if (args->smooth > 0) sums[thread] = cuda_xent_sum(&r, args->logits);
    }
    if (phase == 1) {
        cuda_soft_join_16(&r, thread, found);
        if (args->smooth > 0 && r.lane % CUDA_SOFT_JOIN == 0)
            for (int32_t i = 1; i < CUDA_SOFT_JOIN && i < r.lanes; i++) sums[thread] += sums[thread + i];
    }
    if (phase == 2 && r.lane == 0) {
        const cuda_soft s = cuda_soft_join_all(&r, thread, found);
        losses[thread / r.lanes] = r.row < args->n_rows ? cuda_xent_loss(args, &r, s, sums + thread) : 0;
    }
    if (phase == 3 && thread == 0) {
        double sum = 0;
        for (int32_t i = 0; i < CUDA_SOFT_THREADS / r.lanes; i++) sum += losses[i];
        args->losses[block] = sum;
    }
}

/* One block. */
#define CUDA_XENT_MEAN_SHARED (CUDA_SOFT_THREADS * 8)
typedef cuda_softmax_xent_args cuda_softmax_xent_mean_args;
CUDA_BODY void cuda_softmax_xent_mean_body(const cuda_softmax_xent_mean_args *args, int64_t block,
                                           int32_t thread, int32_t phase, void *shared) {
    double *found = (double *)shared, sum = 0;
    (void)block;
    if (phase == 0) {
        CUDA_AHEAD for (int64_t i = thread; i < args->n_blocks; i += CUDA_SOFT_THREADS) sum +=
            args->losses[i];
        found[thread] = sum;
    }
    if (phase == 1 && thread % CUDA_SOFT_JOIN == 0) {
        for (int32_t i = 0; i < CUDA_SOFT_JOIN; i++) sum += found[thread + i];
        found[thread] = sum;
    }
    if (phase == 2 && thread == 0) {
        for (int32_t i = 0; i < CUDA_SOFT_THREADS; i += CUDA_SOFT_JOIN) sum += found[i];
        *args->to = (float)(sum / (double)args->n_rows);
    }
}

/* (softmax - target) * dloss / rows */
typedef cuda_softmax_xent_args cuda_softmax_xent_grad_args;
CUDA_BODY void cuda_xent_grad_write(const cuda_softmax_xent_grad_args *args, const cuda_soft_row *r,
                                    cuda_soft s) {
    const float *x = args->logits;
    const float scale = (float)((double)*args->dloss / (double)args->n_rows), part = 1 / s.sum;
    const int64_t label = args->labels[r->row], one = r->first + label;
    const float each = (float)(args->smooth / (double)args->k), hit = (float)(1 - args->smooth) + each;
    float *to = args->to;
    if (r->lane == 0 && (label < 0 || label >= args->k))
        cuda_fault(args->scalars, CUDA_FAULT_LABEL, label, args->k);
    if (r->lane < r->head) {
        const int64_t i = r->first + r->lane;
        to[i] = (expf(x[i] - s.max) * part - (i == one ? hit : each)) * scale;
    }
    CUDA_AHEAD for (int64_t q = r->lane; q < r->n_quads; q += r->lanes) {
        const int64_t at = r->quads_at + 4 * q;
        cuda_f32x4 v = cuda_load4(x + at);
        CUDA_UNROLL for (int i = 0; i < 4; i++) v.v[i] =
            (expf(v.v[i] - s.max) * part - (at + i == one ? hit : each)) * scale;
        cuda_store4(to + at, v);
    }
    if (r->lane < r->tail) {
        const int64_t i = r->tail_at + r->lane;
        to[i] = (expf(x[i] - s.max) * part - (i == one ? hit : each)) * scale;
    }
}

CUDA_BODY void cuda_softmax_xent_grad_body(const cuda_softmax_xent_grad_args *args, int64_t block,
                                           int32_t thread, int32_t phase, void *shared) {
    cuda_soft *found = (cuda_soft *)shared;
    cuda_soft_row r = cuda_soft_row_of(block, thread, args->lanes, args->k);
    cuda_soft_row_see(&r, r.row < args->n_rows ? args->k : 0);
    if (phase == 0) found[thread] = cuda_soft_of(&r, args->logits);
    if (phase == 1) cuda_soft_join_16(&r, thread, found);
    if (phase == 2 && r.row < args->n_rows)
        cuda_xent_grad_write(args, &r, cuda_soft_join_all(&r, thread, found));
}

#endif
