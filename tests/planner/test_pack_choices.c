/* Rows that may be written over others, and pools: what is chosen is the best of all choices on small sets.
 */
#include <stdlib.h>

#include "graphs.h"
#include "pack_oracle.h"

#define MAX_PAIRS 64

typedef struct choices {
    pack_drawn drawn;
    uint32_t over_from[PACK_SMALL + 1], over[MAX_PAIRS];
    ebb_pack_pools pools;
    int64_t capacity[3], height[3];
    uint32_t wanted[PACK_SMALL], given[PACK_SMALL];
} choices;

/* ---- what is best --------------------------------------------------------------------------------- */

/* One row for each chain of merges, with a window in each of its steps. */
typedef struct chains {
    ebb_pack_job job;
    ebb_row rows[PACK_SMALL];
    int64_t fixed[PACK_SMALL];
    uint32_t gaps_from[PACK_SMALL + 1];
    ebb_steps gaps[PACK_SMALL * PACK_STEPS];
    ebb_window windows[PACK_SMALL * PACK_STEPS];
} chains;

/* chain[i]: the number of row i's chain, of n. */
static void join(const ebb_pack_job *job, const uint32_t *chain, uint32_t n, chains *out) {
    uint32_t n_gaps = 0;
    for (uint32_t c = 0; c < n; c++) {
        ebb_row *row = &out->rows[c];
        *row = (ebb_row){INT64_MAX, 0, 0, 1};
        out->fixed[c] = -1;
        out->gaps_from[c] = n_gaps;
        for (uint32_t i = 0; i < job->n; i++) {
            if (chain[i] != c) continue;
            row->lower = ebb_min_i64(row->lower, job->rows[i].lower);
            row->upper = ebb_max_i64(row->upper, job->rows[i].upper);
            row->size = ebb_max_i64(row->size, job->rows[i].size);
            row->alignment = ebb_max_i64(row->alignment, job->rows[i].alignment);
            out->fixed[c] = ebb_max_i64(out->fixed[c], job->fixed[i]);
        }
        for (int64_t step = row->lower; step < row->upper; step++) {
            ebb_window bytes = {0, 0};
            for (uint32_t i = 0; i < job->n; i++) {
                ebb_window own = pack_bytes_in(job, i, step);
                if (chain[i] == c && own.lower < own.upper)
                    bytes.upper = ebb_max_i64(bytes.upper, own.upper);
            }
            if (bytes.upper == row->size) continue;
            out->windows[n_gaps] = bytes;
            out->gaps[n_gaps++] = (ebb_steps){step, step + 1};
        }
    }
    out->gaps_from[n] = n_gaps;
    out->job = (ebb_pack_job){.rows = out->rows,
                              .n = n,
                              .fixed = out->fixed,
                              .gaps_from = out->gaps_from,
                              .gaps = out->gaps,
                              .windows = out->windows};
}

/* before[i]: the row that i is written over. false: the set is not allowed. */
static bool number_chains(const ebb_pack_job *job, const uint32_t *before, uint32_t *chain, uint32_t *n) {
    uint32_t n_after[PACK_SMALL] = {0};
    *n = 0;
    for (uint32_t i = 0; i < job->n; i++)
        if (before[i] != EBB_NONE && ++n_after[before[i]] > 1) return false;
    for (uint32_t i = 0; i < job->n; i++)
        if (before[i] != EBB_NONE && n_after[i] > 0 && job->rows[i].upper - job->rows[i].lower == 1)
            return false;
    for (uint32_t i = 0; i < job->n; i++)
        if (before[i] == EBB_NONE) chain[i] = (*n)++;
    for (uint32_t i = 0; i < job->n; i++) {
        uint32_t first = i;
        int64_t fixed = job->fixed[i];
        while (before[first] != EBB_NONE) {
            first = before[first];
            if (fixed >= 0 && job->fixed[first] >= 0 && fixed != job->fixed[first]) return false;
            fixed = ebb_max_i64(fixed, job->fixed[first]);
        }
        chain[i] = chain[first];
    }
    return true;
}

/* Fixed offsets are aligned, and no two rows are fixed on the same bytes. */
static bool is_sound(const ebb_pack_job *job) {
    for (uint32_t i = 0; i < job->n; i++)
        if (job->fixed[i] >= 0 && job->fixed[i] % job->rows[i].alignment != 0) return false;
    for (uint32_t i = 0; i < job->n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (job->fixed[i] >= 0 && job->fixed[k] >= 0 &&
                pack_collide(job, i, job->fixed[i], k, job->fixed[k]))
                return false;
    return true;
}

/* The best height of all sets of merges; INT64_MAX: none is allowed. */
static int64_t best_merged(const ebb_pack_job *job, uint32_t row, uint32_t *before) {
    if (row == job->n) {
        uint32_t chain[PACK_SMALL], n;
        static chains joined;
        if (!number_chains(job, before, chain, &n)) return INT64_MAX;
        join(job, chain, n, &joined);
        return is_sound(&joined.job) ? pack_optimum(&joined.job) : INT64_MAX;
    }
    before[row] = EBB_NONE;
    int64_t best = best_merged(job, row + 1, before);
    for (uint32_t k = job->over_from[row]; k < job->over_from[row + 1]; k++) {
        if (job->rows[row].size == 0 || job->rows[job->over[k]].size == 0) continue;
        before[row] = job->over[k];
        best = ebb_min_i64(best, best_merged(job, row + 1, before));
    }
    before[row] = EBB_NONE;
    return best;
}

/* ---- merges -------------------------------------------------------------------------------------- */

static bool is_listed(const ebb_pack_job *job, uint32_t later, uint32_t earlier) {
    for (uint32_t k = job->over_from[later]; k < job->over_from[later + 1]; k++)
        if (job->over[k] == earlier) return true;
    return false;
}

/* By plain loops: what collides is a pair that is listed, at one offset. */
static void check(const ebb_pack_job *job, const int64_t *offsets, uint32_t c) {
    for (uint32_t i = 0; i < job->n; i++) {
        cr_assert(offsets[i] >= 0 && offsets[i] % job->rows[i].alignment == 0, "case %u", c);
        cr_assert(job->fixed[i] < 0 || offsets[i] == job->fixed[i], "case %u", c);
        for (uint32_t k = 0; k < i; k++)
            if ((job->pools == NULL || job->pools->given[i] == job->pools->given[k]) &&
                pack_collide(job, i, offsets[i], k, offsets[k]))
                cr_assert(offsets[i] == offsets[k] && job->over_from != NULL &&
                              (is_listed(job, i, k) || is_listed(job, k, i)),
                          "case %u: rows %u and %u", c, k, i);
    }
}

/* Rows that begin in another's last step may mostly be written over it. */
static bool draw_merges(choices *d, ebb_rng *rng) {
    uint32_t n = 0;
    pack_draw(&d->drawn, rng);
    if (!d->drawn.exact) return false;
    ebb_pack_job *job = &d->drawn.job;
    for (uint32_t i = 0; i < job->n; i++) {
        d->over_from[i] = n;
        for (uint32_t k = 0; k < job->n; k++)
            if (k != i && job->rows[i].lower == job->rows[k].upper - 1 && ebb_rng_below(rng, 3) > 0)
                d->over[n++] = k;
    }
    d->over_from[job->n] = n;
    job->over_from = d->over_from;
    job->over = d->over;
    return n > 0;
}

/* EBB_PACK_SETS draws more. */
Test(pack_choices, the_best_merges_of_small_sets_are_made, .timeout = 1200) {
    const char *asked = getenv("EBB_PACK_SETS");
    uint32_t n_cases = asked == NULL ? 3000 : (uint32_t)strtoul(asked, NULL, 10), n_lower = 0, n_done = 0;
    ebb_env *env = graphs_env();
    ebb_rng rng;
    ebb_rng_init(&rng, 11, 33);
    for (uint32_t c = 0; c < n_cases; c++) {
        static choices d;
        int64_t offsets[PACK_SMALL];
        uint32_t before[PACK_SMALL];
        ebb_pack_answer answer;
        ebb_pack_options options = {.capacity = -1, .effort = 100000, .seed = c};
        if (!draw_merges(&d, &rng)) continue;
        const ebb_pack_job *job = &d.drawn.job;
        ebb_status status = ebb_pack_solve(env, job, &options, offsets, &answer);
        int64_t best = best_merged(job, 0, before);
        graphs_want(env, status, best == INT64_MAX ? EBB_BAD_INPUT : EBB_OK);
        if (best == INT64_MAX) continue;
        check(job, offsets, c);
        cr_assert_eq(answer.height, best, "case %u: %lld, the optimum is %lld", c, (long long)answer.height,
                     (long long)best);
        cr_assert(answer.lower_bound <= best, "case %u: bound %lld above %lld", c,
                  (long long)answer.lower_bound, (long long)best);
        ebb_pack_job apart = *job;
        apart.over_from = NULL;
        n_lower += is_sound(&apart) && best < pack_optimum(&apart);
        n_done++;
        if (best == 0) continue;
        options.capacity = best - 1;
        graphs_want(env, ebb_pack_solve(env, job, &options, offsets, &answer), EBB_OK);
        cr_assert(answer.verdict == EBB_PACK_IMPOSSIBLE && answer.proven, "case %u: %d", c,
                  (int)answer.verdict);
        options.capacity = best;
        graphs_want(env, ebb_pack_solve(env, job, &options, offsets, &answer), EBB_OK);
        cr_assert(answer.verdict == EBB_PACK_FITS && answer.height <= best, "case %u", c);
        check(job, offsets, c);
    }
    cr_assert(n_done > n_cases / 4 && n_lower > n_done / 10, "%u lower of %u", n_lower, n_done);
    graphs_env_end(env);
}

/* ---- pools --------------------------------------------------------------------------------------- */

typedef struct pool_best {
    int64_t excess, height;
} pool_best;

/* The best height of a set of rows; known[] holds 1 more, 0: not known yet. */
static int64_t set_height(const ebb_pack_job *job, uint32_t set, int64_t *known) {
    chains some;
    uint32_t chain[PACK_SMALL], n = 0;
    if (set == 0) return 0;
    if (known[set] != 0) return known[set] - 1;
    for (uint32_t i = 0; i < job->n; i++) chain[i] = (set >> i & 1) != 0 ? n++ : EBB_NONE;
    join(job, chain, n, &some);
    known[set] = pack_optimum(&some.job) + 1;
    return known[set] - 1;
}

static bool any_open(const ebb_pack_pools *pools) {
    for (uint32_t k = 0; k < pools->n; k++)
        if (pools->capacity[k] < 0) return true;
    return false;
}

static void best_pooled(const ebb_pack_job *job, uint32_t row, uint32_t *sets, int64_t *known,
                        pool_best *best) {
    const ebb_pack_pools *pools = job->pools;
    if (row == job->n) {
        pool_best now = {0, 0};
        for (uint32_t k = 0; k < pools->n; k++) {
            int64_t height = set_height(job, sets[k], known);
            if (pools->capacity[k] >= 0) now.excess += ebb_max_i64(0, height - pools->capacity[k]);
            if (!any_open(pools) || pools->capacity[k] < 0) now.height += height;
        }
        if (now.excess < best->excess || (now.excess == best->excess && now.height < best->height))
            *best = now;
        return;
    }
    for (uint32_t k = 0; k < pools->n; k++) {
        if (pools->wanted[row] != EBB_PACK_ANY_POOL && pools->wanted[row] != k) continue;
        sets[k] |= UINT32_C(1) << row;
        best_pooled(job, row + 1, sets, known, best);
        sets[k] &= ~(UINT32_C(1) << row);
    }
}

static bool draw_pools(choices *d, ebb_rng *rng) {
    pack_draw(&d->drawn, rng);
    ebb_pack_job *job = &d->drawn.job;
    if (!d->drawn.exact) return false;
    int64_t sum = 0;
    for (uint32_t i = 0; i < job->n; i++) {
        sum += job->rows[i].size;
        d->drawn.fixed[i] = -1;
    }
    d->pools = (ebb_pack_pools){1 + ebb_rng_below(rng, 3), d->capacity, d->wanted, d->given, d->height};
    for (uint32_t k = 0; k < d->pools.n; k++)
        d->capacity[k] =
            ebb_rng_below(rng, 4) == 0 ? -1 : (int64_t)ebb_rng_below(rng, (uint32_t)sum / d->pools.n + 2);
    for (uint32_t i = 0; i < job->n; i++)
        d->wanted[i] = ebb_rng_below(rng, 3) == 0 ? ebb_rng_below(rng, d->pools.n) : EBB_PACK_ANY_POOL;
    job->pools = &d->pools;
    return job->n <= 6 || d->pools.n < 3;
}

static void check_pools(const choices *d, const int64_t *offsets, uint32_t c) {
    const ebb_pack_job *job = &d->drawn.job;
    int64_t top[3] = {0};
    check(job, offsets, c);
    for (uint32_t i = 0; i < job->n; i++) {
        uint32_t pool = d->given[i];
        cr_assert(pool < d->pools.n && (d->wanted[i] == EBB_PACK_ANY_POOL || d->wanted[i] == pool),
                  "case %u", c);
        top[pool] = ebb_max_i64(top[pool], offsets[i] + job->rows[i].size);
    }
    for (uint32_t k = 0; k < d->pools.n; k++) cr_assert_eq(d->height[k], top[k], "case %u: pool %u", c, k);
}

Test(pack_choices, rows_of_small_sets_go_to_the_best_pools, .timeout = 1200) {
    const char *asked = getenv("EBB_PACK_SETS");
    uint32_t n_cases = asked == NULL ? 3000 : (uint32_t)strtoul(asked, NULL, 10) / 4, n_fit = 0,
             n_impossible = 0, n_open = 0;
    ebb_env *env = graphs_env();
    ebb_rng rng;
    ebb_rng_init(&rng, 13, 33);
    for (uint32_t c = 0; c < n_cases; c++) {
        static choices d;
        int64_t offsets[PACK_SMALL], known[1 << PACK_SMALL] = {0};
        uint32_t sets[3] = {0};
        pool_best best = {INT64_MAX, INT64_MAX};
        ebb_pack_answer answer;
        ebb_pack_options options = {.capacity = -1, .effort = 1000000, .seed = c};
        if (!draw_pools(&d, &rng)) continue;
        const ebb_pack_job *job = &d.drawn.job;
        graphs_want(env, ebb_pack_solve(env, job, &options, offsets, &answer), EBB_OK);
        best_pooled(job, 0, sets, known, &best);
        check_pools(&d, offsets, c);
        cr_assert_eq(answer.verdict, best.excess == 0 ? EBB_PACK_FITS : EBB_PACK_IMPOSSIBLE,
                     "case %u: %d, %lld above", c, (int)answer.verdict, (long long)best.excess);
        n_fit += best.excess == 0;
        n_impossible += best.excess > 0;
        if (best.excess > 0 || !any_open(&d.pools)) continue;
        n_open++;
        cr_assert_eq(answer.height, best.height, "case %u: %lld, the optimum is %lld", c,
                     (long long)answer.height, (long long)best.height);
        cr_assert(answer.lower_bound <= best.height, "case %u: bound %lld", c,
                  (long long)answer.lower_bound);
    }
    cr_assert(n_fit > n_cases / 8 && n_impossible > n_cases / 8 && n_open > n_cases / 8,
              "%u, %u and %u of %u", n_fit, n_impossible, n_open, n_cases);
    graphs_env_end(env);
}
