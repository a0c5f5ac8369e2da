/* Plugins that are absent, are something else, or fail: one line each. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "xla/pjrt/pjrt.h"

typedef struct fake_row {
    const char *file;
    ebb_status status;
    const char *words;
} fake_row;

static const fake_row rows[] = {
    {EBB_FAKES_DIR "/nowhere.so", EBB_UNAVAILABLE, "cannot be opened"},
    {"/proc/self/status", EBB_UNAVAILABLE, "cannot be opened"},
    {EBB_FAKES_DIR "/libplugin1.so", EBB_UNAVAILABLE, "version 0.40 of the PJRT C API; 0.81 and later"},
    {EBB_FAKES_DIR "/libplugin2.so", EBB_UNAVAILABLE, "version 1.90 of the PJRT C API"},
    {EBB_FAKES_DIR "/libplugin3.so", EBB_UNAVAILABLE, "bytes, and"},
    {EBB_FAKES_DIR "/libplugin4.so", EBB_UNAVAILABLE, "it is no PJRT plugin"},
    {EBB_FAKES_DIR "/libplugin5.so", EBB_DEVICE, "cannot start: the dog ate it"},
    {EBB_FAKES_DIR "/libplugin6.so", EBB_DEVICE, "cannot make a client: the dog ate it"},
    {EBB_FAKES_DIR "/libplugin7.so", EBB_DEVICE, "cannot compile the step: the dog ate it"},
    {EBB_FAKES_DIR "/libplugin8.so", EBB_NO_MEMORY, "cannot compile the step: the dog ate it"},
};

Test(xla, a_plugin_that_is_none_or_fails_is_told_of_in_one_line) {
    ebb_env *env;
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        ebb_pjrt *plugin = NULL;
        ebb_pjrt_program *program = NULL;
        ebb_status status = ebb_pjrt_open(env, rows[i].file, &plugin);
        if (status == EBB_OK) {
            cr_assert_eq(strcmp(ebb_pjrt_facts_of(plugin)->platform, "paper"), 0);
            status = ebb_pjrt_compile(plugin, "module {}", strlen("module {}"), &program);
        }
        const char *error = ebb_env_error(env);
        cr_assert_eq(status, rows[i].status, "%s: %s", rows[i].file, error);
        cr_assert(strstr(error, rows[i].words) && strncmp(error, "backend xla: ", 13) == 0, "%s", error);
        cr_assert(!strchr(error, '\n') && !strstr(error, "stack of calls"), "%s", error);
        cr_assert_null(program);
        ebb_pjrt_close(plugin);
    }
    cr_assert_eq(ebb_env_allocated_bytes(env), 0);
    ebb_env_destroy(env);
}

Test(xla, the_variable_names_the_plugin_and_nothing_else_is_tried) {
    ebb_env *env;
    char path[EBB_PJRT_PATH];
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    cr_assert_eq(setenv("EBB_PJRT_PLUGIN", EBB_FAKES_DIR "/libplugin4.so", 1), 0);
    cr_assert_eq(ebb_pjrt_find(env, path), EBB_OK);
    cr_assert_eq(strcmp(path, EBB_FAKES_DIR "/libplugin4.so"), 0);
    cr_assert_eq(setenv("EBB_PJRT_PLUGIN", EBB_FAKES_DIR "/nowhere.so", 1), 0);
    cr_assert_eq(ebb_pjrt_find(env, path), EBB_UNAVAILABLE);
    cr_assert(strstr(ebb_env_error(env), "nowhere.so, which cannot be read"), "%s", ebb_env_error(env));
    ebb_env_destroy(env);
}

/* The last of a prefix's Pythons, by the folder that the package makes. */
Test(xla, a_package_of_an_environment_is_found) {
    char folder[] = "/tmp/ebb_xla_XXXXXX", command[600], path[EBB_PJRT_PATH], want[EBB_PJRT_PATH];
    ebb_env *env;
    cr_assert(mkdtemp(folder));
    (void)snprintf(command, sizeof command,
                   "mkdir -p %s/lib/python3.11/site-packages/lammps_jax_pjrt_cpu && "
                   "touch %s/lib/python3.11/site-packages/lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so",
                   folder, folder);
    cr_assert_eq(system(command), 0);
    (void)snprintf(want, sizeof want,
                   "%s/lib/python3.11/site-packages/lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so", folder);
    cr_assert_eq(unsetenv("EBB_PJRT_PLUGIN"), 0);
    cr_assert_eq(setenv("VIRTUAL_ENV", folder, 1), 0);
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    cr_assert_eq(ebb_pjrt_find(env, path), EBB_OK, "%s", ebb_env_error(env));
    cr_assert_eq(strcmp(path, want), 0, "%s", path);
    ebb_env_destroy(env);
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}
