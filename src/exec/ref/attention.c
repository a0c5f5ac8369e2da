/* ref/attention.c: attention of each head, one row at a time, by its definition: scores are worked out
 * again wherever they are needed, for a kernel here has no memory of its own but for a piece of a row. */
#include "exec/ref/ref.h"

#include <math.h>

typedef struct heads {
    ref_tensor qkv, bias; /* bias.at: NULL if there is none */
    int64_t n, t, c, heads, d;
    double scale;
    bool causal;
} heads;

static heads heads_of(const ebb_kernel_run *run) {
    const ref_tensor qkv = ref_in(run, 0);
    const int64_t *dim = qkv.type->dim, count = run->call->attr[EBB_ATTENTION_HEADS].i[0];
    const int64_t c = dim[2] / 3, d = c / count;
    return (heads){qkv,
                   {.at = NULL},
                   dim[0],
                   dim[1],
                   c,
                   count,
                   d,
                   1 / sqrt((double)d),
                   run->call->attr[EBB_ATTENTION_CAUSAL].i[0] != 0};
}

enum { Q, K, V };

/* Elements of a row whose sums are built up side by side, so that a score serves all of them. */
#define PIECE 64

static int64_t piece(const heads *s, int64_t from) {
    return ebb_min_i64(PIECE, s->d - from);
}

/* Element e of the q, k or v of a head in row i of image n: its index in qkv. */
static int64_t at(const heads *s, int which, int64_t n, int64_t head, int64_t i, int64_t e) {
    return ((n * s->t + i) * 3 + which) * s->c + head * s->d + e;
}

/* The same of y. */
static int64_t at_y(const heads *s, int64_t n, int64_t head, int64_t i, int64_t e) {
    return (n * s->t + i) * s->c + head * s->d + e;
}

/* An element of qkv, with its bias: rounded, as `bias` stores it. */
static double get(const heads *s, int64_t index) {
    const double x = ref_get(&s->qkv, index);
    if (!s->bias.at) return x;
    const double sum = x + ref_get(&s->bias, index % (3 * s->c));
    return s->qkv.dtype == EBB_F32 ? (double)(float)sum : sum;
}

static double score(const heads *s, int64_t n, int64_t head, int64_t i, int64_t j) {
    if (s->bias.at) {
        double sum = 0;
        for (int64_t e = 0; e < s->d; e++)
            sum += get(s, at(s, Q, n, head, i, e)) * get(s, at(s, K, n, head, j, e));
        return sum * s->scale;
    }
    const ref_line q = {&s->qkv, at(s, Q, n, head, i, 0), 1}, k = {&s->qkv, at(s, K, n, head, j, 0), 1};
    return ref_dot(0, q, k, s->d) * s->scale;
}

/* Rows that row i attends to. */
static int64_t seen(const heads *s, int64_t i) {
    return s->causal ? i + 1 : s->t;
}

/* A piece of a row of y, from element e on. */
typedef struct place {
    int64_t n, head, i, e;
} place;

static void mean_piece(const heads *s, const ref_tensor *y, place to, double max, double sum) {
    const int64_t n_elements = piece(s, to.e);
    double mean[PIECE] = {0};
    for (int64_t j = 0; j < seen(s, to.i); j++) {
        const double p = exp(score(s, to.n, to.head, to.i, j) - max) / sum;
        for (int64_t k = 0; k < n_elements; k++)
            mean[k] += p * get(s, at(s, V, to.n, to.head, j, to.e + k));
    }
    for (int64_t k = 0; k < n_elements; k++) ref_set(y, at_y(s, to.n, to.head, to.i, to.e + k), mean[k]);
}

static ebb_status forward(const ebb_kernel_run *run, heads s) {
    const ref_tensor y = ref_out(run, 0), lse = ref_out(run, 1);
    for (int64_t row = 0; row < s.n * s.heads * s.t; row++) {
        const int64_t i = row % s.t, head = row / s.t % s.heads, n = row / s.t / s.heads;
        double max = score(&s, n, head, i, 0), sum = 0;
        for (int64_t j = 1; j < seen(&s, i); j++) max = fmax(max, score(&s, n, head, i, j));
        for (int64_t j = 0; j < seen(&s, i); j++) sum += exp(score(&s, n, head, i, j) - max);
        for (int64_t e = 0; e < s.d; e += PIECE) mean_piece(&s, &y, (place){n, head, i, e}, max, sum);
        ref_set(&lse, row, max + log(sum));
    }
    return EBB_OK;
}

REF_KERNEL(attention) {
    return forward(run, heads_of(run));
}
REF_KERNEL(attention_bias) {
    heads s = heads_of(run);
    s.bias = ref_in(run, 1);
    return forward(run, s);
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
        dp += ref_get(&g->dy, in_y) * (get(s, at(s, V, n, head, j, e)) - ref_get(&g->y, in_y));
    }
    *dscore = p * dp * s->scale;
    return p;
}

/* dq of row i sums over what it attends to; dk and dv of row i over the rows that attend to it. */
static void grad_piece(const grads *g, const ref_tensor *to, place p) {
    const heads *s = &g->s;
    const int64_t n = p.n, head = p.head, i = p.i, n_elements = piece(s, p.e);
    double sum[3][PIECE] = {{0}}, dscore;
    for (int64_t j = 0; j < seen(s, i); j++) {
        (void)weight(g, n, head, i, j, &dscore);
        for (int64_t k = 0; k < n_elements; k++)
            sum[Q][k] += dscore * get(s, at(s, K, n, head, j, p.e + k));
    }
    for (int64_t j = s->causal ? i : 0; j < s->t; j++) {
        const double w = weight(g, n, head, j, i, &dscore);
        for (int64_t k = 0; k < n_elements; k++) {
            sum[K][k] += dscore * get(s, at(s, Q, n, head, j, p.e + k));
            sum[V][k] += w * ref_get(&g->dy, at_y(s, n, head, j, p.e + k));
        }
    }
    for (int which = Q; which <= V; which++)
        for (int64_t k = 0; k < n_elements; k++)
            ref_set(to, at(s, which, n, head, i, p.e + k), sum[which][k]);
}

static ebb_status backward(const ebb_kernel_run *run, heads s) {
    const grads g = {s, ref_in(run, 1), ref_in(run, 2), ref_in(run, 3)};
    const ref_tensor to = ref_out(run, 0);
    for (int64_t row = 0; row < g.s.n * g.s.heads * g.s.t; row++)
        for (int64_t e = 0; e < g.s.d; e += PIECE)
            grad_piece(&g, &to, (place){row / g.s.t / g.s.heads, row / g.s.t % g.s.heads, row % g.s.t, e});
    return EBB_OK;
}

REF_KERNEL(attention_grad) {
    return backward(run, heads_of(run));
}
REF_KERNEL(attention_bias_grad) {
    heads s = heads_of(run);
    s.bias = ref_in(run, 4);
    return backward(run, s);
}

/* As bias_grad of the rows. */
REF_KERNEL(attention_bias_backward) {
    const ref_tensor dqkv = ref_out(run, 0), db = ref_out(run, 1);
    const int64_t f = db.type->dim[0], rows = ebb_type_count(dqkv.type) / f;
    heads s = heads_of(run);
    s.bias = ref_in(run, 4);
    const ebb_status status = backward(run, s);
    for (int64_t i = 0; i < f; i++) {
        double sum = 0;
        for (int64_t r = 0; r < rows; r++) sum += ref_get(&dqkv, r * f + i);
        ref_set(&db, i, sum);
    }
    return status;
}
