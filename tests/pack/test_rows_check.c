/* The row check finds every fault and refuses nothing that is right; the bound is never too high. */
#include "pack/pack.h"
#include "support/env.h"

#define MAX_ROWS 4

typedef struct check_case {
    const char *what;
    uint32_t n;
    ebb_row rows[MAX_ROWS];
    int64_t offsets[MAX_ROWS];
    int64_t height;
    ebb_status wanted;
    const char *text; /* that the error must contain */
} check_case;

static const check_case check_cases[] = {
    {"no rows", 0, {{0}}, {0}, 0, EBB_OK, NULL},
    {"no rows of some height", 0, {{0}}, {0}, 1, EBB_VIOLATION, "largest end is 0"},
    {"stacked in one step", 2, {{0, 1, 3, 1}, {0, 1, 7, 1}}, {0, 3}, 10, EBB_OK, NULL},
    {"one byte too near",
     2,
     {{0, 1, 3, 1}, {0, 1, 7, 1}},
     {0, 2},
     9,
     EBB_VIOLATION,
     "row 0 at bytes [0, 3)"},
    {"same bytes one after the other", 2, {{0, 3, 33, 1}, {3, 7, 33, 1}}, {0, 0}, 33, EBB_OK, NULL},
    {"same bytes with one step shared",
     2,
     {{0, 4, 33, 1}, {3, 7, 33, 1}},
     {0, 0},
     33,
     EBB_VIOLATION,
     "in step 3"},
    {"a row inside another", 2, {{0, 9, 33, 1}, {3, 7, 1, 1}}, {0, 7}, 33, EBB_VIOLATION, "row 1"},
    {"a row around another", 2, {{3, 7, 1, 1}, {0, 9, 33, 1}}, {7, 0}, 33, EBB_VIOLATION, "row 1"},
    {"a far neighbour of a short one",
     3,
     {{0, 9, 100, 1}, {0, 2, 1, 1}, {5, 6, 1, 1}},
     {0, 100, 50},
     101,
     EBB_VIOLATION,
     "row 0"},
    {"not a multiple of the alignment", 1, {{0, 1, 3, 4}}, {6}, 9, EBB_VIOLATION, "no multiple of 4"},
    {"below the bottom", 1, {{0, 1, 3, 1}}, {-1}, 2, EBB_VIOLATION, "offset -1"},
    {"beyond int64", 1, {{0, 1, 3, 1}}, {INT64_MAX - 1}, INT64_MAX, EBB_VIOLATION, "beyond int64"},
    {"too high a height", 1, {{0, 1, 3, 1}}, {0}, 4, EBB_VIOLATION, "height"},
    {"too low a height", 1, {{0, 1, 3, 1}}, {0}, 2, EBB_VIOLATION, "height"},
    {"a row that never lives", 1, {{1, 1, 3, 1}}, {0}, 3, EBB_VIOLATION, "steps [1, 1)"},
    {"no bytes lie anywhere", 2, {{0, 9, 33, 1}, {3, 7, 0, 1}}, {0, 7}, 33, EBB_OK, NULL},
    {"negative steps", 2, {{-7, -3, 3, 1}, {-3, 0, 3, 1}}, {0, 0}, 3, EBB_OK, NULL},
};

Test(rows_check, each_fault_is_found_and_nothing_else) {
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < EBB_COUNT(check_cases); i++) {
        const check_case *c = &check_cases[i];
        ebb_status status = ebb_rows_check(env, c->rows, c->n, c->offsets, c->height);
        cr_assert_eq(status, c->wanted, "%s: %s %s", c->what, ebb_status_name(status), ebb_env_error(env));
        if (c->text != NULL)
            cr_assert(strstr(ebb_env_error(env), c->text) != NULL, "%s: %s", c->what, ebb_env_error(env));
    }
    test_env_close(env);
}

/* Every pair, the slow way. */
static bool valid_by_pairs(const ebb_row *rows, uint32_t n, const int64_t *offsets) {
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < i; j++)
            if (rows[i].lower < rows[j].upper && rows[j].lower < rows[i].upper &&
                offsets[i] < offsets[j] + rows[j].size && offsets[j] < offsets[i] + rows[i].size)
                return false;
    return true;
}

Test(rows_check, agrees_with_a_look_at_every_pair) {
    ebb_env *env = test_env_open();
    ebb_rng rng;
    ebb_rng_init(&rng, 7, 1);
    uint32_t n_valid = 0, n_cases = 20000;
    for (uint32_t c = 0; c < n_cases; c++) {
        ebb_row rows[7];
        int64_t offsets[7], height = 0;
        uint32_t n = 1 + ebb_rng_below(&rng, 7);
        for (uint32_t i = 0; i < n; i++) {
            rows[i].lower = ebb_rng_below(&rng, 9);
            rows[i].upper = rows[i].lower + 1 + ebb_rng_below(&rng, 4);
            rows[i].size = 1 + ebb_rng_below(&rng, 5);
            rows[i].alignment = 1;
            offsets[i] = ebb_rng_below(&rng, 16);
            height = ebb_max_i64(height, offsets[i] + rows[i].size);
        }
        bool valid = valid_by_pairs(rows, n, offsets);
        n_valid += valid;
        cr_assert_eq(ebb_rows_check(env, rows, n, offsets, height), valid ? EBB_OK : EBB_VIOLATION,
                     "case %u of %u rows: by pairs %d", c, n, valid);
    }
    cr_assert(n_valid > n_cases / 10 && n_valid < n_cases * 9 / 10, "%u of %u are valid", n_valid, n_cases);
    test_env_close(env);
}

typedef struct bound_case {
    const char *what;
    uint32_t n;
    ebb_row rows[MAX_ROWS];
    int64_t bound;
} bound_case;

static const bound_case bound_cases[] = {
    {"no rows", 0, {{0}}, 0},
    {"one row", 1, {{3, 4, 7, 1}}, 7},
    {"one after the other", 2, {{0, 3, 7, 1}, {3, 4, 33, 1}}, 33},
    {"one step shared", 2, {{0, 3, 7, 1}, {2, 4, 33, 1}}, 40},
    {"the middle of three", 3, {{0, 2, 1, 1}, {1, 3, 3, 1}, {2, 4, 7, 1}}, 10},
    {"whole multiples of the alignment", 2, {{0, 1, 8, 4}, {0, 1, 4, 4}}, 12},
    {"the topmost row needs no rounding: 3 + 1 lost + 3", 2, {{0, 1, 3, 4}, {0, 1, 3, 4}}, 7},
    {"a small row fits after an aligned one", 2, {{0, 1, 3, 4}, {0, 1, 1, 1}}, 4},
    {"no bytes", 2, {{0, 1, 0, 64}, {0, 1, 33, 1}}, 33},
};

Test(rows_bound, is_the_most_that_lives_in_a_step) {
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < EBB_COUNT(bound_cases); i++) {
        int64_t bound = -1;
        TEST_OK(env, ebb_rows_max_live(env, bound_cases[i].rows, bound_cases[i].n, &bound));
        cr_assert_eq(bound, bound_cases[i].bound, "%s: %lld", bound_cases[i].what, (long long)bound);
    }
    test_env_close(env);
}

Test(rows_bound, sums_that_do_not_fit_are_refused) {
    static const ebb_row rows[][2] = {
        {{0, 1, INT64_MAX, 1}, {0, 1, 1, 1}},
        {{0, 1, INT64_MAX - 3, 64}, {0, 1, 1, 64}},
    };
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        int64_t bound = -1, offsets[2], height = -1;
        TEST_STATUS(env, ebb_rows_max_live(env, rows[i], 2, &bound), EBB_BAD_INPUT);
        TEST_STATUS(env, ebb_pack(env, rows[i], 2, 1, offsets, &height), EBB_BAD_INPUT);
        cr_assert(strstr(ebb_env_error(env), "sum to more than") != NULL, "%s", ebb_env_error(env));
    }
    test_env_close(env);
}
