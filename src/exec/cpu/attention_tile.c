/* cpu/attention_tile.c: see attention.h. */
#include "exec/cpu/attention.h"

#include <math.h>

cpu_attention cpu_attention_of(const ebb_backend *backend, const ebb_call *call) {
    const int64_t *dim = call->in[0].dim;
    cpu_attention a = {
        .n = dim[0], .t = dim[1], .c = dim[2] / 3, .heads = call->attr[EBB_ATTENTION_HEADS].i[0]};
    a.d = a.c / a.heads;
    a.t_row = cpu_padded(a.t);
    a.d_row = cpu_padded(a.d);
    a.n_units = a.n * a.heads;
    a.n_slots = ebb_min_i64(backend->n_threads, a.n_units);
    a.scale = (float)(1 / sqrt((double)a.d));
    a.causal = call->attr[EBB_ATTENTION_CAUSAL].i[0] != 0;
    return a;
}

/* 2^20 rows times 2^20 numbers times a dozen tables times 4096 threads is below 2^63. */
ebb_status cpu_attention_supports(ebb_backend *backend, const ebb_call *call) {
    enum { MOST = 1 << 20 };
    const int64_t t = call->in[0].dim[1], d = call->in[0].dim[2] / 3 / call->attr[EBB_ATTENTION_HEADS].i[0];
    if (t <= MOST && d <= MOST) return EBB_OK;
    char text[EBB_TYPE_TEXT];
    return ebb_fail(backend->env, EBB_BAD_INPUT,
                    "backend cpu: %s of %s: %lld rows and heads of %lld numbers: at most %d are supported",
                    call->op->name, ebb_type_text(&call->in[0], text), (long long)t, (long long)d, MOST);
}

/* ---- packing ------------------------------------------------------------------------------------- */

CPU_VECTOR void cpu_pack_rows(const cpu_attention *a, cpu_head_rows rows, float scale, float *to) {
    for (int64_t i = 0; i < a->t; i++) {
        const float *x = rows.from + i * rows.row, *bias = rows.bias;
        float *y = to + i * a->d_row;
        if (bias) {
#pragma omp simd
            for (int64_t e = 0; e < a->d; e++) y[e] = (x[e] + bias[e]) * scale;
        } else {
#pragma omp simd
            for (int64_t e = 0; e < a->d; e++) y[e] = x[e] * scale;
        }
        for (int64_t e = a->d; e < a->d_row; e++) y[e] = 0;
    }
}

/* Column e of n rows, of a whole line. */
CPU_INLINE void column_pack(cpu_head_rows rows, int64_t first, int64_t n, int64_t e, float *y) {
    const float *x = rows.from + first * rows.row + e;
    float line[CPU_PACK] = {0};
    for (int64_t k = 0; k < n; k++) line[k] = x[k * rows.row];
    if (rows.bias) {
        const float bias = rows.bias[e];
        for (int64_t k = 0; k < n; k++) line[k] += bias;
    }
    memcpy(y, line, sizeof line);
}

CPU_VECTOR void cpu_pack_columns(const cpu_attention *a, cpu_head_rows rows, float *to) {
    for (int64_t first = 0; first < a->t_row; first += CPU_PACK) { /* lines of `to` are written whole */
        const int64_t n = ebb_min_i64(CPU_PACK, a->t - first);
        for (int64_t e = 0; e < a->d; e++) {
            float *y = to + e * a->t_row + first;
            if (n == CPU_PACK)
                column_pack(rows, first, CPU_PACK, e, y);
            else
                column_pack(rows, first, n, e, y);
        }
    }
}

/* ---- products ------------------------------------------------------------------------------------ */

/* 16 numbers that are worked on together: one vector, or several, as the processor has them. */
typedef float pack __attribute__((vector_size(CPU_PACK * sizeof(float))));

enum { ROWS = 4 }; /* of c at once: their sums stay in registers */

CPU_INLINE void pack_store(float *to, pack *sum, bool add) {
    if (add) {
        pack old;
        memcpy(&old, to, sizeof old);
        *sum += old;
    }
    memcpy(to, sum, sizeof *sum);
}

CPU_INLINE void four_rows(const cpu_tile_product *p, int64_t i, int64_t j) {
    const float *a0 = p->a + i * p->a_row, *a1 = a0 + p->a_row, *a2 = a1 + p->a_row, *a3 = a2 + p->a_row;
    float *c = p->c + i * p->c_row + j;
    pack s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, b;
    for (int64_t k = 0; k < p->k; k++) {
        const int64_t at = k * p->a_column;
        memcpy(&b, p->b + k * p->b_row + j, sizeof b);
        s0 += a0[at] * b;
        s1 += a1[at] * b;
        s2 += a2[at] * b;
        s3 += a3[at] * b;
    }
    pack_store(c, &s0, p->add);
    pack_store(c + p->c_row, &s1, p->add);
    pack_store(c + 2 * p->c_row, &s2, p->add);
    pack_store(c + 3 * p->c_row, &s3, p->add);
}

CPU_INLINE void one_row(const cpu_tile_product *p, int64_t i, int64_t j) {
    const float *a = p->a + i * p->a_row;
    pack s = {0}, b;
    for (int64_t k = 0; k < p->k; k++) {
        memcpy(&b, p->b + k * p->b_row + j, sizeof b);
        s += a[k * p->a_column] * b;
    }
    pack_store(p->c + i * p->c_row + j, &s, p->add);
}

CPU_VECTOR void cpu_tile_multiply(const cpu_tile_product *product) {
    const cpu_tile_product p = *product;
    for (int64_t j = 0; j < p.n; j += CPU_PACK) {
        int64_t i = 0;
        for (; i + ROWS <= p.m; i += ROWS) four_rows(&p, i, j);
        for (; i < p.m; i++) one_row(&p, i, j);
    }
}
