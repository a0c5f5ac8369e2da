/* kernels/softmax.h: softmax of rows (soft.h) and what stands on it: its gradient, the cross-entropy and
 * its gradient. All look at a row, join what its lanes found in two phases, and go through it again: its
 * numbers come from a cache then, if they are few enough. In place: a row is written when all of it was
 * read, each number by who reads it.
 *
 * Numbers moved for each of a row, of memory; again as many are read from caches, or from memory where rows
 * are so long that those in work are more than the caches hold: softmax 2, softmax_grad 3, softmax_xent 1
 * (read once), softmax_xent_grad and softmax_xent_both 2. */
#ifndef EBB_EXEC_CUDA_KERNELS_SOFTMAX_H
#define EBB_EXEC_CUDA_KERNELS_SOFTMAX_H

#include "exec/cuda/kernels/soft.h"

#define CUDA_SOFTMAX_SHARED (CUDA_SOFT_THREADS * 8)

typedef struct cuda_softmax_args {
    const void *x, *dy; /* softmax_grad: x is y */
    void *to;
    int64_t n_rows, k, group; /* causal: rows of a group, else 0 */
    int32_t lanes;
} cuda_softmax_args;

/* How many numbers the row sees. */
CUDA_BODY int64_t cuda_softmax_seen(const cuda_softmax_args *args, int64_t row) {
    if (row >= args->n_rows) return 0;
    if (!args->group) return args->k;
    return row - cuda_divide(row, args->group) * args->group + 1 + args->k - args->group;
}

CUDA_BODY void cuda_softmax_write1(const cuda_softmax_args *args, int64_t i, cuda_soft s, cuda_element e) {
    cuda_put1(e, args->to, i, expf(cuda_get1(e, args->x, i) - s.max) / s.sum);
}

CUDA_BODY void cuda_softmax_write(const cuda_softmax_args *args, const cuda_soft_row *r, cuda_soft s,
                                  cuda_element e) {
    if (r->lane < r->head) cuda_softmax_write1(args, r->first + r->lane, s, e);
    CUDA_AHEAD for (int64_t q = r->lane; q < r->n_quads; q += r->lanes) {
        cuda_f32x4 v = cuda_get4(e, args->x, r->quads_at + 4 * q);
        CUDA_UNROLL for (int i = 0; i < 4; i++) v.v[i] = expf(v.v[i] - s.max) / s.sum;
        cuda_put4(e, args->to, r->quads_at + 4 * q, v);
    }
    if (r->lane < r->tail) cuda_softmax_write1(args, r->tail_at + r->lane, s, e);
    for (int64_t i = r->tail_at + r->tail + r->lane; i < r->first + args->k; i += r->lanes)
        cuda_put1(e, args->to, i, 0);
}

CUDA_BODY void cuda_softmax_in(const cuda_softmax_args *args, int64_t block, int32_t thread, int32_t phase,
                               void *shared, cuda_element e) {
    cuda_soft *found = (cuda_soft *)shared;
    cuda_soft_row r = cuda_soft_row_of(block, thread, args->lanes, args->k);
    cuda_soft_row_see(&r, cuda_softmax_seen(args, r.row));
    if (phase == 0) found[thread] = cuda_soft_of(&r, args->x, e);
    if (phase == 1) cuda_soft_join_16(&r, thread, found);
    if (phase == 2 && r.row < args->n_rows)
        cuda_softmax_write(args, &r, cuda_soft_join_all(&r, thread, found), e);
}
CUDA_BODIES(softmax)

/* ---- its gradient: dx = y * (dy - sum of y * dy) ------------------------------------------------- */

typedef cuda_softmax_args cuda_softmax_grad_args;

CUDA_BODY float cuda_softmax_product(const cuda_softmax_grad_args *args, int64_t i, cuda_element e) {
    return cuda_get1(e, args->x, i) * cuda_get1(e, args->dy, i);
}

CUDA_BODY float cuda_softmax_inner(const cuda_softmax_grad_args *args, const cuda_soft_row *r,
                                   cuda_element e) {
    float sum[4] = {0, 0, 0, 0};
    if (r->lane < r->head) sum[0] += cuda_softmax_product(args, r->first + r->lane, e);
    CUDA_AHEAD for (int64_t q = r->lane; q < r->n_quads; q += r->lanes) {
        const int64_t at = r->quads_at + 4 * q;
        const cuda_f32x4 a = cuda_get4(e, args->x, at), b = cuda_get4(e, args->dy, at);
        CUDA_UNROLL for (int i = 0; i < 4; i++) sum[i] += a.v[i] * b.v[i];
    }
    if (r->lane < r->tail) sum[1] += cuda_softmax_product(args, r->tail_at + r->lane, e);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

CUDA_BODY void cuda_softmax_grad_write1(const cuda_softmax_grad_args *args, int64_t i, float inner,
                                        cuda_element e) {
    cuda_put1(e, args->to, i, cuda_get1(e, args->x, i) * (cuda_get1(e, args->dy, i) - inner));
}

CUDA_BODY void cuda_softmax_grad_write(const cuda_softmax_grad_args *args, const cuda_soft_row *r,
                                       float inner, cuda_element e) {
    if (r->lane < r->head) cuda_softmax_grad_write1(args, r->first + r->lane, inner, e);
    CUDA_AHEAD for (int64_t q = r->lane; q < r->n_quads; q += r->lanes) {
        const int64_t at = r->quads_at + 4 * q;
        const cuda_f32x4 a = cuda_get4(e, args->x, at);
        cuda_f32x4 b = cuda_get4(e, args->dy, at);
        CUDA_UNROLL for (int i = 0; i < 4; i++) b.v[i] = a.v[i] * (b.v[i] - inner);
        cuda_put4(e, args->to, at, b);
    }
    if (r->lane < r->tail) cuda_softmax_grad_write1(args, r->tail_at + r->lane, inner, e);
}

CUDA_BODY void cuda_softmax_grad_in(const cuda_softmax_grad_args *args, int64_t block, int32_t thread,
                                    int32_t phase, void *shared, cuda_element e) {
    float *found = (float *)shared;
    cuda_soft_row r = cuda_soft_row_of(block, thread, args->lanes, args->k);
    cuda_soft_row_see(&r, r.row < args->n_rows ? args->k : 0);
    if (phase == 0) found[thread] = cuda_softmax_inner(args, &r, e);
    if (phase == 1 && r.lane % CUDA_SOFT_JOIN == 0) {
        float sum = found[thread];
        for (int32_t i = 1; i < CUDA_SOFT_JOIN && i < r.lanes; i++) sum += found[thread + i];
        found[thread] = sum;
    }
    if (phase == 2 && r.row < args->n_rows) {
        float inner = found[thread - r.lane];
        for (int32_t i = CUDA_SOFT_JOIN; i < r.lanes; i += CUDA_SOFT_JOIN)
            inner += found[thread - r.lane + i];
        cuda_softmax_grad_write(args, &r, inner, e);
    }
}
CUDA_BODIES(softmax_grad)

/* ---- cross-entropy: the mean over rows of log(sum) - (x[label] - max) ------------------------------- */

#define CUDA_XENT_LOSSES (CUDA_SOFT_THREADS / 4 * 8)
#define CUDA_XENT_SHARED \
    (CUDA_SOFTMAX_SHARED + CUDA_XENT_LOSSES + CUDA_SOFT_THREADS * 8) /* found, losses of rows, sums */

typedef struct cuda_softmax_xent_args {
    const void *logits;
    const int32_t *labels;
    const float *dloss; /* softmax_xent_grad only */
    float scale;        /* softmax_xent_both only: dloss / rows */
    void *to;           /* the loss, by xent_mean, which is f32; dlogits */
    double *losses;     /* of each block of rows */
    cuda_scalars *scalars;
    int64_t n_rows, k, n_blocks;
    double smooth; /* the labels' */
    int32_t lanes;
} cuda_softmax_xent_args;

/* What a lane has of the sum of the logits. */
CUDA_BODY double cuda_xent_sum(const cuda_soft_row *r, const void *x, cuda_element e) {
    double sum = 0;
    if (r->lane < r->head) sum += (double)cuda_get1(e, x, r->first + r->lane);
    CUDA_AHEAD for (int64_t q = r->lane; q < r->n_quads; q += r->lanes) {
        const cuda_f32x4 v = cuda_get4(e, x, r->quads_at + 4 * q);
        sum += ((double)v.v[0] + v.v[1]) + ((double)v.v[2] + v.v[3]);
    }
    if (r->lane < r->tail) sum += (double)cuda_get1(e, x, r->tail_at + r->lane);
    return sum;
}

/* sums: of the row's lanes, each 16th of 16, where labels are smoothed. NaN where the label is none: the
 * run is refused at its end. */
CUDA_BODY double cuda_xent_loss(const cuda_softmax_xent_args *args, const cuda_soft_row *r, cuda_soft s,
                                const double *sums, cuda_element e) {
    const int64_t label = args->labels[r->row];
    if (label >= 0 && label < args->k) {
        double target = (double)cuda_get1(e, args->logits, r->first + label) - s.max, sum = 0;
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
CUDA_BODY void cuda_softmax_xent_in(const cuda_softmax_xent_args *args, int64_t block, int32_t thread,
                                    int32_t phase, void *shared, cuda_element e) {
    cuda_soft *found = (cuda_soft *)shared;
    double *losses = (double *)((unsigned char *)shared + CUDA_SOFTMAX_SHARED);
    double *sums = losses + CUDA_SOFT_THREADS / 4;
    cuda_soft_row r = cuda_soft_row_of(block, thread, args->lanes, args->k);
    if (phase == 0) {
        cuda_soft_row_see(&r, r.row < args->n_rows ? args->k : 0);
        found[thread] = cuda_soft_of(&r, args->logits, e);
        if (args->smooth > 0) sums[thread] = cuda_xent_sum(&r, args->logits, e);
    }
    if (phase == 1) {
        cuda_soft_join_16(&r, thread, found);
        if (args->smooth > 0 && r.lane % CUDA_SOFT_JOIN == 0)
            for (int32_t i = 1; i < CUDA_SOFT_JOIN && i < r.lanes; i++) sums[thread] += sums[thread + i];
    }
    if (phase == 2 && r.lane == 0) {
        const cuda_soft s = cuda_soft_join_all(&r, thread, found);
        losses[thread / r.lanes] = r.row < args->n_rows ? cuda_xent_loss(args, &r, s, sums + thread, e) : 0;
    }
    if (phase == 3 && thread == 0) {
        double sum = 0;
        for (int32_t i = 0; i < CUDA_SOFT_THREADS / r.lanes; i++) sum += losses[i];
        args->losses[block] = sum;
    }
}
CUDA_BODIES(softmax_xent)

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
        *(float *)args->to = (float)(sum / (double)args->n_rows);
    }
}

/* (softmax - target) * dloss / rows */
typedef cuda_softmax_xent_args cuda_softmax_xent_grad_args;
CUDA_BODY float cuda_xent_grad_of(float x, cuda_soft s, float part, float target, float scale) {
    return (expf(x - s.max) * part - target) * scale;
}

/* scale: dloss / rows. */
CUDA_BODY void cuda_xent_grad_write(const cuda_softmax_xent_grad_args *args, const cuda_soft_row *r,
                                    cuda_soft s, float scale, cuda_element e) {
    const void *x = args->logits;
    const float part = 1 / s.sum;
    const int64_t label = args->labels[r->row], one = r->first + label;
    const float each = (float)(args->smooth / (double)args->k), hit = (float)(1 - args->smooth) + each;
    const int64_t head = r->first + r->lane, tail = r->tail_at + r->lane;
    if (r->lane == 0 && (label < 0 || label >= args->k))
        cuda_fault(args->scalars, CUDA_FAULT_LABEL, label, args->k);
    if (r->lane < r->head) {
        const float target = head == one ? hit : each;
        cuda_put1(e, args->to, head, cuda_xent_grad_of(cuda_get1(e, x, head), s, part, target, scale));
    }
    CUDA_AHEAD for (int64_t q = r->lane; q < r->n_quads; q += r->lanes) {
        const int64_t at = r->quads_at + 4 * q;
        cuda_f32x4 v = cuda_get4(e, x, at);
        CUDA_UNROLL for (int i = 0; i < 4; i++) v.v[i] =
            cuda_xent_grad_of(v.v[i], s, part, at + i == one ? hit : each, scale);
        cuda_put4(e, args->to, at, v);
    }
    if (r->lane < r->tail) {
        const float target = tail == one ? hit : each;
        cuda_put1(e, args->to, tail, cuda_xent_grad_of(cuda_get1(e, x, tail), s, part, target, scale));
    }
}

CUDA_BODY void cuda_softmax_xent_grad_in(const cuda_softmax_xent_grad_args *args, int64_t block,
                                         int32_t thread, int32_t phase, void *shared, cuda_element e) {
    cuda_soft *found = (cuda_soft *)shared;
    cuda_soft_row r = cuda_soft_row_of(block, thread, args->lanes, args->k);
    cuda_soft_row_see(&r, r.row < args->n_rows ? args->k : 0);
    if (phase == 0) found[thread] = cuda_soft_of(&r, args->logits, e);
    if (phase == 1) cuda_soft_join_16(&r, thread, found);
    if (phase == 2 && r.row < args->n_rows) {
        const float scale = (float)((double)*args->dloss / (double)args->n_rows);
        cuda_xent_grad_write(args, &r, cuda_soft_join_all(&r, thread, found), scale, e);
    }
}
CUDA_BODIES(softmax_xent_grad)

/* Both: a row's gradient when its label's logit has been read. */
typedef cuda_softmax_xent_args cuda_softmax_xent_both_args;
CUDA_BODY void cuda_softmax_xent_both_in(const cuda_softmax_xent_both_args *args, int64_t block,
                                         int32_t thread, int32_t phase, void *shared, cuda_element e) {
    cuda_softmax_xent_in(args, block, thread, phase, shared, e);
    if (phase < 3) return;
    cuda_soft_row r = cuda_soft_row_of(block, thread, args->lanes, args->k);
    cuda_soft_row_see(&r, r.row < args->n_rows ? args->k : 0);
    if (r.row >= args->n_rows) return;
    const cuda_soft s = cuda_soft_join_all(&r, thread, (const cuda_soft *)shared);
    cuda_xent_grad_write(args, &r, s, args->scale, e);
}
CUDA_BODIES(softmax_xent_both)

#endif
