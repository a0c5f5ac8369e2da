/* Defaults and ranges of ebb_options; backends by name. */
#include "engine/inputs/inputs.h"
#include "ebb_build.h"
#include "exec/backend.h"

#include <stdio.h>
#include <stdlib.h>

#if EBB_HAVE_CPU
#define DEFAULT_DEVICE "cpu"
#else
#define DEFAULT_DEVICE "ref"
#endif

#define MAX_THREADS 4096u /* as the backends allow */
#define MAX_PARTS   65536u

void ebb_options_init(ebb_options *options) {
    *options = (ebb_options){.device = DEFAULT_DEVICE,
                             .memory = EBB_MEMORY_IN_PLACE,
                             .budget_bytes = -1,
                             .seed = 1,
                             .search_seed = -1,
                             .opt_level = 2,
                             .momentum = 0.9,
                             .weight_decay = 1e-4,
                             .beta1 = 0.9,
                             .beta2 = 0.999,
                             .adam_eps = 1e-8};
    ebb_sublinear_config_init(&options->sublinear);
}

/* Written so that a NaN fails too. */
static ebb_status optimizer_check(ebb_env *env, const ebb_options *o) {
    if (!(o->momentum >= 0 && o->momentum < 1))
        return ebb_fail(env, EBB_USAGE, "momentum is %g; it must be in [0, 1)", o->momentum);
    if (!(o->weight_decay >= 0 && o->weight_decay <= 1e6))
        return ebb_fail(env, EBB_USAGE, "weight decay is %g; it must be in [0, 1e6]", o->weight_decay);
    if (o->nesterov && o->momentum == 0)
        return ebb_fail(env, EBB_USAGE, "Nesterov's step needs a momentum above 0");
    if (o->nesterov && o->optimizer != EBB_SGD)
        return ebb_fail(env, EBB_USAGE, "Nesterov's step is of SGD: leave it out with AdamW");
    if (!(o->beta1 >= 0 && o->beta1 < 1 && o->beta2 >= 0 && o->beta2 < 1))
        return ebb_fail(env, EBB_USAGE, "beta1 and beta2 are %g and %g; they must be in [0, 1)", o->beta1,
                        o->beta2);
    if (!(o->adam_eps >= 1e-30 && o->adam_eps <= 1e6))
        return ebb_fail(env, EBB_USAGE, "AdamW's eps is %g; it must be in [1e-30, 1e6]", o->adam_eps);
    return EBB_OK;
}

/* What the gradients come from, and what becomes of them before the optimizer. */
static ebb_status gradients_check(ebb_env *env, const ebb_options *o) {
    if (!(o->clip_norm == 0 || (o->clip_norm >= 1e-30 && o->clip_norm <= 1e30)))
        return ebb_fail(env, EBB_USAGE, "the norm to clip to is %g; it must be 0 or in [1e-30, 1e30]",
                        o->clip_norm);
    if (o->accumulate > MAX_PARTS)
        return ebb_fail(env, EBB_USAGE, "a step of %u parts; it has at most %u", o->accumulate, MAX_PARTS);
    if (o->accumulate > 1 && o->phased)
        return ebb_fail(env, EBB_USAGE, "a step of %u parts runs the phases by itself: leave phased out",
                        o->accumulate);
    if (!(o->label_smoothing >= 0 && o->label_smoothing <= 1))
        return ebb_fail(env, EBB_USAGE, "label smoothing is %g; it must be in [0, 1]", o->label_smoothing);
    return EBB_OK;
}

static ebb_status check_rest(ebb_env *env, const ebb_options *o) {
    ebb_status status = ebb_sublinear_config_check(env, &o->sublinear);
    if (status == EBB_OK) status = optimizer_check(env, o);
    if (status == EBB_OK) status = gradients_check(env, o);
    if (status != EBB_OK) return status;
    if (o->effort < 0)
        return ebb_fail(env, EBB_USAGE, "effort is %lld; it must be at least 0", (long long)o->effort);
    if (o->search_seed < -1)
        return ebb_fail(env, EBB_USAGE, "search seed is %lld; it must be at least 0, or -1: as the seed",
                        (long long)o->search_seed);
    if (!(o->time_limit_s >= 0 && o->time_limit_s <= 1e9))
        return ebb_fail(env, EBB_USAGE, "the time limit is %g seconds; it must be in [0, 1e9]",
                        o->time_limit_s);
    if (o->opt_level < 0 || o->opt_level > 3)
        return ebb_fail(env, EBB_USAGE, "opt_level is %d; it must be in [0, 3]", (int)o->opt_level);
    if (o->native_bf16 && (o->precision != EBB_PRECISION_BF16 || o->xla))
        return ebb_fail(env, EBB_USAGE,
                        "native-bf16 makes products of precision bf16, not %s: leave it out",
                        o->xla ? "XLA's" : "of others");
    if (o->xla && (o->phased || o->accumulate > 1 || o->poison || o->check_finite))
        return ebb_fail(env, EBB_USAGE, "XLA runs a step as a whole, on memory of its own: leave %s out",
                        o->phased           ? "phased"
                        : o->accumulate > 1 ? "accumulate"
                        : o->poison         ? "poison"
                                            : "check_finite");
    if (o->n_threads > MAX_THREADS)
        return ebb_fail(env, EBB_USAGE, "threads is %u; it must be in [0, %u]", o->n_threads, MAX_THREADS);
    return EBB_OK;
}

ebb_status ebb_options_check(ebb_env *env, const ebb_options *o) {
    const bool shared = o->budget_share > 0 && o->budget_share <= 1 && o->budget_bytes < 0;
    if (o->budget_share != 0 && (!shared || o->memory != EBB_MEMORY_BUDGET))
        return ebb_fail(env, EBB_USAGE,
                        "the budget is a share of %g: a share is in (0, 1], needs memory mode budget, and "
                        "stands without bytes (%lld are given)",
                        o->budget_share, (long long)o->budget_bytes);
    if (o->memory == EBB_MEMORY_BUDGET && !shared && o->budget_bytes <= 0)
        return ebb_fail(env, EBB_USAGE, "the budget is %lld bytes; it must be at least 1",
                        (long long)o->budget_bytes);
    if (o->unpacked && (o->memory != EBB_MEMORY_BUDGET || shared))
        return ebb_fail(env, EBB_USAGE,
                        "unpacked counts the live bytes of a budget: give one in bytes, or leave it out");
    if (o->memory != EBB_MEMORY_BUDGET && o->n_keep + o->n_drop > 0)
        return ebb_fail(
            env, EBB_USAGE,
            "values to keep or drop (%.60s) are chosen within a budget: give one, or leave them out",
            o->n_keep > 0 ? o->keep[0] : o->drop[0]);
    return check_rest(env, o);
}

ebb_status ebb_options_check_but_mode(ebb_env *env, const ebb_options *o) {
    if (o->budget_share != 0)
        return ebb_fail(env, EBB_USAGE, "a budget that is a share (%g) is for one plan: give bytes",
                        o->budget_share);
    if (o->unpacked) return ebb_fail(env, EBB_USAGE, "unpacked is for one plan: leave it out");
    return check_rest(env, o);
}

double ebb_product_tolerance(const ebb_options *options) {
    return options->tf32 ? 2e-3 : 0;
}

uint64_t ebb_options_search_seed(const ebb_options *options) {
    return options->search_seed >= 0 ? (uint64_t)options->search_seed : options->seed;
}

uint32_t ebb_options_threads(const ebb_options *options) {
    return options->n_threads > 0 ? options->n_threads : ebb_cpu_count();
}

uint64_t ebb_options_deadline_ns(const ebb_env *env, const ebb_options *options) {
    double limit_ns = options->time_limit_s * 1e9; /* at most 1e18 */
    if (limit_ns == 0) return 0;
    return ebb_clock_ns(env) +
           (limit_ns < 1 ? 1 : (uint64_t)limit_ns); /* the shortest limit is no "none" */
}

ebb_status ebb_open_backend(ebb_env *env, const ebb_options *options, ebb_backend **out) {
    /* XLA sums convolutions directly, and the plan is made with the times of such. */
    const bool by_xla = options->xla && strcmp(options->device, "cpu") == 0;
    const ebb_backend_options open = {.n_threads = ebb_options_threads(options),
                                      .tf32 = options->tf32,
                                      .direct_conv = options->direct_conv || by_xla,
                                      .free_engines = options->free_engines,
                                      .jit = options->jit,
                                      .native_bf16 = options->native_bf16,
                                      .cap_bytes = options->cap_bytes,
                                      .watch_memory = options->watch_memory};
    return ebb_backend_open(env, options->device, &open, out);
}

static bool opens(ebb_env *env, const ebb_backend_api *api) {
    ebb_backend *backend;
    if (api->create(env, &(ebb_backend_options){.n_threads = 1}, &backend) != EBB_OK) return false;
    backend->api->destroy(backend);
    return true;
}

const char *ebb_device_at(ebb_env *env, uint32_t i, bool *available, const char **why) {
    *available = false;
    *why = "";
    if (i >= ebb_n_backends) return NULL;
    const ebb_backend_api *api;
    *available = ebb_backend_load(env, &ebb_backends[i], &api) == EBB_OK && opens(env, api);
    if (!*available) *why = ebb_env_error(env);
    return ebb_backends[i].name;
}

const char *ebb_jit_variable(const char *device, int32_t opt_level) {
    const char *text = getenv("MGB_JIT_BACKEND");
    const bool makes = strcmp(device, "cpu") == 0 || ebb_device_is_apart(device);
    return text && *text && opt_level >= 3 && makes ? text : NULL;
}

/* How many a backend names. */
static uint32_t emitters_count(ebb_env *env, const ebb_backend_api *api) {
    for (uint32_t n = 0;; n++) {
        const char *name = NULL;
        char version[EBB_EMITTER_TEXT];
        (void)api->emitter(env, n, &name, version); /* one that is not there is named, too */
        if (!name) return n;
    }
}

const char *ebb_emitter_at(ebb_env *env, uint32_t i, const char **device, bool *available,
                           char what[EBB_EMITTER_WHAT]) {
    const char *name = NULL;
    char version[EBB_EMITTER_TEXT] = "";
    uint32_t at = i; /* of the backend's own */
    *available = false;
    *device = "";
    for (uint32_t b = 0; b < ebb_n_backends && !name; b++) {
        const ebb_backend_api *api;
        if (ebb_backend_load(env, &ebb_backends[b], &api) != EBB_OK || !api->emitter) continue;
        *device = ebb_backends[b].name;
        *available = api->emitter(env, at, &name, version) == EBB_OK && name;
        if (!name) at -= emitters_count(env, api);
    }
    (void)snprintf(what, EBB_EMITTER_WHAT, "%s", *available || !name ? version : ebb_env_error(env));
    return name;
}
