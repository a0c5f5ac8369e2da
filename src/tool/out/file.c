/* file: what a command writes is whole or absent. */
#include "tool/out/out.h"

#include <errno.h>
#include <string.h>

ebb_status out_file(tool *t, const char *path, const char *bytes, size_t n) {
    const ebb_status status = ebb_file_write(t->env, path, bytes, n);
    return status == EBB_OK ? status : tool_fail(t, status, "%s", ebb_env_error(t->env));
}

ebb_status out_finish(tool *t) {
    errno = 0;
    bool failed = fflush(stdout) != 0;
    int error = errno;
    if (!failed && !ferror(stdout)) return EBB_OK;
    return tool_fail(
        t, EBB_IO, "cannot write standard output: %s: check the folder, the free space and the permissions",
        error != 0 ? strerror(error) : "the output was cut short");
}
