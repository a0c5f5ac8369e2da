/* cpu/attention.c: attention, forward. Each tile of queries meets the tiles of keys one after another; what
 * was summed so far is scaled down when a larger score comes (Milakov and Gimelshein, "Online normalizer
 * calculation for softmax", 2018). */
#include "exec/cpu/attention.h"
#include "exec/cpu/exp.h"
#include "exec/cpu/row.h"

#include <math.h>

typedef struct slot {
    float *q;       /* [t][d_row], times scale */
    float *k;       /* [d][t_row] */
    float *v;       /* [t][d_row] */
    float *weights; /* [TILE][TILE]: scores, then exp(score - max) */
    float *sum_v;   /* [TILE][d_row]: weights times v */
    float *max, *sum;
} slot;

typedef struct forward {
    cpu_attention a;
    const float *qkv, *bias; /* bias: NULL if there is none */
    float *y, *lse, *scratch;
} forward;

static int64_t slot_floats(const cpu_attention *a) {
    const int64_t packed = (int64_t)2 * a->t * a->d_row + a->d * a->t_row;
    return cpu_padded(packed + CPU_TILE * (CPU_TILE + a->d_row + 2));
}

static slot slot_of(const cpu_attention *a, float *at) {
    slot s = {.q = at};
    s.k = s.q + a->t * a->d_row;
    s.v = s.k + a->d * a->t_row;
    s.weights = s.v + a->t * a->d_row;
    s.sum_v = s.weights + CPU_TILE_FLOATS;
    s.max = s.sum_v + CPU_TILE * a->d_row;
    s.sum = s.max + CPU_TILE;
    return s;
}

/* Scores of m rows to weights; sums and sum_v so far are made relative to the new maximum. A NaN among the
 * scores is passed over by the maximum and comes back by its exponential. */
CPU_VECTOR static void soften(const cpu_attention *a, const slot *s, int64_t first_query, int64_t m,
                              int64_t first_key, int64_t n_keys) {
    const int64_t n = cpu_padded(n_keys);
    for (int64_t r = 0; r < m; r++) {
        float *w = s->weights + r * CPU_TILE, *sum_v = s->sum_v + r * a->d_row;
        const int64_t seen = cpu_attention_seen(a, first_query + r, first_key, n_keys);
        for (int64_t j = seen; j < n; j++) w[j] = -INFINITY;
        const float max = cpu_row_max(w, n, s->max[r]), shrink = cpu_exp(s->max[r] - max);
#pragma omp simd
        for (int64_t j = 0; j < n; j++) w[j] = cpu_exp(w[j] - max);
        for (int64_t j = seen; j < n; j++) w[j] = 0;
        s->sum[r] = s->sum[r] * shrink + cpu_row_sum(w, n);
        s->max[r] = max;
#pragma omp simd
        for (int64_t e = 0; e < a->d_row; e++) sum_v[e] *= shrink;
    }
}

static void one_tile(const cpu_attention *a, const slot *s, int64_t first_query, int64_t m, float *y,
                     float *lse) {
    memset(s->sum_v, 0, (size_t)(CPU_TILE * a->d_row) * sizeof *s->sum_v);
    for (int64_t r = 0; r < m; r++) s->max[r] = -INFINITY, s->sum[r] = 0;
    for (int64_t key = 0; key < cpu_attention_keys_end(a, first_query); key += CPU_TILE) {
        const int64_t n_keys = ebb_min_i64(CPU_TILE, a->t - key);
        const float *q = s->q + first_query * a->d_row, *v = s->v + key * a->d_row;
        cpu_tile_multiply(&(cpu_tile_product){m, cpu_padded(n_keys), a->d, q, a->d_row, 1, s->k + key,
                                              a->t_row, s->weights, CPU_TILE, false});
        soften(a, s, first_query, m, key, n_keys);
        cpu_tile_multiply(&(cpu_tile_product){m, a->d_row, n_keys, s->weights, CPU_TILE, 1, v, a->d_row,
                                              s->sum_v, a->d_row, true});
    }
    for (int64_t r = 0; r < m; r++) {
        const float *sum_v = s->sum_v + r * a->d_row;
        for (int64_t e = 0; e < a->d; e++) y[r * a->c + e] = sum_v[e] / s->sum[r];
        lse[r] = (float)(s->max[r] + log(s->sum[r]));
    }
}

/* begin and end in slots. */
static void slots_span(const void *ctx, int64_t begin, int64_t end) {
    const forward *f = ctx;
    const cpu_attention *a = &f->a;
    for (int64_t at = begin; at < end; at++) {
        const slot s = slot_of(a, f->scratch + at * slot_floats(a));
        for (int64_t unit = cpu_attention_cut(a, at); unit < cpu_attention_cut(a, at + 1); unit++) {
            const int64_t n = unit / a->heads, head = unit % a->heads;
            float *y = f->y + n * a->t * a->c + head * a->d, *lse = f->lse + unit * a->t;
            cpu_pack_rows(a, cpu_head_part(a, f->qkv, f->bias, n, head, 0), a->scale, s.q);
            cpu_pack_columns(a, cpu_head_part(a, f->qkv, f->bias, n, head, 1), s.k);
            cpu_pack_rows(a, cpu_head_part(a, f->qkv, f->bias, n, head, 2), 1, s.v);
            for (int64_t i = 0; i < a->t; i += CPU_TILE)
                one_tile(a, &s, i, ebb_min_i64(CPU_TILE, a->t - i), y + i * a->c, lse + i);
        }
    }
}

static ebb_status attention_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    const cpu_attention a = cpu_attention_of(backend, call);
    *bytes = a.n_slots * slot_floats(&a) * (int64_t)sizeof(float);
    return EBB_OK;
}

static ebb_status forward_launch(const ebb_kernel_run *run, const float *bias) {
    const forward f = {.a = cpu_attention_of(run->backend, run->call),
                       .qkv = run->launch->in[0],
                       .bias = bias,
                       .y = run->launch->out[0],
                       .lse = run->launch->out[1],
                       .scratch = run->launch->scratch};
    /* A row of a head moves as much as it has numbers, for each row that it meets. */
    const int64_t bytes = ebb_type_bytes(&run->call->in[0]);
    cpu_spans(cpu_of(run->backend), f.a.n_slots, 1, bytes < INT64_MAX / f.a.t ? bytes * f.a.t : bytes,
              slots_span, &f);
    return EBB_OK;
}

static ebb_status attention_launch(const ebb_kernel_run *run) {
    return forward_launch(run, NULL);
}
static ebb_status attention_bias_launch(const ebb_kernel_run *run) {
    return forward_launch(run, run->launch->in[1]);
}

CPU_KERNEL(attention, EBB_TAKES(F32), EBB_RATE(64000, 12500, 3000), .supports = cpu_attention_supports,
           .scratch = attention_scratch, .launch = attention_launch);
CPU_KERNEL(attention_bias, EBB_TAKES(F32), EBB_RATE(64000, 12500, 3000), .supports = cpu_attention_supports,
           .scratch = attention_scratch, .launch = attention_bias_launch);
