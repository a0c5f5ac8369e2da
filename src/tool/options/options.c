/* options: flags and environment variables become the engine's options. */
#include "tool/options/options.h"

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

const char *tool_asks_sublinear(const tool *t) {
    const tool_args *args = &t->args;
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

static ebb_status check_flags(tool *t) {
    const tool_args *args = &t->args;
    const char *sublinear = tool_asks_sublinear(t);
    bool budget = args->budget_bytes >= 0;
    bool megengine = args->method && strcmp(args->method, "megengine") == 0;
    if (args->no_reuse && (budget || sublinear || args->method))
        return tool_fail(t, EBB_USAGE, "--no-reuse excludes --%s: leave out one of the two",
                         budget         ? "budget"
                         : args->method ? "method"
                                        : sublinear);
    if (megengine && budget)
        return tool_fail(
            t, EBB_USAGE,
            "--method megengine finds the least bytes and takes no --budget: leave out one of the two");
    if (args->method && !megengine && !budget)
        return tool_fail(t, EBB_USAGE,
                         "--method budget needs --budget: write --budget 11GiB, for instance");
    const char *own = args->opt_level && args->opt_level[0] == '3' ? "opt-level 3"
                      : args->jit                                  ? "jit"
                      : args->direct_conv                          ? "direct-conv"
                                                                   : NULL;
    if (own && args->backend && strcmp(args->backend, "xla") == 0)
        return tool_fail(t, EBB_USAGE, "XLA fuses and computes a step's ops itself: leave --%s out", own);
    return EBB_OK;
}

/* The file's method, where no flag says otherwise and the command has a choice. */
static ebb_status file_method(tool *t, ebb_config_method method, bool *megengine) {
    const tool_args *args = &t->args;
    bool budget = args->budget_bytes >= 0;
    if (!tool_chooses_mode(t) || args->no_reuse || args->method) return EBB_OK;
    if (method == EBB_CONFIG_MEGENGINE && budget)
        return tool_fail(
            t, EBB_USAGE,
            "%.200s: its method megengine takes no --budget: leave that out, or add --method budget",
            args->config);
    if (method == EBB_CONFIG_BUDGET && !budget && !args->print_config) /* what is only shown needs none */
        return tool_fail(t, EBB_USAGE,
                         "%.200s: its method budget needs --budget: write --budget 11GiB, for instance",
                         args->config);
    if (method == EBB_CONFIG_MEGENGINE) *megengine = true;
    return EBB_OK;
}

static ebb_status choose_mode(tool *t, const tool_settings *settings, ebb_options *out) {
    const tool_args *args = &t->args;
    bool megengine = tool_asks_sublinear(t) || (args->method && strcmp(args->method, "megengine") == 0);
    ebb_status status = file_method(t, settings->file.method, &megengine);
    out->memory = args->no_reuse            ? EBB_MEMORY_NONE
                  : args->budget_bytes >= 0 ? EBB_MEMORY_BUDGET
                  : megengine               ? EBB_MEMORY_MEGENGINE
                                            : EBB_MEMORY_IN_PLACE;
    if (args->budget_share > 0)
        out->budget_share = args->budget_share;
    else if (args->budget_bytes >= 0)
        out->budget_bytes = args->budget_bytes;
    return status;
}

static void set_optimizer(const tool_args *args, ebb_options *out) {
    if (args->optimizer && strcmp(args->optimizer, "adamw") == 0) out->optimizer = EBB_ADAMW;
    if (args->momentum >= 0) out->momentum = args->momentum;
    if (args->weight_decay >= 0) out->weight_decay = args->weight_decay;
    if (args->beta1 >= 0) out->beta1 = args->beta1;
    if (args->beta2 >= 0) out->beta2 = args->beta2;
    if (args->clip_norm >= 0) out->clip_norm = args->clip_norm;
    if (args->label_smoothing >= 0) out->label_smoothing = args->label_smoothing;
    out->nesterov = args->nesterov;
    out->decay_weights = args->decay_weights;
}

ebb_status tool_reserve(tool *t) {
    tool_args *args = &t->args;
    int64_t all = args->budget_bytes;
    if (args->budget_share > 0 && args->reserve_bytes >= 0)
        return tool_fail(t, EBB_USAGE,
                         "--reserve takes a budget in bytes: write --budget 11GiB, for instance");
    if (args->reserve_bytes < 0 || args->replan) return EBB_OK; /* --auto's is of the device */
    if (all < 0 && ebb_device_is_file(args->device)) {
        ebb_device_memory device;
        ebb_status status = ebb_device_memory_read(t->env, args->device, &device);
        if (status != EBB_OK) return status;
        all = device.memory_bytes - device.context_bytes;
    }
    if (all < 0)
        return tool_fail(
            t, EBB_USAGE,
            "--reserve leaves a part of a budget unused: give --budget, or --device FILE.json");
    if (all <= args->reserve_bytes)
        return tool_fail(t, EBB_USAGE, "--reserve of %lld bytes leaves nothing of %lld: reserve less",
                         (long long)args->reserve_bytes, (long long)all);
    args->budget_bytes = all - args->reserve_bytes;
    args->budget_text = NULL; /* says another number */
    return EBB_OK;
}

static void print_dump(void *ctx, const char *pass, const char *text) {
    (void)ctx;
    fprintf(stderr, "# after %s\n%s", pass, text);
}

ebb_status tool_options_and_settings(tool *t, ebb_options *out, tool_settings *settings) {
    const tool_args *args = &t->args;
    ebb_options_init(out);
    ebb_status status = check_flags(t);
    if (status == EBB_OK) status = tool_settings_find(t, out, settings);
    if (status == EBB_OK) status = choose_mode(t, settings, out);
    if (status != EBB_OK) return status;
    tool_settings_apply(t, settings, out);
    status = ebb_sublinear_config_check(t->env, &out->sublinear);
    if (status != EBB_OK) return status;
    if (args->device) out->device = args->device;
    out->tf32 = args->tf32;
    out->direct_conv = args->direct_conv;
    out->free_engines = args->free_engines;
    out->no_record = args->no_graph;
    out->watch_memory = args->watch_memory;
    if (args->cap_bytes > 0) out->cap_bytes = args->cap_bytes;
    if (args->threads > 0) out->n_threads = (uint32_t)args->threads;
    set_optimizer(args, out);
    out->evaluate = args->evaluate;
    out->phased = args->phased;
    if (args->accumulate > 0) out->accumulate = (uint32_t)args->accumulate;
    if (args->precision)
        out->precision = strcmp(args->precision, "bf16") == 0  ? EBB_PRECISION_BF16
                         : strcmp(args->precision, "f16") == 0 ? EBB_PRECISION_F16
                                                               : EBB_PRECISION_F32;
    out->native_bf16 = args->native_bf16;
    out->unfused = args->no_fuse;
    if (args->opt_level) out->opt_level = args->opt_level[0] - '0';
    out->jit = args->jit ? args->jit : ebb_jit_variable(out->device, out->opt_level);
    out->xla = args->backend && strcmp(args->backend, "xla") == 0;
    out->poison = args->poison;
    out->check_finite = args->check_finite;
    out->verify = args->verify;
    out->fetch = args->fetch.at;
    out->n_fetch = args->fetch.n;
    out->keep = args->keep.at;
    out->n_keep = args->keep.n;
    out->drop = args->drop.at;
    out->n_drop = args->drop.n;
    out->cache = tool_cache_folder(args);
    out->dump = args->dump;
    out->on_dump = print_dump;
    return tool_costs_read(t, out);
}

ebb_status tool_options(tool *t, ebb_options *out) {
    tool_settings settings;
    return tool_options_and_settings(t, out, &settings);
}

void tool_note_effort(const tool *t, const ebb_options *options) {
    if (t->args.config && options->memory == EBB_MEMORY_IN_PLACE)
        fprintf(stderr,
                "ebb: %.200s sets values of the search, but nothing asked for one: planned in place\n",
                t->args.config);
    if (options->memory != EBB_MEMORY_BUDGET || options->sublinear.genetic_nr_iter != 0 ||
        options->effort > 0)
        return;
    fprintf(stderr, "ebb: searched with the default effort; --effort N sets another\n");
}
