/* Backends in modules: which are opened, which are refused, and what is said. */
#include <stdio.h>
#include <stdlib.h>

#include "exec/module.h"
#include "support/check.h"

static ebb_status find(ebb_env *env, const char *file, const ebb_backend_api **api) {
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", EBB_FAKES_DIR, file);
    cr_assert_eq(setenv("EBB_CUDA_MODULE", path, 1), 0);
    return ebb_module_find(env, "cuda", api);
}

Test(module, one_of_this_build_is_opened_as_often_as_asked) {
    ebb_env *env = test_env_open();
    const ebb_backend_api *api = NULL, *again = NULL;
    TEST_OK(env, find(env, "libfake1.so", &api));
    cr_assert_str_eq(api->name, "fake");
    TEST_OK(env, find(env, "libfake1.so", &again));
    cr_assert_eq(api, again);
    cr_assert_str_eq(api->name, "fake", "it stays open");
    test_env_close(env);
}

Test(module, others_are_refused_and_why_is_said) {
    static const struct {
        const char *file, *text;
    } rows[] = {
        {"libfake2.so", "its module is of version 0.0.7, this library of"},
        {"libfake3.so", "its module is of another build"},
        {"libfake4.so", "its module is of another build"},
        {"libfake5.so", "has no ebb_module_cuda"},
        {"absent.so", "its module cannot be opened: "},
    };
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        const ebb_backend_api *api = NULL;
        cr_assert_eq(find(env, rows[i].file, &api), EBB_UNAVAILABLE, "%s", rows[i].file);
        cr_assert_null(api);
        cr_assert(strstr(ebb_env_error(env), rows[i].text), "%s: %s", rows[i].file, ebb_env_error(env));
    }
    test_env_close(env);
}

Test(module, one_that_nobody_has_is_looked_for_by_the_loader) {
    ebb_env *env = test_env_open();
    const ebb_backend_api *api = NULL;
    cr_assert_eq(ebb_module_find(env, "nothing", &api), EBB_UNAVAILABLE);
    cr_assert(strstr(ebb_env_error(env), "libebb_nothing.so"), "%s", ebb_env_error(env));
    test_env_close(env);
}
