/* pack: the best of both list packers over all orders.
 *
 * takes: rows. gives: offsets and the height. The lowest height wins, among equals the attempt listed
 * first; an attempt is left out only when one listed before it has reached the lower bound, so that
 * the answer does not depend on the number of workers.
 * If none reached the bound, a local search goes on from the winner.
 * cost: ten list packings, the local search and a row check. */
#include <pthread.h>
#include <stdatomic.h>

#include "planner/pack.h"

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
#define N_ATTEMPTS           10

/* Below this many rows all attempts together take less time than starting a thread is worth. */
#define MIN_ROWS_FOR_THREADS 512

typedef struct ebb_attempt {
    int64_t *offsets;
    int64_t height; /* INT64_MAX: left out */
    ebb_status status;
} ebb_attempt;

typedef struct ebb_race {
    const ebb_pack_problem *problem;
    int64_t bound;
    ebb_attempt attempts[N_ATTEMPTS];
    atomic_uint reached;       /* the first listed attempt that reached the bound; N_ATTEMPTS: none */
    ebb_env *envs[N_ATTEMPTS]; /* one a worker */
} ebb_race;

static void run_attempt(void *ctx, uint32_t i, uint32_t worker) {
    ebb_race *race = ctx;
    ebb_attempt *attempt = &race->attempts[i];
    attempt->height = INT64_MAX;
    attempt->status = EBB_OK;
    if (atomic_load(&race->reached) < i) return;
    attempt->status = ebb_pack_list(race->envs[worker], race->problem, attempt_kinds[i].order,
                                    attempt_kinds[i].choose, attempt->offsets, &attempt->height);
    if (attempt->status != EBB_OK || attempt->height > race->bound) return;
    unsigned seen = atomic_load(&race->reached);
    while (i < seen && !atomic_compare_exchange_weak(&race->reached, &seen, i)) continue;
}

/* ---- workers' memory: an env is for one thread, so each has one that locks the caller's ------ */

typedef struct ebb_shared_memory {
    pthread_mutex_t lock;
    ebb_env *env;
} ebb_shared_memory;

static void *shared_alloc(void *ctx, size_t bytes, size_t alignment) {
    ebb_shared_memory *shared = ctx;
    pthread_mutex_lock(&shared->lock);
    void *ptr = ebb_alloc_aligned(shared->env, bytes, alignment);
    pthread_mutex_unlock(&shared->lock);
    return ptr;
}

static void shared_free(void *ctx, void *ptr, size_t bytes, size_t alignment) {
    ebb_shared_memory *shared = ctx;
    pthread_mutex_lock(&shared->lock);
    ebb_free_aligned(shared->env, ptr, bytes, alignment);
    pthread_mutex_unlock(&shared->lock);
}

static ebb_status run_threads(ebb_env *env, ebb_race *race, uint32_t n_workers) {
    ebb_shared_memory shared = {.env = env};
    if (pthread_mutex_init(&shared.lock, NULL) != 0)
        return ebb_fail(env, EBB_NO_MEMORY, "pack: no lock could be made for %u workers", n_workers);
    ebb_env_options options = {.alloc = shared_alloc, .free = shared_free, .alloc_ctx = &shared};
    ebb_status status = EBB_OK;
    for (uint32_t w = 0; w < n_workers && status == EBB_OK; w++)
        status = ebb_env_create(&options, &race->envs[w]);
    if (status == EBB_OK) status = ebb_parallel_for(env, n_workers, N_ATTEMPTS, run_attempt, race);
    for (uint32_t w = 0; w < n_workers; w++) ebb_env_destroy(race->envs[w]);
    pthread_mutex_destroy(&shared.lock);
    return status;
}

static ebb_status run_race(ebb_env *env, ebb_race *race, uint32_t n_workers) {
    if (n_workers > N_ATTEMPTS) n_workers = N_ATTEMPTS;
    if (n_workers > 1 && race->problem->n >= MIN_ROWS_FOR_THREADS) return run_threads(env, race, n_workers);
    race->envs[0] = env;
    for (uint32_t i = 0; i < N_ATTEMPTS; i++) run_attempt(race, i, 0);
    return EBB_OK;
}

static ebb_status choose_winner(ebb_env *env, const ebb_race *race, int64_t *offsets, int64_t *height) {
    const ebb_attempt *best = NULL;
    for (uint32_t i = 0; i < N_ATTEMPTS; i++) {
        const ebb_attempt *attempt = &race->attempts[i];
        if (attempt->status == EBB_NO_MEMORY)
            return ebb_fail(env, EBB_NO_MEMORY, "pack: no memory to pack %u rows", race->problem->n);
        if (attempt->status != EBB_OK) return attempt->status;
        if (best == NULL || attempt->height < best->height) best = attempt;
    }
    if (race->problem->n > 0) memcpy(offsets, best->offsets, race->problem->n * sizeof *offsets);
    *height = best->height;
    ebb_status status = ebb_pack_improve(env, race->problem, race->bound, offsets, height);
    if (status != EBB_OK) return status;
    status = ebb_rows_check(env, race->problem->rows, race->problem->n, offsets, *height);
    if (status != EBB_VIOLATION) return status;
    return ebb_fail(env, EBB_INTERNAL, "pack: the packing fails its own check: %s", ebb_env_error(env));
}

ebb_status ebb_pack(ebb_env *env, const ebb_row *rows, uint32_t n, uint32_t n_workers, int64_t *offsets,
                    int64_t *height) {
    ebb_pack_problem problem;
    ebb_race race = {.problem = &problem};
    *height = 0;
    atomic_init(&race.reached, N_ATTEMPTS);
    ebb_status status = ebb_pack_problem_init(&problem, env, rows, n);
    if (status == EBB_OK) status = ebb_rows_max_live(env, rows, n, &race.bound);
    for (uint32_t i = 0; i < N_ATTEMPTS && status == EBB_OK; i++) {
        race.attempts[i].offsets = EBB_NEW(&problem.arena, int64_t, n);
        if (race.attempts[i].offsets == NULL) status = EBB_NO_MEMORY;
    }
    if (status == EBB_OK) status = run_race(env, &race, n_workers);
    if (status == EBB_OK) status = choose_winner(env, &race, offsets, height);
    ebb_pack_problem_deinit(&problem);
    return status;
}
