/* exec/open.c: a backend by its device's name. */
#include "ebb/device.h"
#include "exec/backend.h"

/* What only the cpu backend does with its products. */
static ebb_status refuse_products(ebb_env *env, const ebb_backend_options *options, const char *device) {
    return ebb_fail(env, EBB_USAGE, "%s is of the device cpu, not %s: leave it out",
                    options->direct_conv ? "direct-conv" : "native-bf16", device);
}

bool ebb_device_is_file(const char *device) {
    const size_t n = device ? strlen(device) : 0;
    return n > 0 && (strchr(device, '/') != NULL || (n > 5 && strcmp(device + n - 5, ".json") == 0));
}

/* The row of a device that is no file; NULL: there is none. */
static const ebb_backend_row *row_of(const char *device, const char **which) {
    return ebb_device_is_file(device) ? NULL : ebb_backend_of_device(device, which);
}

bool ebb_device_is_apart(const char *device) {
    const char *which;
    if (!device) return false;
    const ebb_backend_row *row = row_of(device, &which);
    return row ? !row->api : ebb_device_is_file(device);
}

/* A device of a module: of its row, or described by a file, which is cuda's. */
static ebb_status open_apart(ebb_env *env, const char *device, const ebb_backend_options *options,
                             const ebb_backend_row *row, const char *which, ebb_backend **out) {
    const ebb_backend_api *api;
    int64_t ordinal;
    if (which && which != device && !ebb_parse_i64(which, 0, INT32_MAX, &ordinal))
        return ebb_fail(env, EBB_USAGE, "device \"%.60s\": write %s, or %s:1 for the second one", device,
                        row->name, row->name);
    const ebb_status status = ebb_backend_load(env, row, &api);
    if (status != EBB_OK) return status;
    if (options->direct_conv || options->native_bf16) return refuse_products(env, options, row->name);
    ebb_backend_options apart = *options;
    apart.n_threads = 1;
    apart.which = which;
    return api->create(env, &apart, out);
}

static ebb_status refuse_device(ebb_env *env, const char *device) {
    ebb_text known;
    ebb_text_init(&known, env);
    for (uint32_t i = 0; i < ebb_n_backends; i++) {
        const bool built_in = ebb_backends[i].api != NULL;
        ebb_text_add(&known, built_in ? "%s, " : "and %s in a module", ebb_backends[i].name);
    }
    ebb_status status = ebb_fail(env, EBB_UNAVAILABLE, "device \"%.60s\" is not in this build; it has %s",
                                 device, known.at ? known.at : "");
    ebb_text_deinit(&known);
    return status;
}

ebb_status ebb_backend_open(ebb_env *env, const char *device, const ebb_backend_options *options,
                            ebb_backend **out) {
    const char *which;
    *out = NULL;
    if (ebb_device_is_file(device))
        return open_apart(env, device, options, ebb_backend_of_device("cuda", &which), device, out);
    const ebb_backend_row *row = row_of(device, &which);
    if (!row) return refuse_device(env, device);
    if (!row->api) return open_apart(env, device, options, row, which, out);
    const ebb_backend_api *api = row->api;
    if ((options->direct_conv || options->native_bf16) && api != ebb_backend_find("cpu"))
        return refuse_products(env, options, api->name);
    if (options->jit && api != ebb_backend_find("cpu"))
        return ebb_fail(env, EBB_USAGE, "device %s makes no code: leave jit %.20s out", api->name,
                        options->jit);
    if (options->tf32 || options->free_engines || options->cap_bytes > 0 || options->watch_memory)
        return ebb_fail(env, EBB_USAGE, "device %s has no %s: that is of the device cuda", api->name,
                        options->tf32            ? "TF32"
                        : options->free_engines  ? "engines to choose among"
                        : options->cap_bytes > 0 ? "memory of its own to cap"
                                                 : "memory of its own to watch");
    return api->create(env, options, out);
}
