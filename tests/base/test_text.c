/* Growing strings. */
#include "support.h"

Test(text, joins_what_is_added) {
    ebb_env *env = test_env();
    ebb_text text;
    ebb_text_init(&text, env);
    cr_expect_null(text.at);
    ebb_text_add(&text, "%s=%d", "n", 33);
    ebb_text_put(&text, ", more and no NUL", 6);
    ebb_text_put(&text, NULL, 0);
    ebb_text_add(&text, "%s", "");
    cr_expect_str_eq(text.at, "n=33, more");
    cr_expect_eq(text.n, 10);
    cr_expect_eq(ebb_text_status(&text), EBB_OK);
    ebb_text_deinit(&text);
    cr_expect_null(text.at);
    test_env_end(env);
}

Test(text, is_terminated_after_adding_nothing) {
    ebb_env *env = test_env();
    ebb_text text;
    ebb_text_init(&text, env);
    ebb_text_put(&text, "", 0);
    cr_assert_not_null(text.at);
    cr_expect_str_eq(text.at, "");
    ebb_text_deinit(&text);
    test_env_end(env);
}

Test(text, grows_by_pieces_of_any_length) {
    ebb_env *env = test_env();
    static const int widths[] = {1, 3, 7, 8, 9, 33, 1000, 70001};
    ebb_text text;
    ebb_text_init(&text, env);
    size_t n = 0;
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < EBB_COUNT(widths); i++) {
            ebb_text_add(&text, "%0*d", widths[i], 5);
            n += (size_t)widths[i];
            cr_assert_eq(text.n, n);
            cr_expect_eq(text.at[n - 1], '5');
            cr_expect_eq(text.at[n], '\0');
        }
    }
    cr_expect_eq(strlen(text.at), n);
    ebb_text_deinit(&text);
    test_env_end(env);
}

Test(text, stays_failed_and_keeps_what_it_had) {
    scarce_memory memory;
    ebb_env *env = test_env_create(&memory, 2);
    ebb_text text;
    ebb_text_init(&text, env);
    ebb_text_add(&text, "%s", "short");
    ebb_text_add(&text, "%s", "too long for the first eight bytes");
    cr_expect_eq(ebb_text_status(&text), EBB_NO_MEMORY);
    ebb_text_put(&text, "!", 1);
    cr_expect_str_eq(text.at, "short");
    cr_expect_eq(ebb_text_status(&text), EBB_NO_MEMORY);
    cr_expect_str_eq(ebb_env_error(env), "out of memory: a text of 5 bytes could not grow");
    ebb_text_deinit(&text);
    cr_expect_eq(ebb_text_status(&text), EBB_OK);
    test_env_end(env);
}

Test(text, refuses_a_length_that_cannot_be) {
    ebb_env *env = test_env();
    ebb_text text;
    ebb_text_init(&text, env);
    ebb_text_put(&text, "a", 1);
    ebb_text_put(&text, "b", SIZE_MAX - 1);
    cr_expect_eq(ebb_text_status(&text), EBB_NO_MEMORY);
    cr_expect_str_eq(text.at, "a");
    ebb_text_deinit(&text);
    test_env_end(env);
}

static const char *word_at(const void *ctx, size_t i) {
    return i < 3 ? ((const char *const *)ctx)[i] : NULL;
}

Test(text, the_nearest_word_is_found_unless_all_are_far) {
    static const char *const words[] = {"effort", "seed", "search_seed"};
    static const struct {
        const char *typed, *nearest;
    } rows[] = {{"effrot", "effort"},
                {"seeds", "seed"},
                {"search-seed", "search_seed"},
                {"budget", NULL},
                {"", NULL},
                {"s", NULL},
                {"effort", "effort"},
                {"an_endless_word_that_is_beyond_all_bounds", NULL}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *found = ebb_word_nearest(rows[i].typed, strlen(rows[i].typed), word_at, words);
        if (rows[i].nearest)
            cr_assert_str_eq(found, rows[i].nearest, "%s", rows[i].typed);
        else
            cr_assert_null(found, "%s: %s", rows[i].typed, found);
    }
}
