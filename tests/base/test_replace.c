/* A file that takes another's place, whichever call fails. */
#include "support.h"
#include "support/failing.h"

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
