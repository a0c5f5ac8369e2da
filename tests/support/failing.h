/* A file system of the test's own: this program's calls, in place of the C library's, of which the one that
 * is due fails. Included by one file of a program. */
#ifndef EBB_TESTS_SUPPORT_FAILING_H
#define EBB_TESTS_SUPPORT_FAILING_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static int failing_at = -1, failing_errno, failing_n;
static bool failing_watched;

/* From now on call number `at` fails with this errno, until failing_end. */
static inline void failing_begin(int at, int error) {
    failing_at = at;
    failing_errno = error;
    failing_n = 0;
    failing_watched = true;
}
static inline void failing_end(void) {
    failing_watched = false;
}

static bool failing_due(void) {
    if (!failing_watched || failing_n++ != failing_at) return false;
    errno = failing_errno;
    return true;
}
ssize_t write(int fd, const void *bytes, size_t n) {
    if (failing_due()) return -1;
    return syscall(SYS_write, fd, bytes,
                   failing_watched && n > 100 ? 100 : n); /* short writes are writes, too */
}
int fsync(int fd) {
    return failing_due() ? -1 : (int)syscall(SYS_fsync, fd);
}
int ftruncate(int fd, off_t n) {
    return failing_due() ? -1 : (int)syscall(SYS_ftruncate, fd, n);
}
int rename(const char *from, const char *to) {
    return failing_due() ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}
ssize_t pread(int fd, void *to, size_t n, off_t at) {
    return failing_due() ? -1 : syscall(SYS_pread64, fd, to, n, at);
}

#endif
