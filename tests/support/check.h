/* What tests of programs begin with: a call that must succeed, an env, a backend. */
#ifndef EBB_TESTS_SUPPORT_CHECK_H
#define EBB_TESTS_SUPPORT_CHECK_H

#include <criterion/criterion.h>

#include "exec/backend.h"

/* Fails the running test with the env's error unless the call gives EBB_OK. */
#define TEST_OK(env, call)                                                                             \
    do {                                                                                               \
        const ebb_status test_status = (call);                                                         \
        cr_assert_eq(test_status, EBB_OK, "%s: %s", ebb_status_name(test_status), ebb_env_error(env)); \
    } while (0)

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

static inline ebb_backend *test_backend_open(ebb_env *env, const char *name, uint32_t n_threads) {
    const ebb_backend_api *api = ebb_backend_find(name);
    const ebb_backend_options options = {.n_threads = n_threads};
    ebb_backend *backend = NULL;
    cr_assert_not_null(api, "%s", name);
    TEST_OK(env, api->create(env, &options, &backend));
    return backend;
}

#endif
