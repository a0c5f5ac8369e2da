/* xla/hlo/softmax.c: softmax, the loss by it, and attention. Exponentials are XLA's own: it takes (x + c) -
 * c for x, with which others are made. */
#include "xla/hlo/rows.h"

#include <math.h>

static uint32_t last(const hlo_value *x) {
    return x->type.rank - 1;
}

/* Something of each row, along the row again. */
static hlo_value back(hlo *h, hlo_value v, hlo_type type) {
    static const uint32_t axis[] = {0, 1, 2, 3, 4, 5, 6, 7};
    return hlo_spread(h, v, type, axis);
}

static hlo_value row_sum(hlo *h, hlo_value x) {
    return hlo_reduce(h, "add", x, 0, 1U << last(&x));
}

/* exp(x - the row's largest), and its sum; the largest. */
static hlo_value powers(hlo *h, hlo_value x, hlo_value *sum, hlo_value *largest) {
    *largest = hlo_reduce(h, "maximum", x, -(double)INFINITY, 1U << last(&x));
    const hlo_value e = hlo_1(h, "exponential", hlo_sub(h, x, back(h, *largest, x.type)));
    *sum = row_sum(h, e);
    return e;
}

/* Rows see columns up to their own number, and `ahead` more: others are -inf. */
static hlo_value masked(hlo *h, hlo_value x, int64_t ahead, double with) {
    const hlo_type places = hlo_with(x.type, HLO_S32);
    const hlo_value row = hlo_iota(h, places, last(&x) - 1), column = hlo_iota(h, places, last(&x));
    const hlo_value seen = hlo_compare(h, "LE", column, hlo_2c(h, "add", row, (double)ahead));
    return hlo_select(h, seen, x, hlo_like(h, &x, with));
}

HLO(softmax) {
    hlo *h = op->to;
    const hlo_type *x = &op->in[0].type;
    const int64_t k = x->dim[x->rank - 1], n = x->dim[x->rank - 2];
    const bool causal = op->call->attr[EBB_SOFTMAX_CAUSAL].i[0] != 0;
    hlo_value sum, largest;
    const hlo_value e =
        powers(h, causal ? masked(h, op->in[0], k - n, -(double)INFINITY) : op->in[0], &sum, &largest);
    const hlo_value y = hlo_div(h, e, back(h, sum, e.type));
    op->out[0] = causal ? masked(h, y, k - n, 0) : y;
}

HLO(softmax_grad) {
    hlo *h = op->to;
    const hlo_value y = op->in[0], dy = op->in[1];
    const hlo_value sum = back(h, row_sum(h, hlo_mul(h, y, dy)), y.type);
    op->out[0] = hlo_mul(h, y, hlo_sub(h, dy, sum));
}

/* ---- cross-entropy: pixels are rows, too ---- */

typedef struct loss {
    hlo_value logits, named; /* [rows, k]; truths: is this the row's label? */
    hlo_value known;         /* [rows]: is the label one of k? Else the row's loss is a NaN, to be seen */
    double rows, smooth;
} loss;

static loss loss_of(const hlo_op *op) {
    hlo *h = op->to;
    const int64_t k = op->call->in[0].dim[1], rows = hlo_count(&op->in[0].type) / k;
    const int64_t dim[] = {rows, k};
    const hlo_type type = hlo_shape(op->in[0].type.kind, 2, dim), places = hlo_with(type, HLO_S32);
    const hlo_value labels = hlo_reshape(h, op->in[1], hlo_shape(HLO_S32, 1, &rows));
    const hlo_value named = hlo_compare(h, "EQ", hlo_along(h, labels, places, 0), hlo_iota(h, places, 1));
    return (loss){.logits = hlo_reshape(h, op->in[0], type),
                  .named = named,
                  .known = hlo_reduce(h, "or", named, 0, 1U << 1),
                  .rows = (double)rows,
                  .smooth = op->call->attr[EBB_XENT_SMOOTH].f};
}

HLO(softmax_xent) {
    hlo *h = op->to;
    const loss s = loss_of(op);
    hlo_value sum, largest;
    (void)powers(h, s.logits, &sum, &largest);
    const hlo_value off = hlo_sub(h, s.logits, back(h, largest, s.logits.type));
    hlo_value target = row_sum(h, hlo_select(h, s.named, off, hlo_like(h, &off, 0)));
    if (s.smooth > 0) {
        const hlo_value mean = hlo_2c(h, "divide", row_sum(h, off), (double)s.logits.type.dim[1]);
        target =
            hlo_add(h, hlo_2c(h, "multiply", target, 1 - s.smooth), hlo_2c(h, "multiply", mean, s.smooth));
    }
    hlo_value all = hlo_sub(h, hlo_1(h, "log", sum), target);
    all = hlo_select(h, s.known, all, hlo_like(h, &all, (double)NAN));
    op->out[0] = hlo_2c(h, "divide", hlo_reduce(h, "add", all, 0, 1), s.rows);
}

/* (softmax - target) * dloss / rows */
HLO(softmax_xent_grad) {
    hlo *h = op->to;
    const loss s = loss_of(op);
    const double each = s.smooth / (double)s.logits.type.dim[1];
    hlo_value sum, largest;
    const hlo_value e = powers(h, s.logits, &sum, &largest);
    const hlo_value softmax = hlo_div(h, e, back(h, sum, e.type));
    const hlo_value target =
        hlo_select(h, s.named, hlo_like(h, &e, 1 - s.smooth + each), hlo_like(h, &e, each));
    const hlo_value scale = hlo_2c(h, "divide", op->in[2], s.rows);
    hlo_value rows = hlo_mul(h, hlo_sub(h, softmax, target), hlo_everywhere(h, scale, e.type));
    rows = hlo_select(h, back(h, s.known, e.type), rows, hlo_like(h, &rows, (double)NAN));
    op->out[0] = hlo_reshape(h, rows, op->in[0].type);
}

/* ---- attention ---- */

typedef struct heads {
    hlo_value part[3]; /* q, k, v: [n * heads, t, d] */
    int64_t n, t, heads, d;
    bool causal;
} heads;

/* [n, t, heads * d] as [n * heads, t, d], and back. */
static hlo_value split(hlo *h, const heads *s, hlo_value x) {
    static const uint32_t order[] = {0, 2, 1, 3};
    const hlo_kind kind = x.type.kind;
    const hlo_value apart =
        hlo_reshape(h, x, hlo_shape(kind, 4, (const int64_t[]){s->n, s->t, s->heads, s->d}));
    return hlo_reshape(h, hlo_transpose(h, apart, order),
                       hlo_shape(kind, 3, (const int64_t[]){s->n * s->heads, s->t, s->d}));
}

static hlo_value joined(hlo *h, const heads *s, hlo_value x) {
    static const uint32_t order[] = {0, 2, 1, 3};
    const hlo_kind kind = x.type.kind;
    const hlo_value apart =
        hlo_reshape(h, x, hlo_shape(kind, 4, (const int64_t[]){s->n, s->heads, s->t, s->d}));
    return hlo_reshape(h, hlo_transpose(h, apart, order),
                       hlo_shape(kind, 3, (const int64_t[]){s->n, s->t, s->heads * s->d}));
}

static heads heads_of(const hlo_op *op) {
    const int64_t *dim = op->in[0].type.dim, c = dim[2] / 3, step[] = {1, 1, 1};
    heads s = {.n = dim[0], .t = dim[1], .heads = op->call->attr[EBB_ATTENTION_HEADS].i[0]};
    s.d = c / s.heads;
    s.causal = op->call->attr[EBB_ATTENTION_CAUSAL].i[0] != 0;
    for (int k = 0; k < 3; k++) {
        const int64_t first[] = {0, 0, k * c}, end[] = {dim[0], dim[1], (k + 1) * c};
        s.part[k] = split(op->to, &s, hlo_slice(op->to, op->in[0], first, end, step));
    }
    return s;
}

static hlo_value scores(hlo *h, const heads *s) {
    const hlo_value all =
        hlo_2c(h, "multiply", hlo_dot(h, s->part[0], s->part[1], 2, 2), 1 / sqrt((double)s->d));
    return s->causal ? masked(h, all, 0, -(double)INFINITY) : all;
}

HLO(attention) {
    hlo *h = op->to;
    const heads s = heads_of(op);
    hlo_value sum, largest;
    const hlo_value e = powers(h, scores(h, &s), &sum, &largest);
    const hlo_value weights = hlo_div(h, e, back(h, sum, e.type));
    op->out[0] = joined(h, &s, hlo_dot(h, weights, s.part[2], 2, 1));
    op->out[1] = hlo_reshape(h, hlo_add(h, largest, hlo_1(h, "log", sum)), hlo_type_of(&op->call->out[1]));
}

/* Weights again, by the rows' log-sum-exp; dv = weights' dy; dscore = weights * (dy v - sum(dy y)). */
HLO(attention_grad) {
    hlo *h = op->to;
    const heads s = heads_of(op);
    const hlo_value y = split(h, &s, op->in[1]), dy = split(h, &s, op->in[3]), all = scores(h, &s);
    const hlo_value lse = hlo_reshape(h, op->in[2], hlo_shape(all.type.kind, 2, all.type.dim));
    const hlo_value weights = hlo_1(h, "exponential", hlo_sub(h, all, back(h, lse, all.type)));
    const hlo_value towards = hlo_dot(h, dy, s.part[2], 2, 2), own = row_sum(h, hlo_mul(h, dy, y));
    const hlo_value dscore =
        hlo_2c(h, "multiply", hlo_mul(h, weights, hlo_sub(h, towards, back(h, own, all.type))),
               1 / sqrt((double)s.d));
    const hlo_value d[] = {joined(h, &s, hlo_dot(h, dscore, s.part[1], 2, 1)),
                           joined(h, &s, hlo_dot(h, dscore, s.part[0], 1, 1)),
                           joined(h, &s, hlo_dot(h, weights, dy, 1, 1))};
    op->out[0] = hlo_concatenate(h, d, 3, 2);
}
