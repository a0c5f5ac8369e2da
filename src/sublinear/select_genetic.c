/* Budget mode: a genetic search whose every candidate is annealed before it joins the pool (a memetic
 * search: Moscato, "On evolution, search, optimization, genetic algorithms and martial arts", 1989;
 * annealing: Kirkpatrick, Gelatt and Vecchi, Science 220, 1983).
 *
 *     founders   annealed from hot, from no recomputation (a few from the best seeds)
 *     children   a crossover of two of the pool's best, annealed from lukewarm
 *
 * Annealing falls early into a valley that it does not leave, however slowly it cools: many short runs and
 * crossings of their best find more than a few long ones. The members of one generation are made side by
 * side and meet in the pool at its end. */
#include "sublinear/select.h"

#define MEMBERS_AN_ISLAND 5   /* of the pool: 20 give 4 islands, each makes a member a generation */
#define AN_OP             100 /* candidates of a founder that pay off, for each op */
#define MIN_GENERATIONS   1   /* when genetic_nr_iter is 0, by effort: from .. */
#define MAX_GENERATIONS   64  /* .. to */
#define FOUNDERS          0.3 /* of the generations */
#define LAST              0.2 /* of the effort, for one more that goes on from the best */
#define PATIENCE          4   /* generations without any member that fits before it is given up */

/* Temperatures, relative to the time of an average op; each of so many stages is cooler by a factor. */
#define STAGES            64
#define HOT               3.0
#define HOT_COOLING       0.93 /* to 0.03 */
#define WARM              0.4
#define WARM_COOLING      0.96 /* to 0.03 */

#define STRICT            24.0 /* weight of bytes over the limit */
/* When the peak is all that counts: the weight of a peak above the best so far, and how much hotter. */
#define LEAST             100.0
#define LEAST_HEAT        10.0

typedef struct generation {
    ebb_search *search;
    const ebb_select_request *request;
    ebb_member *islands;
    ebb_anneal_plan *plans; /* one for each island */
    bool *warm;             /* likewise: is it lukewarm? */
    uint32_t n_islands;
    uint32_t n, n_founders; /* generations */
    uint32_t n_stage;       /* candidates of a founder in a stage; a child has half of them */
    uint32_t n_last;        /* of the last generation, which comes on top */
    ebb_crossing crossing;
} generation;

static void anneal_island(void *ctx, uint32_t i, uint32_t worker) {
    generation *g = ctx;
    ebb_anneal(g->search, worker, &g->islands[i], &g->plans[i]);
}

/* The search's budget; for the least peak, always a little below the best so far. */
static int64_t limit_bytes(const generation *g) {
    if (g->request->method != EBB_METHOD_LEAST) return g->search->budget_bytes;
    int64_t best = g->search->members[0].best.peak_bytes;
    for (uint32_t i = 0; i < g->n_islands; i++)
        if (g->islands[i].best.excess_bytes < INT64_MAX)
            best = ebb_min_i64(best, g->islands[i].best.peak_bytes);
    return best - best / 64;
}

/* Candidates [done, done + count) of n in a stage; hot and warm: its temperatures. */
static void plan_part(generation *g, double hot, double warm, uint32_t done, uint32_t count, uint32_t n) {
    bool least = g->request->method == EBB_METHOD_LEAST;
    int64_t limit = limit_bytes(g);
    double begin = (double)done / n, end = (double)(done + count) / n;
    double op = (least ? LEAST_HEAT : 1) / (g->search->space->n_ops + 1);
    for (uint32_t i = 0; i < g->n_islands; i++) {
        double t = (g->warm[i] ? warm : hot) * op, fall = 1 - (g->warm[i] ? WARM_COOLING : HOT_COOLING);
        g->plans[i] = (ebb_anneal_plan){.n = count,
                                        .t0 = t - t * fall * begin,
                                        .t1 = t - t * fall * end,
                                        .excess_weight = least ? LEAST : STRICT,
                                        .limit_bytes = limit};
    }
}

/* Anneals what the islands hold, in parts short enough for a look at the clock and the stop flag between
 * them, and offers their best to the pool at the end. */
static ebb_status run_generation(generation *g, uint32_t n_stage, bool *go_on) {
    ebb_search *s = g->search;
    uint32_t round = ebb_search_round(s) / g->n_islands + 1;
    double hot = HOT, warm = WARM;
    ebb_status status = EBB_OK;
    *go_on = true;
    for (uint32_t k = 0; k < STAGES && status == EBB_OK && *go_on; k++) {
        for (uint32_t done = 0; done < n_stage && status == EBB_OK;) {
            uint32_t count = n_stage - done < round ? n_stage - done : round;
            status = ebb_search_goes_on(s, g->request, go_on);
            if (status != EBB_OK || !*go_on) break;
            plan_part(g, hot, warm, done, count, n_stage);
            status = ebb_parallel_for(s->env, s->n_workers, g->n_islands, anneal_island, g);
            if (status == EBB_OK && ebb_search_out_of_memory(s)) status = EBB_NO_MEMORY;
            s->n_scored += (int64_t)count * g->n_islands;
            done += count;
        }
        hot *= HOT_COOLING;
        warm *= WARM_COOLING;
    }
    for (uint32_t i = 0; i < g->n_islands; i++) ebb_search_offer(s, &g->islands[i]);
    return status;
}

/* ---- what a generation starts from --------------------------------------------------------------------
 */

/* From hot and no recomputation; in the first generation every second one from what is there already: what
 * an earlier search found, or else the best seeds. */
static void found(generation *g, uint32_t i, uint32_t at) {
    const ebb_search *s = g->search;
    const uint8_t *from = s->space->base_genes;
    g->warm[i] = at == 0 && i % 2 == 1;
    if (g->warm[i]) from = s->members[g->request->warm_genes ? 0 : (i / 2) % s->n_members].best_genes;
    memcpy(g->islands[i].genes, from, s->space->n_genes);
}

static void cross(generation *g, uint32_t i) {
    g->warm[i] = true;
    ebb_cross_pool(&g->crossing, g->search, g->islands[i].genes);
}

/* The pool's best go on, one on each island; the best itself on what is left. */
static void go_on_from_best(generation *g, uint32_t i) {
    const ebb_search *s = g->search;
    g->warm[i] = true;
    memcpy(g->islands[i].genes, s->members[i < s->n_members ? i : 0].best_genes, s->space->n_genes);
}

/* Returns how many candidates a stage of it has. */
static uint32_t start_generation(generation *g, uint32_t at) {
    for (uint32_t i = 0; i < g->n_islands; i++) {
        g->islands[i].best = (ebb_worth){INT64_MAX, INT64_MAX, INT64_MAX};
        if (at < g->n_founders)
            found(g, i, at);
        else if (at < g->n)
            cross(g, i);
        else
            go_on_from_best(g, i);
    }
    return at < g->n_founders ? g->n_stage : at < g->n ? (g->n_stage + 1) / 2 : g->n_last;
}

/* ---- the selector ---------------------------------------------------------------------------------------
 */

static uint32_t whole_number(double x) {
    return x < 1 ? 1 : x > INT32_MAX / 2 ? INT32_MAX / 2 : (uint32_t)x;
}

/* How many generations, and how long: so many founders as can be annealed well. */
static void share_effort(generation *g) {
    const ebb_search *s = g->search;
    int64_t iterations = g->request->config.genetic_nr_iter, ops = (int64_t)s->space->n_ops + 1;
    double founders = (1 - LAST) * (double)s->effort / ((double)g->n_islands * AN_OP * (double)ops);
    double n = founders / (FOUNDERS + (1 - FOUNDERS) / 2);
    g->n = n < MIN_GENERATIONS ? MIN_GENERATIONS : n > MAX_GENERATIONS ? MAX_GENERATIONS : (uint32_t)n;
    if (iterations > 0) g->n = (uint32_t)ebb_min_i64(iterations, 100000);
    double each =
        (double)s->effort / ((double)STAGES * g->n_islands); /* candidates of a stage of them all */
    if (g->n > each) g->n = each < 1 ? 1 : (uint32_t)each;
    g->n_founders = 1 + (uint32_t)(FOUNDERS * (g->n - 1));
    double halves = (double)g->n + g->n_founders; /* a founder counts two, a child one */
    g->n_stage = whole_number(2 * (1 - LAST) * each / halves);
    g->n_last = whole_number(LAST * each);
}

static ebb_status open_generation(generation *g, ebb_search *search, const ebb_select_request *request) {
    int64_t n = request->config.genetic_pool_size / MEMBERS_AN_ISLAND;
    ebb_arena *arena = &search->arena;
    *g = (generation){.search = search, .request = request};
    g->n_islands = n < 1 ? 1 : n > EBB_MAX_ISLANDS ? EBB_MAX_ISLANDS : (uint32_t)n;
    g->islands = EBB_NEW(arena, ebb_member, g->n_islands);
    g->plans = EBB_NEW(arena, ebb_anneal_plan, g->n_islands);
    g->warm = EBB_NEW(arena, bool, g->n_islands);
    if (!g->islands || !g->plans || !g->warm) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < g->n_islands; i++) {
        ebb_member *m = &g->islands[i];
        m->genes = EBB_NEW(arena, uint8_t, search->space->n_genes);
        m->best_genes = EBB_NEW(arena, uint8_t, search->space->n_genes);
        if (!m->genes || !m->best_genes) return EBB_NO_MEMORY;
        ebb_rng_init(&m->rng, request->seed, 1 + i);
    }
    share_effort(g);
    ebb_status status =
        ebb_alike_find(arena, search->space, search->free_genes, search->n_free, &search->alike);
    return status != EBB_OK ? status : ebb_crossing_open(&g->crossing, search, request);
}

ebb_status ebb_select_genetic(ebb_search *search, const ebb_select_request *request) {
    if (search->n_free == 0) return EBB_OK;
    generation g;
    ebb_status status = ebb_search_hire(search);
    if (status == EBB_OK) status = open_generation(&g, search, request);
    for (uint32_t at = 0; status == EBB_OK && at <= g.n; at++) {
        bool go_on;
        /* The least peak says more, and sooner, about a budget that is too small or nearly so. */
        if (request->method == EBB_METHOD_BUDGET && at == PATIENCE &&
            search->members[0].best.excess_bytes > 0)
            break;
        uint32_t n_stage = start_generation(&g, at);
        status = run_generation(&g, n_stage, &go_on);
        ebb_log_round_end(search);
        if (!go_on) break;
    }
    return status;
}
