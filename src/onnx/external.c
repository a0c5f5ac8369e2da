/* external: files are mapped: the model, and beside it what holds its external data. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "onnx/map.h"

ebb_status onnx_map(ebb_env *env, const char *path, int folder, bool follow, onnx_mapped *out) {
    struct stat facts;
    *out = (onnx_mapped){NULL, 0};
    const int fd = openat(folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (follow ? 0 : O_NOFOLLOW));
    if (fd < 0) return ebb_fail(env, EBB_IO, "cannot open %.300s: %s", path, strerror(errno));
    ebb_status status = EBB_OK;
    if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode))
        status = ebb_fail(env, EBB_IO, "cannot read %.300s: it is not a regular file", path);
    if (status == EBB_OK && facts.st_size > 0) {
        void *at = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (at == MAP_FAILED)
            status = ebb_fail(env, EBB_IO, "cannot map %.300s: %s", path, strerror(errno));
        else
            *out = (onnx_mapped){at, (size_t)facts.st_size};
    }
    (void)close(fd);
    return status;
}

void onnx_unmap(onnx_mapped *map) {
    if (map->at) (void)munmap((void *)(uintptr_t)map->at, map->n);
    *map = (onnx_mapped){NULL, 0};
}

/* A plain name below the folder: no way out of it, and no link on the way. */
static bool stays_inside(const char *name) {
    if (name[0] == '\0' || name[0] == '/') return false;
    for (const char *part = name; *part != '\0';) {
        const size_t n = strcspn(part, "/");
        if (n == 0 || (n == 2 && part[0] == '.' && part[1] == '.')) return false;
        part += n + (part[n] == '/');
    }
    return true;
}

/* The folder that the last part of name is in, entered part by part without following a link. */
static int enter(const onnx_file *file, const char *name, const char **last) {
    char part[ONNX_MAX_NAME_BYTES + 1];
    const char *slash = strrchr(file->path, '/');
    char *folder = slash ? strndup(file->path, (size_t)(slash - file->path) + 1) : strdup(".");
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    free(folder);
    for (size_t n; fd >= 0 && name[n = strcspn(name, "/")] == '/'; name += n + 1) {
        memcpy(part, name, n);
        part[n] = '\0';
        const int below = openat(fd, part, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        (void)close(fd);
        fd = below;
    }
    *last = name;
    return fd;
}

static ebb_status map_new(onnx_file *file, const char *name, onnx_mapped *out) {
    const char *last;
    char *copy = ebb_arena_text(&file->arena, name);
    if (!copy || !EBB_RESERVE(file->env, &file->external, file->external.n + 1) ||
        !EBB_RESERVE(file->env, &file->external_name, file->external_name.n + 1))
        return EBB_NO_MEMORY;
    const int folder = enter(file, name, &last);
    if (folder < 0)
        return ebb_fail(file->env, EBB_BAD_INPUT,
                        "%.200s: no folder for its external data %.200s (links are not followed)",
                        file->path, name);
    const ebb_status status = onnx_map(file->env, last, folder, false, out);
    (void)close(folder);
    if (status != EBB_OK) return status;
    file->external.at[file->external.n++] = *out;
    file->external_name.at[file->external_name.n++] = copy;
    return EBB_OK;
}

ebb_status onnx_external(onnx_file *file, const char *name, int64_t from, int64_t n, onnx_mapped *out) {
    onnx_mapped whole = {NULL, 0};
    bool found = false;
    if (!stays_inside(name))
        return ebb_fail(file->env, EBB_BAD_INPUT,
                        "%.200s: its external data %.200s are not in its own folder", file->path, name);
    for (size_t i = 0; i < file->external.n && !found; i++)
        if ((found = strcmp(file->external_name.at[i], name) == 0)) whole = file->external.at[i];
    if (!found) {
        const ebb_status status = map_new(file, name, &whole);
        if (status != EBB_OK) return status;
    }
    if (from > (int64_t)whole.n || n > (int64_t)whole.n - from)
        return ebb_fail(file->env, EBB_BAD_INPUT,
                        "%.200s: %.200s has %zu bytes, but a tensor is said to be at byte %lld", file->path,
                        name, whole.n, (long long)from);
    *out = (onnx_mapped){whole.at ? whole.at + from : NULL, n < 0 ? whole.n - (size_t)from : (size_t)n};
    return EBB_OK;
}
