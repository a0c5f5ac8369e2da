/* options: flags and environment variables become the engine's options. */
#include "tool.h"

#include <stdlib.h>
#include <string.h>

const char *tool_mode_name(ebb_memory_mode mode) {
    switch (mode) {
    case EBB_MEMORY_NONE:
        return "none";
    case EBB_MEMORY_IN_PLACE:
        return "in_place";
    case EBB_MEMORY_MEGENGINE:
        return "sublinear";
    case EBB_MEMORY_BUDGET:
        return "budget";
    }
    return "unknown";
}

static const char *get_variable(const char *name) {
    return getenv(name);
}

/* The name of a sublinear flag that was given, or NULL. */
static const char *sublinear_flag(const tool_args *args) {
    const struct {
        const char *name;
        int64_t value;
    } rows[] = {
        {"thresh-nr-try", args->thresh_nr_try},         {"genetic-nr-iter", args->genetic_nr_iter},
        {"genetic-pool-size", args->genetic_pool_size}, {"lb-memory", args->lb_memory_bytes},
        {"lb-memory-mb", args->lb_memory_mb},           {"num-worker", args->num_worker},
    };
    for (size_t i = 0; i < TOOL_COUNT(rows); i++) {
        if (rows[i].value >= 0) return rows[i].name;
    }
    return NULL;
}

static ebb_status choose_mode(tool *t, ebb_options *out) {
    const tool_args *args = &t->args;
    const char *sublinear = sublinear_flag(args);
    bool budget = args->budget_bytes >= 0;
    bool megengine = args->method != NULL && strcmp(args->method, "megengine") == 0;
    if (args->no_reuse && (budget || sublinear != NULL || args->method != NULL))
        return tool_fail(t, EBB_USAGE, "--no-reuse excludes --%s: leave out one of the two",
                         budget                 ? "budget"
                         : args->method != NULL ? "method"
                                                : sublinear);
    if (megengine && budget)
        return tool_fail(
            t, EBB_USAGE,
            "--method megengine finds the least bytes and takes no --budget: leave out one of the two");
    if (args->method != NULL && !megengine && !budget)
        return tool_fail(t, EBB_USAGE,
                         "--method budget needs --budget: write --budget 11GiB, for instance");
    out->memory = args->no_reuse                   ? EBB_MEMORY_NONE
                  : budget                         ? EBB_MEMORY_BUDGET
                  : megengine || sublinear != NULL ? EBB_MEMORY_MEGENGINE
                                                   : EBB_MEMORY_IN_PLACE;
    if (budget) out->budget_bytes = args->budget_bytes;
    return EBB_OK;
}

static ebb_status set_sublinear(tool *t, ebb_sublinear_config *config) {
    const tool_args *args = &t->args;
    if (args->lb_memory_bytes >= 0 && args->lb_memory_mb >= 0)
        return tool_fail(t, EBB_USAGE,
                         "--lb-memory and --lb-memory-mb are both given: leave out one of the two");
    ebb_status status = ebb_sublinear_config_from_env(t->env, get_variable, config);
    if (status != EBB_OK) return status;
    if (args->thresh_nr_try >= 0) config->thresh_nr_try = args->thresh_nr_try;
    if (args->genetic_nr_iter >= 0) config->genetic_nr_iter = args->genetic_nr_iter;
    if (args->genetic_pool_size >= 0) config->genetic_pool_size = args->genetic_pool_size;
    if (args->lb_memory_bytes >= 0) config->lb_memory_bytes = args->lb_memory_bytes;
    if (args->lb_memory_mb >= 0) config->lb_memory_bytes = args->lb_memory_mb << 20;
    if (args->num_worker >= 0) config->num_worker = args->num_worker;
    return ebb_sublinear_config_check(t->env, config);
}

static void set_optimizer(const tool_args *args, ebb_options *out) {
    if (args->optimizer != NULL && strcmp(args->optimizer, "adamw") == 0) out->optimizer = EBB_ADAMW;
    if (args->momentum >= 0) out->momentum = args->momentum;
    if (args->weight_decay >= 0) out->weight_decay = args->weight_decay;
    if (args->beta1 >= 0) out->beta1 = args->beta1;
    if (args->beta2 >= 0) out->beta2 = args->beta2;
    if (args->clip_norm >= 0) out->clip_norm = args->clip_norm;
    out->nesterov = args->nesterov;
}

static void print_dump(void *ctx, const char *pass, const char *text) {
    (void)ctx;
    fprintf(stderr, "# after %s\n%s", pass, text);
}

/* An empty variable is none. */
static const char *cache_folder(const tool_args *args) {
    const char *variable = getenv("EBB_CACHE");
    if (args->cache != NULL) return args->cache;
    return variable != NULL && *variable != '\0' ? variable : NULL;
}

ebb_status tool_options(tool *t, ebb_options *out) {
    const tool_args *args = &t->args;
    ebb_options_init(out);
    ebb_status status = choose_mode(t, out);
    if (status == EBB_OK) status = set_sublinear(t, &out->sublinear);
    if (status != EBB_OK) return status;
    if (args->device != NULL) out->device = args->device;
    if (args->threads > 0) out->n_threads = (uint32_t)args->threads;
    if (args->seed >= 0) out->seed = (uint64_t)args->seed;
    if (args->effort > 0) out->effort = args->effort;
    if (args->time_limit_s >= 0) out->time_limit_s = args->time_limit_s;
    set_optimizer(args, out);
    out->evaluate = args->evaluate;
    out->phased = args->phased;
    out->unfused = args->no_fuse;
    out->poison = args->poison;
    out->verify = args->verify;
    out->fetch = args->fetch.at;
    out->n_fetch = args->fetch.n;
    out->keep = args->keep.at;
    out->n_keep = args->keep.n;
    out->drop = args->drop.at;
    out->n_drop = args->drop.n;
    out->cache = cache_folder(args);
    out->dump = args->dump;
    out->on_dump = print_dump;
    return EBB_OK;
}

void tool_note_effort(const tool *t, const ebb_options *options) {
    if (options->memory != EBB_MEMORY_BUDGET || options->sublinear.genetic_nr_iter != 0 ||
        t->args.effort > 0)
        return;
    fprintf(stderr, "ebb: genetic_nr_iter is 0: the search used its default effort\n");
}
