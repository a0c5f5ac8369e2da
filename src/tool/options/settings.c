/* settings: the values of the search, and where each comes from: a flag, an environment variable, the
 * config file or the defaults. */
#include "tool/options/options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const tool_setting_row tool_setting_rows[TOOL_N_SETTINGS] = {
#define ARG(name)    offsetof(tool_args, name)
#define CONFIG(name) offsetof(ebb_config, name)
    {"thresh_nr_try", "thresh-nr-try", "MGB_SUBLINEAR_MEMORY_THRESH_NR_TRY", ARG(thresh_nr_try),
     CONFIG(sublinear.thresh_nr_try)},
    {"genetic_nr_iter", "genetic-nr-iter", "MGB_SUBLINEAR_MEMORY_GENETIC_NR_ITER", ARG(genetic_nr_iter),
     CONFIG(sublinear.genetic_nr_iter)},
    {"genetic_pool_size", "genetic-pool-size", "MGB_SUBLINEAR_MEMORY_GENETIC_POOL_SIZE",
     ARG(genetic_pool_size), CONFIG(sublinear.genetic_pool_size)},
    {"lb_memory", "lb-memory", "MGB_SUBLINEAR_MEMORY_LOWER_BOUND_MB", ARG(lb_memory_bytes),
     CONFIG(sublinear.lb_memory_bytes)},
    {"num_worker", "num-worker", "MGB_SUBLINEAR_MEMORY_WORKERS", ARG(num_worker),
     CONFIG(sublinear.num_worker)},
    {"seed", "seed", NULL, ARG(seed), CONFIG(seed)},
    {"search_seed", "search-seed", NULL, ARG(search_seed), CONFIG(search_seed)},
    {"effort", "effort", NULL, ARG(effort), CONFIG(effort)},
};

static int64_t *config_field(ebb_config *config, const tool_setting_row *row) {
    return (int64_t *)((char *)config + row->config);
}

static int64_t argument(const tool_args *args, const tool_setting_row *row) {
    return *(const int64_t *)((const char *)args + row->arg);
}

static const char *get_variable(const char *name) {
    return getenv(name);
}

/* An empty variable counts as not set, as in the library. */
static bool has_variable(const tool_setting_row *row) {
    const char *text = row->variable ? getenv(row->variable) : NULL;
    return text && *text != '\0';
}

static ebb_status read_file(tool *t, tool_settings *out) {
    out->file = (ebb_config){.time_limit_ms = -1};
    for (size_t i = 0; i < TOOL_N_SETTINGS; i++) *config_field(&out->file, &tool_setting_rows[i]) = -1;
    return t->args.config ? ebb_config_read(t->env, t->args.config, &out->file) : EBB_OK;
}

/* lb_memory has two flags. */
static ebb_status join_lb_memory(tool *t) {
    tool_args *args = &t->args;
    if (args->lb_memory_bytes >= 0 && args->lb_memory_mb >= 0)
        return tool_fail(t, EBB_USAGE,
                         "--lb-memory and --lb-memory-mb are both given: leave out one of the two");
    if (args->lb_memory_mb >= 0) args->lb_memory_bytes = args->lb_memory_mb << 20;
    args->lb_memory_mb = -1;
    return EBB_OK;
}

ebb_status tool_settings_find(tool *t, const ebb_options *defaults, tool_settings *out) {
    ebb_config value = {.sublinear = defaults->sublinear,
                        .seed = (int64_t)defaults->seed,
                        .search_seed = defaults->search_seed,
                        .effort = defaults->effort};
    ebb_config variables = value;
    ebb_status status = read_file(t, out);
    if (status == EBB_OK) status = join_lb_memory(t);
    if (status == EBB_OK)
        status = ebb_sublinear_config_from_env(t->env, get_variable, &variables.sublinear);
    for (size_t i = 0; i < TOOL_N_SETTINGS && status == EBB_OK; i++) {
        const tool_setting_row *row = &tool_setting_rows[i];
        tool_setting *to = &out->at[i];
        *to = (tool_setting){*config_field(&value, row), TOOL_FROM_DEFAULT};
        if (*config_field(&out->file, row) >= 0)
            *to = (tool_setting){*config_field(&out->file, row), TOOL_FROM_FILE};
        if (has_variable(row)) *to = (tool_setting){*config_field(&variables, row), TOOL_FROM_VARIABLE};
        if (argument(&t->args, row) >= 0) *to = (tool_setting){argument(&t->args, row), TOOL_FROM_FLAG};
    }
    return status;
}

void tool_settings_apply(const tool *t, const tool_settings *settings, ebb_options *out) {
    ebb_config config;
    for (size_t i = 0; i < TOOL_N_SETTINGS; i++)
        *config_field(&config, &tool_setting_rows[i]) = settings->at[i].value;
    out->sublinear = config.sublinear;
    out->seed = (uint64_t)config.seed;
    out->search_seed = config.search_seed;
    out->effort = config.effort;
    if (settings->file.time_limit_ms > 0) out->time_limit_s = (double)settings->file.time_limit_ms / 1000;
    if (t->args.time_limit_s >= 0) out->time_limit_s = t->args.time_limit_s;
}
