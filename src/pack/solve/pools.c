/* pack_pools: rows that may lie in several pools.
 *
 * takes: a job with pools. gives: the pool of each row, and its offset there. Each pool is packed by
 * itself, as a job of the rows that were given to it. Where the rows that are free to choose are few, all
 * ways to give them are tried, each pool's rows packed once; so that what is found is optimal where the
 * packings are, and a capacity is ruled out when each way is. Else rows are placed one by one, in several
 * orders, by first fit into the first pool with room, or into that which they leave lowest, and the best
 * way's pools are packed. Less above the capacities is better, then less height of pools without one. cost:
 * for few, at most MOST_WAYS packings of a pool; else ten list packings and a packing of each pool. */
#include "pack/solve/solve.h"

#define MOST_WAYS 1024
#define MOST_ROWS 32 /* with more a packing costs too much to try so many */

typedef struct tried {
    ebb_pack_answer answer; /* found_by NULL: not yet */
    int64_t *offsets;       /* [rows of the pool] in the order of the table */
} tried;

typedef struct pooling {
    ebb_env *env;
    ebb_arena arena;
    const ebb_pack_job *job;
    const ebb_pack_options *options;
    const ebb_pack_pools *pools;
    uint64_t started_ns;
    uint32_t *way, *best; /* [n] pools */
    int64_t *offsets;     /* [n] */
    ebb_pack_life *lives;
    uint32_t *free_rows, n_free;
} pooling;

typedef struct pool_score {
    int64_t excess, height;
} pool_score;

static bool is_better(pool_score a, pool_score b) {
    return a.excess != b.excess ? a.excess < b.excess : a.height < b.height;
}

static bool any_open(const ebb_pack_pools *pools) {
    for (uint32_t k = 0; k < pools->n; k++)
        if (pools->capacity[k] < 0) return true;
    return false;
}

/* Of all pools, by their heights. */
static pool_score score_of(const ebb_pack_pools *pools, const int64_t *height) {
    pool_score score = {0, 0};
    bool open = any_open(pools);
    for (uint32_t k = 0; k < pools->n; k++) {
        if (pools->capacity[k] >= 0) score.excess += ebb_max_i64(0, height[k] - pools->capacity[k]);
        if (!open || pools->capacity[k] < 0) score.height += height[k];
    }
    return score;
}

int64_t ebb_pack_excess(const ebb_pack_job *job, const ebb_pack_options *options, int64_t height) {
    if (job->pools != NULL) return score_of(job->pools, job->pools->height).excess;
    return options->capacity < 0 ? 0 : ebb_max_i64(0, height - options->capacity);
}

ebb_pack_options ebb_pack_options_left(ebb_env *env, const ebb_pack_options *options, uint64_t started_ns,
                                       int64_t effort) {
    ebb_pack_options left = *options;
    left.effort = ebb_min_i64(options->effort, effort);
    if (options->time_limit_ns > 0) {
        const uint64_t used_ns = ebb_clock_ns(env) - started_ns;
        left.time_limit_ns = options->time_limit_ns > used_ns ? options->time_limit_ns - used_ns : 1;
    }
    return left;
}

/* The rows of one pool, packed; answer and offsets are of them alone. */
static ebb_status pack_pool(pooling *p, const uint32_t *way, uint32_t pool, int64_t effort,
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
                                       p->job->fixed == NULL ? -1 : p->job->fixed[i], pool);
    }
    options.capacity = p->pools->capacity[pool];
    if (status == EBB_OK)
        status = ebb_pack_one(p->env, ebb_pack_copy_job(&copy), &options, offsets, answer);
    ebb_pack_copy_deinit(&copy);
    return status;
}

/* A row that is fixed, in no pool that is named, lies in the first. */
static uint32_t wanted_by(const pooling *p, uint32_t row) {
    bool fixed = p->job->fixed != NULL && p->job->fixed[row] >= 0;
    uint32_t pool = p->pools->n == 1 ? 0 : p->pools->wanted[row];
    return fixed && pool == EBB_PACK_ANY_POOL ? 0 : pool;
}

/* ---- all ways ---------------------------------------------------------------------------------- */

static bool are_few(const pooling *p) {
    uint64_t n_ways = 1;
    if (p->job->n > MOST_ROWS || (p->pools->n == 1 && p->n_free > 0)) return false;
    for (uint32_t i = 0; i < p->n_free && n_ways <= MOST_WAYS; i++) n_ways *= p->pools->n;
    return n_ways <= MOST_WAYS;
}

/* The set of free rows that a way gives to a pool. */
static uint32_t set_of(const pooling *p, uint32_t pool) {
    uint32_t set = 0;
    for (uint32_t i = 0; i < p->n_free; i++)
        if (p->way[p->free_rows[i]] == pool) set |= UINT32_C(1) << i;
    return set;
}

static bool next_way(pooling *p) {
    for (uint32_t i = 0; i < p->n_free; i++) {
        uint32_t *pool = &p->way[p->free_rows[i]];
        if (++*pool < p->pools->n) return true;
        *pool = 0;
    }
    return false;
}

/* What is known of a way from its pools. */
typedef struct way_facts {
    int64_t height[EBB_PACK_MAX_POOLS], bound[EBB_PACK_MAX_POOLS];
    bool impossible;
} way_facts;

static ebb_status look_up(pooling *p, tried *table, way_facts *facts) {
    ebb_status status = EBB_OK;
    facts->impossible = false;
    for (uint32_t k = 0; k < p->pools->n && status == EBB_OK; k++) {
        tried *t = &table[((size_t)k << p->n_free) + set_of(p, k)];
        if (t->answer.found_by == NULL) {
            t->offsets = EBB_NEW(&p->arena, int64_t, p->job->n);
            if (t->offsets == NULL) return EBB_NO_MEMORY;
            status = pack_pool(p, p->way, k, p->options->effort / (p->pools->n << p->n_free) + 1,
                               &t->answer, t->offsets);
        }
        facts->height[k] = t->answer.height;
        facts->bound[k] = t->answer.lower_bound;
        facts->impossible = facts->impossible || t->answer.verdict == EBB_PACK_IMPOSSIBLE;
    }
    return status;
}

static void take_offsets(const pooling *p, const tried *table) {
    for (uint32_t k = 0; k < p->pools->n; k++) {
        const tried *t = &table[((size_t)k << p->n_free) + set_of(p, k)];
        for (uint32_t i = 0, n = 0; i < p->job->n; i++)
            if (p->way[i] == k) p->offsets[i] = t->offsets[n++];
    }
}

static ebb_status try_all(pooling *p, ebb_pack_answer *answer, bool *impossible) {
    tried *table = EBB_NEW(&p->arena, tried, (size_t)p->pools->n << p->n_free);
    pool_score best = {INT64_MAX, INT64_MAX};
    int64_t bound = INT64_MAX;
    ebb_status status = table == NULL ? EBB_NO_MEMORY : EBB_OK;
    *impossible = true;
    for (uint32_t i = 0; i < p->job->n; i++)
        p->way[i] = wanted_by(p, i) == EBB_PACK_ANY_POOL ? 0 : wanted_by(p, i);
    for (bool more = true; more && status == EBB_OK; more = next_way(p)) {
        way_facts facts;
        status = look_up(p, table, &facts);
        if (status != EBB_OK) break;
        pool_score score = score_of(p->pools, facts.height);
        *impossible = *impossible && facts.impossible;
        if (!facts.impossible) bound = ebb_min_i64(bound, score_of(p->pools, facts.bound).height);
        if (!is_better(score, best)) continue;
        best = score;
        answer->found_by = table[set_of(p, 0)].answer.found_by;
        memcpy(p->best, p->way, p->job->n * sizeof *p->best);
        memcpy(p->pools->height, facts.height, p->pools->n * sizeof *facts.height);
        take_offsets(p, table);
        if (best.excess == 0 && (!any_open(p->pools) || best.height <= answer->lower_bound)) break;
    }
    if (bound != INT64_MAX && any_open(p->pools))
        answer->lower_bound = ebb_max_i64(answer->lower_bound, bound);
    return status;
}

/* ---- row by row -------------------------------------------------------------------------------- */

typedef struct pool_place {
    uint32_t pool;
    int64_t offset, excess;
} pool_place;

/* The first pool with room for the row, or, lowest, that in which it ends at the least share of the
 * capacity; where none has room, one without a capacity, or that which it exceeds least. */
static pool_place choose_place(pooling *p, ebb_pack_space *spaces, const ebb_pack_problem *problem,
                               uint32_t row, bool lowest) {
    pool_place best = {EBB_NONE, 0, INT64_MAX};
    double least = 0;
    for (uint32_t k = 0; k < p->pools->n; k++) {
        int64_t capacity = p->pools->capacity[k];
        if (p->pools->wanted[row] != EBB_PACK_ANY_POOL && p->pools->wanted[row] != k) continue;
        int64_t offset = ebb_pack_list_offset(&spaces[k], problem, row, ebb_choose_first);
        int64_t end = offset + problem->rows[row].size,
                excess = capacity < 0 ? 0 : ebb_max_i64(0, end - capacity);
        /* pools without a capacity come after all that have room */
        double share = capacity < 0 ? 2 : lowest ? (double)end / ((double)capacity + 1) : 0;
        if (best.pool != EBB_NONE && (excess > best.excess || (excess == best.excess && share >= least)))
            continue;
        best = (pool_place){k, offset, excess};
        least = share;
    }
    return best;
}

static ebb_status place_rows(pooling *p, const ebb_pack_problem *problem, const uint32_t *order,
                             bool lowest, int64_t *height) {
    ebb_pack_space spaces[EBB_PACK_MAX_POOLS];
    uint32_t n_spaces = 0;
    ebb_status status = EBB_OK;
    memset(height, 0, p->pools->n * sizeof *height);
    for (; n_spaces < p->pools->n && status == EBB_OK; n_spaces++)
        status = ebb_pack_space_init(&spaces[n_spaces], p->env, problem);
    for (uint32_t pass = 0; pass < 2; pass++) /* fixed rows, then the others */
        for (uint32_t i = 0; i < problem->n && status == EBB_OK; i++) {
            uint32_t row = order[i];
            bool fixed = problem->fixed != NULL && problem->fixed[row] >= 0;
            if (fixed != (pass == 0)) continue;
            pool_place place = {wanted_by(p, row), 0, 0};
            if (!fixed && problem->rows[row].size > 0)
                place = choose_place(p, spaces, problem, row, lowest);
            if (place.pool == EBB_PACK_ANY_POOL) place.pool = 0; /* no bytes */
            if (fixed) place.offset = problem->fixed[row];
            p->way[row] = place.pool;
            height[place.pool] = ebb_max_i64(height[place.pool], place.offset + problem->rows[row].size);
            if (problem->rows[row].size > 0)
                status = ebb_pack_list_take(&spaces[place.pool], problem, row, place.offset);
        }
    while (n_spaces > 0) ebb_pack_space_deinit(&spaces[--n_spaces]);
    return status;
}

/* The best of ten lists, then each pool with the whole portfolio. */
static ebb_status try_lists(pooling *p, ebb_pack_answer *answer, bool *impossible) {
    ebb_pack_problem problem;
    pool_score best = {INT64_MAX, INT64_MAX};
    int64_t height[EBB_PACK_MAX_POOLS] = {0};
    ebb_status status = ebb_pack_problem_init(&problem, p->env, p->job);
    for (uint32_t k = 0; k < 2 * EBB_N_PACK_ORDERS && status == EBB_OK; k++) {
        uint32_t *order = NULL;
        status = ebb_pack_sort(&problem.arena, &problem, (ebb_pack_order)(k / 2), &order);
        if (status == EBB_OK) status = place_rows(p, &problem, order, k % 2 == 1, height);
        if (status != EBB_OK) break;
        pool_score score = score_of(p->pools, height);
        if (!is_better(score, best)) continue;
        best = score;
        memcpy(p->best, p->way, p->job->n * sizeof *p->best);
    }
    ebb_pack_problem_deinit(&problem);
    int64_t *offsets = EBB_NEW(&p->arena, int64_t, p->job->n), bound = 0;
    if (status == EBB_OK && offsets == NULL) status = EBB_NO_MEMORY;
    *impossible = false;
    for (uint32_t k = 0; k < p->pools->n && status == EBB_OK; k++) {
        ebb_pack_answer one;
        status = pack_pool(p, p->best, k, p->options->effort / p->pools->n, &one, offsets);
        if (status != EBB_OK) break;
        for (uint32_t i = 0, n = 0; i < p->job->n; i++)
            if (p->best[i] == k) p->offsets[i] = offsets[n++];
        p->pools->height[k] = one.height;
        answer->found_by = one.found_by;
        /* of this way only, unless no row was free */
        *impossible = *impossible || (p->n_free == 0 && one.verdict == EBB_PACK_IMPOSSIBLE);
        if (p->pools->capacity[k] < 0) bound += one.lower_bound;
    }
    if (p->n_free == 0 && any_open(p->pools)) answer->lower_bound = ebb_max_i64(answer->lower_bound, bound);
    return status;
}

/* ---- the whole --------------------------------------------------------------------------------- */

static ebb_status check_pools(pooling *p) {
    for (uint32_t i = 0; i < p->job->n; i++)
        if (p->pools->wanted[i] != EBB_PACK_ANY_POOL && p->pools->wanted[i] >= p->pools->n)
            return ebb_fail(p->env, EBB_BAD_INPUT, "rows: row %u is to lie in pool %u of %u", i,
                            p->pools->wanted[i], p->pools->n);
    if (p->pools->n >= 1 && p->pools->n <= EBB_PACK_MAX_POOLS) return EBB_OK;
    return ebb_fail(p->env, EBB_BAD_INPUT, "pack: %u pools: need 1 to %d", p->pools->n, EBB_PACK_MAX_POOLS);
}

/* The most live bytes of all rows: what the capacities together do not hold lies in the pools without one.
 */
static ebb_status find_bound(pooling *p, int64_t *bound, bool *impossible) {
    ebb_pack_answer answer = {0};
    ebb_pack_job job = *p->job;
    int64_t sum = 0;
    ebb_row *rows = ebb_arena_copy(&p->arena, job.rows, job.n, sizeof *rows);
    if (job.n > 0 && rows == NULL) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < job.n; i++)
        rows[i].alignment = 1; /* what it costs, each pool has for itself */
    job.rows = rows;
    job.fixed = NULL; /* they may lie in different pools */
    ebb_packing packing = {.env = p->env, .job = &job, .options = p->options, .answer = &answer};
    ebb_status status = ebb_packing_bound(&packing);
    for (uint32_t k = 0; k < p->pools->n && status == EBB_OK; k++)
        if (p->pools->capacity[k] >= 0 && !ebb_add_i64(sum, p->pools->capacity[k], &sum)) sum = INT64_MAX;
    bool open = any_open(p->pools);
    *impossible = !open && answer.lower_bound > sum;
    *bound = open ? ebb_max_i64(0, answer.lower_bound - sum) : answer.lower_bound;
    return status;
}

static void judge(const pooling *p, bool impossible, ebb_pack_answer *answer) {
    pool_score score = score_of(p->pools, p->pools->height);
    answer->height = score.height;
    answer->verdict = score.excess == 0 ? EBB_PACK_FITS
                      : impossible      ? EBB_PACK_IMPOSSIBLE
                                        : EBB_PACK_UNKNOWN;
    answer->proven = answer->verdict == EBB_PACK_IMPOSSIBLE ||
                     (answer->verdict == EBB_PACK_FITS &&
                      (!any_open(p->pools) || answer->height <= answer->lower_bound));
    answer->time_ns = ebb_clock_ns(p->env) - p->started_ns;
}

ebb_status ebb_pack_pooled(ebb_env *env, const ebb_pack_job *job, const ebb_pack_options *options,
                           int64_t *offsets, ebb_pack_answer *answer) {
    pooling p = {.env = env, .job = job, .options = options, .pools = job->pools, .offsets = offsets};
    bool too_much = false, impossible = false;
    p.started_ns = ebb_clock_ns(env);
    ebb_arena_init(&p.arena, env);
    p.way = EBB_NEW(&p.arena, uint32_t, job->n);
    p.best = EBB_NEW(&p.arena, uint32_t, job->n);
    p.free_rows = EBB_NEW(&p.arena, uint32_t, job->n);
    p.lives = EBB_NEW(&p.arena, ebb_pack_life, ebb_pack_job_most_parts(job));
    ebb_status status =
        p.way == NULL || p.best == NULL || p.free_rows == NULL || p.lives == NULL ? EBB_NO_MEMORY : EBB_OK;
    if (status == EBB_OK) status = check_pools(&p);
    for (uint32_t i = 0; i < job->n && status == EBB_OK; i++)
        if (wanted_by(&p, i) == EBB_PACK_ANY_POOL) p.free_rows[p.n_free++] = i;
    if (status == EBB_OK) status = find_bound(&p, &answer->lower_bound, &too_much);
    if (status == EBB_OK)
        status = are_few(&p) ? try_all(&p, answer, &impossible) : try_lists(&p, answer, &impossible);
    if (status == EBB_OK) {
        memcpy(p.pools->given, p.best, job->n * sizeof *p.best);
        judge(&p, impossible || too_much, answer);
    }
    ebb_arena_deinit(&p.arena);
    return status;
}
