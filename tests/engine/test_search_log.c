/* The log of a search. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <unistd.h>

#include "base/os/os.h"
#include "ebb/ebb.h"

Test(search_log, of_a_refused_search_has_its_seed_whole) {
    ebb_env *env;
    ebb_model *model;
    ebb_options o;
    ebb_plan *plan;
    char *text, path[512];
    size_t n;
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    snprintf(path, sizeof(path), "%s/resnet18.ebb", EBB_MODELS_DIR);
    cr_assert_eq(ebb_model_open(env, path, &model), EBB_OK, "%s", ebb_env_error(env));
    ebb_options_init(&o);
    o.memory = EBB_MEMORY_BUDGET;
    o.budget_bytes = 1;
    o.effort = 500;
    o.seed = UINT64_MAX;
    o.search_seed = -1;
    cr_assert_eq(ebb_search_log_create(env, &o.log), EBB_OK);
    snprintf(path, sizeof(path), "/tmp/ebb-test-log-%d.json", (int)getpid());
    cr_assert_eq(ebb_search_log_write(env, o.log, path), EBB_USAGE);
    ebb_dim_binding dims[] = {{"N", 3}, {"H", 64}};
    cr_assert_eq(ebb_plan_model(env, model, dims, 2, &o, &plan), EBB_OVER_BUDGET);
    cr_assert_eq(ebb_search_log_write(env, o.log, path), EBB_OK, "%s", ebb_env_error(env));
    cr_assert_eq(ebb_file_read(env, path, 1 << 24, &text, &n), EBB_OK);
    cr_expect(strstr(text, "\"seed\": \"18446744073709551615\""), "%.300s", text);
    cr_expect(strstr(text, "\"plan\": null") && strstr(text, "\"graph\": \"resnet18\""), "%.300s", text);
    ebb_file_free(env, text, n);
    cr_assert_eq(unlink(path), 0);
    ebb_search_log_destroy(o.log);
    ebb_model_destroy(model);
    cr_assert_eq(ebb_env_allocated_bytes(env), 0);
    ebb_env_destroy(env);
}
