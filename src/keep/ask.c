/* An open file, asked. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "keep/rows.h"

ebb_status keep_read_at(const ebb_tensors *file, int64_t at, int64_t n, void *to) {
    int64_t got;
    const int error = ebb_fd_read_at(file->env, file->fd, at, to, n, &got);
    if (error == EINTR)
        return ebb_fail(file->env, EBB_INTERRUPTED, "%s: stopped while reading", file->path);
    if (error != 0)
        return ebb_fail_errno(file->env, "read", file->path, error, "give a file that can be read");
    if (got < n)
        return ebb_fail(file->env, EBB_IO, "%s has become shorter than %lld bytes: who else writes it?",
                        file->path, (long long)(at + n));
    return EBB_OK;
}

void ebb_tensors_close(ebb_tensors *file) {
    if (!file) return;
    ebb_env *env = file->env;
    if (file->fd >= 0) (void)close(file->fd);
    ebb_arena_deinit(&file->arena);
    ebb_cfree(env, file, 1, sizeof *file);
}

uint32_t ebb_tensors_count(const ebb_tensors *file) {
    return file->n;
}

const ebb_tensor_row *ebb_tensors_at(const ebb_tensors *file, uint32_t i) {
    return i < file->n ? &file->rows[i] : NULL;
}

const ebb_tensor_row *ebb_tensors_find(const ebb_tensors *file, const char *name) {
    const ebb_tensor_row like = {.name = name};
    return file->n > 0 ? bsearch(&like, file->rows, file->n, sizeof like, keep_by_name) : NULL;
}

const char *ebb_tensors_fact_find(const ebb_tensors *file, const char *key) {
    for (uint32_t i = 0; i < file->n_facts; i++)
        if (strcmp(file->facts[i].key, key) == 0) return file->facts[i].text;
    return NULL;
}

ebb_status ebb_tensors_read(const ebb_tensors *file, const ebb_tensor_row *row, int64_t from, int64_t n,
                            void *to) {
    if (from < 0 || n < 0 || from > row->bytes || n > row->bytes - from)
        return ebb_fail(file->env, EBB_USAGE,
                        "%s: tensor \"%.100s\" has %lld bytes; %lld from %lld on were asked for",
                        file->path, row->name, (long long)row->bytes, (long long)n, (long long)from);
    return keep_read_at(file, file->data_at + row->offset + from, n, to);
}
