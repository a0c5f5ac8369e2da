/* xla/pjrt/open.c: a file becomes a plugin: its table, its version, its client. */
#include "xla/pjrt/plugin.h"

#include <dlfcn.h>
#include <stdio.h>

enum { OLDEST_MINOR = 81 }; /* of version 0: the oldest that this was tried with */

static ebb_status check_version(ebb_env *env, const char *path, const pjrt_api *api) {
    const size_t least = offsetof(pjrt_api, function) + PJRT_N_FUNCTIONS * sizeof api->function[0];
    /* The version's place has never changed; whether the rest is there is what its size says. */
    if (api->bytes >= offsetof(pjrt_api, function) &&
        (api->version.major != 0 || api->version.minor < OLDEST_MINOR))
        return ebb_fail(
            env, EBB_UNAVAILABLE,
            "backend xla: %.300s has version %d.%d of the PJRT C API; 0.%d and later ones of 0 are "
            "known: take a newer plugin",
            path, api->version.major, api->version.minor, OLDEST_MINOR);
    if (api->bytes < least)
        return ebb_fail(env, EBB_UNAVAILABLE,
                        "backend xla: the table of %.300s has %zu bytes, and %zu are needed: it is broken",
                        path, api->bytes, least);
    return EBB_OK;
}

/* Its threads and handlers do not like to go: the file stays, and no handle is owned by anybody. */
static ebb_status open_table(ebb_env *env, const char *path, const pjrt_api **out) {
    const pjrt_api *(*get)(void);
    *out = NULL;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
        const char *why = dlerror();
        return ebb_fail(env, EBB_UNAVAILABLE, "backend xla: the plugin cannot be opened: %.500s",
                        why ? why : path);
    }
    void *symbol = dlsym(library, "GetPjrtApi");
    memcpy(&get, &symbol, sizeof get);
    (void)dlclose(library);
    if (symbol) *out = get();
    if (*out) return check_version(env, path, *out);
    return ebb_fail(env, EBB_UNAVAILABLE,
                    "backend xla: %.300s has no table of GetPjrtApi: it is no PJRT plugin", path);
}

ebb_status ebb_pjrt_look(ebb_env *env, const char *path, ebb_pjrt_facts *out) {
    const pjrt_api *api;
    const ebb_status status = open_table(env, path, &api);
    *out = (ebb_pjrt_facts){0};
    if (!status) out->major = api->version.major, out->minor = api->version.minor;
    return status;
}

static ebb_status begin(ebb_env *env, const char *path, ebb_pjrt **out) {
    const pjrt_api *api;
    *out = NULL;
    ebb_status status = open_table(env, path, &api);
    if (status) return status;
    ebb_pjrt *plugin = ebb_calloc(env, 1, sizeof *plugin);
    if (!plugin) return EBB_NO_MEMORY;
    *plugin = (ebb_pjrt){
        .env = env, .api = api, .facts = {.major = api->version.major, .minor = api->version.minor}};
    pjrt_object nothing = {0};
    status = PJRT_CALL(plugin, "start", PJRT_PLUGIN_INITIALIZE, &nothing);
    if (status)
        ebb_pjrt_close(plugin);
    else
        *out = plugin;
    return status;
}

static ebb_status make_client(ebb_pjrt *plugin) {
    pjrt_client_create create = {0};
    ebb_status status = PJRT_CALL(plugin, "make a client", PJRT_CLIENT_CREATE, &create);
    if (status) return status;
    plugin->client = create.client;
    pjrt_platform platform = {.client = plugin->client};
    status = PJRT_CALL(plugin, "name its platform", PJRT_CLIENT_PLATFORM, &platform);
    if (status) return status;
    (void)snprintf(plugin->facts.platform, sizeof plugin->facts.platform, "%.*s", (int)platform.n,
                   platform.name);
    pjrt_devices devices = {.client = plugin->client};
    status = PJRT_CALL(plugin, "list its devices", PJRT_CLIENT_DEVICES, &devices);
    if (!status && devices.n == 0)
        status = ebb_fail(plugin->env, EBB_UNAVAILABLE, "backend xla: the plugin has no device here");
    if (!status) plugin->device = devices.at[0];
    return status;
}

ebb_status ebb_pjrt_open(ebb_env *env, const char *path, ebb_pjrt **out) {
    ebb_status status = begin(env, path, out);
    if (!status) status = make_client(*out);
    if (!status) return EBB_OK;
    ebb_pjrt_close(*out);
    *out = NULL;
    return status;
}

static pjrt_named text_option(const char *name, const char *text) {
    return (pjrt_named){.bytes = sizeof(pjrt_named),
                        .name = name,
                        .n_name = strlen(name),
                        .value.text = text,
                        .n_value = strlen(text)};
}

ebb_status ebb_pjrt_open_described(ebb_env *env, const char *path, const char *target, ebb_pjrt **out) {
    ebb_status status = begin(env, path, out);
    if (status) return status;
    const pjrt_named options[] = {text_option("target_config", target), text_option("topology", "1x1x1")};
    pjrt_topology topology = {.options = options, .n_options = EBB_COUNT(options)};
    status = PJRT_CALL(*out, "take the device's description", PJRT_TOPOLOGY_CREATE, &topology);
    if (!status) {
        (*out)->topology = topology.topology;
        return EBB_OK;
    }
    ebb_pjrt_close(*out);
    *out = NULL;
    return status;
}

void ebb_pjrt_close(ebb_pjrt *plugin) {
    if (!plugin) return;
    pjrt_drop(plugin, PJRT_TOPOLOGY_DESTROY, plugin->topology);
    pjrt_drop(plugin, PJRT_CLIENT_DESTROY, plugin->client);
    ebb_cfree(plugin->env, plugin, 1, sizeof *plugin);
}

const ebb_pjrt_facts *ebb_pjrt_facts_of(const ebb_pjrt *plugin) {
    return &plugin->facts;
}
