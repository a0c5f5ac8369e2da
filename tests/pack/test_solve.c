/* The portfolio: optimal on small sets of every kind, right about capacities, the same for any workers. */
#include <stdlib.h>

#include "oracle.h"

/* EBB_PACK_SETS draws more: 100000 take a minute or so. */
Test(pack_solve, small_sets_are_packed_optimally, .timeout = 1200) {
    const char *asked = getenv("EBB_PACK_SETS");
    uint32_t n_cases = asked == NULL ? 3000 : (uint32_t)strtoul(asked, NULL, 10), n_impossible = 0,
             n_fixed = 0, n_loose = 0;
    ebb_env *env = test_env_open();
    ebb_rng rng;
    ebb_rng_init(&rng, 7, 33);
    for (uint32_t c = 0; c < n_cases; c++) {
        pack_drawn d;
        int64_t offsets[PACK_SMALL];
        ebb_pack_answer answer;
        ebb_pack_options options = {.capacity = -1, .effort = 100000, .seed = c};
        pack_draw(&d, &rng);
        ebb_status status = ebb_pack_solve(env, &d.job, &options, offsets, &answer);
        if (status == EBB_BAD_INPUT) { /* fixed on the same bytes */
            cr_assert(strstr(ebb_env_error(env), "fixed") != NULL, "%s", ebb_env_error(env));
            n_fixed++;
            continue;
        }
        TEST_OK(env, status);
        int64_t best = pack_optimum(&d.job);
        cr_assert_eq(pack_check(&d.job, offsets, c), answer.height, "case %u", c);
        if (!d.exact) { /* rows may be entwined: the best of those that are not is no bound */
            cr_assert(answer.height <= best && answer.lower_bound <= answer.height, "case %u", c);
            n_loose++;
            continue;
        }
        cr_assert_eq(answer.height, best, "case %u: %lld, the optimum is %lld", c, (long long)answer.height,
                     (long long)best);
        cr_assert(answer.lower_bound <= best, "case %u: bound %lld above %lld", c,
                  (long long)answer.lower_bound, (long long)best);
        options.capacity = best - 1;
        if (best == 0) continue;
        TEST_OK(env, ebb_pack_solve(env, &d.job, &options, offsets, &answer));
        cr_assert_eq(answer.verdict, EBB_PACK_IMPOSSIBLE, "case %u: %d", c, (int)answer.verdict);
        n_impossible++;
        options.capacity = best;
        TEST_OK(env, ebb_pack_solve(env, &d.job, &options, offsets, &answer));
        cr_assert(answer.verdict == EBB_PACK_FITS && answer.height == best, "case %u", c);
    }
    cr_assert(n_impossible > n_cases / 2 && n_fixed < n_cases / 4 && n_loose > n_cases / 50);
    test_env_close(env);
}

/* A rectangle of 1000 x 1000 in rows: 0 is left over. Cut at the same places as bench/pack does. */
static uint32_t cut_rectangle(ebb_row *rows, uint32_t n, uint64_t seed) {
    ebb_rng rng;
    ebb_rng_init(&rng, seed, n);
    struct {
        int64_t lower, upper, bottom, top;
    } at[512];
    uint32_t n_at = 1;
    at[0].lower = at[0].bottom = 0;
    at[0].upper = at[0].top = 100000;
    while (n_at < n) {
        uint32_t largest = 0;
        for (uint32_t i = 1; i < n_at; i++)
            if ((at[i].upper - at[i].lower) * (at[i].top - at[i].bottom) >
                (at[largest].upper - at[largest].lower) * (at[largest].top - at[largest].bottom))
                largest = i;
        int64_t share = 25 + ebb_rng_below(&rng, 50);
        at[n_at] = at[largest];
        if (ebb_rng_below(&rng, 2) == 0)
            at[n_at].lower = at[largest].upper =
                at[largest].lower + (at[largest].upper - at[largest].lower) * share / 100;
        else
            at[n_at].bottom = at[largest].top =
                at[largest].bottom + (at[largest].top - at[largest].bottom) * share / 100;
        n_at++;
    }
    for (uint32_t i = 0; i < n; i++)
        rows[i] = (ebb_row){at[i].lower, at[i].upper, at[i].top - at[i].bottom, 1};
    return n;
}

Test(pack_solve, rectangles_in_pieces_are_put_together_again_by_any_workers, .timeout = 300) {
    static ebb_row rows[512];
    static int64_t offsets[512], others[512];
    ebb_env *env = test_env_open();
    for (uint64_t seed = 1; seed <= 5; seed++) {
        uint32_t n = cut_rectangle(rows, 100 * (uint32_t)seed, seed);
        ebb_pack_job job = {.rows = rows, .n = n};
        ebb_pack_options options = {.capacity = -1, .effort = 100000, .seed = 1, .n_workers = 1};
        ebb_pack_answer answer, again;
        TEST_OK(env, ebb_pack_solve(env, &job, &options, offsets, &answer));
        cr_assert(answer.height == 100000 && answer.proven, "%u rows: %lld", n, (long long)answer.height);
        for (options.n_workers = 2; options.n_workers <= 5; options.n_workers += 3) {
            TEST_OK(env, ebb_pack_solve(env, &job, &options, others, &again));
            cr_assert_arr_eq(others, offsets, n * sizeof *offsets);
        }
        options.capacity = 99999;
        TEST_OK(env, ebb_pack_solve(env, &job, &options, others, &again));
        cr_assert_eq(again.verdict, EBB_PACK_IMPOSSIBLE);
    }
    test_env_close(env);
}

/* Cut where some piece is large enough, in few enough steps that cuts meet. */
static void cut_at_random(ebb_row *rows, int64_t *bottom, uint32_t n, uint32_t n_steps, int64_t alignment,
                          ebb_rng *rng) {
    uint32_t n_rows = 1;
    rows[0] = (ebb_row){0, n_steps, (INT64_C(1) << 32) * alignment, alignment};
    bottom[0] = 0;
    while (n_rows < n) {
        uint32_t i = ebb_rng_below(rng, n_rows);
        ebb_row *row = &rows[i], *new = &rows[n_rows];
        int64_t share = 25 + ebb_rng_below(rng, 50);
        *new = *row;
        bottom[n_rows] = bottom[i];
        if (ebb_rng_below(rng, 2) == 0) {
            if (row->upper - row->lower < 8) continue;
            row->upper = new->lower = row->lower + (row->upper - row->lower) * share / 100;
        } else {
            if (row->size < 4096 * alignment) continue;
            row->size = row->size / alignment * share / 100 * alignment + alignment * ebb_rng_below(rng, 7);
            new->size -= row->size;
            bottom[n_rows] += row->size;
        }
        n_rows++;
    }
}

Test(pack_solve, rectangles_in_many_pieces_are_joined_again, .timeout = 120) {
    enum { N = 20000 };
    ebb_env *env = test_env_open();
    ebb_rng rng;
    ebb_rng_init(&rng, 17, 3);
    ebb_row *rows = ebb_calloc(env, N, sizeof *rows);
    int64_t *offsets = ebb_calloc(env, N, sizeof *offsets);
    for (uint32_t c = 0; c < 6; c++) {
        int64_t alignment = c % 2 == 0 ? 1 : 64;
        ebb_pack_answer answer;
        cut_at_random(rows, offsets, N, 20000000, alignment, &rng);
        ebb_pack_job job = {.rows = rows, .n = N};
        ebb_pack_options options = {.capacity = -1, .effort = 0, .n_workers = 1};
        TEST_OK(env, ebb_pack_solve(env, &job, &options, offsets, &answer));
        cr_assert(answer.proven && strcmp(answer.found_by, "join") == 0, "case %u: %lld over %lld by %s", c,
                  (long long)answer.height, (long long)answer.lower_bound, answer.found_by);
    }
    ebb_cfree(env, rows, N, sizeof *rows);
    ebb_cfree(env, offsets, N, sizeof *offsets);
    test_env_close(env);
}

/* Half of them long and large, as activations are. */
static void draw_rows(ebb_row *rows, uint32_t n, uint64_t seed) {
    ebb_rng rng;
    ebb_rng_init(&rng, seed, n);
    for (uint32_t i = 0; i < n; i++) {
        const bool large = ebb_rng_below(&rng, 2) == 0;
        const int64_t lower = ebb_rng_below(&rng, n), length = 1 + ebb_rng_below(&rng, large ? n / 2 : 9);
        const int64_t size = large ? INT64_C(100) << ebb_rng_below(&rng, 3) : 1 + ebb_rng_below(&rng, 200);
        rows[i] = (ebb_row){lower, lower + length, size, 1};
    }
}

/* What the planner's stage leaves above a capacity is asked for at length; without one, below it, or when
 * time is over, nothing is. */
Test(pack_solve, a_capacity_that_a_plan_needs_is_asked_for_at_length, .timeout = 300) {
    enum { N = 300 };
    static ebb_row rows[N];
    static int64_t offsets[N], others[N];
    ebb_env *env = test_env_open();
    uint32_t n_above = 0, n_met = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        int64_t plain, height, bound;
        draw_rows(rows, N, seed);
        TEST_OK(env, ebb_pack(env, rows, N, 1, offsets, &plain));
        TEST_OK(env, ebb_rows_max_live(env, rows, N, &bound));
        const int64_t capacity = plain - ebb_max_i64((plain - bound) / 3, 1);
        const struct {
            int64_t capacity;
            uint64_t deadline_ns;
        } idle[] = {{-1, 0}, {plain, 0}, {capacity, 1}};
        for (size_t k = 0; k < EBB_COUNT(idle); k++) {
            TEST_STATUS(env,
                        ebb_pack_within(env, rows, N, 1, idle[k].capacity, false, idle[k].deadline_ns,
                                        others, &height),
                        EBB_OK);
            cr_assert(height == plain && memcmp(others, offsets, sizeof offsets) == 0, "seed %llu: %zu",
                      (unsigned long long)seed, k);
        }
        TEST_OK(env, ebb_pack_within(env, rows, N, 1, capacity, false, 0, others, &height));
        cr_assert_leq(height, plain);
        TEST_OK(env, ebb_rows_check(env, rows, N, others, height));
        n_above += plain > bound;
        n_met += height <= capacity;
    }
    cr_assert_gt(n_met, 0, "%u above, %u met", n_above, n_met);
    test_env_close(env);
}

/* What is near enough to the bound ends a search: sooner, never lower, as near as was said. */
Test(pack_solve, a_packing_that_is_near_enough_ends_the_search, .timeout = 300) {
    enum { N = 300, PART = 50 };
    static ebb_row rows[N];
    static int64_t offsets[N];
    ebb_env *env = test_env_open();
    uint32_t n_sooner = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        const ebb_pack_job job = {.rows = rows, .n = N};
        ebb_pack_options options = {.capacity = -1, .effort = 20000, .seed = seed};
        ebb_pack_answer whole, near, beyond;
        draw_rows(rows, N, seed);
        TEST_OK(env, ebb_pack_solve(env, &job, &options, offsets, &whole));
        options.enough_part = PART;
        TEST_OK(env, ebb_pack_solve(env, &job, &options, offsets, &near));
        TEST_OK(env, ebb_rows_check(env, rows, N, offsets, near.height));
        const int64_t enough = near.lower_bound + near.lower_bound / PART;
        cr_assert(near.height >= whole.height && (near.height <= enough || near.height == whole.height),
                  "seed %llu: %lld, %lld with all effort", (unsigned long long)seed, (long long)near.height,
                  (long long)whole.height);
        n_sooner += near.height > whole.height;
        /* A capacity that cannot be met is not neared by more; one that can be is met. */
        options.capacity = near.lower_bound - 1;
        TEST_OK(env, ebb_pack_solve(env, &job, &options, offsets, &beyond));
        cr_assert(beyond.verdict == EBB_PACK_IMPOSSIBLE && beyond.height == near.height, "seed %llu: %lld",
                  (unsigned long long)seed, (long long)beyond.height);
        options.capacity = whole.height;
        TEST_OK(env, ebb_pack_solve(env, &job, &options, offsets, &near));
        options.enough_part = 0;
        TEST_OK(env, ebb_pack_solve(env, &job, &options, offsets, &beyond));
        cr_assert(near.height == beyond.height && near.verdict == beyond.verdict, "seed %llu: %lld, %lld",
                  (unsigned long long)seed, (long long)near.height, (long long)beyond.height);
    }
    cr_assert_gt(n_sooner, 0);
    test_env_close(env);
}

Test(pack_solve, malformed_jobs_are_refused) {
    static const ebb_row rows[] = {{0, 9, 4, 2}, {0, 9, 4, 2}};
    static const uint32_t from[] = {0, 1, 1};
    static const ebb_steps gaps[] = {{3, 3}, {8, 10}, {0, 9}};
    static const int64_t fixed[][2] = {{1, -1}, {-2, -1}, {4, 6}};
    ebb_env *env = test_env_open();
    int64_t offsets[2];
    ebb_pack_answer answer;
    ebb_pack_options options = {.capacity = -1, .effort = 1, .n_workers = 1};
    for (size_t i = 0; i < EBB_COUNT(gaps); i++) {
        ebb_pack_job job = {.rows = rows, .n = 2, .gaps_from = from, .gaps = &gaps[i]};
        TEST_STATUS(env, ebb_pack_solve(env, &job, &options, offsets, &answer), EBB_BAD_INPUT);
        cr_assert(strstr(ebb_env_error(env), "row 0 has a gap") != NULL, "%s", ebb_env_error(env));
    }
    for (size_t i = 0; i < EBB_COUNT(fixed); i++) {
        ebb_pack_job job = {.rows = rows, .n = 2, .fixed = fixed[i]};
        TEST_STATUS(env, ebb_pack_solve(env, &job, &options, offsets, &answer), EBB_BAD_INPUT);
        cr_assert(strstr(ebb_env_error(env), "fixed") != NULL, "%s", ebb_env_error(env));
    }
    test_env_close(env);
}
