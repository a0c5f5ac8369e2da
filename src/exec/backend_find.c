/* exec/backend_find.c: the backends of this build by name. */
#include "exec/backend.h"

#include "ebb_build.h"

const ebb_backend_api *ebb_backend_find(const char *name) {
    const ebb_backend_api *const backends[] = {
        &ebb_backend_ref,
        &ebb_backend_shadow,
#if EBB_HAVE_CPU
        &ebb_backend_cpu,
#endif
    };
    for (size_t i = 0; i < EBB_COUNT(backends); i++) {
        if (strcmp(backends[i]->name, name) == 0) return backends[i];
    }
    return NULL;
}
