/* xla/hlo/norms.c: batch, layer and group normalisation as their parts. What they share: x, seen with the
 * axes over which statistics are taken, and vectors of statistics and of channels that lie along others. */
#include "xla/hlo/rows.h"

typedef struct norm {
    hlo *h;
    hlo_type type; /* x seen so: batch and layer norm as it is, group norm [images, places, groups, each] */
    uint32_t over; /* axes of a statistic */
    uint32_t along[2], n; /* a statistic's own axes */
    double eps;
} norm;

/* A statistic or channel vector along axes of the type. */
static hlo_value spread(const norm *s, hlo_value v) {
    hlo_type own = {.kind = v.type.kind, .rank = s->n};
    for (uint32_t d = 0; d < s->n; d++) own.dim[d] = s->type.dim[s->along[d]];
    return hlo_spread(s->h, hlo_reshape(s->h, v, own), s->type, s->along);
}

static hlo_value seen(const norm *s, hlo_value x) {
    return hlo_reshape(s->h, x, s->type);
}

static double count(const norm *s) {
    double n = 1;
    for (uint32_t d = 0; d < s->type.rank; d++)
        if (s->over >> d & 1) n *= (double)s->type.dim[d];
    return n;
}

static hlo_value mean_of(const norm *s, hlo_value x) {
    const hlo_value sum = hlo_reduce(s->h, "add", x, 0, s->over);
    return hlo_2c(s->h, "divide", sum, count(s));
}

static void stats(const norm *s, hlo_op *op) {
    const hlo_value x = seen(s, op->in[0]), mean = mean_of(s, x);
    const hlo_value off = hlo_sub(s->h, x, hlo_spread(s->h, mean, s->type, s->along));
    const hlo_value variance = mean_of(s, hlo_mul(s->h, off, off));
    op->out[0] = hlo_reshape(s->h, mean, hlo_type_of(&op->call->out[0]));
    op->out[1] = hlo_reshape(s->h, variance, hlo_type_of(&op->call->out[1]));
}

/* 1 / sqrt(variance + eps), as a vector. */
static hlo_value inverse(const norm *s, hlo_value variance) {
    return hlo_1(s->h, "rsqrt", hlo_2c(s->h, "add", variance, s->eps));
}

/* (x - mean) * inverse; operands 0 to 2. */
static hlo_value normal(const norm *s, const hlo_op *op) {
    const hlo_value off = hlo_sub(s->h, seen(s, op->in[0]), spread(s, op->in[1]));
    return hlo_mul(s->h, off, spread(s, inverse(s, op->in[2])));
}

/* ---- batch norm: channels lie along the last axis ---- */

static norm batch(const hlo_op *op, int eps) {
    const hlo_type type = op->in[0].type;
    const uint32_t c = ebb_hlo_axis(type.rank, 1);
    return (norm){op->to, type, hlo_but(type.rank, c), {c}, 1, eps < 0 ? 0 : op->call->attr[eps].f};
}

HLO(bn_stats) {
    const norm s = batch(op, -1);
    stats(&s, op);
}

HLO(bn_apply) {
    const norm s = batch(op, EBB_BN_EPS);
    const hlo_value scale = hlo_mul(s.h, inverse(&s, op->in[2]), op->in[3]);
    const hlo_value off = hlo_sub(s.h, op->in[0], spread(&s, op->in[1]));
    op->out[0] = hlo_add(s.h, hlo_mul(s.h, off, spread(&s, scale)), spread(&s, op->in[4]));
}

HLO(bn_track) {
    const double momentum = op->call->attr[EBB_BN_TRACK_MOMENTUM].f;
    const int64_t n = op->call->attr[EBB_BN_TRACK_COUNT].i[0];
    const double unbiased = n > 1 ? (double)n / (double)(n - 1) : 1;
    for (uint32_t k = 0; k < 2; k++) {
        const hlo_value old = hlo_2c(op->to, "multiply", op->in[2 + k], 1 - momentum);
        op->out[k] =
            hlo_add(op->to, old, hlo_2c(op->to, "multiply", op->in[k], momentum * (k ? unbiased : 1)));
    }
}

HLO(bn_grad_sums) {
    const norm s = batch(op, EBB_BN_EPS);
    op->out[0] = hlo_reduce(s.h, "add", hlo_mul(s.h, op->in[3], normal(&s, op)), 0, s.over);
    op->out[1] = hlo_reduce(s.h, "add", op->in[3], 0, s.over);
}

HLO(bn_grad) {
    const norm s = batch(op, EBB_BN_EPS);
    const hlo_value from_scale = hlo_2c(s.h, "divide", op->in[4], count(&s));
    const hlo_value from_shift = hlo_2c(s.h, "divide", op->in[5], count(&s));
    const hlo_value scale = hlo_mul(s.h, op->in[3], inverse(&s, op->in[2]));
    const hlo_value by_scale = hlo_mul(s.h, normal(&s, op), spread(&s, from_scale));
    const hlo_value left = hlo_sub(s.h, hlo_sub(s.h, op->in[6], spread(&s, from_shift)), by_scale);
    op->out[0] = hlo_mul(s.h, spread(&s, scale), left);
}

/* ---- rows and groups: a statistic is of some places, gamma and beta of channels ---- */

static norm rows(const hlo_op *op, int eps) {
    return (norm){op->to, op->in[0].type, 2, {0}, 1, eps < 0 ? 0 : op->call->attr[eps].f};
}

static norm groups(const hlo_op *op, bool eps) {
    const hlo_type *x = &op->in[0].type;
    const int64_t n = op->call->attr[EBB_GN_GROUPS].i[0], c = x->dim[x->rank - 1];
    const int64_t places = x->rank == 4 ? x->dim[1] * x->dim[2] : 1;
    const hlo_type type = hlo_shape(x->kind, 4, (const int64_t[]){x->dim[0], places, n, c / n});
    return (norm){op->to, type, 1U << 1 | 1U << 3, {0, 2}, 2, eps ? op->call->attr[EBB_GN_EPS].f : 0};
}

/* gamma or beta: of rows along axis 1, of groups along axes 2 and 3. */
static hlo_value channels(const norm *s, hlo_value v) {
    static const uint32_t of_rows[] = {1}, of_groups[] = {2, 3};
    if (s->n == 1) return hlo_spread(s->h, v, s->type, of_rows);
    const hlo_type own = hlo_shape(v.type.kind, 2, &s->type.dim[2]);
    return hlo_spread(s->h, hlo_reshape(s->h, v, own), s->type, of_groups);
}

static void apply(const norm *s, hlo_op *op) {
    const hlo_value scaled = hlo_mul(s->h, normal(s, op), channels(s, op->in[3]));
    op->out[0] = hlo_reshape(s->h, hlo_add(s->h, scaled, channels(s, op->in[4])), op->in[0].type);
}

static void grad_sums(const norm *s, hlo_op *op) {
    const uint32_t over = s->n == 1 ? 1U : 1U << 0 | 1U << 1;
    const hlo_value dy = seen(s, op->in[3]);
    const hlo_value sums[] = {hlo_reduce(s->h, "add", hlo_mul(s->h, dy, normal(s, op)), 0, over),
                              hlo_reduce(s->h, "add", dy, 0, over)};
    for (uint32_t k = 0; k < 2; k++)
        op->out[k] = hlo_reshape(s->h, sums[k], hlo_type_of(&op->call->out[k]));
}

static void grad(const norm *s, hlo_op *op) {
    const hlo_value g = hlo_mul(s->h, seen(s, op->in[4]), channels(s, op->in[3])), x = normal(s, op);
    const hlo_value plain = hlo_spread(s->h, mean_of(s, g), s->type, s->along);
    const hlo_value product = hlo_spread(s->h, mean_of(s, hlo_mul(s->h, g, x)), s->type, s->along);
    const hlo_value left = hlo_sub(s->h, hlo_sub(s->h, g, plain), hlo_mul(s->h, x, product));
    op->out[0] = hlo_reshape(s->h, hlo_mul(s->h, spread(s, inverse(s, op->in[2])), left), op->in[0].type);
}

HLO(ln_stats) {
    const norm s = rows(op, -1);
    stats(&s, op);
}
HLO(ln_apply) {
    const norm s = rows(op, EBB_LN_EPS);
    apply(&s, op);
}
HLO(ln_grad_sums) {
    const norm s = rows(op, EBB_LN_EPS);
    grad_sums(&s, op);
}
HLO(ln_grad) {
    const norm s = rows(op, EBB_LN_EPS);
    grad(&s, op);
}
HLO(gn_stats) {
    const norm s = groups(op, false);
    stats(&s, op);
}
HLO(gn_apply) {
    const norm s = groups(op, true);
    apply(&s, op);
}
HLO(gn_grad_sums) {
    const norm s = groups(op, true);
    grad_sums(&s, op);
}
HLO(gn_grad) {
    const norm s = groups(op, true);
    grad(&s, op);
}
