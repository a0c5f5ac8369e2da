/* What the base tests share. */
#include "support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/skip.h"

ebb_env *test_env_create(scarce_memory *memory, uint64_t fail_at) {
    *memory = (scarce_memory){.fail_at = fail_at, .once = true};
    ebb_env *env = NULL;
    ebb_status status = scarce_env_create(memory, &env);
    cr_assert_eq(status, fail_at == 0 ? EBB_NO_MEMORY : EBB_OK);
    cr_assert_eq(env == NULL, fail_at == 0);
    return env;
}

ebb_env *test_env(void) {
    ebb_env *env = NULL;
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    cr_assert_not_null(env);
    return env;
}

void test_env_end(ebb_env *env) {
    cr_assert_eq(ebb_env_allocated_bytes(env), 0, "%zu bytes were left", ebb_env_allocated_bytes(env));
    ebb_env_destroy(env);
}

void test_folder(char path[64]) {
    const char *base = getenv("TMPDIR");
    if (base == NULL || strlen(base) > 40) base = "/tmp";
    snprintf(path, 64, "%s/ebb-test-XXXXXX", base);
    cr_assert_not_null(mkdtemp(path));
}

void test_folder_end(const char *path) {
    cr_assert_eq(rmdir(path), 0, "%s is not empty", path);
}

void test_path(char path[512], const char *folder, const char *name) {
    cr_assert_lt(snprintf(path, 512, "%s/%s", folder, name), 512);
}

size_t test_folder_count(const char *path) {
    DIR *dir = opendir(path);
    cr_assert_not_null(dir);
    size_t n = 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(dir);
    return n;
}

void test_drop_root(void) {
    enum { NOBODY = 65534 };
    if (geteuid() != 0) return;
    if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0) TEST_SKIP("root cannot be given up here");
    cr_assert_neq(geteuid(), 0);
}
