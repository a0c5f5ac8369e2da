/* A new file in an old one's place (os.h). All that needs an env comes first. */
#include "base/os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder of path is all up to its last slash. */
static int folder_bytes(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

static bool failed(ebb_replacement *r, const char *verb) {
    r->error = errno;
    r->verb = verb;
    return false;
}

/* ---- before ---------------------------------------------------------------------------------------- */

ebb_status ebb_replacement_begin(ebb_env *env, const char *path, bool takes_over, ebb_replacement *out) {
    struct stat info;
    *out = (ebb_replacement){.takes_over = takes_over};
    if (path[0] == '\0') return ebb_fail_errno(env, "write", "\"\"", ENOENT, "give a path");
    if (stat(path, &info) == 0) {
        if (!S_ISREG(info.st_mode))
            return ebb_fail(env, EBB_IO, "cannot replace %s: it is no regular file: give another path",
                            path);
        out->keeps_mode = true;
        out->mode = info.st_mode & 07777;
        if (!realpath(path, out->path))
            return ebb_fail_errno(env, "resolve", path, errno, "give a path that can be followed");
    } else if (snprintf(out->path, PATH_MAX, "%s", path) >= PATH_MAX) {
        return ebb_fail_errno(env, "write", path, ENAMETOOLONG, "give a shorter path");
    }
    if (takes_over && snprintf(out->temporary, PATH_MAX, "%s.tmp", out->path) >= PATH_MAX)
        return ebb_fail_errno(env, "write", path, ENAMETOOLONG, "give a shorter path");
    return EBB_OK;
}

/* ---- the write: no env ----------------------------------------------------------------------------- */

/* The file that a killed run left is taken over; one that somebody is writing is not. Its writer may have
 * put it in place between our two calls: then the name is another file's, or nobody's. A file system
 * without locks has one writer at a time by the caller's care alone. */
static int open_taking_over(ebb_replacement *r) {
#ifdef F_OFD_SETLK
    const int command = F_OFD_SETLK; /* holds against this process's other writers, too */
#else
    const int command = F_SETLK;
#endif
    for (;;) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        struct stat ours, named;
        const int fd = open(r->temporary, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd < 0 && errno == EINTR) continue;
        if (fd < 0) return failed(r, "create"), -1;
        if (fcntl(fd, command, &lock) != 0 && (errno == EAGAIN || errno == EACCES)) {
            (void)failed(r, "take over");
            (void)close(fd);
            return -1;
        }
        if (fstat(fd, &ours) == 0 && stat(r->temporary, &named) == 0 && ours.st_ino == named.st_ino &&
            ours.st_dev == named.st_dev)
            return fd;
        (void)close(fd);
    }
}

/* A name that nobody has. It does not grow with path's own, which may be as long as names can be. */
static int open_new(ebb_replacement *r) {
    enum { MAX_TRIES = 1000 }; /* one is taken only by a file that a crash or another thread left */
    for (int i = 0; i < MAX_TRIES; i++) {
        const int length = snprintf(r->temporary, PATH_MAX, "%.*s.ebb-%ld-%d.tmp", folder_bytes(r->path),
                                    r->path, (long)getpid(), i);
        if (length >= PATH_MAX) {
            errno = ENAMETOOLONG;
            break;
        }
        const int fd = open(r->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) return fd;
        if (errno != EEXIST && errno != EINTR) break;
    }
    return failed(r, "create a file beside"), -1;
}

/* EINVAL: something that cannot be synced. */
static bool sync_it(ebb_replacement *r, int fd) {
    return fsync(fd) == 0 || errno == EINVAL ? true : failed(r, "sync");
}

static bool close_it(ebb_replacement *r, int fd) {
    return close(fd) == 0 || errno == EINTR ? true : failed(r, "close");
}

/* A file that was taken over may be another user's, whose mode we may not set but need not either. */
static bool keep_mode(ebb_replacement *r, int fd) {
    struct stat info;
    if (fstat(fd, &info) == 0 && (info.st_mode & 07777) == r->mode) return true;
    return fchmod(fd, (mode_t)r->mode) == 0 ? true : failed(r, "keep the mode of");
}

static bool fill(ebb_replacement *r, int fd, const ebb_file_part *parts, size_t n) {
    bool good = !r->takes_over || ftruncate(fd, 0) == 0 ? true : failed(r, "empty");
    for (size_t i = 0; i < n && good; i++) {
        errno = ebb_fd_write(fd, parts[i].at, parts[i].n);
        good = errno == 0 ? true : failed(r, "write");
    }
    if (good && r->keeps_mode) good = keep_mode(r, fd);
    return good && sync_it(r, fd);
}

/* What a folder that cannot be read, or a file system that knows no such thing, says. */
static bool cannot_sync_folders(int error) {
    return error == EACCES || error == EPERM || error == EINVAL || error == ENOSYS || error == EBADF ||
           error == EOPNOTSUPP || error == EROFS;
}

/* A name that is not synced may be the old file's again after a crash of the machine. Where folders cannot
 * be synced that cannot be helped. */
static void sync_folder(ebb_replacement *r) {
    char folder[PATH_MAX];
    const int n = folder_bytes(r->path);
    (void)snprintf(folder, sizeof folder, "%.*s", n > 0 ? n : 1, n > 0 ? r->path : ".");
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        if (!cannot_sync_folders(errno)) (void)failed(r, "open the folder of");
        return;
    }
    if (fsync(fd) != 0 && !cannot_sync_folders(errno)) (void)failed(r, "sync the folder of");
    (void)close(fd);
}

/* What is locked is closed last. */
void ebb_replacement_write(ebb_replacement *r, const ebb_file_part *parts, size_t n) {
    const int fd = r->takes_over ? open_taking_over(r) : open_new(r);
    if (fd < 0) return;
    bool good = fill(r, fd, parts, n);
    if (!r->takes_over) good = close_it(r, fd) && good;
    if (good && rename(r->temporary, r->path) != 0) good = failed(r, "rename");
    if (!good) (void)unlink(r->temporary);
    r->in_place = good;
    if (r->takes_over) (void)close_it(r, fd);
    if (good) sync_folder(r);
}

/* ---- after ----------------------------------------------------------------------------------------- */

ebb_status ebb_replacement_end(ebb_env *env, const ebb_replacement *r) {
    if (r->error == 0) return EBB_OK;
    const char *advice = r->in_place ? "the file is written, but may be lost if the machine stops now"
                                     : "check the folder, the free space, the permissions and who else "
                                       "writes it";
    return ebb_fail_errno(env, r->verb, r->path, r->error, advice);
}
