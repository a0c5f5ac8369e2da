/* exec/backend_find.c: the table of backends, and a backend by its name. */
#include "exec/module.h"

#include "ebb_build.h"

#define EBB_BACKEND(name) extern const ebb_backend_api ebb_backend_##name;
#define EBB_BACKEND_MODULE(name)
#include "exec/backends.def"

const ebb_backend_row ebb_backends[] = {
#define EBB_BACKEND(name)        {#name, &ebb_backend_##name},
#define EBB_BACKEND_MODULE(name) {#name, NULL},
#include "exec/backends.def"
};
const uint32_t ebb_n_backends = EBB_COUNT(ebb_backends);

const ebb_backend_api *ebb_backend_find(const char *name) {
    for (uint32_t i = 0; i < ebb_n_backends; i++) {
        if (strcmp(ebb_backends[i].name, name) == 0) return ebb_backends[i].api;
    }
    return NULL;
}

const ebb_backend_row *ebb_backend_of_device(const char *device, const char **which) {
    const size_t n = strcspn(device, ":");
    *which = device[n] == ':' ? device + n + 1 : NULL;
    for (uint32_t i = 0; i < ebb_n_backends; i++) {
        const ebb_backend_row *row = &ebb_backends[i];
        if (strlen(row->name) != n || strncmp(row->name, device, n) != 0) continue;
        return row->api && *which ? NULL : row;
    }
    return NULL;
}

ebb_status ebb_backend_load(ebb_env *env, const ebb_backend_row *row, const ebb_backend_api **out) {
    *out = row->api;
    return row->api ? EBB_OK : ebb_module_find(env, row->name, out);
}
