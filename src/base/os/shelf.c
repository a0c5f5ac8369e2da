/* A shelf (os.h): a folder of this user's alone, a file an entry. */
#include "base/os/os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_BYTES = 64 << 20, STALE_SECONDS = 3600, NAME_BYTES = EBB_HASH_TEXT + 32 };

typedef struct head {
    char mark[8];
    uint64_t n;
    ebb_hash key, sum; /* sum: of the bytes */
} head;

static head head_of(const ebb_hash *key, const void *bytes, size_t n) {
    head h = {.mark = "ebbshlf1", .n = n, .key = *key};
    ebb_hash_init(&h.sum);
    ebb_hash_add(&h.sum, bytes, n);
    return h;
}

/* ---- the folder ----------------------------------------------------------------------------------- */

/* Appends /part and makes that folder; one that is there, or cannot be made, shows when it is opened. */
static bool below(char path[PATH_MAX], const char *part) {
    const size_t n = strlen(path);
    const int added = snprintf(path + n, PATH_MAX - n, "/%s", part);
    if (added < 0 || (size_t)added >= PATH_MAX - n) return false;
    (void)mkdir(path, 0700);
    return true;
}

/* Relative paths do not count: XDG Base Directory Specification. */
static bool place_of(char path[PATH_MAX], const char *name) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const bool own = cache && cache[0] == '/';
    const char *first = own ? cache : home;
    if (!first || first[0] != '/' || strlen(first) >= PATH_MAX) return false;
    memcpy(path, first, strlen(first) + 1);
    if (own) (void)mkdir(path, 0700);
    return (own || below(path, ".cache")) && below(path, "ebb") && below(path, name);
}

void ebb_shelf_open(ebb_shelf *shelf, ebb_env *env, const char *name) {
    char path[PATH_MAX];
    struct stat info;
    *shelf = (ebb_shelf){.env = env, .folder = -1, .most_bytes = MOST_BYTES};
    if (!place_of(path, name)) return;
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return;
    if (fstat(fd, &info) == 0 && info.st_uid == geteuid() && (info.st_mode & 077) == 0)
        shelf->folder = fd;
    else
        (void)close(fd);
}

void ebb_shelf_close(ebb_shelf *shelf) {
    if (shelf->folder >= 0) (void)close(shelf->folder);
    shelf->folder = -1;
}

/* ---- finding ---------------------------------------------------------------------------------------- */

static bool read_exactly(int fd, int64_t at, void *to, size_t n) {
    int64_t got;
    return ebb_fd_read_at(NULL, fd, at, to, (int64_t)n, &got) == 0 && got == (int64_t)n;
}

/* The entry's bytes, where all of it is as it was written; *damaged: it is to go. */
static bool entry_read(const ebb_shelf *shelf, int fd, const ebb_hash *key, char **out, size_t *n,
                       bool *damaged) {
    struct stat info;
    head h;
    *damaged = true;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != geteuid() ||
        (info.st_mode & 022) != 0 || info.st_size < (off_t)sizeof h || info.st_size > shelf->most_bytes)
        return false;
    const size_t n_bytes = (size_t)info.st_size - sizeof h;
    char *bytes = ebb_alloc_aligned(shelf->env, n_bytes + 1, 16);
    if (!bytes) {
        *damaged = false;
        return false;
    }
    bytes[n_bytes] = '\0';
    if (read_exactly(fd, 0, &h, sizeof h) && read_exactly(fd, sizeof h, bytes, n_bytes)) {
        const head wanted = head_of(key, bytes, n_bytes);
        *damaged = memcmp(&h, &wanted, sizeof h) != 0;
    }
    if (*damaged) {
        ebb_free_aligned(shelf->env, bytes, n_bytes + 1, 16);
        return false;
    }
    *out = bytes;
    *n = n_bytes;
    return true;
}

bool ebb_shelf_find(ebb_shelf *shelf, const ebb_hash *key, char **out, size_t *n) {
    char name[EBB_HASH_TEXT];
    bool damaged = false;
    *out = NULL;
    *n = 0;
    if (shelf->folder < 0) return false;
    /* O_NONBLOCK: a pipe of that name is not waited for. */
    const int fd =
        openat(shelf->folder, ebb_hash_text(key, name), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return false;
    const bool found = entry_read(shelf, fd, key, out, n, &damaged);
    if (found) (void)futimens(fd, NULL); /* used now */
    if (damaged) (void)unlinkat(shelf->folder, name, 0);
    (void)close(fd);
    return found;
}

/* ---- keeping ---------------------------------------------------------------------------------------- */

/* One look at all entries: their bytes, and the one that was not used for longest. */
static int64_t look_around(const ebb_shelf *shelf, char oldest[NAME_BYTES]) {
    struct timespec least = {0, 0};
    int64_t sum = 0;
    oldest[0] = '\0';
    const int fd = openat(shelf->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = fd < 0 ? NULL : fdopendir(fd);
    if (!entries && fd >= 0) (void)close(fd);
    if (!entries) return 0;
    for (const struct dirent *d; (d = readdir(entries)) != NULL;) {
        struct stat info;
        if (strlen(d->d_name) >= NAME_BYTES ||
            fstatat(shelf->folder, d->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
            continue;
        /* What a process that ended too early left. */
        const bool stale = strstr(d->d_name, ".tmp") && time(NULL) - info.st_mtim.tv_sec > STALE_SECONDS;
        if (stale && unlinkat(shelf->folder, d->d_name, 0) == 0) continue;
        sum += info.st_size;
        const struct timespec t = info.st_mtim;
        if (oldest[0] != '\0' &&
            (t.tv_sec > least.tv_sec || (t.tv_sec == least.tv_sec && t.tv_nsec >= least.tv_nsec)))
            continue;
        least = t;
        memcpy(oldest, d->d_name, strlen(d->d_name) + 1);
    }
    (void)closedir(entries);
    return sum;
}

void ebb_shelf_keep(ebb_shelf *shelf, const ebb_hash *key, const void *bytes, size_t n) {
    char name[EBB_HASH_TEXT], temporary[NAME_BYTES], oldest[NAME_BYTES];
    const head h = head_of(key, bytes, n);
    if (shelf->folder < 0 || n + sizeof h > (size_t)shelf->most_bytes / 4) return;
    (void)snprintf(temporary, sizeof temporary, "%s.%ld.tmp", ebb_hash_text(key, name), (long)getpid());
    const int fd =
        openat(shelf->folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return; /* no room, or another thread is at it */
    int error = ebb_fd_write(fd, &h, sizeof h);
    if (!error) error = ebb_fd_write(fd, bytes, n);
    if (close(fd) != 0 && !error) error = errno;
    if (error || renameat(shelf->folder, temporary, shelf->folder, name) != 0) {
        (void)unlinkat(shelf->folder, temporary, 0);
        return;
    }
    while (look_around(shelf, oldest) > shelf->most_bytes && unlinkat(shelf->folder, oldest, 0) == 0)
        continue;
}
