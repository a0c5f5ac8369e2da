/* The packers: valid, never below the bound, the same every time; exact where the answer is known. */
#include "pack/pack.h"
#include "support/count.h"
#include "support/env.h"
#include "support/scarce.h"

static const ebb_pack_order orders[EBB_N_PACK_ORDERS] = {EBB_ORDER_SIZE, EBB_ORDER_AREA, EBB_ORDER_DURATION,
                                                         EBB_ORDER_LOWER, EBB_ORDER_CONFLICT};

/* Packs by both list packers in every order and by the portfolio, which must be no worse; checks each;
 * gives the portfolio's height. */
static int64_t pack_every_way(ebb_env *env, const ebb_row *rows, uint32_t n, int64_t *offsets) {
    int64_t bound = 0, height = 0, best = INT64_MAX;
    TEST_OK(env, ebb_rows_max_live(env, rows, n, &bound));
    for (uint32_t o = 0; o < 2 * EBB_N_PACK_ORDERS; o++) {
        ebb_status status =
            o < EBB_N_PACK_ORDERS
                ? ebb_pack_first_fit(env, rows, n, orders[o], offsets, &height)
                : ebb_pack_best_fit(env, rows, n, orders[o - EBB_N_PACK_ORDERS], offsets, &height);
        TEST_OK(env, status);
        TEST_OK(env, ebb_rows_check(env, rows, n, offsets, height));
        cr_assert(height >= bound, "order %u: %lld below the bound %lld", o, (long long)height,
                  (long long)bound);
        best = ebb_min_i64(best, height);
    }
    TEST_OK(env, ebb_pack(env, rows, n, 1, offsets, &height));
    TEST_OK(env, ebb_rows_check(env, rows, n, offsets, height));
    cr_assert(height >= bound && height <= best, "the portfolio gives %lld, the best of its attempts %lld",
              (long long)height, (long long)best);
    return height;
}

/* ---- MegEngine's allocator cases, with sizes rounded up as the planner does ------------------ */

Test(pack, two_in_the_first_step_and_one_in_the_second) {
    static const struct {
        int64_t alignment, pad, height;
    } table[] = {{1, 1, 4}, {1, 2, 6}, {2, 1, 4}, {2, 2, 8}}; /* max(up(2 + pad), 2 up(1 + pad)) */
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < EBB_COUNT(table); i++) {
        int64_t a = table[i].alignment, offsets[3], bound = 0;
        int64_t one = ebb_align_up(1 + table[i].pad, a), two = ebb_align_up(2 + table[i].pad, a);
        const ebb_row rows[] = {{0, 1, one, a}, {0, 1, one, a}, {1, 2, two, a}};
        cr_assert_eq(pack_every_way(env, rows, 3, offsets), table[i].height);
        TEST_OK(env, ebb_rows_max_live(env, rows, 3, &bound));
        cr_assert_eq(bound, table[i].height);
    }
    test_env_close(env);
}

/* Row i lives in [i, i + 2) and takes i + 1 bytes: the last two must fit, and that is enough. */
Test(pack, a_growing_chain_takes_its_two_largest) {
    static const struct {
        uint32_t n, n_times;
        int64_t height;
    } table[] = {{1, 1, 1}, {2, 1, 3}, {5, 1, 9}, {100, 500, 199}};
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < EBB_COUNT(table); i++) {
        ebb_row rows[100];
        int64_t offsets[100], again[100], height = 0;
        for (uint32_t r = 0; r < table[i].n; r++) rows[r] = (ebb_row){r, r + 2, r + 1, 1};
        cr_assert_eq(pack_every_way(env, rows, table[i].n, offsets), table[i].height);
        for (uint32_t t = 0; t < table[i].n_times; t++) {
            TEST_OK(env, ebb_pack(env, rows, table[i].n, 1 + t % 3, again, &height));
            cr_assert_eq(height, table[i].height);
            cr_assert_arr_eq(again, offsets, table[i].n * sizeof *offsets);
        }
    }
    test_env_close(env);
}

/* ---- against an exhaustive search ------------------------------------------------------------ */

#define MAX_SMALL 7

/* Rows put one on top of another in every order; some order gives the optimum, as the rows of an optimal
 * packing in order of offset only sink. */
typedef struct exhaustive {
    const ebb_row *rows;
    uint32_t n;
    int64_t offsets[MAX_SMALL], best;
    bool placed[MAX_SMALL];
} exhaustive;

static void search(exhaustive *x, uint32_t n_placed, int64_t height) {
    if (height >= x->best) return;
    if (n_placed == x->n) x->best = height;
    for (uint32_t i = 0; i < x->n; i++) {
        int64_t offset = 0;
        if (x->placed[i]) continue;
        for (uint32_t j = 0; j < x->n; j++)
            if (x->placed[j] && x->rows[i].lower < x->rows[j].upper && x->rows[j].lower < x->rows[i].upper)
                offset = ebb_max_i64(offset, x->offsets[j] + x->rows[j].size);
        x->offsets[i] = ebb_align_up(offset, x->rows[i].alignment);
        x->placed[i] = true;
        search(x, n_placed + 1, ebb_max_i64(height, x->offsets[i] + x->rows[i].size));
        x->placed[i] = false;
    }
}

Test(pack, small_sets_are_between_the_bound_and_near_the_optimum) {
    ebb_env *env = test_env_open();
    ebb_rng rng;
    ebb_rng_init(&rng, 1, 2);
    uint32_t n_optimal = 0, n_cases = 2000;
    for (uint32_t c = 0; c < n_cases; c++) {
        ebb_row rows[MAX_SMALL];
        int64_t offsets[MAX_SMALL], bound = 0;
        uint32_t n = 1 + ebb_rng_below(&rng, MAX_SMALL), n_alignments = 1 + ebb_rng_below(&rng, 3);
        for (uint32_t i = 0; i < n; i++) {
            rows[i].lower = ebb_rng_below(&rng, 9);
            rows[i].upper = rows[i].lower + 1 + ebb_rng_below(&rng, 5);
            rows[i].size = 1 + ebb_rng_below(&rng, 9);
            rows[i].alignment = INT64_C(1) << ebb_rng_below(&rng, n_alignments);
        }
        exhaustive x = {.rows = rows, .n = n, .best = INT64_MAX};
        search(&x, 0, 0);
        int64_t height = pack_every_way(env, rows, n, offsets);
        TEST_OK(env, ebb_rows_max_live(env, rows, n, &bound));
        cr_assert(bound <= x.best, "case %u: bound %lld above the optimum %lld", c, (long long)bound,
                  (long long)x.best);
        cr_assert(height >= x.best, "case %u: %lld below the optimum %lld", c, (long long)height,
                  (long long)x.best);
        n_optimal += height == x.best;
    }
    cr_assert(n_optimal > n_cases * 8 / 10, "%u of %u are optimal", n_optimal, n_cases);
    test_env_close(env);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

typedef struct shape {
    const char *what;
    uint32_t n;
    ebb_row rows[4];
    int64_t height;
} shape;

static const shape shapes[] = {
    {"no rows", 0, {{0}}, 0},
    {"one row", 1, {{5, 7, 33, 64}}, 33},
    {"no bytes at all", 2, {{0, 1, 0, 64}, {0, 9, 0, 1}}, 0},
    {"no bytes beside some", 2, {{0, 1, 0, 64}, {0, 9, 7, 1}}, 7},
    {"one after the other", 3, {{0, 1, 7, 1}, {1, 2, 3, 1}, {2, 3, 7, 1}}, 7},
    {"all at once", 3, {{0, 1, 7, 1}, {0, 1, 3, 1}, {0, 1, 1, 1}}, 11},
    {"an odd one on top of an aligned one", 2, {{0, 1, 33, 1}, {0, 1, 64, 8}}, 97},
    {"two aligned odd ones", 2, {{0, 1, 33, 64}, {0, 1, 33, 64}}, 97},
    {"a small one after an aligned one", 2, {{0, 1, 3, 4}, {0, 1, 1, 1}}, 4},
    {"ends of time", 2, {{INT64_MIN, INT64_MAX, 7, 1}, {0, 1, 3, 1}}, 10},
};

Test(pack, known_shapes_take_their_optimum) {
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < EBB_COUNT(shapes); i++) {
        int64_t offsets[4], height = pack_every_way(env, shapes[i].rows, shapes[i].n, offsets);
        cr_assert_eq(height, shapes[i].height, "%s: %lld", shapes[i].what, (long long)height);
    }
    test_env_close(env);
}

Test(pack, malformed_rows_are_refused) {
    static const ebb_row rows[] = {{1, 1, 7, 1}, {2, 1, 7, 1}, {0, 1, -1, 1},
                                   {0, 1, 7, 0}, {0, 1, 7, 3}, {0, 1, 7, -8}};
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        int64_t offset = 0, height = -1;
        TEST_STATUS(env, ebb_pack(env, &rows[i], 1, 1, &offset, &height), EBB_BAD_INPUT);
        cr_assert(strstr(ebb_env_error(env), "row 0") != NULL && height == 0, "%s", ebb_env_error(env));
    }
    test_env_close(env);
}

/* ---- many rows ------------------------------------------------------------------------------- */

static void draw_rows(ebb_row *rows, uint32_t n, int64_t alignment, uint64_t seed) {
    ebb_rng rng;
    ebb_rng_init(&rng, seed, n);
    for (uint32_t i = 0; i < n; i++) {
        rows[i].lower = ebb_rng_below(&rng, 2 * n);
        rows[i].upper = rows[i].lower + 1 + ebb_rng_below(&rng, i % 3 == 0 ? n : 33);
        rows[i].size = ebb_align_up(1 + ebb_rng_below(&rng, 4096), alignment);
        rows[i].alignment = alignment;
    }
}

Test(pack, random_rows_of_any_number_are_packed_the_same_by_any_workers, .timeout = 120) {
    static const uint32_t sizes[] = {600, 10, 1000, 2000};
    ebb_env *env = test_env_open();
    for (size_t s = 0; s < 2 * rows_from_env(EBB_COUNT(sizes)) - 1;
         s++) { /* the largest at one alignment */
        uint32_t n = sizes[s / 2];
        int64_t height = 0, again = 0;
        ebb_row *rows = ebb_calloc(env, n, sizeof *rows);
        int64_t *offsets = ebb_calloc(env, n, sizeof *offsets),
                *others = ebb_calloc(env, n, sizeof *others);
        cr_assert(rows != NULL && offsets != NULL && others != NULL);
        draw_rows(rows, n, s % 2 == 0 ? 1 : 256, 7);
        height = pack_every_way(env, rows, n, offsets);
        for (uint32_t workers = 2; workers <= 33; workers += 31) {
            TEST_OK(env, ebb_pack(env, rows, n, workers, others, &again));
            cr_assert_eq(again, height);
            cr_assert_arr_eq(others, offsets, n * sizeof *offsets);
        }
        ebb_cfree(env, rows, n, sizeof *rows);
        ebb_cfree(env, offsets, n, sizeof *offsets);
        ebb_cfree(env, others, n, sizeof *others);
    }
    test_env_close(env);
}

/* As a training step has them: what forward makes early, backward needs late. */
Test(pack, a_hundred_thousand_nested_rows_reach_the_bound, .timeout = 120) {
    ebb_env *env = test_env_open();
    uint32_t n = 100000;
    int64_t height = 0, bound = 0;
    ebb_row *rows = ebb_calloc(env, n, sizeof *rows);
    int64_t *offsets = ebb_calloc(env, n, sizeof *offsets);
    cr_assert(rows != NULL && offsets != NULL);
    for (uint32_t i = 0; i < n; i++) rows[i] = (ebb_row){i, 2 * (int64_t)n - i, 64 * (1 + i % 33), 64};
    TEST_OK(env, ebb_rows_max_live(env, rows, n, &bound));
    TEST_OK(env, ebb_pack(env, rows, n, 2, offsets, &height));
    cr_assert_eq(height, bound);
    ebb_cfree(env, rows, n, sizeof *rows);
    ebb_cfree(env, offsets, n, sizeof *offsets);
    test_env_close(env);
}

Test(pack, at_whichever_allocation_memory_ends_nothing_is_left, .timeout = 120) {
    static ebb_row rows[600];
    static int64_t offsets[600];
    for (uint32_t n_workers = 1; n_workers <= 3; n_workers += 2) {
        scarce_memory memory = {.fail_at = UINT64_MAX};
        ebb_env *env = scarce_env(&memory);
        uint64_t n_live = memory.n_live, fail_at = 0;
        draw_rows(rows, 600, 64, 33);
        for (ebb_status status = EBB_NO_MEMORY; status != EBB_OK; fail_at += 1 + fail_at / 4) {
            int64_t height = 0;
            memory.n_calls = 0;
            memory.fail_at = fail_at;
            status = ebb_pack(env, rows, 600, n_workers, offsets, &height);
            cr_assert(status == EBB_OK || status == EBB_NO_MEMORY, "%s", ebb_status_name(status));
            cr_assert_eq(memory.n_live, n_live, "allocation %llu", (unsigned long long)fail_at);
            cr_assert_lt(fail_at, 10000);
        }
        cr_assert_gt(fail_at, 21);
        memory.fail_at = UINT64_MAX;
        ebb_env_destroy(env);
    }
}
