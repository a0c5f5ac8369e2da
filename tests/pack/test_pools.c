/* Rows in pools: where small sets of rows go is the best of all choices. */
#include <stdlib.h>

#include "oracle.h"

typedef struct drawn_pools {
    pack_drawn drawn;
    ebb_pack_pools pools;
    int64_t capacity[3], height[3];
    uint32_t wanted[PACK_SMALL], given[PACK_SMALL];
} drawn_pools;

typedef struct pool_best {
    int64_t excess, height;
} pool_best;

/* The best height of a set of rows; known[] holds 1 more, 0: not known yet. */
static int64_t set_height(const ebb_pack_job *job, uint32_t set, int64_t *known) {
    pack_joined some;
    uint32_t chain[PACK_SMALL], n = 0;
    if (set == 0) return 0;
    if (known[set] != 0) return known[set] - 1;
    for (uint32_t i = 0; i < job->n; i++) chain[i] = (set >> i & 1) != 0 ? n++ : EBB_NONE;
    pack_join(job, chain, n, &some);
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

static bool draw_pools(drawn_pools *d, ebb_rng *rng) {
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

static void check_pools(const drawn_pools *d, const int64_t *offsets, uint32_t c) {
    const ebb_pack_job *job = &d->drawn.job;
    int64_t top[3] = {0};
    (void)pack_check(job, offsets, c);
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
    ebb_env *env = test_env_open();
    ebb_rng rng;
    ebb_rng_init(&rng, 13, 33);
    for (uint32_t c = 0; c < n_cases; c++) {
        static drawn_pools d;
        int64_t offsets[PACK_SMALL], known[1 << PACK_SMALL] = {0};
        uint32_t sets[3] = {0};
        pool_best best = {INT64_MAX, INT64_MAX};
        ebb_pack_answer answer;
        ebb_pack_options options = {.capacity = -1, .effort = 1000000, .seed = c};
        if (!draw_pools(&d, &rng)) continue;
        const ebb_pack_job *job = &d.drawn.job;
        TEST_OK(env, ebb_pack_solve(env, job, &options, offsets, &answer));
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
    test_env_close(env);
}
