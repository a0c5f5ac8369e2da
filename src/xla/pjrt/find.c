/* xla/pjrt/find.c: where a plugin's file is. */
#include "xla/pjrt/pjrt.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Files of packages of the Python package index that hold a plugin for this machine's processor. */
static const char *const packages[] = {
    "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so",
    "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so",
};

static bool try_file(const char *folder, const char *below, const char *file, char path[EBB_PJRT_PATH]) {
    const int n = snprintf(path, EBB_PJRT_PATH, "%s/%s/%s", folder, below, file);
    return n > 0 && n < EBB_PJRT_PATH && access(path, R_OK) == 0;
}

/* In <prefix>/lib/python3.N/site-packages; of several, of the first package, the last name. */
static bool try_prefix(const char *prefix, char path[EBB_PJRT_PATH]) {
    static const char *const folders[] = {"site-packages", "dist-packages"};
    char lib[EBB_PJRT_PATH], best[EBB_PJRT_PATH] = "";
    const int n = snprintf(lib, sizeof lib, "%s/lib", prefix);
    DIR *dir = n > 0 && n < (int)sizeof lib ? opendir(lib) : NULL;
    for (const struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir)) {
        if (strncmp(entry->d_name, "python3", 7) != 0) continue;
        for (size_t k = 0; k < EBB_COUNT(folders); k++) {
            char below[300];
            (void)snprintf(below, sizeof below, "%s/%s", entry->d_name, folders[k]);
            for (size_t p = 0; p < EBB_COUNT(packages); p++) {
                if (!try_file(lib, below, packages[p], path)) continue;
                if (strcmp(path, best) > 0) memcpy(best, path, sizeof best);
                break;
            }
        }
    }
    if (dir) (void)closedir(dir);
    memcpy(path, best, sizeof best);
    return best[0] != '\0';
}

ebb_status ebb_pjrt_find(ebb_env *env, char path[EBB_PJRT_PATH]) {
    const char *asked = getenv("EBB_PJRT_PLUGIN");
    if (asked && *asked) {
        const int n = snprintf(path, EBB_PJRT_PATH, "%s", asked);
        if (n > 0 && n < EBB_PJRT_PATH && access(path, R_OK) == 0) return EBB_OK;
        return ebb_fail(
            env, EBB_UNAVAILABLE,
            "backend xla: EBB_PJRT_PLUGIN is %.300s, which cannot be read: name a plugin's file", asked);
    }
    const char *home = getenv("HOME");
    char local[EBB_PJRT_PATH] = "";
    if (home) (void)snprintf(local, sizeof local, "%.900s/.local", home);
    const char *const prefixes[] = {getenv("VIRTUAL_ENV"), local, "/usr/local", "/usr"};
    for (size_t i = 0; i < EBB_COUNT(prefixes); i++)
        if (prefixes[i] && *prefixes[i] && try_prefix(prefixes[i], path)) return EBB_OK;
    return ebb_fail(
        env, EBB_UNAVAILABLE,
        "backend xla: no PJRT plugin is here: pip install --no-deps lammps-jax-pjrt-cpu, or set "
        "EBB_PJRT_PLUGIN to a plugin's file");
}
