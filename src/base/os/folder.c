/* Folders and what lies in them. */
#include "base/os/os.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static const char advice[] = "name a folder that can be written";

ebb_status ebb_folder_make(ebb_env *env, const char *path) {
    struct stat info;
    if (mkdir(path, 0777) == 0) return EBB_OK;
    int error = errno;
    if (error != EEXIST || stat(path, &info) != 0)
        return ebb_fail_errno(env, "make folder", path, error, advice);
    return S_ISDIR(info.st_mode) ? EBB_OK : ebb_fail_errno(env, "use folder", path, ENOTDIR, advice);
}

ebb_status ebb_folder_check_writable(ebb_env *env, const char *path) {
    return access(path, W_OK | X_OK) == 0 ? EBB_OK
                                          : ebb_fail_errno(env, "write into folder", path, errno, advice);
}

ebb_status ebb_file_find(ebb_env *env, const char *path, bool *found) {
    struct stat info;
    *found = false;
    if (stat(path, &info) != 0)
        return errno == ENOENT ? EBB_OK : ebb_fail_errno(env, "look at", path, errno, advice);
    if (!S_ISREG(info.st_mode))
        return ebb_fail(env, EBB_IO, "cannot use %s: it is no file: remove it", path);
    *found = true;
    return EBB_OK;
}
