/* Other programs: what they say, how they end, and that no shell stands between. */
#include "support.h"

#include <signal.h>

Test(program, is_heard_and_waited_for) {
    static const struct {
        const char *argv[4];
        int code;
        const char *said;
    } rows[] = {
        {{"echo", "a b", "$HOME; false"}, 0, "a b $HOME; false\n"},
        {{"sh", "-c", "echo out; echo err >&2; exit 3"}, 3, "out\nerr\n"},
        {{"sh", "-c", "kill -9 $$"}, 128 + SIGKILL, ""},
        {{"cat"}, 0, ""},
        {{"sh", "-c", "yes | head -c 1000000; echo end"},
         0,
         "y\ny\ny\ny\ny\ny\ny\ny\ny\ny\ny\ny\ny\ny\ny\ny"},
    };
    ebb_env *env = test_env();
    for (size_t k = 0; k < EBB_COUNT(rows); k++) {
        char said[32];
        int code = -1;
        cr_assert_eq(ebb_program_run(env, rows[k].argv, said, sizeof said, &code), EBB_OK, "%s",
                     ebb_env_error(env));
        cr_expect_eq(code, rows[k].code, "row %zu: %d", k, code);
        cr_expect_str_eq(said, rows[k].said, "row %zu", k);
    }
    test_env_end(env);
}

Test(program, that_is_not_there_is_one_line) {
    static const char *const argv[] = {"/no/where", NULL};
    const char *many[80];
    ebb_env *env = test_env();
    int code;
    cr_assert_eq(ebb_program_run(env, argv, NULL, 0, &code), EBB_UNAVAILABLE);
    cr_expect_not_null(strstr(ebb_env_error(env), "cannot run /no/where: No such file"), "%s",
                       ebb_env_error(env));
    for (size_t k = 0; k < EBB_COUNT(many); k++) many[k] = k + 1 < EBB_COUNT(many) ? "true" : NULL;
    cr_assert_eq(ebb_program_run(env, many, NULL, 0, &code), EBB_UNAVAILABLE, "too many words");
    test_env_end(env);
}
