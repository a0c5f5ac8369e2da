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
 *     dv = PT dy,  dS = P * (dy vT - D),  dq = dS k / sqrt(d),  dk = dST q / sqrt(d) */
#include "graph/ops/rule.h"

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

EBB_DEFINE(attention, EBB_RULE(1, 2, "qkv[n,t,f] -> [n,t,c] lse:wide[n,h,t] where h=heads"),
           EBB_LIST(attrs, attention_attrs), .bind = attention_bind, .cost = attention_cost,
           .grad = attention_grad_rule, EBB_RUNS(LOW));
EBB_DEFINE(attention_grad, EBB_RULE(4, 1, "qkv[n,t,f] y[n,t,c] lse:wide[n,h,t] dy[n,t,c] -> [n,t,f]"),
           EBB_LIST(attrs, attention_attrs), .bind = attention_grad_bind, .cost = attention_grad_cost);
