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
#include "sublinear/search/search.h"

#define MEMBERS_AN_ISLAND 5   /* of the pool: 20 give 4 islands, each makes a member a generation */
#define AN_OP             60  /* candidates of a founder that pay off, for each op */
#define MIN_GENERATIONS   1   /* when genetic_nr_iter is 0, by effort: from .. */
#define MAX_GENERATIONS   64  /* .. to */
#define FOUNDERS          0.3 /* of the generations */
#define LAST              0.2 /* of the effort, for one more that goes on from the best */
#define TIGHT_PART        6   /* within a larger part of the base peak little is made again twice */
#define PATIENCE          1   /* generations without any member that fits before it is given up .. */
#define WARM_PATIENCE     4   /* .. from an answer to a slightly higher limit: one that fits may be near */

/* Where nobody asked for an effort: it ends when this part of it has gained less than one part in so many
 * of the time without recomputation. */
#define IDLE_SHARE        0.5
#define IDLE_PART         2000
#define WIDE_GAP_PART     100 /* a smaller gap to the bound promises less: the share falls with it */

typedef struct genetic {
    ebb_generation now;
    uint32_t n, n_founders; /* generations */
    uint32_t n_stage;       /* candidates of a founder in a stage; a child has half of them */
    uint32_t n_last;        /* of the last generation, which comes on top */
    int64_t gained_at;      /* candidates scored when the best last gained as much as counts .. */
    ebb_worth gained;       /* .. and the best then */
    ebb_crossing crossing;
} genetic;

/* ---- what a generation starts from ----------------------------------------------------------- */

/* From hot and no recomputation; in the first generation every second one from what is there already: what
 * an earlier search found, or else the best seeds. */
static void found(genetic *g, uint32_t i, uint32_t at) {
    const ebb_search *s = g->now.search;
    const uint8_t *from = s->space->base_genes;
    g->now.warm[i] = at == 0 && i % 2 == 1;
    if (g->now.warm[i])
        from = s->members[g->now.request->warm_genes ? 0 : (i / 2) % s->n_members].best_genes;
    memcpy(g->now.islands[i].genes, from, s->space->n_genes);
}

static void cross(genetic *g, uint32_t i) {
    g->now.warm[i] = true;
    ebb_cross_pool(&g->crossing, g->now.search, g->now.islands[i].genes);
}

/* The pool's best go on, one on each island; the best itself on what is left. */
static void go_on_from_best(genetic *g, uint32_t i) {
    const ebb_search *s = g->now.search;
    g->now.warm[i] = true;
    memcpy(g->now.islands[i].genes, s->members[i < s->n_members ? i : 0].best_genes, s->space->n_genes);
}

/* Returns how many candidates a stage of it has. */
static uint32_t start_generation(genetic *g, uint32_t at) {
    for (uint32_t i = 0; i < g->now.n_islands; i++) {
        g->now.islands[i].best = (ebb_worth){INT64_MAX, INT64_MAX, INT64_MAX};
        if (at < g->n_founders)
            found(g, i, at);
        else if (at < g->n)
            cross(g, i);
        else
            go_on_from_best(g, i);
    }
    return at < g->n_founders ? g->n_stage : at < g->n ? (g->n_stage + 1) / 2 : g->n_last;
}

/* Candidates have stopped to pay. An answer that does not fit yet is never idle. */
static bool is_idle(genetic *g) {
    const ebb_search *s = g->now.search;
    const ebb_worth *best = &s->members[0].best;
    bool gained = g->gained.excess_bytes > 0
                      ? ebb_worth_compare(best, &g->gained) < 0
                      : g->gained.time_ns - best->time_ns >= s->space->base_time_ns / IDLE_PART;
    if (gained) {
        g->gained = *best;
        g->gained_at = s->n_scored;
    }
    const double wide = (double)(s->space->base_time_ns / WIDE_GAP_PART) + 1;
    const double gap = ((double)best->time_ns - (double)s->least_time_ns) / wide;
    return s->ends_when_idle && best->excess_bytes == 0 &&
           (double)(s->n_scored - g->gained_at) > IDLE_SHARE * (gap < 1 ? gap : 1) * (double)s->effort;
}

/* ---- the selector ---------------------------------------------------------------------------- */

static uint32_t whole_number(double x) {
    return x < 1 ? 1 : x > INT32_MAX / 2 ? INT32_MAX / 2 : (uint32_t)x;
}

/* How many generations, and how long: so many founders as can be annealed well. */
static void share_effort(genetic *g) {
    const ebb_search *s = g->now.search;
    int64_t iterations = g->now.request->config.genetic_nr_iter, ops = (int64_t)s->space->n_ops + 1;
    double founders = (1 - LAST) * (double)s->effort / ((double)g->now.n_islands * AN_OP * (double)ops);
    double n = founders / (FOUNDERS + (1 - FOUNDERS) / 2);
    g->n = n < MIN_GENERATIONS ? MIN_GENERATIONS : n > MAX_GENERATIONS ? MAX_GENERATIONS : (uint32_t)n;
    if (iterations > 0) g->n = (uint32_t)ebb_min_i64(iterations, 100000);
    double each =
        (double)s->effort / ((double)EBB_STAGES * g->now.n_islands); /* candidates of a stage of them all */
    if (g->n > each) g->n = each < 1 ? 1 : (uint32_t)each;
    g->n_founders = 1 + (uint32_t)(FOUNDERS * (g->n - 1));
    double halves = (double)g->n + g->n_founders; /* a founder counts two, a child one */
    g->n_stage = whole_number(2 * (1 - LAST) * each / halves);
    g->n_last = whole_number(LAST * each);
}

static ebb_status open_genetic(genetic *g, ebb_search *search, const ebb_select_request *request) {
    int64_t n = request->config.genetic_pool_size / MEMBERS_AN_ISLAND;
    uint32_t n_islands = n < 1 ? 1 : n > EBB_MAX_ISLANDS ? EBB_MAX_ISLANDS : (uint32_t)n;
    *g = (genetic){0};
    ebb_status status = ebb_generation_open(&g->now, search, request, n_islands, 1);
    if (status != EBB_OK) return status;
    share_effort(g);
    status =
        ebb_alike_find(&search->arena, search->space, search->free_genes, search->n_free, &search->alike);
    return status != EBB_OK ? status : ebb_crossing_open(&g->crossing, search, request);
}

ebb_status ebb_select_genetic(ebb_search *search, const ebb_select_request *request) {
    if (search->n_free == 0) return EBB_OK;
    genetic g;
    const uint32_t patience = request->warm_genes ? WARM_PATIENCE : PATIENCE;
    search->is_tight = request->method == EBB_METHOD_LEAST ||
                       search->budget_bytes <= ebb_search_base_peak(search) / TIGHT_PART;
    ebb_status status = ebb_search_hire(search);
    if (status == EBB_OK) status = open_genetic(&g, search, request);
    if (status == EBB_OK) g.gained = search->members[0].best;
    for (uint32_t at = 0; status == EBB_OK && at <= g.n; at++) {
        bool go_on;
        /* The least peak says more, and sooner, about a budget that is too small or nearly so. */
        if (request->method == EBB_METHOD_BUDGET && at == patience && at < g.n &&
            search->members[0].best.excess_bytes > 0)
            break;
        uint32_t n_stage = start_generation(&g, at);
        status = ebb_generation_run(&g.now, n_stage, &go_on);
        for (uint32_t i = 0; i < g.now.n_islands; i++) ebb_search_offer(search, &g.now.islands[i]);
        ebb_log_round_end(search);
        if (!go_on || ebb_search_is_close(search) || ebb_search_is_low(search, request)) break;
        if (at < g.n && is_idle(&g)) at = g.n - 1; /* the last generation: on from the best */
    }
    return status;
}
