/* ref/attention.c: attention of each head, one row at a time, by its definition: scores are worked out
 * again wherever they are needed, for a kernel here has no memory of its own. */
#include "exec/ref/ref.h"

#include <math.h>

typedef struct heads {
    ref_tensor qkv;
    int64_t n, t, c, heads, d;
    double scale;
    bool causal;
} heads;

static heads heads_of(const ebb_kernel_run *run) {
    const ref_tensor qkv = ref_in(run, 0);
    const int64_t *dim = qkv.type->dim, count = run->call->attr[EBB_ATTENTION_HEADS].i[0];
    const int64_t c = dim[2] / 3, d = c / count;
    return (heads){qkv,
                   dim[0],
                   dim[1],
                   c,
                   count,
                   d,
                   1 / sqrt((double)d),
                   run->call->attr[EBB_ATTENTION_CAUSAL].i[0] != 0};
}

enum { Q, K, V };

/* Element e of the q, k or v of a head in row i of image n: its index in qkv. */
static int64_t at(const heads *s, int which, int64_t n, int64_t head, int64_t i, int64_t e) {
    return ((n * s->t + i) * 3 + which) * s->c + head * s->d + e;
}

/* The same of y. */
static int64_t at_y(const heads *s, int64_t n, int64_t head, int64_t i, int64_t e) {
    return (n * s->t + i) * s->c + head * s->d + e;
}

static double score(const heads *s, int64_t n, int64_t head, int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t e = 0; e < s->d; e++)
        sum += ref_get(&s->qkv, at(s, Q, n, head, i, e)) * ref_get(&s->qkv, at(s, K, n, head, j, e));
    return sum * s->scale;
}

/* Rows that row i attends to. */
static int64_t seen(const heads *s, int64_t i) {
    return s->causal ? i + 1 : s->t;
}

REF_KERNEL(attention) {
    const heads s = heads_of(run);
    const ref_tensor y = ref_out(run, 0), lse = ref_out(run, 1);
    for (int64_t row = 0; row < s.n * s.heads * s.t; row++) {
        const int64_t i = row % s.t, head = row / s.t % s.heads, n = row / s.t / s.heads;
        double max = score(&s, n, head, i, 0), sum = 0;
        for (int64_t j = 1; j < seen(&s, i); j++) max = fmax(max, score(&s, n, head, i, j));
        for (int64_t j = 0; j < seen(&s, i); j++) sum += exp(score(&s, n, head, i, j) - max);
        for (int64_t e = 0; e < s.d; e++) {
            double mean = 0;
            for (int64_t j = 0; j < seen(&s, i); j++) {
                mean +=
                    exp(score(&s, n, head, i, j) - max) / sum * ref_get(&s.qkv, at(&s, V, n, head, j, e));
            }
            ref_set(&y, at_y(&s, n, head, i, e), mean);
        }
        ref_set(&lse, row, max + log(sum));
    }
    return EBB_OK;
}

typedef struct grads {
    heads s;
    ref_tensor y, lse, dy;
} grads;

/* The weight with which row i attends to row j, and its score's gradient. */
static double weight(const grads *g, int64_t n, int64_t head, int64_t i, int64_t j, double *dscore) {
    const heads *s = &g->s;
    const double p = exp(score(s, n, head, i, j) - ref_get(&g->lse, (n * s->heads + head) * s->t + i));
    double dp = 0;
    for (int64_t e = 0; e < s->d; e++) {
        const int64_t in_y = at_y(s, n, head, i, e);
        dp += ref_get(&g->dy, in_y) * (ref_get(&s->qkv, at(s, V, n, head, j, e)) - ref_get(&g->y, in_y));
    }
    *dscore = p * dp * s->scale;
    return p;
}

/* dq of row i sums over what it attends to; dk and dv of row i over the rows that attend to it. */
static void row_grads(const grads *g, const ref_tensor *to, int64_t n, int64_t head, int64_t i) {
    const heads *s = &g->s;
    for (int64_t e = 0; e < s->d; e++) {
        double sum[3] = {0}, dscore;
        for (int64_t j = 0; j < seen(s, i); j++) {
            (void)weight(g, n, head, i, j, &dscore);
            sum[Q] += dscore * ref_get(&s->qkv, at(s, K, n, head, j, e));
        }
        for (int64_t j = s->causal ? i : 0; j < s->t; j++) {
            const double p = weight(g, n, head, j, i, &dscore);
            sum[K] += dscore * ref_get(&s->qkv, at(s, Q, n, head, j, e));
            sum[V] += p * ref_get(&g->dy, at_y(s, n, head, j, e));
        }
        for (int which = Q; which <= V; which++) ref_set(to, at(s, which, n, head, i, e), sum[which]);
    }
}

REF_KERNEL(attention_grad) {
    const grads g = {heads_of(run), ref_in(run, 1), ref_in(run, 2), ref_in(run, 3)};
    const ref_tensor to = ref_out(run, 0);
    for (int64_t row = 0; row < g.s.n * g.s.heads * g.s.t; row++)
        row_grads(&g, &to, row / g.s.t / g.s.heads, row / g.s.t % g.s.heads, row % g.s.t);
    return EBB_OK;
}
