/* Reading whole files. */
#include "support.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BIG = 300007 };

/* A byte pattern with NULs in it. */
static char *pattern(size_t n) {
    char *bytes = malloc(n + 1);
    cr_assert_not_null(bytes);
    for (size_t i = 0; i < n; i++) bytes[i] = (char)(i * 7 % 251);
    return bytes;
}

static void write_plainly(const char *path, const char *bytes, size_t n) {
    FILE *file = fopen(path, "wb");
    cr_assert_not_null(file);
    cr_assert_eq(fwrite(bytes, 1, n, file), n);
    cr_assert_eq(fclose(file), 0);
}

static void expect_content(ebb_env *env, ebb_status status, const char *got, size_t n, const char *wanted,
                           size_t n_wanted) {
    cr_assert_eq(status, EBB_OK, "%s", ebb_env_error(env));
    cr_assert_eq(n, n_wanted);
    cr_expect_eq(memcmp(got, wanted, n), 0);
    cr_expect_eq(got[n], '\0');
}

static const size_t lengths[] = {0, 1, 3, 7, 33, 65535, 65536, 65537, BIG};

Test(file_read, gives_the_whole_file_with_a_nul_after_it) {
    char folder[64], path[512], *bytes = pattern(BIG);
    ebb_env *env = test_env();
    test_folder(folder);
    test_path(path, folder, "in");
    for (size_t i = 0; i < EBB_COUNT(lengths); i++) {
        write_plainly(path, bytes, lengths[i]);
        char *got = NULL;
        size_t n = 0;
        ebb_status status = ebb_file_read(env, path, lengths[i], &got, &n);
        expect_content(env, status, got, n, bytes, lengths[i]);
        cr_expect_eq(ebb_env_allocated_bytes(env), lengths[i] + 1);
        cr_expect_eq(ebb_env_allocation_count(env), i + 1, "one allocation a regular file");
        ebb_file_free(env, got, n);
        got = NULL;
        if (lengths[i] == 0) continue;
        cr_expect_eq(ebb_file_read(env, path, lengths[i] - 1, &got, &n), EBB_BAD_INPUT);
        cr_expect_null(got);
        cr_expect_not_null(strstr(ebb_env_error(env), path));
    }
    unlink(path);
    test_folder_end(folder);
    test_env_end(env);
    free(bytes);
}

typedef struct feed {
    int fd;
    const char *bytes;
    size_t n;
} feed;

static void *feeder(void *arg) {
    feed *f = arg;
    for (size_t at = 0; at < f->n;) {
        ssize_t put = write(f->fd, f->bytes + at, f->n - at < 1000 ? f->n - at : 1000);
        if (put <= 0) break;
        at += (size_t)put;
    }
    close(f->fd);
    return NULL;
}

/* Standard input becomes a pipe into which n bytes go in small pieces. */
static ebb_status read_piped(ebb_env *env, const char *bytes, size_t n, size_t max_bytes, char **out,
                             size_t *n_out) {
    int ends[2];
    pthread_t thread;
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    if (ends[0] != STDIN_FILENO) close(ends[0]); /* it is the same once standard input was closed */
    feed f = {ends[1], bytes, n};
    cr_assert_eq(pthread_create(&thread, NULL, feeder, &f), 0);
    ebb_status status = ebb_file_read(env, "-", max_bytes, out, n_out);
    close(STDIN_FILENO); /* the feeder of a refused stream gets EPIPE and ends */
    pthread_join(thread, NULL);
    return status;
}

Test(file_read, reads_standard_input_for_a_dash) {
    char *bytes = pattern(BIG);
    ebb_env *env = test_env();
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < EBB_COUNT(lengths); i++) {
        char *got = NULL;
        size_t n = 0;
        ebb_status status = read_piped(env, bytes, lengths[i], lengths[i], &got, &n);
        expect_content(env, status, got, n, bytes, lengths[i]);
        ebb_file_free(env, got, n);
        status = read_piped(env, bytes, lengths[i], SIZE_MAX, &got, &n);
        expect_content(env, status, got, n, bytes, lengths[i]);
        ebb_file_free(env, got, n);
        if (lengths[i] == 0) continue;
        cr_expect_eq(read_piped(env, bytes, lengths[i], lengths[i] - 1, &got, &n), EBB_BAD_INPUT);
        cr_expect_not_null(strstr(ebb_env_error(env), "standard input"));
    }
    test_env_end(env);
    free(bytes);
}

/* Its size is said to be 0. */
Test(file_read, reads_files_that_do_not_know_their_size) {
    ebb_env *env = test_env();
    char *got = NULL;
    size_t n = 0;
    cr_assert_eq(ebb_file_read(env, "/proc/self/status", 1 << 20, &got, &n), EBB_OK);
    cr_expect_gt(n, 100);
    cr_expect_eq(strlen(got), n);
    ebb_file_free(env, got, n);
    cr_expect_eq(ebb_file_read(env, "/proc/self/status", 33, &got, &n), EBB_BAD_INPUT);
    cr_expect_eq(ebb_file_read(env, "/dev/zero", 100000, &got, &n), EBB_BAD_INPUT);
    test_env_end(env);
}

Test(file_read, says_why_it_could_not_read) {
    static const struct {
        const char *path, *reason;
    } rows[] = {
        {"/nonexistent/graph.json", "No such file or directory"},
        {"", "No such file or directory"},
        {"/", "Is a directory"},
        {"/proc/self/status/x", "Not a directory"},
    };
    ebb_env *env = test_env();
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        char left, *got = &left;
        size_t n = 7;
        cr_expect_eq(ebb_file_read(env, rows[i].path, 100, &got, &n), EBB_IO, "%s", rows[i].path);
        cr_expect(got == NULL && n == 0);
        cr_expect_not_null(strstr(ebb_env_error(env), rows[i].reason), "%s", ebb_env_error(env));
        cr_expect_not_null(strstr(ebb_env_error(env), rows[i].path));
    }
    test_env_end(env);
}

static volatile int stop_flag;

static void raise_flag(int signal_number) {
    (void)signal_number;
    stop_flag = 1;
}

static void set_alarm(unsigned milliseconds) {
    struct sigaction action = {.sa_handler = raise_flag};
    cr_assert_eq(sigaction(SIGALRM, &action, NULL), 0);
    ualarm(milliseconds * 1000, milliseconds * 1000); /* again and again: one might come before the wait */
}

Test(file_read, ends_a_wait_when_the_stop_flag_is_raised, .timeout = 20) {
    ebb_env_options options = {.stop = &stop_flag};
    ebb_env *env = NULL;
    cr_assert_eq(ebb_env_create(&options, &env), EBB_OK);
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    set_alarm(30); /* nobody writes into the pipe, and its other end stays open */
    char *got = NULL;
    size_t n = 0;
    cr_expect_eq(ebb_file_read(env, "-", 100, &got, &n), EBB_INTERRUPTED);
    test_env_end(env);
}

Test(file_read, goes_on_after_a_signal_that_does_not_ask_to_stop, .timeout = 20) {
    ebb_env *env = test_env();
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    set_alarm(30);
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        usleep(90000);
        _exit(write(ends[1], "late", 4) == 4 ? 0 : 1);
    }
    close(ends[1]);
    char *got = NULL;
    size_t n = 0;
    ebb_status status = ebb_file_read(env, "-", 100, &got, &n);
    expect_content(env, status, got, n, "late", 4);
    cr_expect_eq(stop_flag, 1, "the signal came");
    ebb_file_free(env, got, n);
    test_env_end(env);
}
