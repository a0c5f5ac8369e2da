/* A file that takes another's place, whichever call fails. */
#include "support.h"
#include "support/failing.h"

/* From which call on a failure is forgiven: those before it must fail. */
static int first_forgiven(ebb_env *env, const char *path, int error) {
    for (int at = 0;; at++) {
        char *got;
        size_t n;
        cr_assert_eq(ebb_file_write(env, path, "old", 3), EBB_OK);
        failing_begin(at, error);
        const ebb_status status = ebb_file_write(env, path, "new", 3);
        failing_end();
        if (status != EBB_OK) continue;
        cr_assert_eq(ebb_file_read(env, path, 100, &got, &n), EBB_OK);
        cr_expect(n == 3 && memcmp(got, "new", n) == 0, "call %d", at);
        ebb_file_free(env, got, n);
        return at;
    }
}

/* A folder that may be written into and not read, or a file system that cannot sync folders. */
Test(file_write, does_without_syncing_a_folder_that_cannot_be_synced) {
    char folder[64], path[512];
    ebb_env *env = test_env();
    test_folder(folder);
    test_path(path, folder, "plan.json");
    const int all = first_forgiven(env, path, EIO);
    cr_expect_lt(first_forgiven(env, path, EACCES), all);
    cr_expect_lt(first_forgiven(env, path, EOPNOTSUPP), all);
    cr_expect_eq(first_forgiven(env, path, ENOSPC), all);
    unlink(path);
    test_folder_end(folder);
    test_env_end(env);
}

/* A name that is not synced may be the old file's again after a crash of the machine. */
Test(file_write, syncs_the_folder_and_says_what_a_failing_call_leaves) {
    char folder[64], path[512];
    ebb_env *env = test_env();
    test_folder(folder);
    test_path(path, folder, "plan.json");
    bool synced = false;
    for (int at = 0;; at++) {
        cr_assert_eq(ebb_file_write(env, path, "old", 3), EBB_OK);
        failing_begin(at, EIO);
        const ebb_status status = ebb_file_write(env, path, "new", 3);
        failing_end();
        if (status == EBB_OK) break;
        const char *text = ebb_env_error(env);
        const bool in_place = strstr(text, "sync the folder of") != NULL;
        cr_expect_eq(strstr(text, "the file is written") != NULL, in_place, "%s", text);
        char *got;
        size_t n;
        cr_assert_eq(ebb_file_read(env, path, 100, &got, &n), EBB_OK);
        cr_expect(n == 3 && memcmp(got, in_place ? "new" : "old", n) == 0, "call %d", at);
        ebb_file_free(env, got, n);
        cr_expect_eq(test_folder_count(folder), 1, "call %d", at);
        synced = synced || in_place;
    }
    cr_expect(synced);
    unlink(path);
    test_folder_end(folder);
    test_env_end(env);
}
