/* Folders, and what is found in them. */
#include "support.h"

#include <sys/stat.h>
#include <unistd.h>

Test(folder, is_made_once_and_used_afterwards) {
    char folder[64], path[512];
    ebb_env *env = test_env();
    test_folder(folder);
    test_path(path, folder, "made");
    for (int i = 0; i < 2; i++) cr_assert_eq(ebb_folder_make(env, path), EBB_OK, "%s", ebb_env_error(env));
    cr_expect_eq(test_folder_count(folder), 1);
    cr_assert_eq(ebb_folder_check_writable(env, path), EBB_OK);
    cr_assert_eq(rmdir(path), 0);
    test_folder_end(folder);
    test_env_end(env);
}

Test(folder, that_cannot_be_is_an_error_that_names_it) {
    char folder[64], path[512];
    ebb_env *env = test_env();
    test_folder(folder);
    test_path(path, folder, "no/where");
    cr_assert_eq(ebb_folder_make(env, path), EBB_IO);
    cr_expect_not_null(strstr(ebb_env_error(env), "no/where: No such file"));
    test_path(path, folder, "file");
    cr_assert_eq(ebb_file_write(env, path, "x", 1), EBB_OK);
    cr_assert_eq(ebb_folder_make(env, path), EBB_IO);
    cr_expect_not_null(strstr(ebb_env_error(env), "file: Not a directory"));
    unlink(path);
    test_folder_end(folder);
    test_env_end(env);
}

Test(folder, that_is_closed_to_us_is_no_place_to_write) {
    char folder[64], path[512];
    test_folder(folder);
    test_path(path, folder, "closed");
    cr_assert_eq(mkdir(path, 0555), 0);
    cr_assert_eq(chmod(folder, 0755), 0);
    test_drop_root();
    ebb_env *env = test_env();
    cr_assert_eq(ebb_folder_check_writable(env, path), EBB_IO);
    cr_expect_not_null(strstr(ebb_env_error(env), "closed: Permission denied"));
    test_env_end(env);
    (void)rmdir(path);
}

Test(folder, has_files_and_other_things) {
    char folder[64], path[512];
    bool found = true;
    ebb_env *env = test_env();
    test_folder(folder);
    test_path(path, folder, "nothing");
    cr_assert_eq(ebb_file_find(env, path, &found), EBB_OK);
    cr_expect_not(found);
    test_path(path, folder, "file");
    cr_assert_eq(ebb_file_write(env, path, "x", 1), EBB_OK);
    cr_assert_eq(ebb_file_find(env, path, &found), EBB_OK);
    cr_expect(found);
    unlink(path);
    cr_assert_eq(mkfifo(path, 0600), 0); /* opening it would wait for a writer */
    cr_assert_eq(ebb_file_find(env, path, &found), EBB_IO);
    cr_expect_not(found);
    cr_expect_not_null(strstr(ebb_env_error(env), "is no file"));
    unlink(path);
    test_folder_end(folder);
    test_env_end(env);
}
