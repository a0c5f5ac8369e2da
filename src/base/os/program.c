/* Other programs, run to their end. */
#define _GNU_SOURCE /* pipe2 */
#include "base/os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char advice[] = "name a program that is there and can be run";

/* Both streams into the pipe, no input. 0 or an errno. */
static int start(const char *const *argv, const int pipe_ends[2], pid_t *child) {
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDERR_FILENO);
    /* argv's words are not written to: posix_spawnp's type is older than const. */
    char *words[64];
    size_t n = 0;
    for (; argv[n] && n < EBB_COUNT(words); n++) memcpy(&words[n], &argv[n], sizeof words[n]);
    if (n == EBB_COUNT(words)) error = E2BIG;
    if (!error) {
        words[n] = NULL;
        error = posix_spawnp(child, words[0], &actions, NULL, words, environ);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* To its end: a program that is not listened to would stop. */
static void listen_to(int fd, char *said, size_t n) {
    char rest[512];
    size_t at = 0;
    for (;;) {
        const bool room = at + 1 < n;
        const ssize_t got = read(fd, room ? said + at : rest, room ? n - 1 - at : sizeof rest);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        if (room) at += (size_t)got;
    }
    if (n > 0) said[at] = '\0';
}

ebb_status ebb_program_run(ebb_env *env, const char *const *argv, char *said, size_t n, int *code) {
    int ends[2], how = 0;
    pid_t child = 0;
    *code = -1;
    if (n > 0) said[0] = '\0';
    if (pipe2(ends, O_CLOEXEC) != 0)
        return ebb_fail_errno(env, "listen to", argv[0], errno, "close some files");
    const int error = start(argv, ends, &child);
    (void)close(ends[1]);
    if (!error) listen_to(ends[0], said, n);
    (void)close(ends[0]);
    if (error) {
        const ebb_status status = ebb_fail_errno(env, "run", argv[0], error, advice);
        return status == EBB_IO ? EBB_UNAVAILABLE : status;
    }
    while (waitpid(child, &how, 0) < 0) {
        /* ECHILD: the process around us lets the system take its children. */
        if (errno != EINTR)
            return ebb_fail_errno(env, "learn the end of", argv[0], errno, "do not ignore SIGCHLD");
    }
    *code = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
    return EBB_OK;
}
