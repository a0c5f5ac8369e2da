/* Cheap seeds: candidates that a planner without a search would make. */
#include <stdlib.h>

#include "sublinear/seeds/seeds.h"

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
    ranked *list = ebb_calloc(env, space->n_genes, sizeof *list);
    if (!list) return EBB_NONE;
    uint32_t n = 0;
    for (uint32_t v = 0; v < space->n_values; v++) {
        uint32_t gene = ebb_space_longest_gap(space, &space->values[v]);
        if (gene == EBB_NONE) continue;
        const ebb_gene *g = &space->genes[gene];
        int64_t time = space->ways[space->ops[space->values[v].producer].first_way].time_ns;
        list[n++] = (ranked){gene, (double)g->bytes * (g->end - g->begin) / (double)(time + 1)};
    }
    qsort(list, n, sizeof *list, by_worth);
    for (uint32_t k = 0; k < n; k++) order[k] = list[k].gene;
    ebb_cfree(env, list, space->n_genes, sizeof *list);
    return n;
}

/* Does the op write what a later forward op reads? That is what crosses the joint after it. */
static bool ends_block(const ebb_space *space, uint32_t op) {
    const ebb_space_op *at = &space->ops[op];
    for (uint32_t k = 0; k < at->n_out; k++) {
        const ebb_space_value *v = &space->values[space->outs[at->first_out + k]];
        for (uint32_t gap = 0; v->first_gap != EBB_NONE && gap + 1 < v->n_gaps; gap++)
            if (space->graph->ops[space->genes[v->first_gap + gap].end].phase == EBB_FORWARD) return true;
    }
    return false;
}

uint32_t ebb_seed_block_cuts(const ebb_space *space, const uint32_t *joints, uint32_t n_joints,
                             uint32_t every, bool merge, uint32_t *cuts) {
    uint32_t n = 0, seen = 0;
    for (uint32_t k = 0; k < n_joints; k++) {
        if (joints[k] == 0 || !ends_block(space, joints[k] - 1)) continue;
        bool next_too = k + 1 < n_joints && joints[k + 1] == joints[k] + 1 && ends_block(space, joints[k]);
        if (merge && next_too) continue;
        if (++seen % every == 0) cuts[n++] = joints[k] - 1;
    }
    return n;
}
