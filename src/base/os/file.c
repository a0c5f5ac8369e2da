/* Whole files: read in one piece, replaced in one piece. */
#include "base/os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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
    *out = NULL;
    *n = 0;
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

int ebb_fd_read_at(const ebb_env *env, int fd, int64_t at, void *to, int64_t n, int64_t *got) {
    char *bytes = to;
    *got = 0;
    while (*got < n) {
        const ssize_t more = pread(fd, bytes + *got, (size_t)(n - *got), (off_t)(at + *got));
        if (more == 0) break;
        if (more > 0)
            *got += more;
        else if (errno != EINTR || (env && ebb_stop_asked(env)))
            return errno;
    }
    return 0;
}

/* ---- writing ---- */

static const char write_advice[] = "check the folder, the free space and the permissions";

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

static int write_all(int fd, const ebb_file_part *parts, size_t n) {
    int error = 0;
    for (size_t i = 0; i < n && error == 0; i++) error = ebb_fd_write(fd, parts[i].at, parts[i].n);
    return error;
}

/* Pipes, devices and the like have no old content to keep, and a rename would put a file in their place. */
static ebb_status write_stream(ebb_env *env, const char *path, const ebb_file_part *parts, size_t n) {
    int fd = open_patiently(env, path, O_WRONLY);
    if (fd < 0) return ebb_fail_errno(env, "open", path, errno, write_advice);
    int error = write_all(fd, parts, n);
    if (close(fd) != 0 && error == 0 && errno != EINTR) error = errno;
    return error == 0 ? EBB_OK : ebb_fail_errno(env, "write", path, error, write_advice);
}

ebb_status ebb_file_write_parts(ebb_env *env, const char *path, const ebb_file_part *parts, size_t n) {
    ebb_replacement replacement;
    struct stat info;
    if (strcmp(path, "-") == 0) {
        int error = write_all(STDOUT_FILENO, parts, n);
        return error == 0 ? EBB_OK : ebb_fail_errno(env, "write", "standard output", error, write_advice);
    }
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) return write_stream(env, path, parts, n);
    ebb_status status = ebb_replacement_begin(env, path, false, &replacement);
    if (status != EBB_OK) return status;
    ebb_replacement_write(&replacement, parts, n);
    return ebb_replacement_end(env, &replacement);
}

ebb_status ebb_file_write(ebb_env *env, const char *path, const char *bytes, size_t n) {
    return ebb_file_write_parts(env, path, &(ebb_file_part){bytes, n}, 1);
}
