/* A look at this machine: what its processor makes of one small model, kept in a file. */
#include "engine/compile/compile.h"
#include "probe_models.h"

#include <stdio.h>

/* Increase it when kernels, or their built-in rates, have changed so much that an earlier look misleads. */
#define LOOK_VERSION 2

/* Each value has bytes of its own, so that no cache holds a step: its ops find memory as those of a large
 * one do. */
static ebb_status look(ebb_env *env, const ebb_options *options, ebb_costs **out) {
    const ebb_measure_request request = {.n_runs = 4, .look = true};
    ebb_options o;
    ebb_model *model = NULL;
    ebb_options_init(&o);
    o.device = options->device;
    o.n_threads = options->n_threads;
    o.memory = EBB_MEMORY_NONE;
    o.direct_conv = options->direct_conv;
    ebb_status status = ebb_model_parse(env, "probe_host", probe_host, sizeof probe_host - 1, &model);
    if (status == EBB_OK) status = ebb_measure(env, model, NULL, 0, &o, &request, out);
    ebb_model_destroy(model);
    return status;
}

/* Where it is kept: EBB_USAGE for devices that have times of their own. */
static ebb_status name_file(ebb_env *env, const ebb_options *options, const char *folder, char *path,
                            size_t size) {
    char machine[EBB_MACHINE_TEXT], limits[EBB_MACHINE_TEXT] = "", text[EBB_HASH_TEXT];
    ebb_backend *backend;
    ebb_hash hash;
    const ebb_backend_options wanted = {.n_threads = ebb_options_threads(options),
                                        .direct_conv = options->direct_conv};
    ebb_status status = ebb_backend_open(env, options->device, &wanted, &backend);
    if (status != EBB_OK) return status;
    if (backend->api->machine || !backend->api->computes)
        status = ebb_fail(env, EBB_USAGE,
                          "device %.40s is not this host's processor: measure its ops (`ebb bench --ops`)",
                          options->device);
    ebb_machine_text(machine);
    if (backend->api->limits) backend->api->limits(backend, limits);
    const int version = LOOK_VERSION;
    ebb_hash_init(&hash);
    ebb_hash_add(&hash, &version, sizeof version);
    ebb_hash_add(&hash, backend->api->name, strlen(backend->api->name) + 1);
    ebb_hash_add(&hash, &backend->n_threads, sizeof backend->n_threads);
    ebb_hash_add(&hash, machine, strlen(machine) + 1);
    ebb_hash_add(&hash, limits, strlen(limits) + 1);
    ebb_hash_add(&hash, EBB_VERSION, strlen(EBB_VERSION));
    ebb_hash_add(&hash, probe_host, sizeof probe_host);
    backend->api->destroy(backend);
    if (status != EBB_OK || !folder) return status;
    const int n = snprintf(path, size, "%s/host-%s.json", folder, ebb_hash_text(&hash, text));
    if (n > 0 && (size_t)n < size) return EBB_OK;
    return ebb_fail(env, EBB_IO, "cannot use folder %.60s...: its path is longer than %zu bytes", folder,
                    size);
}

static bool was_busy(const ebb_costs *costs) {
    ebb_costs_summary s;
    ebb_costs_summarize(costs, &s);
    return (double)s.median_ns > 1.3 * (double)s.least_ns;
}

ebb_status ebb_measure_host(ebb_env *env, const ebb_options *options, const char *folder, ebb_costs **out) {
    char path[4096];
    bool found = false;
    *out = NULL;
    ebb_status status = name_file(env, options, folder, path, sizeof path);
    if (status == EBB_OK && folder) status = ebb_folder_make(env, folder);
    if (status == EBB_OK && folder) status = ebb_file_find(env, path, &found);
    if (status == EBB_OK && found) return ebb_costs_read(env, path, out);
    if (status == EBB_OK) status = look(env, options, out);
    if (status == EBB_OK && folder && !was_busy(*out)) status = ebb_costs_write(env, *out, path);
    if (status == EBB_OK) return EBB_OK;
    ebb_costs_destroy(*out);
    *out = NULL;
    return status;
}
