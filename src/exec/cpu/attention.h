/* cpu/attention.h: declares what attention and its gradient share: geometry, packed heads, and products of
 * tiles.
 *
 * One head of one image is a unit of work. Its q, k, v (and dy) are copied out of qkv first, so that tiles
 * are contiguous and rows are padded with zeros to whole vectors; units are distributed among slots, each
 * with its own scratch:
 *
 *     scratch   | slot 0: packed head, tiles | slot 1 | ... | slot n_slots - 1 |
 *
 * A unit's numbers do not depend on its slot. Scores are computed tile by tile, TILE rows against TILE
 * rows, and never all stored. */
#ifndef EBB_EXEC_CPU_ATTENTION_H
#define EBB_EXEC_CPU_ATTENTION_H

#include "exec/cpu/cpu.h"

enum { CPU_TILE = 64, CPU_PACK = 16 /* floats of the widest vector: rows are padded to it */ };

typedef struct cpu_attention {
    int64_t n, t, heads, d, c; /* c = heads * d */
    int64_t t_row, d_row;      /* t and d padded: floats of a packed row */
    int64_t n_units, n_slots;
    float scale; /* of scores: 1 / sqrt(d) */
    bool causal;
} cpu_attention;

cpu_attention cpu_attention_of(const ebb_backend *backend, const ebb_call *call);
/* EBB_BAD_INPUT: rows or heads are so large that their scratch overflows. */
EBB_CHECKED ebb_status cpu_attention_supports(ebb_backend *backend, const ebb_call *call);

/* The slot's first and next unit. */
static inline int64_t cpu_attention_cut(const cpu_attention *a, int64_t slot) {
    return cpu_cut(a->n_units, a->n_slots, slot);
}

/* The number of the n_keys keys from first_key on that row `query` attends to. */
static inline int64_t cpu_attention_seen(const cpu_attention *a, int64_t query, int64_t first_key,
                                         int64_t n_keys) {
    return a->causal ? ebb_max_i64(ebb_min_i64(query + 1 - first_key, n_keys), 0) : n_keys;
}

/* The end of the keys for the tile of queries that begins here. */
static inline int64_t cpu_attention_keys_end(const cpu_attention *a, int64_t first_query) {
    return a->causal ? ebb_min_i64(first_query + CPU_TILE, a->t) : a->t;
}

static inline int64_t cpu_padded(int64_t n) {
    return ebb_align_up(n, CPU_PACK);
}

/* Floats of a tile of scores. */
#define CPU_TILE_FLOATS ((int64_t)CPU_TILE * CPU_TILE)

/* Rows of a head's q, k, v, y or dy, `row` floats apart, and what is added to each: NULL if nothing is. */
typedef struct cpu_head_rows {
    const float *from;
    int64_t row;
    const float *bias;
} cpu_head_rows;
/* Part 0, 1, 2 (q, k, v) of a head in qkv; bias: of qkv's columns, or NULL. */
static inline cpu_head_rows cpu_head_part(const cpu_attention *a, const float *qkv, const float *bias,
                                          int64_t n, int64_t head, int64_t part) {
    const int64_t row = 3 * a->c, column = part * a->c + head * a->d;
    return (cpu_head_rows){qkv + n * a->t * row + column, row, bias ? bias + column : NULL};
}
/* Packs rows: row i of to, d_row floats, is d floats of row i, plus bias, times scale, then zeros. */
void cpu_pack_rows(const cpu_attention *a, cpu_head_rows rows, float scale, float *to);
/* Packs columns: row e of to, t_row floats, is the e-th float of all t rows, plus bias, then zeros. */
void cpu_pack_columns(const cpu_attention *a, cpu_head_rows rows, float *to);

/* A matrix product: c[m,n] = a[m,k] b[k,n], or c += a b. n is a multiple of CPU_PACK; element (i, p) of a
 * is a[i * a_row + p * a_column], rows of b and c are contiguous. Sums over p are in order. */
typedef struct cpu_tile_product {
    int64_t m, n, k;
    const float *a;
    int64_t a_row, a_column;
    const float *b;
    int64_t b_row;
    float *c;
    int64_t c_row;
    bool add;
} cpu_tile_product;
void cpu_tile_multiply(const cpu_tile_product *product);

#endif
