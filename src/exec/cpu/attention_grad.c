/* cpu/attention_grad.c: the gradient of attention. The weights of a tile are exp(score - lse), computed
 * again; for each tile of queries and each of keys
 *
 *     dS = P * (dy vT - D),  dv += PT dy,  dk += dST q,  dq += dS k
 *
 * and the gradients of a head are summed where it is packed and written once. The sums of a bias's gradient
 * go over chunks of rows (sums.h): where each is of one image, a head makes those of its columns. */
#include "exec/cpu/attention.h"
#include "exec/cpu/exp.h"
#include "exec/cpu/sums.h"

typedef struct slot {
    float *q, *k, *dy;          /* [t][d_row]; q times scale */
    float *k_columns;           /* [d][t_row] */
    float *v_columns;           /* the same */
    float *dq, *dk, *dv;        /* [t][d_row] */
    float *inner;               /* [t]: D, sum of dy * y */
    float *weights, *d_weights; /* [TILE][TILE]: scores, then P; dy vT, then dS */
} slot;

typedef struct backward {
    cpu_attention a;
    const float *qkv, *bias, *y, *lse, *dy; /* bias: NULL if there is none */
    float *dqkv, *scratch;
    const cpu_sums *sums; /* that heads make, or NULL */
} backward;

static int64_t slot_floats(const cpu_attention *a) {
    const int64_t packed = (int64_t)6 * a->t * a->d_row + (int64_t)2 * a->d * a->t_row;
    return cpu_padded(packed + a->t + 2 * CPU_TILE_FLOATS);
}

static slot slot_of(const cpu_attention *a, float *at) {
    const int64_t rows = a->t * a->d_row, columns = a->d * a->t_row;
    slot s = {.q = at, .k = at + rows, .dy = at + 2 * rows};
    s.dq = at + 3 * rows;
    s.dk = at + 4 * rows;
    s.dv = at + 5 * rows;
    s.k_columns = at + 6 * rows;
    s.v_columns = s.k_columns + columns;
    s.weights = s.v_columns + columns;
    s.d_weights = s.weights + CPU_TILE_FLOATS;
    s.inner = s.d_weights + CPU_TILE_FLOATS;
    return s;
}

CPU_VECTOR static void weigh(const cpu_attention *a, const slot *s, const float *lse, int64_t first_query,
                             int64_t m, int64_t first_key, int64_t n_keys) {
    const int64_t n = cpu_padded(n_keys);
    for (int64_t r = 0; r < m; r++) {
        float *w = s->weights + r * CPU_TILE, *dw = s->d_weights + r * CPU_TILE;
        const float norm = lse[first_query + r], inner = s->inner[first_query + r];
        const int64_t seen = cpu_attention_seen(a, first_query + r, first_key, n_keys);
#pragma omp simd
        for (int64_t j = 0; j < n; j++) {
            w[j] = cpu_exp(w[j] - norm);
            dw[j] = w[j] * (dw[j] - inner);
        }
        for (int64_t j = seen; j < n; j++) w[j] = dw[j] = 0;
    }
}

static void one_tile(const cpu_attention *a, const slot *s, const float *lse, int64_t query, int64_t key) {
    const int64_t m = ebb_min_i64(CPU_TILE, a->t - query), n = ebb_min_i64(CPU_TILE, a->t - key);
    const int64_t row = a->d_row, q = query * row, k = key * row;
    cpu_tile_multiply(&(cpu_tile_product){m, cpu_padded(n), a->d, s->q + q, row, 1, s->k_columns + key,
                                          a->t_row, s->weights, CPU_TILE, false});
    cpu_tile_multiply(&(cpu_tile_product){m, cpu_padded(n), a->d, s->dy + q, row, 1, s->v_columns + key,
                                          a->t_row, s->d_weights, CPU_TILE, false});
    weigh(a, s, lse, query, m, key, n);
    cpu_tile_multiply(
        &(cpu_tile_product){n, row, m, s->weights, 1, CPU_TILE, s->dy + q, row, s->dv + k, row, true});
    cpu_tile_multiply(
        &(cpu_tile_product){n, row, m, s->d_weights, 1, CPU_TILE, s->q + q, row, s->dk + k, row, true});
    cpu_tile_multiply(
        &(cpu_tile_product){m, row, n, s->d_weights, CPU_TILE, 1, s->k + k, row, s->dq + q, row, true});
}

static void head_pack(const backward *b, const slot *s, int64_t n, int64_t head) {
    const cpu_attention *a = &b->a;
    const cpu_head_rows q = cpu_head_part(a, b->qkv, b->bias, n, head, 0),
                        k = cpu_head_part(a, b->qkv, b->bias, n, head, 1),
                        v = cpu_head_part(a, b->qkv, b->bias, n, head, 2);
    const float *y = b->y + n * a->t * a->c + head * a->d, *dy = b->dy + n * a->t * a->c + head * a->d;
    cpu_pack_rows(a, q, a->scale, s->q);
    cpu_pack_rows(a, k, 1, s->k);
    cpu_pack_rows(a, (cpu_head_rows){dy, a->c, NULL}, 1, s->dy);
    cpu_pack_columns(a, (cpu_head_rows){s->k, a->d_row, NULL}, s->k_columns);
    cpu_pack_columns(a, v, s->v_columns);
    memset(s->dq, 0, (size_t)(3 * a->t * a->d_row) * sizeof *s->dq); /* dk and dv stand behind it */
    for (int64_t i = 0; i < a->t; i++) {
        double inner = 0;
        for (int64_t e = 0; e < a->d; e++) inner += (double)dy[i * a->c + e] * y[i * a->c + e];
        s->inner[i] = (float)inner;
    }
}

/* q was packed with the scale in it, so dk has it; dq has not. */
static void head_unpack(const backward *b, const slot *s, int64_t n, int64_t head) {
    const cpu_attention *a = &b->a;
    for (int64_t i = 0; i < a->t; i++) {
        float *dq = b->dqkv + (n * a->t + i) * 3 * a->c + head * a->d, *dk = dq + a->c, *dv = dk + a->c;
        for (int64_t e = 0; e < a->d; e++) dq[e] = s->dq[i * a->d_row + e] * a->scale;
        memcpy(dk, s->dk + i * a->d_row, (size_t)a->d * sizeof *dk);
        memcpy(dv, s->dv + i * a->d_row, (size_t)a->d * sizeof *dv);
    }
}

/* The columns that the head has written, while they are in a cache. */
static void head_sum(const backward *b, int64_t n, int64_t head) {
    const cpu_attention *a = &b->a;
    for (int64_t part = 0; part < 3; part++)
        cpu_sums_columns(b->sums, b->dqkv, a->t, n, part * a->c + head * a->d, a->d);
}

/* begin and end in slots. */
static void slots_span(const void *ctx, int64_t begin, int64_t end) {
    const backward *b = ctx;
    const cpu_attention *a = &b->a;
    for (int64_t at = begin; at < end; at++) {
        const slot s = slot_of(a, b->scratch + at * slot_floats(a));
        for (int64_t unit = cpu_attention_cut(a, at); unit < cpu_attention_cut(a, at + 1); unit++) {
            head_pack(b, &s, unit / a->heads, unit % a->heads);
            for (int64_t query = 0; query < a->t; query += CPU_TILE) {
                for (int64_t key = 0; key < cpu_attention_keys_end(a, query); key += CPU_TILE)
                    one_tile(a, &s, b->lse + unit * a->t, query, key);
            }
            head_unpack(b, &s, unit / a->heads, unit % a->heads);
            if (b->sums) head_sum(b, unit / a->heads, unit % a->heads);
        }
    }
}

static ebb_status attention_grad_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    const cpu_attention a = cpu_attention_of(backend, call);
    *bytes = a.n_slots * slot_floats(&a) * (int64_t)sizeof(float);
    return EBB_OK;
}

static ebb_status backward_launch(const ebb_kernel_run *run, const float *bias, const cpu_sums *sums) {
    const backward b = {.a = cpu_attention_of(run->backend, run->call),
                        .qkv = run->launch->in[0],
                        .bias = bias,
                        .y = run->launch->in[1],
                        .lse = run->launch->in[2],
                        .dy = run->launch->in[3],
                        .dqkv = run->launch->out[0],
                        .scratch = run->launch->scratch,
                        .sums = sums};
    const int64_t bytes = ebb_type_bytes(&run->call->in[0]);
    cpu_spans(cpu_of(run->backend), b.a.n_slots, 1, bytes < INT64_MAX / b.a.t ? bytes * b.a.t : bytes,
              slots_span, &b);
    return EBB_OK;
}

static ebb_status attention_grad_launch(const ebb_kernel_run *run) {
    return backward_launch(run, NULL, NULL);
}
static ebb_status attention_bias_grad_launch(const ebb_kernel_run *run) {
    return backward_launch(run, run->launch->in[4], NULL);
}

CPU_KERNEL(attention_grad, EBB_TAKES(F32), EBB_RATE(68000, 12500, 3000), .supports = cpu_attention_supports,
           .scratch = attention_grad_scratch, .launch = attention_grad_launch);
CPU_KERNEL(attention_bias_grad, EBB_TAKES(F32), EBB_RATE(68000, 12500, 3000),
           .supports = cpu_attention_supports, .scratch = attention_grad_scratch,
           .launch = attention_bias_grad_launch);

/* ---- with the bias's gradient -------------------------------------------------------------------------
 */

/* Over the rows that the bias was added to. */
static cpu_sums sums_of(const ebb_call *call) {
    const ebb_type *dqkv = &call->out[0];
    const ebb_type rows = {
        .dtype = dqkv->dtype, .rank = 2, .dim = {dqkv->dim[0] * dqkv->dim[1], dqkv->dim[2]}};
    return cpu_sums_of(&rows, 1);
}

static ebb_status attention_bias_backward_supports(ebb_backend *backend, const ebb_call *call) {
    const cpu_sums sums = sums_of(call);
    const ebb_status status = cpu_attention_supports(backend, call);
    return status == EBB_OK ? cpu_sums_check(backend, call, &sums, 0) : status;
}

/* The slots, then the partial sums. */
static ebb_status attention_bias_backward_scratch(ebb_backend *backend, const ebb_call *call,
                                                  int64_t *bytes) {
    const cpu_sums sums = sums_of(call);
    int64_t slots;
    const ebb_status status = attention_grad_scratch(backend, call, &slots);
    if (status != EBB_OK) return status;
    return ebb_add_i64(slots, cpu_sums_bytes(&sums), bytes)
               ? EBB_OK
               : cpu_scratch_check(backend, call, INT64_MAX, 1);
}

static ebb_status attention_bias_backward_launch(const ebb_kernel_run *run) {
    cpu_sums sums = sums_of(run->call);
    int64_t slots;
    ebb_status status = attention_grad_scratch(run->backend, run->call, &slots);
    if (status != EBB_OK) return status;
    sums.partial = (double *)((char *)run->launch->scratch + slots);
    const bool by_heads = cpu_sums_apart(&sums, run->call->in[0].dim[1]);
    status = backward_launch(run, run->launch->in[4], by_heads ? &sums : NULL);
    if (!by_heads)
        cpu_sums_run(cpu_of(run->backend), &sums, sizeof(float), cpu_sums_plain, run->launch->out[0]);
    cpu_sums_store(cpu_of(run->backend), &sums, run->launch->out[1]);
    return status;
}
CPU_KERNEL(attention_bias_backward, EBB_TAKES(F32), EBB_RATE(68000, 12500, 3000),
           .supports = attention_bias_backward_supports, .scratch = attention_bias_backward_scratch,
           .launch = attention_bias_backward_launch);
