/* Cheap seeds: candidates that a planner without a search would make. */
#include <stdlib.h>

#include "sublinear/search.h"

void ebb_seed_cuts(const ebb_space *space, const uint32_t *cuts, uint32_t n_cuts, uint8_t state,
                   uint8_t *genes) {
    memcpy(genes, space->base_genes, space->n_genes);
    for (uint32_t v = 0; v < space->n_values; v++) {
        const ebb_space_value *value = &space->values[v];
        uint32_t gene = ebb_space_longest_gap(space, value);
        if (value->first_gap == EBB_NONE) continue;
        uint32_t born = space->values[v].producer, low = 0, high = n_cuts;
        while (low < high) { /* first cut at or after birth */
            uint32_t mid = (low + high) / 2;
            if (cuts[mid] < born)
                low = mid + 1;
            else
                high = mid;
        }
        if (low == n_cuts || cuts[low] == born) continue;
        if (gene != EBB_NONE && space->genes[gene].end > cuts[low]) genes[gene] = state;
        uint32_t tail = value->first_gap + value->n_gaps - 1;
        if (space->genes[tail].n_states > 1) genes[tail] = state;
    }
}

uint32_t ebb_seed_threshold_cuts(const ebb_space *space, int64_t threshold_bytes, uint32_t *cuts) {
    uint32_t n = 0, since = 0;
    int64_t born = 0;
    for (uint32_t i = 0; i < space->n_ops; i++) {
        const ebb_space_op *op = &space->ops[i];
        for (uint32_t k = 0; k < op->n_out; k++) {
            const ebb_space_value *v = &space->values[space->outs[op->first_out + k]];
            if (v->first_gap != EBB_NONE) born += v->bytes;
        }
        for (uint32_t k = 0; k < op->n_touched; k++) { /* last reader of a value born in this block */
            const ebb_space_value *v = &space->values[space->touched[op->first_touched + k]];
            if (v->producer >= since && space->genes[v->first_gap + v->n_gaps - 1].begin == i)
                born -= v->bytes;
        }
        if (born >= threshold_bytes) {
            cuts[n++] = i;
            since = i + 1;
            born = 0;
        }
    }
    return n;
}

uint32_t ebb_seed_even_cuts(const ebb_space *space, uint32_t n, uint32_t *cuts) {
    uint32_t forward = 0, made = 0;
    while (forward < space->n_ops && space->graph->ops[forward].phase == EBB_FORWARD) forward++;
    for (uint32_t k = 1; k <= n; k++) {
        uint32_t at = (uint32_t)((uint64_t)forward * k / (n + 1));
        if (made == 0 || cuts[made - 1] < at) cuts[made++] = at;
    }
    return made;
}

typedef struct ranked {
    uint32_t gene;
    double worth;
} ranked;

static int by_worth(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->worth != y->worth) return x->worth > y->worth ? -1 : 1;
    return x->gene < y->gene ? -1 : x->gene > y->gene;
}

uint32_t ebb_seed_greedy_order(const ebb_space *space, uint32_t *order) {
    ebb_env *env = space->arena.env;
    ranked *list = ebb_calloc(env, space->n_genes, sizeof(*list));
    if (!list) return EBB_NONE;
    uint32_t n = 0;
    for (uint32_t v = 0; v < space->n_values; v++) {
        uint32_t gene = ebb_space_longest_gap(space, &space->values[v]);
        if (gene == EBB_NONE) continue;
        const ebb_gene *g = &space->genes[gene];
        int64_t time = space->ways[space->ops[space->values[v].producer].first_way].time_ns;
        list[n++] = (ranked){gene, (double)g->bytes * (g->end - g->begin) / (double)(time + 1)};
    }
    qsort(list, n, sizeof(*list), by_worth);
    for (uint32_t k = 0; k < n; k++) order[k] = list[k].gene;
    ebb_cfree(env, list, space->n_genes, sizeof(*list));
    return n;
}

uint32_t ebb_gene_position(const ebb_space *space, uint32_t gene) {
    const ebb_gene *g = &space->genes[gene];
    return g->kind == EBB_GENE_GAP ? space->values[g->subject].producer : g->subject;
}

const uint32_t *ebb_space_joints(ebb_arena *arena, const ebb_space *space, uint32_t *n_joints) {
    const ebb_pgraph *graph = space->graph;
    uint32_t n = space->n_ops, open = 0;
    uint32_t *last = EBB_NEW(arena, uint32_t, graph->n_values), *ends = EBB_NEW(arena, uint32_t, n + 1);
    uint32_t *joints = EBB_NEW(arena, uint32_t, n + 1);
    *n_joints = 0;
    if (!last || !ends || !joints) return NULL;
    memset(last, 0, graph->n_values * sizeof(*last)); /* 0: nobody; the first op reads nothing that is made */
    memset(ends, 0, (n + 1) * sizeof(*ends));
    for (uint32_t p = 0; p < n; p++)
        for (uint32_t k = 0; graph->ops[p].phase == EBB_FORWARD && k < graph->ops[p].n_in; k++)
            last[graph->ops[p].in[k]] = p;
    for (uint32_t p = 0; p <= n; p++) {
        open -= ends[p];
        if (open <= 1) joints[(*n_joints)++] = p;
        for (uint32_t k = 0; p < n && graph->ops[p].phase == EBB_FORWARD && k < graph->ops[p].n_out; k++) {
            uint32_t end = last[graph->ops[p].out[k]];
            if (end <= p) continue;
            open++;
            ends[end + 1]++; /* end < n */
        }
    }
    return joints;
}

void ebb_crossover(const ebb_space *space, const uint8_t *a, const uint8_t *b, uint32_t begin, uint32_t end,
                   uint8_t *child) {
    for (uint32_t k = 0; k < space->n_genes; k++) {
        uint32_t at = ebb_gene_position(space, k);
        child[k] = at >= begin && at < end ? b[k] : a[k];
    }
}
