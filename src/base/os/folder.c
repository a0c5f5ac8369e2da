/* Folders and what lies in them. */
#include "base/os/os.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static ebb_status fail_folder(ebb_env *env, const char *verb, const char *path, int error) {
    char reason[128];
    if (strerror_r(error, reason, sizeof reason) != 0)
        (void)snprintf(reason, sizeof reason, "error %d", error);
    return ebb_fail(env, EBB_IO, "cannot %s %s: %s: name a folder that can be written", verb, path, reason);
}

ebb_status ebb_folder_make(ebb_env *env, const char *path) {
    struct stat info;
    if (mkdir(path, 0777) == 0) return EBB_OK;
    int error = errno;
    if (error != EEXIST || stat(path, &info) != 0) return fail_folder(env, "make folder", path, error);
    return S_ISDIR(info.st_mode) ? EBB_OK : fail_folder(env, "use folder", path, ENOTDIR);
}

ebb_status ebb_folder_check_writable(ebb_env *env, const char *path) {
    return access(path, W_OK | X_OK) == 0 ? EBB_OK : fail_folder(env, "write into folder", path, errno);
}

ebb_status ebb_file_find(ebb_env *env, const char *path, bool *found) {
    struct stat info;
    *found = false;
    if (stat(path, &info) != 0) return errno == ENOENT ? EBB_OK : fail_folder(env, "look at", path, errno);
    if (!S_ISREG(info.st_mode))
        return ebb_fail(env, EBB_IO, "cannot use %s: it is no file: remove it", path);
    *found = true;
    return EBB_OK;
}
