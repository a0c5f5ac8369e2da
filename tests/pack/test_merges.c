/* Rows that may be written over others: the merges that are made are the best of all on small sets. */
#include <stdlib.h>

#include "oracle.h"

#define MAX_PAIRS 64

typedef struct drawn_merges {
    pack_drawn drawn;
    uint32_t over_from[PACK_SMALL + 1], over[MAX_PAIRS];
} drawn_merges;

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
        static pack_joined joined;
        if (!number_chains(job, before, chain, &n)) return INT64_MAX;
        pack_join(job, chain, n, &joined);
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

/* Rows that begin in another's last step may mostly be written over it. */
static bool draw_merges(drawn_merges *d, ebb_rng *rng) {
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
    ebb_env *env = test_env_open();
    ebb_rng rng;
    ebb_rng_init(&rng, 11, 33);
    for (uint32_t c = 0; c < n_cases; c++) {
        static drawn_merges d;
        int64_t offsets[PACK_SMALL];
        uint32_t before[PACK_SMALL];
        ebb_pack_answer answer;
        ebb_pack_options options = {.capacity = -1, .effort = 100000, .seed = c};
        if (!draw_merges(&d, &rng)) continue;
        const ebb_pack_job *job = &d.drawn.job;
        ebb_status status = ebb_pack_solve(env, job, &options, offsets, &answer);
        int64_t best = best_merged(job, 0, before);
        TEST_STATUS(env, status, best == INT64_MAX ? EBB_BAD_INPUT : EBB_OK);
        if (best == INT64_MAX) continue;
        (void)pack_check(job, offsets, c);
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
        TEST_OK(env, ebb_pack_solve(env, job, &options, offsets, &answer));
        cr_assert(answer.verdict == EBB_PACK_IMPOSSIBLE && answer.proven, "case %u: %d", c,
                  (int)answer.verdict);
        options.capacity = best;
        TEST_OK(env, ebb_pack_solve(env, job, &options, offsets, &answer));
        cr_assert(answer.verdict == EBB_PACK_FITS && answer.height <= best, "case %u", c);
        (void)pack_check(job, offsets, c);
    }
    cr_assert(n_done > n_cases / 4 && n_lower > n_done / 10, "%u lower of %u", n_lower, n_done);
    test_env_close(env);
}

/* A merged row goes to a pool as one row. */
Test(pack_choices, rows_written_over_others_go_to_pools) {
    uint32_t n_done = 0, n_over = 0;
    ebb_env *env = test_env_open();
    ebb_rng rng;
    ebb_rng_init(&rng, 17, 33);
    for (uint32_t c = 0; c < 600; c++) {
        static drawn_merges d;
        int64_t offsets[PACK_SMALL], height[2] = {0}, top[2] = {0};
        uint32_t wanted[PACK_SMALL], given[PACK_SMALL];
        ebb_pack_answer answer;
        const ebb_pack_options options = {.capacity = -1, .effort = 10000, .seed = c};
        if (!draw_merges(&d, &rng)) continue;
        ebb_pack_job *job = &d.drawn.job;
        const int64_t capacity[2] = {-1, ebb_rng_below(&rng, 2) == 0 ? -1 : 40};
        const ebb_pack_pools pools = {2, capacity, wanted, given, height};
        for (uint32_t i = 0; i < job->n; i++)
            wanted[i] = ebb_rng_below(&rng, 4) == 0 ? ebb_rng_below(&rng, 2) : EBB_PACK_ANY_POOL;
        job->pools = &pools;
        const ebb_status status = ebb_pack_solve(env, job, &options, offsets, &answer);
        if (status == EBB_OK) {
            (void)pack_check(job, offsets, c);
            for (uint32_t i = 0; i < job->n; i++) {
                cr_assert(given[i] < 2 && (wanted[i] == EBB_PACK_ANY_POOL || wanted[i] == given[i]),
                          "case %u", c);
                top[given[i]] = ebb_max_i64(top[given[i]], offsets[i] + job->rows[i].size);
            }
            for (uint32_t k = 0; k < 2; k++) cr_assert_eq(height[k], top[k], "case %u: pool %u", c, k);
            n_over += job->over_from[job->n] > 0;
            n_done++;
        }
        job->pools = NULL;
    }
    cr_assert(n_done > 100 && n_over > 50, "%u done, %u with rows to write over", n_done, n_over);
    test_env_close(env);
}
