/* Whole files: read in one piece, replaced in one piece. */
#include "base/os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_ALIGNMENT = 16, FIRST_READ_BYTES = 1 << 16 };

ebb_status ebb_fail_errno(ebb_env *env, const char *verb, const char *path, int error, const char *advice) {
    char reason[128];
    if (strerror_r(error, reason, sizeof reason) != 0) snprintf(reason, sizeof reason, "error %d", error);
    return ebb_fail(env, EBB_IO, "cannot %s %s: %s: %s", verb, path, reason, advice);
}

/* A signal may cut the wait for a pipe's other end; only a wish to stop ends it. */
static int open_patiently(ebb_env *env, const char *path, int flags) {
    for (;;) {
        int fd = open(path, flags | O_CLOEXEC | O_NOCTTY);
        if (fd >= 0 || errno != EINTR || ebb_stop_asked(env)) return fd;
    }
}

/* ---- reading ---- */

typedef struct reader {
    ebb_env *env;
    const char *name;
    int fd;
    size_t max_bytes;
    char *at;
    size_t n, cap; /* cap <= max_bytes + 1: the byte too many is what tells that a file is too long */
} reader;

static ebb_status too_long(const reader *r) {
    return ebb_fail(r->env, EBB_BAD_INPUT, "%s: more than %zu bytes: give a smaller file", r->name,
                    r->max_bytes);
}

static ebb_status resize(reader *r, size_t cap) {
    char *bytes = ebb_alloc_aligned(r->env, cap, FILE_ALIGNMENT);
    if (!bytes) return EBB_NO_MEMORY;
    if (r->n > 0) memcpy(bytes, r->at, r->n);
    ebb_free_aligned(r->env, r->at, r->cap, FILE_ALIGNMENT);
    r->at = bytes;
    r->cap = cap;
    return EBB_OK;
}

/* Reads to the end; a file whose size is known up front needs one allocation. */
static ebb_status read_all(reader *r) {
    struct stat info;
    size_t cap = FIRST_READ_BYTES, limit = r->max_bytes < PTRDIFF_MAX ? r->max_bytes + 1 : PTRDIFF_MAX;
    if (fstat(r->fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size >= 0) {
        if ((uintmax_t)info.st_size > r->max_bytes) return too_long(r);
        cap = (size_t)info.st_size + 1;
    }
    for (;;) {
        if (r->n == r->cap) {
            if (r->cap > 0) cap = r->cap < FIRST_READ_BYTES ? FIRST_READ_BYTES : r->cap * 2;
            if (r->cap == limit) return too_long(r);
            ebb_status status = resize(r, cap < limit ? cap : limit);
            if (status != EBB_OK) return status;
        }
        ssize_t got = read(r->fd, r->at + r->n, r->cap - r->n);
        if (got == 0) break;
        if (got > 0) {
            r->n += (size_t)got;
        } else if (errno != EINTR) {
            return ebb_fail_errno(r->env, "read", r->name, errno, "give a file that can be read");
        } else if (ebb_stop_asked(r->env)) {
            return ebb_fail(r->env, EBB_INTERRUPTED, "%s: stopped while reading", r->name);
        }
    }
    if (r->n > r->max_bytes) return too_long(r);
    /* The owner frees n + 1 bytes, so exactly that much must be held. */
    ebb_status status = r->cap == r->n + 1 ? EBB_OK : resize(r, r->n + 1);
    if (status == EBB_OK) r->at[r->n] = '\0';
    return status;
}

ebb_status ebb_file_read(ebb_env *env, const char *path, size_t max_bytes, char **out, size_t *n) {
    bool is_stdin = strcmp(path, "-") == 0;
    reader r = {.env = env, .name = is_stdin ? "standard input" : path, .max_bytes = max_bytes};
    if (is_stdin) {
        r.fd = STDIN_FILENO;
    } else {
        r.fd = open_patiently(env, path, O_RDONLY);
        if (r.fd < 0) return ebb_fail_errno(env, "open", path, errno, "give a file that can be read");
    }
    ebb_status status = read_all(&r);
    if (!is_stdin) close(r.fd);
    if (status != EBB_OK) {
        ebb_free_aligned(env, r.at, r.cap, FILE_ALIGNMENT);
        return status;
    }
    *out = r.at;
    *n = r.n;
    return EBB_OK;
}

void ebb_file_free(ebb_env *env, char *bytes, size_t n) {
    ebb_free_aligned(env, bytes, n + 1, FILE_ALIGNMENT);
}

/* ---- writing ---- */

static const char write_advice[] = "check the folder, the free space and the permissions";

/* What is written: parts one after the other. */
typedef struct content {
    const ebb_file_part *parts;
    size_t n;
} content;

int ebb_fd_write(int fd, const void *bytes, size_t n) {
    const char *at = bytes;
    while (n > 0) {
        ssize_t put = write(fd, at, n);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return errno;
        at += put;
        n -= (size_t)put;
    }
    return 0;
}

static int write_all(int fd, const content *c) {
    int error = 0;
    for (size_t i = 0; i < c->n && error == 0; i++) error = ebb_fd_write(fd, c->parts[i].at, c->parts[i].n);
    return error;
}

/* Pipes, devices and the like have no old content to keep, and a rename would put a file in their place. */
static ebb_status write_stream(ebb_env *env, const char *path, const content *c) {
    int fd = open_patiently(env, path, O_WRONLY);
    if (fd < 0) return ebb_fail_errno(env, "open", path, errno, write_advice);
    int error = write_all(fd, c);
    if (close(fd) != 0 && error == 0 && errno != EINTR) error = errno;
    return error == 0 ? EBB_OK : ebb_fail_errno(env, "write", path, error, write_advice);
}

/* Opens a new file in path's folder, its name in temporary. -1 with errno. The name does not grow with
 * path's own, which may be as long as names can be. */
static int open_temporary(const char *path, char *temporary) {
    enum { MAX_TRIES = 1000 }; /* one is taken only by a file that a crash or another thread left */
    const char *slash = strrchr(path, '/');
    int folder_bytes = !slash ? 0 : (int)(slash - path) + 1;
    for (int i = 0; i < MAX_TRIES; i++) {
        int length =
            snprintf(temporary, PATH_MAX, "%.*s.ebb-%ld-%d.tmp", folder_bytes, path, (long)getpid(), i);
        if (length >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
        int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || (errno != EEXIST && errno != EINTR)) return fd;
    }
    return -1;
}

/* Fills, syncs and closes fd; 0 or an errno. mode is the replaced file's, or 0 when there is none. */
static int fill_temporary(int fd, mode_t mode, const content *c) {
    int error = write_all(fd, c);
    if (error == 0 && mode != 0 && fchmod(fd, mode) != 0) error = errno;
    /* EINVAL: a file system that cannot sync. */
    if (error == 0 && fsync(fd) != 0 && errno != EINVAL) error = errno;
    if (close(fd) != 0 && error == 0 && errno != EINTR) error = errno;
    return error;
}

static ebb_status replace_file(ebb_env *env, const char *path, mode_t mode, const content *c) {
    char temporary[PATH_MAX];
    if (strlen(path) >= PATH_MAX)
        return ebb_fail_errno(env, "write", path, ENAMETOOLONG, "give a shorter path");
    int fd = open_temporary(path, temporary);
    if (fd < 0) return ebb_fail_errno(env, "create a file beside", path, errno, write_advice);
    int error = fill_temporary(fd, mode, c);
    if (error == 0 && rename(temporary, path) != 0) error = errno;
    if (error == 0) return EBB_OK;
    (void)unlink(temporary);
    return ebb_fail_errno(env, "write", path, error, write_advice);
}

ebb_status ebb_file_write_parts(ebb_env *env, const char *path, const ebb_file_part *parts, size_t n) {
    const content c = {parts, n};
    if (strcmp(path, "-") == 0) {
        int error = write_all(STDOUT_FILENO, &c);
        return error == 0 ? EBB_OK : ebb_fail_errno(env, "write", "standard output", error, write_advice);
    }
    if (path[0] == '\0') return ebb_fail_errno(env, "write", "\"\"", ENOENT, "give a path");
    struct stat info;
    if (stat(path, &info) != 0) return replace_file(env, path, 0, &c);
    if (!S_ISREG(info.st_mode)) return write_stream(env, path, &c);
    /* A link is followed: its target is what is replaced. */
    char target[PATH_MAX];
    if (!realpath(path, target)) return ebb_fail_errno(env, "resolve", path, errno, write_advice);
    return replace_file(env, target, info.st_mode & 07777, &c);
}

ebb_status ebb_file_write(ebb_env *env, const char *path, const char *bytes, size_t n) {
    return ebb_file_write_parts(env, path, &(ebb_file_part){bytes, n}, 1);
}
