/* A shelf gives back what was put on it, whole, or nothing: whatever lies there, and whoever else is at it.
 */
#include "support.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const ebb_hash key = {UINT64_C(0x0123456789abcdef), 7};
#define KEY_TEXT "0123456789abcdef0000000000000007"

typedef struct fixture {
    ebb_env *env;
    char folder[64], inner[512], entry[512];
    ebb_shelf shelf;
} fixture;

static void begin(fixture *f) {
    f->env = test_env();
    test_folder(f->folder);
    cr_assert_eq(setenv("XDG_CACHE_HOME", f->folder, 1), 0);
    ebb_shelf_open(&f->shelf, f->env, "code");
    test_path(f->inner, f->folder, "ebb/code");
    test_path(f->entry, f->folder, "ebb/code/" KEY_TEXT);
}

static void end(fixture *f) {
    char path[800];
    ebb_shelf_close(&f->shelf);
    DIR *entries = opendir(f->inner);
    for (const struct dirent *d; entries && (d = readdir(entries)) != NULL;) {
        (void)snprintf(path, sizeof path, "%s/%s", f->inner, d->d_name);
        if (d->d_name[0] != '.') (void)unlink(path);
    }
    if (entries) (void)closedir(entries);
    (void)rmdir(f->inner);
    test_path(path, f->folder, "ebb");
    (void)rmdir(path);
    test_folder_end(f->folder);
    test_env_end(f->env);
}

static bool holds(fixture *f, const char *want, size_t n_want) {
    char left, *bytes = &left;
    size_t n = 7;
    if (!ebb_shelf_find(&f->shelf, &key, &bytes, &n)) {
        cr_expect(bytes == NULL && n == 0);
        return false;
    }
    const bool same = n == n_want && memcmp(bytes, want, n) == 0;
    ebb_file_free(f->env, bytes, n);
    return same;
}

Test(shelf, gives_back_what_was_put_there) {
    fixture f;
    struct stat info;
    begin(&f);
    cr_assert_geq(f.shelf.folder, 0);
    cr_expect_not(holds(&f, "", 0));
    ebb_shelf_keep(&f.shelf, &key, "", 0);
    cr_expect(holds(&f, "", 0));
    ebb_shelf_keep(&f.shelf, &key, "code\0code", 9);
    cr_expect(holds(&f, "code\0code", 9));
    cr_assert_eq(stat(f.inner, &info), 0);
    cr_expect_eq(info.st_mode & 0777, 0700);
    cr_assert_eq(stat(f.entry, &info), 0);
    cr_expect_eq(info.st_mode & 0777, 0600);
    cr_expect_eq(test_folder_count(f.inner), 1);
    end(&f);
}

Test(shelf, removes_what_is_damaged) {
    fixture f;
    struct stat info;
    begin(&f);
    ebb_shelf_keep(&f.shelf, &key, "abc", 3);
    cr_assert_eq(stat(f.entry, &info), 0);
    /* Each byte of it changed; each length that it can be cut to; a byte more. */
    for (off_t at = 0; at < 2 * info.st_size + 1; at++) {
        char byte;
        ebb_shelf_keep(&f.shelf, &key, "abc", 3);
        const int fd = open(f.entry, O_RDWR);
        cr_assert_geq(fd, 0);
        if (at < info.st_size) {
            cr_assert_eq(pread(fd, &byte, 1, at), 1);
            byte ^= 0x10;
            cr_assert_eq(pwrite(fd, &byte, 1, at), 1);
        } else {
            cr_assert_eq(ftruncate(fd, at == 2 * info.st_size ? info.st_size + 1 : at - info.st_size), 0);
        }
        (void)close(fd);
        cr_expect_not(holds(&f, "abc", 3), "damage %lld", (long long)at);
        cr_expect_eq(access(f.entry, F_OK), -1);
    }
    ebb_shelf_keep(&f.shelf, &key, "abc", 3);
    cr_expect(holds(&f, "abc", 3), "made anew");
    end(&f);
}

/* Code lies there: nobody else may have put it. */
Test(shelf, trusts_nothing_that_others_can_change) {
    fixture f;
    char other[512];
    begin(&f);
    ebb_shelf_keep(&f.shelf, &key, "abc", 3);
    cr_assert_eq(chmod(f.entry, 0622), 0);
    cr_expect_not(holds(&f, "abc", 3), "written by all");
    ebb_shelf_keep(&f.shelf, &key, "abc", 3);
    test_path(other, f.folder, "ebb/code/moved");
    cr_assert_eq(rename(f.entry, other), 0);
    cr_assert_eq(symlink("moved", f.entry), 0);
    cr_expect_not(holds(&f, "abc", 3), "a link");
    cr_assert_eq(unlink(f.entry), 0);
    cr_assert_eq(mkfifo(f.entry, 0600), 0);
    cr_expect_not(holds(&f, "abc", 3), "a pipe");
    ebb_shelf_close(&f.shelf);
    static const mode_t modes[] = {0755, 0710, 0701, 0720};
    for (size_t k = 0; k < EBB_COUNT(modes); k++) {
        cr_assert_eq(chmod(f.inner, modes[k]), 0);
        ebb_shelf_open(&f.shelf, f.env, "code");
        cr_expect_eq(f.shelf.folder, -1, "mode %o", (unsigned)modes[k]);
    }
    cr_assert_eq(chmod(f.inner, 0700), 0);
    end(&f);
}

Test(shelf, is_none_where_there_can_be_no_folder) {
    static const struct {
        const char *cache, *home;
    } rows[] = {
        {"/dev/null", "/tmp"}, {"relative", NULL}, {NULL, NULL}, {NULL, "relative"}, {"", "/dev/null"}};
    ebb_env *env = test_env();
    for (size_t k = 0; k < EBB_COUNT(rows); k++) {
        ebb_shelf shelf;
        char *bytes;
        size_t n;
        (void)unsetenv("XDG_CACHE_HOME"), (void)unsetenv("HOME");
        if (rows[k].cache) cr_assert_eq(setenv("XDG_CACHE_HOME", rows[k].cache, 1), 0);
        if (rows[k].home) cr_assert_eq(setenv("HOME", rows[k].home, 1), 0);
        ebb_shelf_open(&shelf, env, "code");
        cr_expect_eq(shelf.folder, -1, "row %zu", k);
        ebb_shelf_keep(&shelf, &key, "abc", 3);
        cr_expect_not(ebb_shelf_find(&shelf, &key, &bytes, &n));
        ebb_shelf_close(&shelf);
    }
    test_env_end(env);
}

Test(shelf, keeps_nothing_on_a_full_disk) {
    static char bytes[70001];
    fixture f;
    struct rlimit before, limit;
    begin(&f);
    (void)signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 4096;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ebb_shelf_keep(&f.shelf, &key, bytes, sizeof bytes);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
    cr_expect_not(holds(&f, bytes, sizeof bytes));
    cr_expect_eq(test_folder_count(f.inner), 0, "no half of it is left");
    end(&f);
}

Test(shelf, lets_go_of_what_was_not_used_for_longest) {
    enum { N = 12, EACH = 1000 };
    static char bytes[EACH];
    fixture f;
    ebb_hash first = {1, 0};
    begin(&f);
    f.shelf.most_bytes = 8 * EACH;
    for (uint64_t k = 0; k < N; k++) {
        const ebb_hash one = {1, k};
        char *found;
        size_t n;
        ebb_shelf_keep(&f.shelf, &one, bytes, sizeof bytes);
        (void)usleep(2000); /* clocks of files are coarse */
        cr_expect(ebb_shelf_find(&f.shelf, &first, &found, &n), "what is used stays, %u", (unsigned)k);
        ebb_file_free(f.env, found, n);
        (void)usleep(8000);
    }
    cr_expect_eq(test_folder_count(f.inner), 7, "of 1,048 bytes each");
    ebb_shelf_keep(&f.shelf, &key, bytes, sizeof bytes);
    cr_expect(holds(&f, bytes, sizeof bytes));
    f.shelf.most_bytes = EACH;
    ebb_shelf_keep(&f.shelf, &first, bytes, sizeof bytes);
    cr_expect_eq(test_folder_count(f.inner), 7, "nothing of more than a quarter");
    end(&f);
}

/* Several processes write and read one entry: whoever finds it finds all of it. */
Test(shelf, is_shared_by_processes) {
    enum { PROCESSES = 4, ROUNDS = 100, BYTES = 20000 };
    static char bytes[BYTES];
    fixture f;
    begin(&f);
    memset(bytes, 'x', sizeof bytes);
    pid_t child[PROCESSES];
    for (int p = 0; p < PROCESSES; p++) {
        child[p] = fork();
        cr_assert_geq(child[p], 0);
        if (child[p] > 0) continue;
        int wrong = 0, found = 0;
        for (int k = 0; k < ROUNDS; k++) {
            char *got;
            size_t n;
            ebb_shelf_keep(&f.shelf, &key, bytes, sizeof bytes);
            if (!ebb_shelf_find(&f.shelf, &key, &got, &n)) continue;
            found++;
            wrong += n != sizeof bytes || memcmp(got, bytes, n) != 0;
            ebb_file_free(f.env, got, n);
        }
        _exit(wrong ? 1 : found ? 0 : 2);
    }
    for (int p = 0; p < PROCESSES; p++) {
        int how = -1;
        cr_assert_eq(waitpid(child[p], &how, 0), child[p]);
        cr_expect(WIFEXITED(how) && WEXITSTATUS(how) == 0, "process %d: %d", p, how);
    }
    cr_expect_eq(test_folder_count(f.inner), 1);
    end(&f);
}
