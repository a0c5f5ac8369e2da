/* Crossover: what a child takes from either parent, and where it may be cut. */
#include "sublinear/select.h"

#define PARENTS 10 /* of the pool may be crossed */

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
    /* 0: nobody, for the first op reads nothing that is made. */
    memset(last, 0, graph->n_values * sizeof(*last));
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

/* The last joint up to the op of a gene drawn at random. */
static uint32_t any_joint(ebb_crossing *c, const ebb_search *s) {
    uint32_t at = ebb_gene_position(s->space, s->free_genes[ebb_rng_below(&c->rng, s->n_free)]) + 1;
    uint32_t low = 0, high = c->n_joints;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (c->joints[mid] <= at)
            low = mid + 1;
        else
            high = mid;
    }
    return low > 0 ? c->joints[low - 1] : 0;
}

ebb_status ebb_crossing_open(ebb_crossing *crossing, ebb_search *search,
                             const ebb_select_request *request) {
    *crossing = (ebb_crossing){.copies = (request->without & EBB_WITHOUT_CROSSOVER) != 0};
    crossing->joints = ebb_space_joints(&search->arena, search->space, &crossing->n_joints);
    ebb_rng_init(&crossing->rng, request->seed, 0);
    return crossing->joints ? EBB_OK : EBB_NO_MEMORY;
}

/* Of two parents, one is drawn as the better of two draws. */
void ebb_cross_pool(ebb_crossing *c, const ebb_search *s, uint8_t *child) {
    uint32_t n = s->n_members < PARENTS ? s->n_members : PARENTS;
    uint32_t a = ebb_rng_below(&c->rng, n), other = ebb_rng_below(&c->rng, n);
    uint32_t b = ebb_rng_below(&c->rng, n), from = any_joint(c, s), to = any_joint(c, s);
    if (other < a) a = other;
    if (c->copies) b = a;
    ebb_crossover(s->space, s->members[a].best_genes, s->members[b].best_genes, from < to ? from : to,
                  from < to ? to : from, child);
}
