/* exec/module.c: finds and opens backends in modules. */
#define _GNU_SOURCE /* dladdr */
#include "exec/module.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The file beside the one that this function is in; false when that is not known or too long. */
static bool path_beside(const char *file, char path[PATH_MAX]) {
    Dl_info self;
    void *here;
    bool (*const me)(const char *, char[PATH_MAX]) = path_beside;
    memcpy(&here, &me, sizeof here);
    if (!dladdr(here, &self) || !self.dli_fname) return false;
    /* A program that was found by PATH may be known by its bare name, which says nothing of its folder. */
    const char *slash = strrchr(self.dli_fname, '/');
    if (!slash) return false;
    const int folder = (int)(slash - self.dli_fname);
    const int n = snprintf(path, PATH_MAX, "%.*s/%s", folder, self.dli_fname, file);
    return n > 0 && n < PATH_MAX;
}

/* EBB_CUDA_MODULE, for cuda; NULL when it is not set. An empty variable is none. */
static const char *from_variable(const char *name) {
    char variable[64];
    (void)snprintf(variable, sizeof variable, "EBB_%.40s_MODULE", name);
    ebb_word_to_upper(variable);
    const char *path = getenv(variable);
    return path && *path ? path : NULL;
}

/* Code of a driver that has started does not like to go, and tables of the module are held by backends: so
 * it stays, and no handle is owned by anybody. */
static void *open_file(const char *path) {
    return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

ebb_status ebb_module_open(ebb_env *env, const char *of, const char *name, void **out) {
    char file[80], path[PATH_MAX];
    const char *asked = from_variable(name);
    (void)snprintf(file, sizeof file, "libebb_%.40s.so", name);
    if (asked) {
        *out = open_file(asked);
    } else {
        const bool beside = path_beside(file, path) && access(path, F_OK) == 0;
        *out = open_file(beside ? path : file);
    }
    if (*out) return EBB_OK;
    const char *why = dlerror();
    return ebb_fail(env, EBB_UNAVAILABLE,
                    "%s: its module cannot be opened: %s; a whole build makes it where meson finds "
                    "what it needs (-D%s=enabled says what is missing)",
                    of, why ? why : file, name);
}

static ebb_status check_build(ebb_env *env, const char *name, const ebb_module *module) {
    const size_t sizes[EBB_MODULE_N_SIZES] = EBB_MODULE_SIZES;
    if (module->bytes != sizeof *module)
        return ebb_fail(env, EBB_UNAVAILABLE,
                        "device %s: its module is of another build: install both of one", name);
    if (strcmp(module->version, EBB_VERSION) != 0)
        return ebb_fail(
            env, EBB_UNAVAILABLE,
            "device %s: its module is of version %.40s, this library of %s: install both of one", name,
            module->version, EBB_VERSION);
    if (memcmp(module->sizes, sizes, sizeof sizes) != 0 || strcmp(module->ops, ebb_module_ops) != 0)
        return ebb_fail(env, EBB_UNAVAILABLE,
                        "device %s: its module is of another build of version %s: install both of one",
                        name, EBB_VERSION);
    return EBB_OK;
}

ebb_status ebb_module_find(ebb_env *env, const char *name, const ebb_backend_api **out) {
    char symbol[80], of[64];
    void *library = NULL;
    *out = NULL;
    (void)snprintf(of, sizeof of, "device %.40s", name);
    ebb_status status = ebb_module_open(env, of, name, &library);
    if (!library) return status;
    (void)snprintf(symbol, sizeof symbol, "ebb_module_%.40s", name);
    const ebb_module *module = dlsym(library, symbol);
    if (module) {
        status = check_build(env, name, module);
        if (status == EBB_OK) *out = module->api;
    } else {
        status = ebb_fail(env, EBB_UNAVAILABLE, "device %s: its module has no %s: it is another library",
                          name, symbol);
    }
    (void)dlclose(library); /* stays, as open_file says */
    return status;
}
