/* Budget mode: a genetic search whose members are improved by annealing between generations (a memetic
 * search: Moscato, "On evolution, search, optimization, genetic algorithms and martial arts", 1989;
 * annealing: Kirkpatrick, Gelatt and Vecchi, Science 220, 1983).
 *
 * Islands anneal on their own; half of them start without recomputation under a limit that closes in on the
 * budget, half from the best seeds under the budget itself. After each generation their best go to the
 * pool, the pool keeps its best, and the island that lags most goes on from a crossover of two pool
 * members. The last quarter polishes the best. */
#include "sublinear/select.h"

#define GENERATIONS      32  /* when genetic_nr_iter is 0 */
#define MEMBERS_A_ISLAND 5   /* of the pool: 20 give 4 islands */
#define HOT              1.2 /* temperatures, relative to the base time of an average op */
#define COLD             0.004
#define LENIENT          2.0   /* weight of bytes over the limit, at the start */
#define STRICT           24.0  /* and at the end */
#define LEAST            100.0 /* when the peak is all that counts */

typedef struct generation {
    ebb_search *search;
    ebb_member *islands;
    uint32_t n_islands;
    ebb_anneal_plan plans[EBB_MAX_ISLANDS];
} generation;

static void anneal_island(void *ctx, uint32_t i, uint32_t worker) {
    generation *g = ctx;
    ebb_anneal(g->search, worker, &g->islands[i], &g->plans[i]);
}

/* The limit of a closing island: from the base peak down to the budget over the first half. */
static int64_t closing_limit(int64_t from, int64_t budget, uint32_t at, uint32_t n) {
    if (from <= budget || 2 * at >= n) return budget;
    double left = 1.0 - 2.0 * at / n;
    return budget + (int64_t)((double)(from - budget) * left * left);
}

/* A part of generation at of n: candidates [done, done + count) of n_each for each island. base_peak: of
 * the closing islands; < 0 when there is no budget to close in on. */
static void plan_part(generation *g, uint32_t at, uint32_t n, uint32_t done, uint32_t count,
                      uint32_t n_each, int64_t base_peak) {
    double hot = HOT / (g->search->space->n_ops + 1), cold = COLD / (g->search->space->n_ops + 1);
    double total = (double)n * n_each, begin = (double)at * n_each + done;
    double left = 1.0 - begin / total, next = 1.0 - (begin + count) / total;
    for (uint32_t i = 0; i < g->n_islands; i++) {
        int64_t limit = g->search->budget_bytes;
        if (base_peak < 0) { /* least peak: always a little below the best so far */
            int64_t best = g->search->members[0].best.peak_bytes;
            limit = best - best / 64;
        } else if (i % 2 == 0) {
            limit = closing_limit(base_peak, limit, at, n);
        }
        double weight = base_peak < 0 ? LEAST : LENIENT + (STRICT - LENIENT) * begin / total;
        g->plans[i] = (ebb_anneal_plan){.n = count,
                                        .excess_weight = weight,
                                        .t0 = cold + (hot - cold) * left * left,
                                        .t1 = cold + (hot - cold) * next * next,
                                        .limit_bytes = limit};
    }
}

static uint32_t lagging(const generation *g) {
    uint32_t worst = 0;
    for (uint32_t i = 1; i < g->n_islands; i++)
        if (ebb_worth_compare(&g->islands[i].best, &g->islands[worst].best) > 0) worst = i;
    return worst;
}

static void cross(generation *g, ebb_rng *rng) {
    ebb_search *s = g->search;
    ebb_member *to = &g->islands[lagging(g)];
    uint32_t a = ebb_rng_below(rng, s->n_members), b = ebb_rng_below(rng, s->n_members);
    uint32_t begin = ebb_rng_below(rng, s->space->n_ops + 1), end = ebb_rng_below(rng, s->space->n_ops + 1);
    ebb_crossover(s->space, s->members[a].best_genes, s->members[b].best_genes, begin < end ? begin : end,
                  begin < end ? end : begin, to->genes);
}

static void polish_from_best(generation *g) {
    for (uint32_t i = 0; i < g->n_islands; i++)
        memcpy(g->islands[i].genes, g->search->members[0].best_genes, g->search->space->n_genes);
}

static ebb_status start_islands(generation *g, ebb_search *search, const ebb_select_request *request) {
    int64_t n = request->config.genetic_pool_size / MEMBERS_A_ISLAND;
    g->search = search;
    g->n_islands = n < 1 ? 1 : n > EBB_MAX_ISLANDS ? EBB_MAX_ISLANDS : (uint32_t)n;
    g->islands = EBB_NEW(&search->arena, ebb_member, g->n_islands);
    if (!g->islands) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < g->n_islands; i++) {
        ebb_member *m = &g->islands[i];
        const ebb_member *from = &search->members[(i / 2) % search->n_members];
        const uint8_t *genes =
            i % 2 == 0 && !request->warm_genes ? search->space->base_genes : from->best_genes;
        m->genes = ebb_arena_copy(&search->arena, genes, search->space->n_genes, 1);
        m->best_genes = ebb_arena_copy(&search->arena, from->best_genes, search->space->n_genes, 1);
        if (!m->genes || !m->best_genes) return EBB_NO_MEMORY;
        m->best = from->best;
        ebb_rng_init(&m->rng, request->seed, 1 + i);
    }
    return EBB_OK;
}

/* In parts short enough for a look at the clock and the stop flag between them. */
static ebb_status run_generation(generation *g, const ebb_select_request *request, uint32_t at, uint32_t n,
                                 uint32_t n_each, int64_t base_peak, bool *go_on) {
    ebb_search *s = g->search;
    uint32_t round = ebb_search_round(s) / g->n_islands + 1;
    for (uint32_t done = 0; done < n_each;) {
        uint32_t count = n_each - done < round ? n_each - done : round;
        ebb_status status = ebb_search_goes_on(s, request, go_on);
        if (status != EBB_OK || !*go_on) return status;
        plan_part(g, at, n, done, count, n_each, base_peak);
        status = ebb_parallel_for(s->env, s->n_workers, g->n_islands, anneal_island, g);
        if (status == EBB_OK && ebb_search_out_of_memory(s)) status = EBB_NO_MEMORY;
        if (status != EBB_OK) return status;
        s->n_scored += (int64_t)count * g->n_islands;
        done += count;
        for (uint32_t i = 0; i < g->n_islands; i++) ebb_search_offer(s, &g->islands[i]);
    }
    return EBB_OK;
}

ebb_status ebb_select_genetic(ebb_search *search, const ebb_select_request *request) {
    if (search->n_free == 0) return EBB_OK;
    generation g = {0};
    ebb_status status = ebb_search_hire(search);
    if (status == EBB_OK) status = start_islands(&g, search, request);
    if (status != EBB_OK) return status;
    int64_t iterations = request->config.genetic_nr_iter;
    uint32_t n = iterations > 0 ? (uint32_t)ebb_min_i64(iterations, 100000) : GENERATIONS;
    int64_t each = search->effort / ((int64_t)n * g.n_islands);
    uint32_t n_each = (uint32_t)ebb_max_i64(1, ebb_min_i64(each, INT32_MAX));
    int64_t base_peak = request->method == EBB_METHOD_LEAST ? -1 : ebb_search_base_peak(search);
    ebb_rng rng;
    ebb_rng_init(&rng, request->seed, 0);
    for (uint32_t at = 0; at < n; at++) {
        bool go_on;
        status = run_generation(&g, request, at, n, n_each, base_peak, &go_on);
        if (status != EBB_OK || !go_on) return status;
        if (at + 1 == n - n / 4)
            polish_from_best(&g);
        else if (at % 4 == 3 && at < n / 2)
            cross(&g, &rng);
    }
    return EBB_OK;
}
