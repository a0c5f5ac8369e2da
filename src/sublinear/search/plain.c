/* A genetic search without annealing: each candidate is a crossing of two of the pool with one gene changed
 * at random, is scored once, and joins the pool if it is good enough (a steady state). It is what the
 * search of genetic.c is measured against, and nobody's choice otherwise. Cost: `effort` scores. */
#include "sublinear/search/search.h"

typedef struct plain {
    ebb_search *search;
    ebb_evaluator evaluator;
    ebb_crossing crossing;
    ebb_rng rng;
    ebb_member child;
} plain;

static void change_one(plain *p) {
    const ebb_search *s = p->search;
    uint32_t at = s->free_genes[ebb_rng_below(&p->rng, s->n_free)];
    const ebb_gene *gene = &s->space->genes[at];
    p->child.best_genes[at] =
        (uint8_t)(gene->first_state +
                  ebb_rng_below(&p->rng, (uint32_t)(gene->n_states - gene->first_state)));
}

static ebb_score score_child(plain *p) {
    const ebb_search *s = p->search;
    const uint8_t *genes = p->child.best_genes;
    for (uint32_t k = 0; k < s->n_free; k++) { /* others never change */
        uint32_t at = s->free_genes[k];
        if (p->evaluator.genes[at] != genes[at]) ebb_evaluator_set(&p->evaluator, at, genes[at]);
    }
    return ebb_evaluator_score(&p->evaluator, s->budget_bytes);
}

static void breed(plain *p) {
    ebb_cross_pool(&p->crossing, p->search, p->child.best_genes);
    change_one(p);
    ebb_score score = score_child(p);
    p->child.best = ebb_search_worth(p->search, &score);
    ebb_search_offer(p->search, &p->child);
    p->search->n_scored++;
}

ebb_status ebb_select_plain(ebb_search *search, const ebb_select_request *request) {
    if (search->n_free == 0) return EBB_OK;
    plain p = {.search = search};
    ebb_status status = ebb_search_hire(search);
    if (status == EBB_OK) status = ebb_crossing_open(&p.crossing, search, request);
    if (status != EBB_OK) return status;
    p.child.best_genes = search->scratch_genes;
    ebb_rng_init(&p.rng, request->seed, 1);
    uint8_t *genes = EBB_NEW(&search->arena, uint8_t, search->space->n_genes);
    if (!genes) return EBB_NO_MEMORY;
    memcpy(genes, search->members[0].best_genes, search->space->n_genes);
    p.evaluator = ebb_search_evaluator(search, 0, genes, false);
    uint32_t round = ebb_search_round(search, false);
    for (int64_t done = 0; done < search->effort; done += round) {
        bool go_on;
        status = ebb_search_goes_on(search, request, &go_on);
        if (status != EBB_OK || !go_on) return status;
        for (int64_t n = 0; n < round && done + n < search->effort; n++) breed(&p);
        if (ebb_search_out_of_memory(search)) return EBB_NO_MEMORY;
    }
    return EBB_OK;
}
