/* MegEngine's search on cut points: threshold sweeps seed a population of sorted cut lists; mutation
 * inserts, deletes or moves a cut; crossover splices two lists at a position anywhere in the sequence; the
 * fitness is the peak (then fewer cuts, then the lexicographic order). lb_memory then gives memory back
 * while the peak stays below it.
 *
 * Kept from there: the sweeps' shapes, the population schedule, the defaults. Left there: its division by
 * zero at one threshold try, crossover in the first half only, and a fitness that does not see in-place
 * reuse, views, alignment and scratch (ours is `score`). */
#include <stdlib.h>

#include "sublinear/search/search.h"
#include "sublinear/seeds/seeds.h"

#define MAX_SPARE 64 /* lists beyond four pools that may pile up in a sweep */

typedef struct cut_list {
    uint32_t *at; /* ascending */
    uint32_t n;
    int64_t peak_bytes;
} cut_list;

typedef struct population {
    ebb_search *search;
    ebb_env *env;
    EBB_ARRAY(cut_list) lists;
    ebb_rng rng;
    const ebb_select_request *request;
    size_t pool;       /* lists that survive */
    uint64_t n_born;   /* candidates so far */
    int64_t last_peak; /* of the one that was added last */
    bool go_on;        /* the time limit has not struck */
} population;

static int by_fitness(const void *a, const void *b) {
    const cut_list *x = a, *y = b;
    if (x->peak_bytes != y->peak_bytes) return x->peak_bytes < y->peak_bytes ? -1 : 1;
    if (x->n != y->n) return x->n < y->n ? -1 : 1;
    for (uint32_t k = 0; k < x->n; k++)
        if (x->at[k] != y->at[k]) return x->at[k] < y->at[k] ? -1 : 1;
    return 0;
}

static void survive(population *p) {
    if (p->lists.n > 1) qsort(p->lists.at, p->lists.n, sizeof *p->lists.at, by_fitness);
    while (p->lists.n > p->pool) {
        cut_list *last = &p->lists.at[--p->lists.n];
        ebb_cfree(p->env, last->at, last->n + 1, sizeof(uint32_t));
    }
}

/* Copies the cuts, scores them and adds them to the population; looks at the clock and the stop flag now
 * and then, and does nothing once the time is over. */
static ebb_status add(population *p, const uint32_t *cuts, uint32_t n) {
    ebb_search *s = p->search;
    if (p->n_born++ % ebb_search_round(s, false) == 0) {
        ebb_status ended = ebb_search_goes_on(s, p->request, &p->go_on);
        if (ended != EBB_OK || !p->go_on) return ended;
    }
    cut_list list = {.at = ebb_calloc(p->env, n + 1, sizeof(uint32_t)), .n = n};
    if (!list.at) return EBB_NO_MEMORY;
    memcpy(list.at, cuts, n * sizeof(uint32_t));
    ebb_seed_cuts(s->space, cuts, n, EBB_HOLD, s->scratch_genes);
    list.peak_bytes = p->last_peak = ebb_search_offer_genes(s, s->scratch_genes).peak_bytes;
    if (p->lists.n >= 4 * p->pool + MAX_SPARE) survive(p); /* never in the middle of a generation */
    if (!EBB_PUSH(p->env, &p->lists, list)) {
        ebb_cfree(p->env, list.at, n + 1, sizeof(uint32_t));
        return EBB_NO_MEMORY;
    }
    return EBB_OK;
}

static ebb_status add_threshold(population *p, int64_t threshold, uint32_t *room) {
    return add(p, room, ebb_seed_threshold_cuts(p->search->space, threshold, room));
}

static ebb_status sweep(population *p, int64_t base_peak, int64_t tries, uint32_t *room) {
    ebb_status status = add(p, room, 0);
    int64_t best = base_peak, best_peak = INT64_MAX;
    for (int64_t t = base_peak / 2; status == EBB_OK && p->go_on && t >= 1024; t /= 2) {
        status = add_threshold(p, t, room);
        if (p->last_peak < best_peak) best_peak = p->last_peak, best = t;
    }
    for (int64_t k = 1; status == EBB_OK && p->go_on && k <= tries; k++) {
        int64_t t = base_peak / (tries + 1) * k;
        status = add_threshold(p, t, room);
        if (p->last_peak < best_peak) best_peak = p->last_peak, best = t;
    }
    for (int64_t k = 0; status == EBB_OK && p->go_on && k < tries;
         k++) /* around the best: [best/2, 2 best) */
        status = add_threshold(p, best / 2 + (2 * best - best / 2) / tries * k, room);
    return status;
}

static uint32_t mutate(population *p, uint32_t *cuts, uint32_t n) {
    uint32_t n_ops = p->search->space->n_ops, kind = ebb_rng_below(&p->rng, 4);
    uint32_t at = n ? ebb_rng_below(&p->rng, n) : 0;
    uint32_t low = at > 0 ? cuts[at - 1] + 1 : 0, high = n ? cuts[at] : n_ops;
    if (kind == 0 && low < high) { /* insert before */
        memmove(&cuts[at + 1], &cuts[at], (n - at) * sizeof *cuts);
        cuts[at] = low + ebb_rng_below(&p->rng, high - low);
        return n + 1;
    }
    if (kind == 1 && n > 0) { /* delete */
        memmove(&cuts[at], &cuts[at + 1], (n - at - 1) * sizeof *cuts);
        return n - 1;
    }
    if (kind == 2 && n > 0) { /* move between its neighbours */
        uint32_t end = at + 1 < n ? cuts[at + 1] : n_ops;
        cuts[at] = low + ebb_rng_below(&p->rng, end - low);
    }
    return n;
}

static uint32_t splice(population *p, const cut_list *a, const cut_list *b, uint32_t *child) {
    uint32_t position = ebb_rng_below(&p->rng, p->search->space->n_ops), n = 0;
    for (uint32_t k = 0; k < a->n; k++)
        if (a->at[k] < position) child[n++] = a->at[k];
    for (uint32_t k = 0; k < b->n; k++)
        if (b->at[k] >= position) child[n++] = b->at[k];
    return n;
}

static ebb_status evolve(population *p, uint32_t *room) {
    const ebb_select_request *request = p->request;
    for (int64_t i = 0; i < request->config.genetic_nr_iter && p->go_on; i++) {
        ebb_status ended = ebb_search_goes_on(p->search, request, &p->go_on);
        if (ended != EBB_OK || !p->go_on) return ended;
        survive(p);
        size_t n = p->lists.n;
        for (size_t k = 0; k < n && p->go_on; k++) {
            cut_list *list = &p->lists.at[k];
            memcpy(room, list->at, list->n * sizeof *room);
            uint32_t m = mutate(p, room, list->n);
            if (m < p->search->space->n_ops) m = mutate(p, room, m);
            ebb_status status = add(p, room, m);
            if (status != EBB_OK || !p->go_on) return status;
            uint32_t other = ebb_rng_below(&p->rng, (uint32_t)n);
            status = add(p, room, splice(p, &p->lists.at[k], &p->lists.at[other], room));
            if (status != EBB_OK) return status;
        }
    }
    return EBB_OK;
}

/* Dropped values are kept again while the peak stays below lb_memory. */
static ebb_status give_back(population *p, int64_t lb_bytes) {
    ebb_search *s = p->search;
    if (s->members[0].best.peak_bytes >= lb_bytes) return EBB_OK;
    ebb_score base = ebb_score_genes(s->scorers[0], s->space->base_genes, s->budget_bytes);
    uint8_t *genes = s->members[0].best_genes;
    ebb_status status = EBB_OK;
    if (base.peak_bytes > lb_bytes)
        status = ebb_keep_again(s, p->request, lb_bytes, genes, &p->go_on);
    else
        memcpy(genes, s->space->base_genes, s->space->n_genes);
    ebb_score score = ebb_score_genes(s->scorers[0], genes, s->budget_bytes);
    s->members[0].best = ebb_search_worth(s, &score);
    return status;
}

ebb_status ebb_select_megengine(ebb_search *search, const ebb_select_request *request) {
    if (search->n_free == 0) return EBB_OK; /* nothing to choose: the base is in the pool */
    population p = {.search = search, .env = search->env, .request = request, .go_on = true};
    p.pool = (size_t)request->config.genetic_pool_size;
    uint32_t *room = EBB_NEW(&search->arena, uint32_t, (size_t)search->space->n_ops + 2);
    if (!room) return EBB_NO_MEMORY;
    ebb_rng_init(&p.rng, request->seed, 0);
    ebb_status status = sweep(&p, ebb_search_base_peak(search), request->config.thresh_nr_try, room);
    if (status == EBB_OK) status = evolve(&p, room);
    if (status == EBB_OK && request->config.lb_memory_bytes > 0)
        status = give_back(&p, request->config.lb_memory_bytes);
    p.pool = 0;
    survive(&p);
    EBB_ARRAY_FREE(search->env, &p.lists);
    return status;
}
