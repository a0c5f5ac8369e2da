/* attention: softmax(q kT / sqrt(d)) v for each head (Vaswani et al., "Attention is all you need", NeurIPS
 * 2017), as one op that never holds the t x t weights (Dao et al., "FlashAttention", NeurIPS 2022).
 *
 *     qkv[n, t, 3c]   | q: heads * d | k: heads * d | v: heads * d |   in each of t rows, c = heads * d
 *     y[n, t, c]      | head 0 | head 1 | ...
 *     lse[n, heads, t]  log of the sum of exp(score) over what a row attends to
 *
 * With `causal` row i attends to rows 0 to i, else to all. Backward reads qkv, y, lse and dy: the weights
 * are exp(score - lse), computed again tile by tile, and with D = sum of dy * y over a row and head
 *
 *     dv = PT dy,  dS = P * (dy vT - D),  dq = dS k / sqrt(d),  dk = dST q / sqrt(d)
 *
 * attention_bias and attention_bias_grad read qkv before its bias b[3c] was added; attention_bias_backward
 * also gives the bias's gradient, the sum of dqkv's rows. */
#include <math.h>

#include "graph/ops/norm.h"

static const ebb_attr_info attention_attrs[] = {[EBB_ATTENTION_HEADS] =
                                                    EBB_INTS_NEEDED("heads", 1, 1, EBB_ATTR_SIZE_MAX),
                                                [EBB_ATTENTION_CAUSAL] = EBB_FLAG("causal", 0)};

enum { QKV, Y, LSE, DY }; /* attention_grad's inputs */

/* q, k and v of each head are of one size: c is set. */
static ebb_status attention_bind(ebb_env *env, const ebb_call *call, ebb_rule *r) {
    const int64_t heads = call->attr[EBB_ATTENTION_HEADS].i[0], f = ebb_rule_size(r, 'f');
    if (f % 3 == 0 && f / 3 % heads == 0) {
        ebb_rule_set(r, 'c', f / 3);
        return EBB_OK;
    }
    char x[EBB_TYPE_TEXT];
    return ebb_fail(env, EBB_BAD_INPUT, "%s: qkv %s has %lld numbers a row, no multiple of 3 * heads %lld",
                    call->op->name, ebb_type_text(&call->in[QKV], x), (long long)f, (long long)heads);
}

static ebb_status attention_grad_bind(ebb_env *env, const ebb_call *call, ebb_rule *r) {
    const int64_t heads = call->attr[EBB_ATTENTION_HEADS].i[0], c = ebb_rule_size(r, 'c');
    const ebb_status status = attention_bind(env, call, r);
    if (status || (c == ebb_rule_size(r, 'c') && ebb_rule_size(r, 'h') == heads)) return status;
    char x[EBB_TYPE_TEXT], y[EBB_TYPE_TEXT], lse[EBB_TYPE_TEXT];
    return ebb_fail(env, EBB_BAD_INPUT,
                    "%s: y %s and lse %s are not what attention of qkv %s gives with heads %lld",
                    call->op->name, ebb_type_text(&call->in[Y], y), ebb_type_text(&call->in[LSE], lse),
                    ebb_type_text(&call->in[QKV], x), (long long)heads);
}

/* For each pair of rows that meet in a head: n_products products of d, and an exponential with what is
 * around it. */
static void pairs_cost(const ebb_call *call, ebb_cost *cost, int64_t n_products) {
    const int64_t *dim = call->in[QKV].dim, heads = call->attr[EBB_ATTENTION_HEADS].i[0], t = dim[1];
    const int64_t d = dim[2] / 3 / heads;
    int64_t pairs = ebb_mul_saturated(t, t);
    if (call->attr[EBB_ATTENTION_CAUSAL].i[0]) pairs = pairs / 2 + t / 2 + (t % 2); /* t * (t + 1) / 2 */
    const int64_t all = ebb_mul_saturated(pairs, ebb_mul_saturated(dim[0], heads));
    ebb_cost_set(call, cost, all, ebb_min_i64(ebb_mul_saturated(d, 2 * n_products), INT64_MAX - 20) + 20);
}

/* q kT and P v. */
static void attention_cost(const ebb_call *call, ebb_cost *cost) {
    pairs_cost(call, cost, 2);
}

/* q kT, dy vT, PT dy, dS k and dST q. */
static void attention_grad_cost(const ebb_call *call, ebb_cost *cost) {
    pairs_cost(call, cost, 5);
}

static void attention_grad_rule(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (dout[1] != EBB_NONE) {
        ebb_builder_fail(ebb_rw_builder(rw), EBB_BAD_INPUT,
                         "attention: its log-sum-exp is for its own backward and has no gradient");
        return;
    }
    if (!ebb_grad_wants(rw, node, 0)) return;
    ebb_id in[] = {[QKV] = ebb_rw_value(rw, node->in[0]),
                   [Y] = ebb_rw_value(rw, node->out[0]),
                   [LSE] = ebb_rw_value(rw, node->out[1]),
                   [DY] = dout[0]};
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_attention_grad, in, 4, node->attr)[0]);
}

/* ---- gradients of gradients ---------------------------------------------------------------------- */

/* Of what attention_grad makes of qkv and dy, where y and lse are attention's of the same qkv. With c =
 * 1 / sqrt(d), dP = dy vT, and gq, gk, gv what arrives, for each head:
 *
 *     A = c (gq kT + q gkT)                      comes to dS = P * (dP - D)
 *     E = P * (A - sum(P * A))                   comes to dP
 *     T = dy gvT + A * (dP - D) - sum(P * A) dP  comes to P
 *     G = P * (T - sum(P * T))                   comes to q kT c
 *
 *     q: c (dS gk + G k)    k: c (dST gq + GT q)    v: ET dy    dy: P gv + E v
 *
 * where sums are over what a row attends to. By products of whole t x t matrices, in f32 of 16 bits. */
typedef struct heads {
    ebb_rewriter *rw;
    int64_t n, t, heads, d;
} heads;

static ebb_id reshaped(const heads *a, ebb_id x, const int64_t *dim, uint32_t rank) {
    ebb_attr shape[] = {[EBB_RESHAPE_SHAPE] = {.i = {0}}};
    memcpy(shape[EBB_RESHAPE_SHAPE].i, dim, rank * sizeof *dim);
    return ebb_rw_emit(a->rw, &ebb_op_reshape, &x, 1, shape)[0];
}

static ebb_id permuted(const heads *a, ebb_id x, const int64_t order[5]) {
    ebb_attr attr[] = {[EBB_PERMUTE_ORDER] = {.i = {0}}};
    for (uint32_t i = 0; i < EBB_MAX_RANK; i++) attr[EBB_PERMUTE_ORDER].i[i] = i < 5 ? order[i] : -1;
    return ebb_rw_emit(a->rw, &ebb_op_permute, &x, 1, attr)[0];
}

/* [n, t, parts * heads * d] as parts matrices of each head: out[i] is [n * heads, t, d]. */
static void heads_of(const heads *a, ebb_id x, int64_t parts, ebb_id *out) {
    const int64_t each = a->n * a->heads, matrix[] = {each, a->t, a->d};
    x = reshaped(a, x, (const int64_t[]){a->n, a->t, parts, a->heads, a->d}, 5);
    x = permuted(a, x, (const int64_t[]){2, 0, 3, 1, 4});
    x = reshaped(a, x, (const int64_t[]){parts, each, a->t * a->d}, 3);
    for (int64_t i = 0; i < parts; i++) {
        const ebb_attr part[] = {
            [EBB_SLICE_BEGIN] = {.i = {i}}, [EBB_SLICE_SIZE] = {.i = {1}}, [EBB_SLICE_AXIS] = {.i = {0}}};
        const ebb_id own = parts == 1 ? x : ebb_rw_emit(a->rw, &ebb_op_slice, &x, 1, part)[0];
        out[i] = reshaped(a, own, matrix, 3);
    }
}

/* The way back. */
static ebb_id rows_of(const heads *a, ebb_id *parts, uint32_t n_parts) {
    const int64_t each = a->n * a->heads;
    const ebb_attr first[] = {[EBB_CONCAT_AXIS] = {.i = {0}}};
    for (uint32_t i = 0; i < n_parts; i++)
        parts[i] = reshaped(a, parts[i], (const int64_t[]){1, each, a->t * a->d}, 3);
    ebb_id x = n_parts > 1 ? ebb_rw_emit(a->rw, &ebb_op_concat, parts, n_parts, first)[0] : parts[0];
    x = reshaped(a, x, (const int64_t[]){n_parts, a->n, a->heads, a->t, a->d}, 5);
    x = permuted(a, x, (const int64_t[]){1, 3, 0, 2, 4});
    return reshaped(a, x, (const int64_t[]){a->n, a->t, n_parts * a->heads * a->d}, 3);
}

static ebb_id product(const heads *a, ebb_id x, bool x_transposed, ebb_id y, bool y_transposed) {
    const ebb_attr attr[] = {
        [EBB_MATMUL_TRANSPOSE_A] = {.i = {x_transposed}}, [EBB_MATMUL_TRANSPOSE_B] = {.i = {y_transposed}}};
    const ebb_id in[] = {x, y};
    return ebb_rw_emit(a->rw, &ebb_op_matmul, in, 2, attr)[0];
}

static ebb_id times(const heads *a, ebb_id x, ebb_id y) {
    return ebb_emit_2(a->rw, &ebb_op_mul, x, y);
}

static ebb_id sum_of(const heads *a, ebb_id x, ebb_id y) {
    return ebb_emit_2(a->rw, &ebb_op_add, x, y);
}

/* The sums of p * x along rows. */
static ebb_id row_sums(const heads *a, ebb_id p, ebb_id x) {
    return ebb_emit_sum(a->rw, times(a, p, x), 1 << 2, true);
}

/* p * (x - sum(p * x)): back through what makes p of its row. */
static ebb_id through(const heads *a, ebb_id p, ebb_id x) {
    return times(a, p, ebb_emit_2(a->rw, &ebb_op_sub, x, row_sums(a, p, x)));
}

/* exp(q kT c - lse), and 0 where a row does not look. */
static ebb_id weights(const heads *a, const ebb_node *node, ebb_id q, ebb_id k) {
    ebb_id lse = ebb_rw_value(a->rw, node->in[LSE]), place[2];
    lse = reshaped(a, lse, (const int64_t[]){a->n * a->heads, a->t, 1}, 3);
    const ebb_id scores = ebb_emit_rescale(a->rw, product(a, q, false, k, true), 1 / sqrt((double)a->d), 0);
    const ebb_id p = ebb_emit_1(a->rw, &ebb_op_exp, ebb_emit_2(a->rw, &ebb_op_sub, scores, lse));
    if (!node->attr[EBB_ATTENTION_CAUSAL].i[0]) return p;
    for (int64_t i = 0; i < 2; i++) {
        const ebb_attr at[] = {
            [EBB_IOTA_SHAPE] = {.i = {1, i ? 1 : a->t, i ? a->t : 1}}, [EBB_IOTA_AXIS] = {.i = {1 + i}}};
        place[i] = ebb_rw_emit(a->rw, &ebb_op_iota, NULL, 0, at)[0];
    }
    const ebb_id looks = ebb_emit_2(a->rw, &ebb_op_less_equal, place[1], place[0]);
    const ebb_id in[] = {looks, p, ebb_emit_number(a->rw, p, 0)};
    return ebb_rw_emit(a->rw, &ebb_op_where, in, 3, NULL)[0];
}

static void attention_grad_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_made_from(rw, node, Y, QKV, &ebb_op_attention)) {
        ebb_builder_fail(
            ebb_rw_builder(rw), EBB_BAD_INPUT,
            "attention_grad: y and lse are not attention's of this qkv: its gradient has none");
        return;
    }
    const ebb_type *qkv = ebb_builder_type(ebb_rw_builder(rw), ebb_rw_value(rw, node->in[QKV]));
    const int64_t h = node->attr[EBB_ATTENTION_HEADS].i[0];
    const heads a = {rw, qkv->dim[0], qkv->dim[1], h, qkv->dim[2] / 3 / h};
    const double c = 1 / sqrt((double)a.d);
    enum { Q, K, V };
    ebb_id in[3], g[3], dy;
    heads_of(&a, ebb_norm_operand(rw, node, QKV), 3, in);
    heads_of(&a, ebb_emit_wide(rw, dout[0]), 3, g);
    heads_of(&a, ebb_norm_operand(rw, node, DY), 1, &dy);
    const ebb_id p = weights(&a, node, in[Q], in[K]);
    const ebb_id to_slope = ebb_emit_rescale(
        rw, sum_of(&a, product(&a, g[Q], false, in[K], true), product(&a, in[Q], false, g[K], true)), c, 0);
    const ebb_id to_dp = through(&a, p, to_slope);
    if (ebb_grad_wants(rw, node, DY)) {
        ebb_id to_dy =
            sum_of(&a, product(&a, p, false, g[V], false), product(&a, to_dp, false, in[V], false));
        ebb_norm_give(rw, node, DY, rows_of(&a, &to_dy, 1));
    }
    if (!ebb_grad_wants(rw, node, QKV)) return;
    const ebb_id dp = product(&a, dy, false, in[V], true);
    const ebb_id slope = ebb_emit_2(rw, &ebb_op_sub, dp, row_sums(&a, p, dp));
    const ebb_id ds = times(&a, p, slope);
    ebb_id to_p = sum_of(&a, product(&a, dy, false, g[V], true), times(&a, to_slope, slope));
    to_p = ebb_emit_2(rw, &ebb_op_sub, to_p, times(&a, row_sums(&a, p, to_slope), dp));
    const ebb_id to_score = through(&a, p, to_p);
    ebb_id to[3] = {
        [Q] = sum_of(&a, product(&a, ds, false, g[K], false), product(&a, to_score, false, in[K], false)),
        [K] = sum_of(&a, product(&a, ds, true, g[Q], false), product(&a, to_score, true, in[Q], false)),
        [V] = product(&a, to_dp, true, dy, false)};
    for (uint32_t i = 0; i < V; i++) to[i] = ebb_emit_rescale(rw, to[i], c, 0);
    ebb_norm_give(rw, node, QKV, rows_of(&a, to, 3));
}

EBB_DEFINE(attention, EBB_RULE(1, 2, "qkv[n,t,f] -> [n,t,c] lse:wide[n,h,t] where h=heads"),
           EBB_LIST(attrs, attention_attrs), .bind = attention_bind, .cost = attention_cost,
           .grad = attention_grad_rule, EBB_RUNS(LOW));
EBB_DEFINE(attention_grad, EBB_RULE(4, 1, "qkv[n,t,f] y[n,t,c] lse:wide[n,h,t] dy[n,t,c] -> [n,t,f]"),
           EBB_LIST(attrs, attention_attrs), .bind = attention_grad_bind, .cost = attention_grad_cost,
           .grad = attention_grad_grad);

/* Made by a pass after grad: no gradients. In 16 bits the sum with the bias would have to be rounded: not
 * there. */
EBB_DEFINE(attention_bias, EBB_RULE(2, 2, "qkv:full[n,t,f] b:full[f] -> [n,t,c] lse[n,h,t] where h=heads"),
           EBB_LIST(attrs, attention_attrs), .bind = attention_bind, .cost = attention_cost);
EBB_DEFINE(attention_bias_grad,
           EBB_RULE(5, 1,
                    "qkv:full[n,t,f] y:full[n,t,c] lse:full[n,h,t] dy:full[n,t,c] b:full[f] -> [n,t,f]"),
           EBB_LIST(attrs, attention_attrs), .bind = attention_grad_bind, .cost = attention_grad_cost);
EBB_DEFINE(
    attention_bias_backward,
    EBB_RULE(5, 2,
             "qkv:full[n,t,f] y:full[n,t,c] lse:full[n,h,t] dy:full[n,t,c] b:full[f] -> [n,t,f] db[f]"),
    EBB_LIST(attrs, attention_attrs), .bind = attention_grad_bind, .cost = attention_grad_cost);
