/* file: what a command writes is whole or absent. */
#include "tool/out/out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static ebb_status lost(tool *t, const char *path, int error) {
    return tool_fail(t, EBB_IO,
                     "cannot write %.400s: %s: check the folder, the free space and the permissions", path,
                     error != 0 ? strerror(error) : "the output was cut short");
}

/* 0 or an errno; closes fd. */
static int write_and_close(int fd, const char *bytes, size_t n, bool sync) {
    int error = 0;
    while (n > 0 && error == 0) {
        ssize_t put = write(fd, bytes, n);
        if (put >= 0) {
            bytes += put;
            n -= (size_t)put;
        } else if (errno != EINTR) {
            error = errno;
        }
    }
    /* EINVAL: a file system that cannot sync. */
    if (error == 0 && sync && fsync(fd) != 0 && errno != EINVAL) error = errno;
    if (close(fd) != 0 && error == 0 && errno != EINTR) error = errno;
    return error;
}

ebb_status out_file(tool *t, const char *path, const char *bytes, size_t n) {
    struct stat info;
    bool exists = stat(path, &info) == 0;
    if (exists && !S_ISREG(info.st_mode)) {
        int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        int error = fd < 0 ? errno : write_and_close(fd, bytes, n, false);
        return error == 0 ? EBB_OK : lost(t, path, error);
    }
    /* A link stays one: its target is what is replaced. */
    char target[PATH_MAX], temporary[PATH_MAX + 16];
    if (strlen(path) >= sizeof target) return lost(t, path, ENAMETOOLONG);
    if (!exists || !realpath(path, target)) memcpy(target, path, strlen(path) + 1);
    const char *slash = strrchr(target, '/');
    snprintf(temporary, sizeof temporary, "%.*s.ebb-XXXXXX", !slash ? 0 : (int)(slash - target) + 1,
             target);
    int fd = mkstemp(temporary);
    if (fd < 0) return lost(t, path, errno);
    mode_t mask = umask(0);
    umask(mask);
    int error = fchmod(fd, exists ? info.st_mode & 07777 : 0666 & ~mask) == 0 ? 0 : errno;
    int write_error = write_and_close(fd, bytes, n, true);
    if (error == 0) error = write_error;
    if (error == 0 && rename(temporary, target) != 0) error = errno;
    if (error == 0) return EBB_OK;
    (void)unlink(temporary);
    return lost(t, path, error);
}

ebb_status out_finish(tool *t) {
    errno = 0;
    bool failed = fflush(stdout) != 0;
    int error = errno;
    if (failed || ferror(stdout)) return lost(t, "standard output", error);
    return EBB_OK;
}
