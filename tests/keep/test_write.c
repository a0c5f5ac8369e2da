/* A write that fails leaves what was there, at whichever call it fails. */
#include <stdio.h>
#include <sys/stat.h>

#include "ebb_build.h"
#include "files.h"
#include "support/failing.h"
#if EBB_HAVE_JANSSON
#include <jansson.h>
#include <stdlib.h>
#endif

static ebb_status watched_write(ebb_env *env, const char *path, const files_set *set, int at, int error) {
    failing_begin(at, error);
    const ebb_status status = files_write(env, path, set);
    failing_end();
    return status;
}

Test(tensors, a_write_that_fails_leaves_the_old_file_whole_and_nothing_beside_it) {
    static const int errors[] = {ENOSPC, EIO, EDQUOT};
    static char before[FILES_MAX], after[FILES_MAX];
    char folder[64], path[512];
    files_set old, new;
    test_folder(folder);
    test_path(path, folder, "a.safetensors");
    ebb_env *env = test_env();
    files_fill(1, &old);
    cr_assert_eq(files_write(env, path, &old), EBB_OK);
    const size_t n = files_get(path, before);
    files_fill(0, &new);
    for (size_t e = 0; e < EBB_COUNT(errors); e++) {
        int at = 0;
        for (;; at++) {
            if (watched_write(env, path, &new, at, errors[e]) == EBB_OK) break;
            cr_expect_eq(test_folder_count(folder), 1, "call %d", at);
            const char *text = ebb_env_error(env);
            cr_expect(strstr(text, path) && !strchr(text, '\n'), "%s", text);
            const size_t n_after = files_get(path, after);
            const bool in_place = strstr(text, "sync the folder"); /* by then */
            cr_expect_eq(strstr(text, "the file is written") != NULL, in_place, "%s", text);
            if (in_place) continue;
            cr_assert(n_after == n && memcmp(before, after, n) == 0, "call %d", at);
        }
        cr_expect_gt(at, 8); /* truncate, pieces, two syncs, rename */
        cr_assert_eq(files_write(env, path, &old), EBB_OK);
    }
    unlink(path);
    test_folder_end(folder);
    test_env_end(env);
}

Test(tensors, a_write_follows_a_link_and_keeps_the_mode) {
    char folder[64], path[512], link[512];
    struct stat info;
    files_set old, new;
    test_folder(folder);
    test_path(path, folder, "a.safetensors");
    test_path(link, folder, "newest.safetensors");
    ebb_env *env = test_env();
    files_fill(1, &old);
    cr_assert_eq(files_write(env, path, &old), EBB_OK);
    cr_assert_eq(chmod(path, 0604), 0);
    cr_assert_eq(symlink("a.safetensors", link), 0);
    files_fill(0, &new);
    cr_assert_eq(files_write(env, link, &new), EBB_OK, "%s", ebb_env_error(env));
    cr_assert_eq(lstat(link, &info), 0);
    cr_expect(S_ISLNK(info.st_mode));
    cr_assert_eq(lstat(path, &info), 0);
    cr_expect(S_ISREG(info.st_mode));
    cr_expect_eq(info.st_mode & 0777, 0604, "%o", info.st_mode);
    cr_expect_eq(files_read(env, path), EBB_OK, "%s", ebb_env_error(env));
    cr_expect_eq(test_folder_count(folder), 2);
    unlink(link);
    unlink(path);
    test_folder_end(folder);
    test_env_end(env);
}

Test(tensors, a_read_that_fails_says_so) {
    char folder[64], path[512];
    files_set set;
    test_folder(folder);
    test_path(path, folder, "a.safetensors");
    ebb_env *env = test_env();
    files_fill(0, &set);
    cr_assert_eq(files_write(env, path, &set), EBB_OK);
    ebb_status status = EBB_IO;
    for (int at = 0; status == EBB_IO; at++) {
        failing_begin(at, EIO);
        status = files_read(env, path);
        failing_end();
        cr_assert(status == EBB_OK || status == EBB_IO, "%s", ebb_env_error(env));
        cr_assert(status == EBB_IO || at > 4);
    }
    unlink(path);
    test_folder_end(folder);
    test_env_end(env);
}

Test(tensors, what_cannot_be_written_is_refused) {
    char folder[64], path[512], there[520];
    files_set set;
    test_folder(folder);
    test_path(path, folder, "a.safetensors");
    ebb_env *env = test_env();
    files_fill(0, &set);
    (void)snprintf(there, sizeof there, "%.500s/x", path); /* no such folder */
    cr_expect_eq(files_write(env, there, &set), EBB_IO);
    cr_expect_eq(files_write(env, "", &set), EBB_IO);
    set.rows[1].name = set.rows[0].name;
    cr_expect_eq(files_write(env, path, &set), EBB_USAGE);
    cr_expect(strstr(ebb_env_error(env), "conv1.w"), "%s", ebb_env_error(env));
    set.rows[1].name = "__metadata__";
    cr_expect_eq(files_write(env, path, &set), EBB_USAGE);
    set.rows[1].name = "x";
    set.rows[1].bytes++;
    cr_expect_eq(files_write(env, path, &set), EBB_USAGE);
    test_folder_end(folder);
    test_drop_root();
    files_fill(0, &set);
    cr_expect_eq(files_write(env, "/a.safetensors", &set), EBB_IO);
    test_env_end(env);
}

Test(tensors, two_jobs_on_one_path_do_not_mix) {
    char folder[64], path[512], temporary[520];
    files_set set;
    test_folder(folder);
    test_path(path, folder, "a.safetensors");
    (void)snprintf(temporary, sizeof temporary, "%s.tmp", path);
    ebb_env *env = test_env();
    files_fill(0, &set);
    files_put(temporary, "left by one that was killed", 27);
    cr_assert_eq(files_write(env, path, &set), EBB_OK, "%s", ebb_env_error(env));
    cr_expect_eq(files_read(env, path), EBB_OK);
    ebb_keep_job *jobs[4] = {NULL};
    uint32_t n_done = 0;
    for (size_t round = 0; round < 5; round++) {
        for (size_t i = 0; i < EBB_COUNT(jobs); i++)
            cr_assert_eq(ebb_keep_job_begin(env, path, set.rows, set.data, set.n, NULL, 0, &jobs[i]),
                         EBB_OK);
        for (size_t i = 0; i < EBB_COUNT(jobs); i++) {
            const ebb_status status = ebb_keep_job_end(jobs[i]);
            cr_assert(status == EBB_OK || status == EBB_IO);
            n_done += status == EBB_OK;
        }
        cr_assert_eq(files_read(env, path), EBB_OK, "%s", ebb_env_error(env));
    }
    cr_expect_geq(n_done, 5);
    cr_expect_eq(test_folder_count(folder), 1);
    unlink(path);
    test_folder_end(folder);
    test_env_end(env);
}

Test(tensors, every_refused_allocation_is_reported_and_leaks_nothing) {
    char folder[64], path[512];
    files_set set;
    test_folder(folder);
    test_path(path, folder, "a.safetensors");
    files_fill(0, &set);
    for (int reading = 0; reading < 2; reading++) {
        scarce_memory memory;
        ebb_status status = EBB_NO_MEMORY;
        uint64_t n = 0;
        for (; status != EBB_OK; n++) {
            ebb_env *env = test_env_create(&memory, n + 1);
            status = reading ? files_read(env, path) : files_write(env, path, &set);
            const bool refused = memory.n_calls > memory.fail_at;
            cr_assert_eq(status, refused ? EBB_NO_MEMORY : EBB_OK, "allocation %llu: %s",
                         (unsigned long long)n, ebb_env_error(env));
            test_env_end(env);
            cr_expect_eq(memory.n_live, 0);
            cr_expect_eq(memory.n_wrong_frees, 0);
            if (!reading && status != EBB_OK) cr_expect_eq(test_folder_count(folder), 0);
        }
        cr_expect_geq(n, 4);
    }
    unlink(path);
    test_folder_end(folder);
}

#if EBB_HAVE_JANSSON
static int64_t json_left, json_live;
static void *json_malloc(size_t n) {
    if (json_left-- == 0) return NULL;
    json_live++;
    return malloc(n);
}
static void json_release(void *at) {
    json_live -= at != NULL;
    free(at);
}

Test(tensors, every_refused_allocation_of_the_parser_is_survived_and_leaks_nothing) {
    char folder[64], path[512];
    files_set set;
    test_folder(folder);
    test_path(path, folder, "a.safetensors");
    files_fill(0, &set);
    ebb_env *env = test_env();
    cr_assert_eq(files_write(env, path, &set), EBB_OK);
    json_set_alloc_funcs(json_malloc, json_release);
    ebb_status status;
    int64_t n = 0;
    do { /* jansson tells a refused string as a wrong one, or loses a byte of it: never more than that */
        json_left = n++;
        status = files_read(env, path);
        cr_assert(status == EBB_OK || status == EBB_NO_MEMORY || status == EBB_BAD_INPUT,
                  "allocation %lld: %s", (long long)n, ebb_env_error(env));
        cr_expect_eq(json_live, 0);
    } while (json_left < 0);
    cr_expect_eq(status, EBB_OK);
    cr_expect_gt(n, 20);
    json_set_alloc_funcs(malloc, free);
    unlink(path);
    test_folder_end(folder);
    test_env_end(env);
}
#endif
