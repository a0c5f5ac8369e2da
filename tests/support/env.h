/* What most tests begin and end with: an env, and calls that must succeed. */
#ifndef EBB_TESTS_SUPPORT_ENV_H
#define EBB_TESTS_SUPPORT_ENV_H

#include <criterion/criterion.h>

#include "base/base.h"

/* Fails the running test with the env's error unless the call gives the wanted status. */
#define TEST_STATUS(env, call, wanted)                                                              \
    do {                                                                                            \
        const ebb_status test_status = (call), test_wanted = (wanted);                              \
        cr_assert_eq(test_status, test_wanted, "got %s, want %s: %s", ebb_status_name(test_status), \
                     ebb_status_name(test_wanted), ebb_env_error(env));                             \
    } while (0)
#define TEST_OK(env, call) TEST_STATUS(env, call, EBB_OK)

static inline ebb_env *test_env_open(void) {
    ebb_env *env = NULL;
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    return env;
}

/* Fails the test when something made with the env is left. */
static inline void test_env_close(ebb_env *env) {
    cr_assert_eq(ebb_env_allocated_bytes(env), 0, "%zu bytes were left", ebb_env_allocated_bytes(env));
    ebb_env_destroy(env);
}

#endif
