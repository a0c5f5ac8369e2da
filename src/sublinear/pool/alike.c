/* Like ops: what is good for one block of a network is often good for its twins. */
#include "sublinear/pool/pool.h"

#include <stdlib.h>
#include <string.h>

typedef struct keyed {
    uint64_t key;
    uint32_t op;
} keyed;

static uint64_t mix(uint64_t h, uint64_t x) {
    h = (h ^ x) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 29;
}

/* Of all that makes ops alike: phase, kind, time, and its outputs' bytes and gaps. Ops that fall together
 * by chance do no harm: a copied state is checked against its gene. */
static uint64_t key_of(const ebb_space *space, uint32_t op) {
    const ebb_space_op *o = &space->ops[op];
    const char *kind = space->graph->ops[op].kind;
    uint64_t key = mix((uint64_t)space->graph->ops[op].phase, (uint64_t)space->ways[o->first_way].time_ns);
    for (size_t k = 0, n = kind ? strlen(kind) : 0; k < n; k++) key = mix(key, (unsigned char)kind[k]);
    for (uint32_t k = 0; k < o->n_out; k++) {
        const ebb_space_value *v = &space->values[space->outs[o->first_out + k]];
        key = mix(mix(key, (uint64_t)v->bytes), v->first_gap == EBB_NONE ? 0 : v->n_gaps);
    }
    return key;
}

static int by_key(const void *a, const void *b) {
    const keyed *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

ebb_status ebb_alike_find(ebb_arena *arena, const ebb_space *space, const uint32_t *free_genes,
                          uint32_t n_free, ebb_alike *out) {
    uint32_t n = space->n_ops;
    keyed *list = EBB_NEW(arena, keyed, n);
    uint32_t *ops = EBB_NEW(arena, uint32_t, n), *first = EBB_NEW(arena, uint32_t, n);
    uint32_t *count = EBB_NEW(arena, uint32_t, n), *genes = EBB_NEW(arena, uint32_t, n_free);
    *out = (ebb_alike){.ops = ops, .first = first, .count = count, .genes = genes};
    if (!list || !ops || !first || !count || !genes) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++) list[i] = (keyed){key_of(space, i), i};
    if (n > 0) qsort(list, n, sizeof *list, by_key);
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && list[end].key == list[i].key; end++) ops[end] = list[end].op;
        for (uint32_t k = i; k < end; k++) {
            first[ops[k]] = i;
            count[ops[k]] = end - i;
        }
    }
    for (uint32_t k = 0; k < n_free; k++)
        if (count[ebb_gene_position(space, free_genes[k])] > 1) genes[out->n_genes++] = free_genes[k];
    return EBB_OK;
}
