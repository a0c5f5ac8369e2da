/* What tests of programs begin with: a call that must succeed, an env, a backend. */
#ifndef EBB_TESTS_SUPPORT_CHECK_H
#define EBB_TESTS_SUPPORT_CHECK_H

#include "exec/backend.h"
#include "support/env.h"

static inline ebb_backend *test_backend_open(ebb_env *env, const char *name, uint32_t n_threads) {
    const ebb_backend_api *api = ebb_backend_find(name);
    const ebb_backend_options options = {.n_threads = n_threads};
    ebb_backend *backend = NULL;
    cr_assert_not_null(api, "%s", name);
    TEST_OK(env, api->create(env, &options, &backend));
    return backend;
}

#endif
