/* pools: rows that may lie in several pools.
 *
 * takes: a job with pools. gives: the pool of each row, and its offset there. Each pool is packed by
 * itself, as a job of the rows that were given to it. Where the rows that are free to choose are few, all
 * ways to give them are tried, each pool's rows packed once; so that what is found is optimal where the
 * packings are, and a capacity is ruled out when each way is. Else rows are placed one by one, in several
 * orders, by first fit into the first pool with room, or into that which they leave lowest, and the best
 * way's pools are packed. Less above the capacities is better, then less height of pools without one. cost:
 * for few, at most MOST_WAYS packings of a pool; else ten list packings and a packing of each pool. */
#include "pack/solve/pools.h"

bool ebb_pool_score_better(ebb_pool_score a, ebb_pool_score b) {
    return a.excess != b.excess ? a.excess < b.excess : a.height < b.height;
}

bool ebb_pools_open(const ebb_pack_pools *pools) {
    for (uint32_t k = 0; k < pools->n; k++)
        if (pools->capacity[k] < 0) return true;
    return false;
}

ebb_pool_score ebb_pools_score(const ebb_pack_pools *pools, const int64_t *height) {
    ebb_pool_score score = {0, 0};
    bool open = ebb_pools_open(pools);
    for (uint32_t k = 0; k < pools->n; k++) {
        if (pools->capacity[k] >= 0) score.excess += ebb_max_i64(0, height[k] - pools->capacity[k]);
        if (!open || pools->capacity[k] < 0) score.height += height[k];
    }
    return score;
}

int64_t ebb_pack_excess(const ebb_pack_job *job, const ebb_pack_options *options, int64_t height) {
    if (job->pools) return ebb_pools_score(job->pools, job->pools->height).excess;
    return options->capacity < 0 ? 0 : ebb_max_i64(0, height - options->capacity);
}

ebb_status ebb_pooling_pack(ebb_pooling *p, const uint32_t *way, uint32_t pool, int64_t effort,
                            ebb_pack_answer *answer, int64_t *offsets) {
    ebb_pack_copy copy;
    ebb_pack_options options = ebb_pack_options_left(p->env, p->options, p->started_ns, effort);
    ebb_status status = ebb_pack_copy_init(&copy, p->env, p->job->n);
    for (uint32_t i = 0; i < p->job->n && status == EBB_OK; i++) {
        uint32_t n = 0;
        if (way[i] != pool) continue;
        status = ebb_pack_row_parts(p->env, p->job, i, p->lives, &n);
        if (status == EBB_OK)
            status = ebb_pack_copy_add(&copy, p->lives, n, p->job->rows[i].alignment,
                                       p->job->fixed ? p->job->fixed[i] : -1, pool);
    }
    options.capacity = p->pools->capacity[pool];
    if (status == EBB_OK)
        status = ebb_pack_one(p->env, ebb_pack_copy_job(&copy), &options, offsets, answer);
    ebb_pack_copy_deinit(&copy);
    return status;
}

uint32_t ebb_pooling_wanted(const ebb_pooling *p, uint32_t row) {
    bool fixed = p->job->fixed && p->job->fixed[row] >= 0;
    uint32_t pool = p->pools->n == 1 ? 0 : p->pools->wanted[row];
    return fixed && pool == EBB_PACK_ANY_POOL ? 0 : pool;
}

/* ---- the whole ---- */

static ebb_status check_pools(ebb_pooling *p) {
    for (uint32_t i = 0; i < p->job->n; i++)
        if (p->pools->wanted[i] != EBB_PACK_ANY_POOL && p->pools->wanted[i] >= p->pools->n)
            return ebb_fail(p->env, EBB_BAD_INPUT, "rows: row %u is to lie in pool %u of %u", i,
                            p->pools->wanted[i], p->pools->n);
    if (p->pools->n >= 1 && p->pools->n <= EBB_PACK_MAX_POOLS) return EBB_OK;
    return ebb_fail(p->env, EBB_BAD_INPUT, "pack: %u pools: need 1 to %d", p->pools->n, EBB_PACK_MAX_POOLS);
}

/* The most live bytes of all rows: what the capacities together do not hold lies in the pools without one.
 */
static ebb_status find_bound(ebb_pooling *p, int64_t *bound, bool *impossible) {
    ebb_pack_answer answer = {0};
    ebb_pack_job job = *p->job;
    int64_t sum = 0;
    ebb_row *rows = ebb_arena_copy(&p->arena, job.rows, job.n, sizeof *rows);
    if (job.n > 0 && !rows) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < job.n; i++)
        rows[i].alignment = 1; /* what it costs, each pool has for itself */
    job.rows = rows;
    job.fixed = NULL; /* they may lie in different pools */
    ebb_packing packing = {.env = p->env, .job = &job, .options = p->options, .answer = &answer};
    ebb_status status = ebb_packing_bound(&packing);
    for (uint32_t k = 0; k < p->pools->n && status == EBB_OK; k++)
        if (p->pools->capacity[k] >= 0 && !ebb_add_i64(sum, p->pools->capacity[k], &sum)) sum = INT64_MAX;
    bool open = ebb_pools_open(p->pools);
    *impossible = !open && answer.lower_bound > sum;
    *bound = open ? ebb_max_i64(0, answer.lower_bound - sum) : answer.lower_bound;
    return status;
}

static void judge(const ebb_pooling *p, bool impossible, ebb_pack_answer *answer) {
    ebb_pool_score score = ebb_pools_score(p->pools, p->pools->height);
    answer->height = score.height;
    answer->verdict = score.excess == 0 ? EBB_PACK_FITS
                      : impossible      ? EBB_PACK_IMPOSSIBLE
                                        : EBB_PACK_UNKNOWN;
    answer->proven = answer->verdict == EBB_PACK_IMPOSSIBLE ||
                     (answer->verdict == EBB_PACK_FITS &&
                      (!ebb_pools_open(p->pools) || answer->height <= answer->lower_bound));
    answer->time_ns = ebb_clock_ns(p->env) - p->started_ns;
}

ebb_status ebb_pack_pooled(ebb_env *env, const ebb_pack_job *job, const ebb_pack_options *options,
                           int64_t *offsets, ebb_pack_answer *answer) {
    ebb_pooling p = {.env = env, .job = job, .options = options, .pools = job->pools, .offsets = offsets};
    bool too_much = false, impossible = false;
    p.started_ns = ebb_clock_ns(env);
    ebb_arena_init(&p.arena, env);
    p.way = EBB_NEW(&p.arena, uint32_t, job->n);
    p.best = EBB_NEW(&p.arena, uint32_t, job->n);
    p.free_rows = EBB_NEW(&p.arena, uint32_t, job->n);
    p.lives = EBB_NEW(&p.arena, ebb_pack_life, ebb_pack_job_most_parts(job));
    ebb_status status = !p.way || !p.best || !p.free_rows || !p.lives ? EBB_NO_MEMORY : EBB_OK;
    if (status == EBB_OK) status = check_pools(&p);
    for (uint32_t i = 0; i < job->n && status == EBB_OK; i++)
        if (ebb_pooling_wanted(&p, i) == EBB_PACK_ANY_POOL) p.free_rows[p.n_free++] = i;
    if (status == EBB_OK) status = find_bound(&p, &answer->lower_bound, &too_much);
    if (status == EBB_OK)
        status = ebb_pooling_few(&p) ? ebb_pooling_try_all(&p, answer, &impossible)
                                     : ebb_pooling_try_lists(&p, answer, &impossible);
    if (status == EBB_OK) {
        memcpy(p.pools->given, p.best, job->n * sizeof *p.best);
        judge(&p, impossible || too_much, answer);
    }
    ebb_arena_deinit(&p.arena);
    return status;
}
