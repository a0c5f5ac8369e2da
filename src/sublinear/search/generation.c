/* One generation: the temperatures, and the parts in which its islands are annealed. */
#include "sublinear/search/search.h"

/* Temperatures, relative to the time of an average op; each stage is cooler by a factor. */
#define HOT          1.5
#define HOT_COOLING  0.93 /* to 0.03 */
#define WARM         0.4
#define WARM_COOLING 0.96 /* to 0.03 */

#define STRICT       24.0 /* weight of bytes over the limit */
/* When the peak is all that counts: the weight of a peak above the best so far, and how much hotter. */
#define LEAST        100.0
#define LEAST_HEAT   10.0

static void anneal_island(void *ctx, uint32_t i, uint32_t worker) {
    ebb_generation *g = ctx;
    ebb_anneal(g->search, worker, &g->islands[i], &g->plans[i]);
}

/* The search's budget; for the least peak, always a little below the best so far. */
static int64_t limit_bytes(const ebb_generation *g) {
    if (g->request->method != EBB_METHOD_LEAST) return g->search->budget_bytes;
    int64_t best = g->search->members[0].best.peak_bytes;
    for (uint32_t i = 0; i < g->n_islands; i++)
        if (g->islands[i].best.excess_bytes < INT64_MAX)
            best = ebb_min_i64(best, g->islands[i].best.peak_bytes);
    return best - best / 64;
}

/* Candidates [done, done + count) of each island. */
static void plan_part(ebb_generation *g, int64_t done, uint32_t count, uint32_t n_stage) {
    bool least = g->request->method == EBB_METHOD_LEAST;
    int64_t limit = limit_bytes(g);
    double op = (least ? LEAST_HEAT : 1) / (g->search->space->n_ops + 1);
    for (uint32_t i = 0; i < g->n_islands; i++)
        g->plans[i] = (ebb_anneal_plan){.first = done,
                                        .n = count,
                                        .n_stage = n_stage,
                                        .t = g->warm[i] ? WARM : HOT,
                                        .cooling = g->warm[i] ? WARM_COOLING : HOT_COOLING,
                                        .unit = op,
                                        .time_first = !least,
                                        .excess_weight = least ? LEAST : STRICT,
                                        .limit_bytes = limit};
}

ebb_status ebb_generation_run(ebb_generation *g, uint32_t n_stage, bool *go_on) {
    ebb_search *s = g->search;
    const int64_t n = (int64_t)EBB_STAGES * n_stage;
    uint32_t round = ebb_search_round(s, g->islands[0].ordering != NULL) / g->n_islands + 1;
    ebb_status status = EBB_OK;
    /* A part takes each island anew, which costs as much as dozens of candidates; but a lower peak is to be
     * a limit soon. */
    if (g->request->method == EBB_METHOD_LEAST && round > n_stage) round = n_stage;
    *go_on = true;
    for (int64_t done = 0; done < n && status == EBB_OK;) {
        const uint32_t count = (uint32_t)ebb_min_i64(n - done, round);
        status = ebb_search_goes_on(s, g->request, go_on);
        if (status != EBB_OK || !*go_on) break;
        plan_part(g, done, count, n_stage);
        ebb_parallel_for(s->n_workers, g->n_islands, anneal_island, g);
        if (ebb_search_out_of_memory(s)) status = EBB_NO_MEMORY;
        s->n_scored += (int64_t)count * g->n_islands;
        done += count;
    }
    return status;
}

ebb_status ebb_generation_open(ebb_generation *g, ebb_search *search, const ebb_select_request *request,
                               uint32_t n_islands, uint64_t first_stream) {
    ebb_arena *arena = &search->arena;
    *g = (ebb_generation){.search = search, .request = request, .n_islands = n_islands};
    g->islands = EBB_NEW(arena, ebb_member, n_islands);
    g->plans = EBB_NEW(arena, ebb_anneal_plan, n_islands);
    g->warm = EBB_NEW(arena, bool, n_islands);
    if (!g->islands || !g->plans || !g->warm) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < n_islands; i++) {
        ebb_member *m = &g->islands[i];
        *m = (ebb_member){.genes = EBB_NEW(arena, uint8_t, search->space->n_genes),
                          .best_genes = EBB_NEW(arena, uint8_t, search->space->n_genes)};
        if (!m->genes || !m->best_genes) return EBB_NO_MEMORY;
        ebb_rng_init(&m->rng, request->seed, first_stream + i);
    }
    return EBB_OK;
}
