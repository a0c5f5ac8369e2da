/* fit: attempts of the complete search, side by side and again and again.
 *
 * takes: ebb_fit_problem, a capacity, an effort. gives: offsets within the capacity, or that there are
 * none, or that the effort did not tell. A depth-first search that took a wrong turn early does not come
 * back from it in time, so each attempt has a limit of nodes: N_WAYS attempts that differ in which valley
 * and which row they take first, then the same with limits that grow and with noise on the order of the
 * rows. An attempt that ends below its limit has proved that there is no packing. The first attempt of the
 * list that told decides; those behind it do not count, and each way keeps its own table of dead states, so
 * that the answer does not depend on the number of workers. cost: at most the effort, in rows that sections
 * looked at, and what one attempt goes beyond it. */
#include "pack/fit/fit.h"

/* In the order in which they tell most often. */
static const ebb_fit_tactic ways[EBB_FIT_WAYS] = {
    {.value = EBB_FIT_SURFACE, .where = EBB_FIT_LOWEST},
    {.value = EBB_FIT_SIZE, .where = EBB_FIT_LOWEST},
    {.value = EBB_FIT_LENGTH, .where = EBB_FIT_TIGHTEST},
    {.value = EBB_FIT_AREA, .where = EBB_FIT_LOWEST},
    {.value = EBB_FIT_SURFACE, .where = EBB_FIT_FEWEST},
    {.value = EBB_FIT_LENGTH, .where = EBB_FIT_LOWEST},
    {.value = EBB_FIT_LENGTH, .where = EBB_FIT_FEWEST},
    {.value = EBB_FIT_SURFACE, .where = EBB_FIT_TIGHTEST},
};
#define NOISE 0.15

typedef struct fit_attempt {
    int64_t *least; /* [n] where it found a packing */
    uint64_t work;
    ebb_fit_verdict verdict;
    ebb_status status;
} fit_attempt;

typedef struct ebb_fit_round {
    ebb_fit_runner *runner;
    const ebb_fit_effort *effort;
    int64_t capacity;
    uint64_t n_nodes, most_work; /* of an attempt */
    uint32_t index;              /* of the round */
    fit_attempt attempts[EBB_FIT_WAYS];
    atomic_uint told; /* the first attempt of the list that told; EBB_FIT_WAYS: none */
} ebb_fit_round;

static ebb_fit_search *search_of(ebb_fit_runner *runner, uint32_t worker, ebb_status *status) {
    ebb_fit_search *search = &runner->searches[worker];
    *status = EBB_OK;
    if (!search->rank)
        *status = ebb_fit_search_init(search, runner->workers->envs[worker], runner->problem);
    return search;
}

static void run_attempt(void *ctx, uint32_t i, uint32_t worker) {
    ebb_fit_round *round = ctx;
    fit_attempt *attempt = &round->attempts[i];
    attempt->verdict = EBB_FIT_LIMIT;
    attempt->work = 0;
    attempt->status = EBB_OK;
    if (atomic_load(&round->told) < i) return;
    ebb_fit_search *search = search_of(round->runner, worker, &attempt->status);
    if (attempt->status != EBB_OK) return;
    ebb_fit_tactic way = ways[i];
    way.noise = round->index < 2 ? 0 : NOISE;
    way.seed = round->effort->seed;
    way.stream = round->index * (uint64_t)EBB_FIT_WAYS + i;
    search->watch = round->runner->workers->env;
    search->deadline_ns = round->effort->deadline_ns;
    search->beaten = &round->told;
    search->index = i;
    search->dead = &round->runner->dead[i];
    search->most_work = round->most_work;
    attempt->verdict = ebb_fit_search_run(search, &way, round->capacity, round->n_nodes);
    attempt->work = search->state.work;
    if (search->state.no_memory) attempt->status = EBB_NO_MEMORY;
    if (attempt->verdict == EBB_FIT_LIMIT) return;
    if (attempt->verdict == EBB_FIT_FOUND)
        memcpy(attempt->least, search->state.least, round->runner->problem->n * sizeof *attempt->least);
    unsigned seen = atomic_load(&round->told);
    while (i < seen && !atomic_compare_exchange_weak(&round->told, &seen, i)) continue;
}

static void forget(ebb_fit_runner *runner, uint32_t way) {
    memset(runner->dead[way].at, 0, runner->dead[way].n * sizeof *runner->dead[way].at);
}

/* Sums up a round: the effort of its attempts up to the one that told. */
static ebb_status end_round(ebb_fit_round *round, uint64_t *work, ebb_fit_verdict *verdict,
                            int64_t *offsets) {
    const ebb_fit_problem *p = round->runner->problem;
    uint32_t told = atomic_load(&round->told);
    for (uint32_t i = 0; i < EBB_FIT_WAYS && i <= told; i++) {
        if (round->attempts[i].status != EBB_OK) return round->attempts[i].status;
        *work += round->attempts[i].work;
    }
    if (told == EBB_FIT_WAYS) return EBB_OK;
    /* Ways behind it ran in part, or not at all, as workers had time: what they buried does not count. */
    for (uint32_t i = told + 1; i < EBB_FIT_WAYS; i++) forget(round->runner, i);
    *verdict = round->attempts[told].verdict;
    if (*verdict == EBB_FIT_FOUND)
        for (uint32_t r = 0; r < p->n; r++) offsets[p->row[r]] = round->attempts[told].least[r] * p->unit;
    return EBB_OK;
}

/* The first round dives; the second has the orders as they are; then noise, and limits that grow, so that
 * in the end an attempt can prove that there is no packing. */
static uint64_t nodes_of_round(const ebb_fit_problem *p, uint32_t index) {
    uint64_t n_nodes = 400 + (uint64_t)p->n;
    for (uint32_t i = 1; i < index && n_nodes < UINT64_MAX / 2; i++) n_nodes += n_nodes / 10;
    return index == 0 ? p->n + p->n / 4 + 64 : n_nodes;
}

static bool is_late(const ebb_fit_runner *runner, const ebb_fit_effort *effort) {
    ebb_env *env = runner->workers->env;
    return ebb_stop_asked(env) || (effort->deadline_ns != 0 && ebb_clock_ns(env) >= effort->deadline_ns);
}

ebb_status ebb_fit_run(ebb_fit_runner *runner, const ebb_fit_effort *effort, int64_t capacity,
                       uint64_t *work, ebb_fit_verdict *verdict, int64_t *offsets) {
    ebb_fit_round round = {.runner = runner, .effort = effort, .capacity = capacity};
    ebb_status status = EBB_OK;
    uint64_t used = 0;
    *verdict = EBB_FIT_LIMIT;
    if (capacity > runner->capacity) ebb_fit_runner_forget(runner);
    runner->capacity = capacity;
    for (uint32_t i = 0; i < EBB_FIT_WAYS; i++) round.attempts[i].least = runner->least[i];
    for (; status == EBB_OK && *verdict == EBB_FIT_LIMIT && used < effort->most_work; round.index++) {
        if (is_late(runner, effort)) break;
        atomic_init(&round.told, EBB_FIT_WAYS);
        round.n_nodes = nodes_of_round(runner->problem, round.index);
        round.most_work = (effort->most_work - used) / EBB_FIT_WAYS + 1;
        ebb_parallel_for(runner->workers->n, EBB_FIT_WAYS, run_attempt, &round);
        status = end_round(&round, &used, verdict, offsets);
    }
    *work += used;
    return status;
}

/* ---- making ---------------------------------------------------------------------------------- */

static uint32_t dead_states(const ebb_fit_problem *problem) {
    uint32_t n = 1024;
    while (n < EBB_FIT_MOST_DEAD && n < 64 * (uint64_t)problem->n) n *= 2;
    return n;
}

ebb_status ebb_fit_runner_init(ebb_fit_runner *runner, ebb_pack_workers *workers,
                               const ebb_fit_problem *problem) {
    memset(runner, 0, sizeof *runner);
    ebb_arena_init(&runner->arena, workers->env);
    runner->workers = workers;
    runner->problem = problem;
    runner->searches = EBB_NEW(&runner->arena, ebb_fit_search, workers->n);
    if (!runner->searches) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < EBB_FIT_WAYS; i++) {
        runner->least[i] = EBB_NEW(&runner->arena, int64_t, problem->n);
        runner->dead[i].n = dead_states(problem);
        runner->dead[i].at = EBB_NEW(&runner->arena, ebb_hash, runner->dead[i].n);
        if (!runner->least[i] || !runner->dead[i].at) return EBB_NO_MEMORY;
    }
    return EBB_OK;
}

void ebb_fit_runner_forget(ebb_fit_runner *runner) {
    for (uint32_t i = 0; i < EBB_FIT_WAYS; i++) forget(runner, i);
}

void ebb_fit_runner_deinit(ebb_fit_runner *runner) {
    for (uint32_t w = 0; runner->searches && w < runner->workers->n; w++)
        ebb_fit_search_deinit(&runner->searches[w]);
    ebb_arena_deinit(&runner->arena);
}
