/* race: both list packers over all orders.
 *
 * takes: a problem, the height that is enough. gives: the offsets of the lowest height, among equals of the
 * attempt listed first; attempts listed behind the first that was enough do not count, whether they ran or
 * not, so that the answer does not depend on the number of workers.
 * cost: at most ten list packings, each O(n log n) and the ranges that it walks. */
#include <stdatomic.h>

#include "pack/heuristics/heuristics.h"

typedef struct ebb_attempt_kind {
    ebb_pack_choose choose;
    ebb_pack_order order;
} ebb_attempt_kind;

/* Those that reach the bound most often come first. */
static const ebb_attempt_kind attempt_kinds[] = {
    {ebb_choose_first, EBB_ORDER_CONFLICT}, {ebb_choose_best, EBB_ORDER_CONFLICT},
    {ebb_choose_best, EBB_ORDER_AREA},      {ebb_choose_first, EBB_ORDER_AREA},
    {ebb_choose_best, EBB_ORDER_SIZE},      {ebb_choose_first, EBB_ORDER_SIZE},
    {ebb_choose_best, EBB_ORDER_LOWER},     {ebb_choose_first, EBB_ORDER_LOWER},
    {ebb_choose_best, EBB_ORDER_DURATION},  {ebb_choose_first, EBB_ORDER_DURATION},
};
#define N_ATTEMPTS EBB_COUNT(attempt_kinds)

typedef struct ebb_attempt {
    int64_t *offsets;
    int64_t height; /* INT64_MAX: left out */
    ebb_status status;
} ebb_attempt;

typedef struct ebb_race {
    const ebb_pack_problem *problem;
    const ebb_pack_workers *workers;
    int64_t enough; /* bytes */
    uint32_t n;     /* attempts */
    ebb_attempt attempts[N_ATTEMPTS];
    atomic_uint reached; /* the first listed attempt that was enough; n: none */
} ebb_race;

static void run_attempt(void *ctx, uint32_t i, uint32_t worker) {
    ebb_race *race = ctx;
    ebb_attempt *attempt = &race->attempts[i];
    attempt->height = INT64_MAX;
    attempt->status = EBB_OK;
    if (atomic_load(&race->reached) < i) return;
    attempt->status = ebb_pack_list(race->workers->envs[worker], race->problem, attempt_kinds[i].order,
                                    attempt_kinds[i].choose, attempt->offsets, &attempt->height);
    if (attempt->status != EBB_OK || attempt->height > race->enough) return;
    unsigned seen = atomic_load(&race->reached);
    while (i < seen && !atomic_compare_exchange_weak(&race->reached, &seen, i)) continue;
}

static ebb_status choose_winner(const ebb_race *race, int64_t *offsets, int64_t *height) {
    const ebb_attempt *best = NULL;
    const uint32_t reached = atomic_load(&race->reached);
    /* Those behind the one that was enough ran, or not, as workers had time. */
    for (uint32_t i = 0; i < race->n && i <= reached; i++) {
        const ebb_attempt *attempt = &race->attempts[i];
        if (attempt->status != EBB_OK) return attempt->status;
        if (!best || attempt->height < best->height) best = attempt;
    }
    if (race->problem->n > 0) memcpy(offsets, best->offsets, race->problem->n * sizeof *offsets);
    *height = best->height;
    return EBB_OK;
}

ebb_status ebb_pack_race(ebb_pack_workers *workers, const ebb_pack_problem *problem, uint32_t most_attempts,
                         int64_t enough, int64_t *offsets, int64_t *height) {
    ebb_race race = {.problem = problem, .workers = workers, .enough = enough, .n = N_ATTEMPTS};
    if (most_attempts < race.n) race.n = most_attempts;
    ebb_arena arena;
    ebb_status status = EBB_OK;
    *height = 0;
    ebb_arena_init(&arena, workers->env);
    atomic_init(&race.reached, race.n);
    for (uint32_t i = 0; i < race.n && status == EBB_OK; i++) {
        race.attempts[i].offsets = EBB_NEW(&arena, int64_t, problem->n);
        if (!race.attempts[i].offsets) status = EBB_NO_MEMORY;
    }
    if (status == EBB_OK) {
        ebb_parallel_for(workers->n, race.n, run_attempt, &race);
        status = choose_winner(&race, offsets, height);
    }
    ebb_arena_deinit(&arena);
    return status;
}
