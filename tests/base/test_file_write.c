/* Writing whole files. */
#include "support.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static void expect_file(ebb_env *env, const char *path, const char *wanted, size_t n_wanted) {
    char *got = NULL;
    size_t n = 0;
    cr_assert_eq(ebb_file_read(env, path, 1 << 20, &got, &n), EBB_OK, "%s", ebb_env_error(env));
    cr_assert_eq(n, n_wanted);
    cr_expect_eq(memcmp(got, wanted, n), 0);
    ebb_file_free(env, got, n);
}

Test(file_write, replaces_the_whole_content_and_leaves_nothing_else) {
    static char bytes[70001];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)(i % 253);
    static const size_t lengths[] = {33, 70001, 0, 1, 7, 3};
    char folder[64], path[512];
    ebb_env *env = test_env();
    test_folder(folder);
    test_path(path, folder, "out.json");
    for (size_t i = 0; i < EBB_COUNT(lengths); i++) {
        cr_assert_eq(ebb_file_write(env, path, bytes, lengths[i]), EBB_OK, "%s", ebb_env_error(env));
        expect_file(env, path, bytes, lengths[i]);
        cr_expect_eq(test_folder_count(folder), 1);
    }
    unlink(path);
    test_folder_end(folder);
    test_env_end(env);
}

Test(file_write, writes_parts_in_their_order) {
    static const ebb_file_part parts[] = {{"a", 1}, {NULL, 0}, {"bcd", 3}, {"e\0f", 3}};
    char folder[64], path[512];
    ebb_env *env = test_env();
    test_folder(folder);
    test_path(path, folder, "out");
    cr_assert_eq(ebb_file_write_parts(env, path, parts, EBB_COUNT(parts)), EBB_OK, "%s",
                 ebb_env_error(env));
    expect_file(env, path, "abcde\0f", 7);
    unlink(path);
    test_folder_end(folder);
    test_env_end(env);
}

Test(file_write, writes_beside_a_path_without_a_folder) {
    char folder[64];
    ebb_env *env = test_env();
    test_folder(folder);
    cr_assert_eq(chdir(folder), 0);
    cr_expect_eq(ebb_file_write(env, "plan.json", "{}", 2), EBB_OK);
    expect_file(env, "plan.json", "{}", 2);
    cr_expect_eq(test_folder_count("."), 1);
    unlink("plan.json");
    cr_assert_eq(chdir("/"), 0);
    test_folder_end(folder);
    test_env_end(env);
}

Test(file_write, takes_the_longest_name_there_is) {
    char folder[64], path[512], name[256];
    ebb_env *env = test_env();
    test_folder(folder);
    memset(name, 'n', 255);
    name[255] = '\0';
    test_path(path, folder, name);
    cr_expect_eq(ebb_file_write(env, path, "x", 1), EBB_OK, "%s", ebb_env_error(env));
    expect_file(env, path, "x", 1);
    unlink(path);
    test_folder_end(folder);
    test_env_end(env);
}

Test(file_write, keeps_the_mode_and_follows_a_link) {
    char folder[64], path[512], link[512];
    struct stat info;
    ebb_env *env = test_env();
    test_folder(folder);
    test_path(path, folder, "real");
    test_path(link, folder, "link");
    umask(027);
    cr_assert_eq(ebb_file_write(env, path, "new", 3), EBB_OK);
    cr_assert_eq(stat(path, &info), 0);
    cr_expect_eq(info.st_mode & 0777, 0640, "%o", info.st_mode);
    cr_assert_eq(chmod(path, 0604), 0);
    cr_assert_eq(symlink("real", link), 0);
    cr_assert_eq(ebb_file_write(env, link, "through", 7), EBB_OK);
    cr_assert_eq(lstat(link, &info), 0);
    cr_expect(S_ISLNK(info.st_mode));
    cr_assert_eq(lstat(path, &info), 0);
    cr_expect(S_ISREG(info.st_mode));
    cr_expect_eq(info.st_mode & 0777, 0604, "%o", info.st_mode);
    expect_file(env, path, "through", 7);
    cr_expect_eq(test_folder_count(folder), 2);
    unlink(link);
    unlink(path);
    test_folder_end(folder);
    test_env_end(env);
}

/* A pipe stands for every kind of file that must not be replaced: it is made and lost in our own folder. */
Test(file_write, writes_into_a_named_pipe_and_does_not_replace_it, .timeout = 20) {
    char folder[64], path[512], got[8] = "";
    struct stat before, after;
    ebb_env *env = test_env();
    test_folder(folder);
    test_path(path, folder, "pipe");
    cr_assert_eq(mkfifo(path, 0600), 0);
    cr_assert_eq(stat(path, &before), 0);
    int fd = open(path, O_RDONLY | O_NONBLOCK);
    cr_assert_geq(fd, 0);
    cr_expect_eq(ebb_file_write(env, path, "flow", 4), EBB_OK, "%s", ebb_env_error(env));
    cr_expect_eq(read(fd, got, sizeof got), 4);
    cr_expect_str_eq(got, "flow");
    cr_assert_eq(stat(path, &after), 0);
    cr_expect(S_ISFIFO(after.st_mode));
    cr_expect_eq(before.st_ino, after.st_ino);
    cr_expect_eq(test_folder_count(folder), 1);
    close(fd);
    unlink(path);
    test_folder_end(folder);
    test_env_end(env);
}

static void ignore_alarm(int signal_number) {
    (void)signal_number;
}

/* Lets the pipe stay full for a while, then takes everything. */
static void *slow_reader(void *arg) {
    const int *fd = arg;
    static char bytes[4096];
    size_t n = 0;
    usleep(90000);
    for (ssize_t got; (got = read(*fd, bytes, sizeof bytes)) > 0;) n += (size_t)got;
    return (void *)(uintptr_t)n;
}

Test(file_write, goes_on_after_signals, .timeout = 20) {
    static char bytes[300007];
    ebb_env *env = test_env();
    int ends[2];
    char path[64];
    cr_assert_eq(pipe(ends), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
    sigset_t alarm_only;
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    pthread_t thread;
    cr_assert_eq(pthread_sigmask(SIG_BLOCK, &alarm_only, NULL), 0); /* the reader inherits this */
    cr_assert_eq(pthread_create(&thread, NULL, slow_reader, &ends[0]), 0);
    struct sigaction action = {.sa_handler = ignore_alarm};
    cr_assert_eq(sigaction(SIGALRM, &action, NULL), 0);
    cr_assert_eq(pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL), 0);
    ualarm(20000, 20000);
    cr_expect_eq(ebb_file_write(env, path, bytes, sizeof bytes), EBB_OK, "%s", ebb_env_error(env));
    ualarm(0, 0);
    close(ends[1]);
    void *n = NULL;
    cr_assert_eq(pthread_join(thread, &n), 0);
    cr_expect_eq((uintptr_t)n, sizeof bytes);
    test_env_end(env);
}

Test(file_write, says_that_a_device_is_full) {
    test_drop_root();
    ebb_env *env = test_env();
    cr_expect_eq(ebb_file_write(env, "/dev/full", "abc", 3), EBB_IO);
    cr_expect_not_null(strstr(ebb_env_error(env), "cannot write /dev/full: No space left on device"), "%s",
                       ebb_env_error(env));
    test_env_end(env);
}

Test(file_write, says_why_it_could_not_write) {
    char folder[64], missing[512], file[512], inside_file[512];
    static char long_path[5000];
    memset(long_path, 'p', sizeof long_path - 1);
    test_folder(folder);
    test_path(missing, folder, "no/such/plan.json");
    test_path(file, folder, "file");
    test_path(inside_file, folder, "file/plan.json");
    const struct {
        const char *path, *reason;
    } rows[] = {
        {missing, "No such file or directory"}, {folder, "Is a directory"},
        {"", "No such file or directory"},      {inside_file, "Not a directory"},
        {long_path, "File name too long"},
    };
    ebb_env *env = test_env();
    cr_assert_eq(ebb_file_write(env, file, "", 0), EBB_OK);
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        cr_expect_eq(ebb_file_write(env, rows[i].path, "abc", 3), EBB_IO, "row %zu", i);
        if (rows[i].path == long_path) continue; /* the reason is beyond the cut */
        cr_expect_not_null(strstr(ebb_env_error(env), rows[i].reason), "row %zu: %s", i,
                           ebb_env_error(env));
        cr_expect_not_null(strstr(ebb_env_error(env), rows[i].path));
    }
    cr_expect_eq(test_folder_count(folder), 1, "no temporary file is left");
    unlink(file);
    test_folder_end(folder);
    test_env_end(env);
}

/* A limit on file size stands for a disk that fills up on the way. */
Test(file_write, keeps_the_old_content_when_the_disk_is_full) {
    static char bytes[70001];
    char folder[64], path[512];
    ebb_env *env = test_env();
    test_folder(folder);
    test_path(path, folder, "plan.json");
    cr_assert_eq(ebb_file_write(env, path, "old", 3), EBB_OK);
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit before, limit;
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 4096;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ebb_status status = ebb_file_write(env, path, bytes, sizeof bytes);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
    cr_expect_eq(status, EBB_IO);
    cr_expect_not_null(strstr(ebb_env_error(env), "File too large"), "%s", ebb_env_error(env));
    expect_file(env, path, "old", 3);
    cr_expect_eq(test_folder_count(folder), 1, "the temporary file is gone");
    unlink(path);
    test_folder_end(folder);
    test_env_end(env);
}

Test(file_write, passes_by_temporary_files_that_were_left) {
    char folder[64], path[512], left[512], name[64];
    ebb_env *env = test_env();
    test_folder(folder);
    test_path(path, folder, "plan.json");
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, ".ebb-%ld-%d.tmp", (long)getpid(), i);
        test_path(left, folder, name);
        FILE *file = fopen(left, "w");
        cr_assert_not_null(file);
        fclose(file);
    }
    cr_expect_eq(ebb_file_write(env, path, "whole", 5), EBB_OK, "%s", ebb_env_error(env));
    expect_file(env, path, "whole", 5);
    cr_expect_eq(test_folder_count(folder), 4);
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, ".ebb-%ld-%d.tmp", (long)getpid(), i);
        test_path(left, folder, name);
        unlink(left);
    }
    unlink(path);
    test_folder_end(folder);
    test_env_end(env);
}

/* Standard output is put aside while a file or device stands in for it. */
static ebb_status write_to_stdout(ebb_env *env, const char *stand_in, const char *bytes, size_t n) {
    fflush(stdout);
    int kept = dup(STDOUT_FILENO);
    cr_assert_geq(kept, 0);
    FILE *file = fopen(stand_in, "wb");
    cr_assert_not_null(file);
    cr_assert_eq(dup2(fileno(file), STDOUT_FILENO), STDOUT_FILENO);
    ebb_status status = ebb_file_write(env, "-", bytes, n);
    cr_assert_eq(dup2(kept, STDOUT_FILENO), STDOUT_FILENO);
    close(kept);
    fclose(file);
    return status;
}

Test(file_write, writes_standard_output_for_a_dash) {
    char folder[64], path[512];
    ebb_env *env = test_env();
    test_folder(folder);
    test_path(path, folder, "out");
    cr_expect_eq(write_to_stdout(env, path, "a\0b", 3), EBB_OK);
    expect_file(env, path, "a\0b", 3);
    cr_expect_eq(write_to_stdout(env, "/dev/full", "abc", 3), EBB_IO);
    cr_expect_not_null(strstr(ebb_env_error(env), "cannot write standard output: No space left on device"));
    unlink(path);
    test_folder_end(folder);
    test_env_end(env);
}
