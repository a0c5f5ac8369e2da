/* Crossover: what a child takes from either parent, and where it may be cut. */
#include "sublinear/search/search.h"

#define PARENTS 10 /* of the pool may be crossed */

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
