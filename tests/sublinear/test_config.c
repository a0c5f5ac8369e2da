/* The five parameters: defaults, variables, and what is nonsense. */
#include "support.h"

#include <stdio.h>

/* What the environment is, for the getter without a context. */
static const char *const *pairs;

static const char *get(const char *name) {
    for (const char *const *at = pairs; at && *at; at += 2)
        if (strcmp(*at, name) == 0) return at[1];
    return NULL;
}

#define ENV(...) ((const char *const[]){__VA_ARGS__, NULL})
#define TRY      "MGB_SUBLINEAR_MEMORY_THRESH_NR_TRY"
#define ITER     "MGB_SUBLINEAR_MEMORY_GENETIC_NR_ITER"
#define POOL     "MGB_SUBLINEAR_MEMORY_GENETIC_POOL_SIZE"
#define LOWER    "MGB_SUBLINEAR_MEMORY_LOWER_BOUND_MB"
#define WORKERS  "MGB_SUBLINEAR_MEMORY_WORKERS"

static void want_config(const ebb_sublinear_config *c, int64_t tries, int64_t iterations, int64_t pool,
                        int64_t lower_bytes, int64_t workers) {
    cr_assert_eq(c->thresh_nr_try, tries);
    cr_assert_eq(c->genetic_nr_iter, iterations);
    cr_assert_eq(c->genetic_pool_size, pool);
    cr_assert_eq(c->lb_memory_bytes, lower_bytes);
    cr_assert_eq(c->num_worker, workers);
}

Test(config, the_defaults_are_those_of_megengine_but_for_all_processors) {
    ebb_sublinear_config config;
    ebb_env *env = start_env();
    memset(&config, 0xA5, sizeof config);
    ebb_sublinear_config_init(&config);
    want_config(&config, 10, 0, 20, 0, ebb_cpu_count());
    want_status(env, ebb_sublinear_config_check(env, &config), EBB_OK);
    pairs = NULL;
    want_status(env, ebb_sublinear_config_from_env(env, get, &config), EBB_OK);
    want_config(&config, 10, 0, 20, 0, ebb_cpu_count());
    end_env(env);
}

Test(config, variables_override_what_is_set_before) {
    ebb_sublinear_config config = {7, 7, 7, 7, 7};
    ebb_env *env = start_env();
    pairs = ENV(TRY, "0", ITER, "33", POOL, "1", LOWER, "3", WORKERS, "5");
    want_status(env, ebb_sublinear_config_from_env(env, get, &config), EBB_OK);
    want_config(&config, 0, 33, 1, 3 * 1048576, 5);
    pairs = ENV(ITER, "50", POOL, "");
    want_status(env, ebb_sublinear_config_from_env(env, get, &config), EBB_OK);
    want_config(&config, 0, 50, 1, 3 * 1048576, 5);
    pairs = ENV(LOWER, "8796093022207"); /* the last MiB that int64 holds */
    want_status(env, ebb_sublinear_config_from_env(env, get, &config), EBB_OK);
    cr_assert_eq(config.lb_memory_bytes, INT64_C(8796093022207) << 20);
    want_status(env, ebb_sublinear_config_check(env, &config), EBB_OK);
    end_env(env);
}

Test(config, nonsense_in_a_variable_is_named) {
    static const char *const variables[] = {TRY, ITER, POOL, LOWER, WORKERS};
    static const char *const texts[] = {"-1",  "x",   "1x",   "1.5",  " 1",
                                        "1 ",  "1e3", "0x10", "--1",  "99999999999999999999",
                                        "nan", "1,0", "-",    "1 MB", "9223372036854775807"};
    ebb_env *env = start_env();
    for (uint32_t v = 0; v < EBB_COUNT(variables); v++)
        for (uint32_t t = 0; t < EBB_COUNT(texts); t++) {
            ebb_sublinear_config config = {7, 7, 7, 7, 7};
            pairs = ENV(variables[v], texts[t]);
            want_status(env, ebb_sublinear_config_from_env(env, get, &config), EBB_USAGE);
            cr_assert_not_null(strstr(ebb_env_error(env), variables[v]), "%s", ebb_env_error(env));
            cr_assert_not_null(strstr(ebb_env_error(env), texts[t]), "%s", ebb_env_error(env));
            want_config(&config, 7, 7, 7, 7, 7);
        }
    end_env(env);
}

Test(config, zero_is_refused_where_it_means_nothing) {
    static const struct {
        const char *variable;
        ebb_status status;
    } rows[] = {{TRY, EBB_OK}, {ITER, EBB_OK}, {LOWER, EBB_OK}, {POOL, EBB_USAGE}, {WORKERS, EBB_USAGE}};
    ebb_env *env = start_env();
    for (uint32_t k = 0; k < EBB_COUNT(rows); k++) {
        ebb_sublinear_config config = {7, 7, 7, 7, 7};
        pairs = ENV(rows[k].variable, "0");
        want_status(env, ebb_sublinear_config_from_env(env, get, &config), rows[k].status);
    }
    end_env(env);
}

Test(config, a_field_out_of_range_is_named_and_not_searched_with) {
    static const struct {
        ebb_sublinear_config config;
        const char *name;
    } rows[] = {{{-1, 0, 20, 0, 1}, "thresh_nr_try is -1"},
                {{10, -1, 20, 0, 1}, "genetic_nr_iter is -1"},
                {{10, 0, 0, 0, 1}, "genetic_pool_size is 0"},
                {{10, 0, -3, 0, 1}, "genetic_pool_size is -3"},
                {{10, 0, 20, -1, 1}, "lb_memory is -1"},
                {{10, 0, 20, 0, 0}, "num_worker is 0"},
                {{10, 0, 20, 0, -7}, "num_worker is -7"},
                {{INT64_MAX, 0, 20, 0, 1}, "thresh_nr_try is 9223372036854775807"},
                {{10, INT64_MIN, 20, 0, 1}, "genetic_nr_iter is -9223372036854775808"},
                {{10, 0, INT64_MAX, 0, 1}, "genetic_pool_size is 9223372036854775807"},
                {{10, 0, 20, 0, INT64_MAX}, "num_worker is 9223372036854775807"}};
    ebb_env *env = start_env();
    ebb_pgraph *graph = draw_pgraph(env, 1, NULL);
    for (uint32_t k = 0; k < EBB_COUNT(rows); k++) {
        ebb_select_request request = small_request(graph, EBB_METHOD_BUDGET, INT64_MAX);
        ebb_selection *found = NULL;
        want_status(env, ebb_sublinear_config_check(env, &rows[k].config), EBB_USAGE);
        cr_assert_not_null(strstr(ebb_env_error(env), rows[k].name), "row %u: %s", k, ebb_env_error(env));
        request.config = rows[k].config;
        want_status(env, ebb_select(env, &request, &found), EBB_USAGE);
        cr_assert_null(found);
    }
    ebb_pgraph_destroy(graph);
    end_env(env);
}
