/* os: whole files, folders, worker threads, and what machine this is. */
#ifndef EBB_BASE_OS_H
#define EBB_BASE_OS_H

#include "base/env/env.h"

/* ---- files ---- */

/* The whole file as bytes with a NUL after them. path "-" reads standard input. EBB_IO when it
 * cannot be read, EBB_BAD_INPUT above max_bytes. Free with ebb_file_free. */
EBB_CHECKED ebb_status ebb_file_read(ebb_env *env, const char *path, size_t max_bytes, char **out,
                                     size_t *n);
void ebb_file_free(ebb_env *env, char *bytes, size_t n);
/* Written to a temporary file beside path, synced, then renamed: path holds the old content or
 * the whole new content, never a half. path "-" writes standard output. EBB_IO on failure. */
EBB_CHECKED ebb_status ebb_file_write(ebb_env *env, const char *path, const char *bytes, size_t n);
/* The same of bytes that lie apart, one part after the other. */
typedef struct ebb_file_part {
    const void *at;
    size_t n;
} ebb_file_part;
EBB_CHECKED ebb_status ebb_file_write_parts(ebb_env *env, const char *path, const ebb_file_part *parts,
                                            size_t n);

/* "cannot open plan.json: No such file or directory: ADVICE" as EBB_IO, of an errno. */
EBB_CHECKED ebb_status ebb_fail_errno(ebb_env *env, const char *verb, const char *path, int error,
                                      const char *advice);

/* The folder is there afterwards; those above it are not made. EBB_IO. */
EBB_CHECKED ebb_status ebb_folder_make(ebb_env *env, const char *path);
/* EBB_IO when no file can be made in it. */
EBB_CHECKED ebb_status ebb_folder_check_writable(ebb_env *env, const char *path);
/* Whether there is a regular file. EBB_IO: something else of that name, or no telling. */
EBB_CHECKED ebb_status ebb_file_find(ebb_env *env, const char *path, bool *found);

/* ---- workers ---- */

/* Calls task(ctx, i, worker) for i in [0, n), by at most n_workers threads (the caller is worker 0).
 * Which worker takes which i is not fixed: results must not depend on it. Returns when all are done.
 * EBB_NO_MEMORY when a thread cannot be started (then the others still do all the work: the status
 * is EBB_OK; it fails only when nothing could run). task must not touch an env that is shared. */
EBB_CHECKED ebb_status ebb_parallel_for(ebb_env *env, uint32_t n_workers, uint32_t n,
                                        void (*task)(void *ctx, uint32_t i, uint32_t worker), void *ctx);
/* Processors that this process may run on, >= 1. */
uint32_t ebb_cpu_count(void);

/* The processor's name, family, model and widest vectors: what times measured here depend on beside the
 * number of threads. Never empty. */
#define EBB_MACHINE_TEXT 128
void ebb_machine_text(char text[EBB_MACHINE_TEXT]);

#endif
