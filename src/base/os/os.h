/* os: handles whole files, folders, a cache of reproducible results (the shelf), other programs, worker
 * threads, and the machine's description. */
#ifndef EBB_BASE_OS_H
#define EBB_BASE_OS_H

#include "base/env/env.h"

#include <limits.h>

/* ---- files ---- */

/* Reads a whole file, with a NUL after its bytes. path "-" reads standard input. EBB_IO when it cannot be
 * read, EBB_BAD_INPUT above max_bytes; *out is NULL then. Free with ebb_file_free. */
EBB_CHECKED ebb_status ebb_file_read(ebb_env *env, const char *path, size_t max_bytes, char **out,
                                     size_t *n);
void ebb_file_free(ebb_env *env, char *bytes, size_t n);
/* ebb_file_write (ebb/base.h), which does as ebb_replacement does, for separate parts, written one after
 * the other. */
typedef struct ebb_file_part {
    const void *at;
    size_t n;
} ebb_file_part;
EBB_CHECKED ebb_status ebb_file_write_parts(ebb_env *env, const char *path, const ebb_file_part *parts,
                                            size_t n);

/* A new file in an old one's place: written beside it, synced, renamed, and the folder synced, so that path
 * holds the old content or the whole new content, never a half. A symbolic link to an existing file is
 * followed, and the old file's mode stays. Begin needs the env; write needs none and may run on another
 * thread; end reports what write did. */
typedef struct ebb_replacement {
    char path[PATH_MAX], temporary[PATH_MAX]; /* links resolved; the file beside it */
    bool keeps_mode, takes_over;
    uint32_t mode;
    const char *verb; /* what failed, with the errno `error` */
    int error;
    bool in_place; /* the whole file already has its final name */
} ebb_replacement;

/* takes_over: the file beside it is path.tmp; one that a killed process left is taken over, while one that
 * another process is writing is refused: for large files, of which none may be left behind. Otherwise its
 * name is unique, and the last of many writers wins. EBB_IO. */
EBB_CHECKED ebb_status ebb_replacement_begin(ebb_env *env, const char *path, bool takes_over,
                                             ebb_replacement *out);
void ebb_replacement_write(ebb_replacement *replacement, const ebb_file_part *parts, size_t n);
/* EBB_IO: path has its old content; or, as the text says, the new file, whose folder could not be synced.
 */
EBB_CHECKED ebb_status ebb_replacement_end(ebb_env *env, const ebb_replacement *replacement);

/* Reads n bytes of an open file from byte `at` on; returns 0 or an errno. *got: how many were read, fewer
 * than n at the file's end. EINTR: the env, which may be NULL, was asked to stop. */
int ebb_fd_read_at(const ebb_env *env, int fd, int64_t at, void *to, int64_t n, int64_t *got);
/* Writes all n bytes to an open file; returns 0 or an errno. */
int ebb_fd_write(int fd, const void *bytes, size_t n);

/* Fails with EBB_IO and the text "cannot open plan.json: No such file or directory: ADVICE", from an
 * errno. */
EBB_CHECKED ebb_status ebb_fail_errno(ebb_env *env, const char *verb, const char *path, int error,
                                      const char *advice);

/* Makes the folder if it does not exist, but not its parents. EBB_IO. */
EBB_CHECKED ebb_status ebb_folder_make(ebb_env *env, const char *path);
/* EBB_IO when no file can be made in it. */
EBB_CHECKED ebb_status ebb_folder_check_writable(ebb_env *env, const char *path);
/* Whether there is a regular file. EBB_IO: something else has that name, or this cannot be determined. */
EBB_CHECKED ebb_status ebb_file_find(ebb_env *env, const char *path, bool *found);

/* ---- a shelf: a cache of reproducible results, by the hash of their inputs ----
 *
 *     $XDG_CACHE_HOME/ebb/NAME/<32 digits>     head with length and checksum | bytes
 *
 * It never fails: an entry that cannot be kept or found is made again. It only uses a folder that belongs
 * to this user and that no one else may enter, because it holds code. Entries are written under another
 * name and renamed, so that any number of processes may use it; a damaged entry is removed; beyond
 * most_bytes the least recently used are evicted. */

typedef struct ebb_shelf {
    ebb_env *env;
    int folder;         /* -1: none; nothing is found or kept */
    int64_t most_bytes; /* of all entries; one entry may have a quarter */
} ebb_shelf;

/* Opens the shelf under XDG_CACHE_HOME, or HOME's .cache; made if it is not there. */
void ebb_shelf_open(ebb_shelf *shelf, ebb_env *env, const char *name);
void ebb_shelf_close(ebb_shelf *shelf); /* safe on a zeroed struct whose folder is -1 */
/* Finds an entry; false: it is not there, and *out is NULL. Free with ebb_file_free. */
bool ebb_shelf_find(ebb_shelf *shelf, const ebb_hash *key, char **out, size_t *n);
void ebb_shelf_keep(ebb_shelf *shelf, const ebb_hash *key, const void *bytes, size_t n);

/* ---- other programs ---- */

/* Runs argv (ended by NULL; argv[0] is looked up in PATH) without a shell and with empty input, and waits.
 * Its output on both streams goes to `said` as text, truncated at n - 1 bytes. *code: its exit code, or 128
 * plus the number of the signal that ended it. EBB_UNAVAILABLE: it cannot be started; EBB_IO. */
EBB_CHECKED ebb_status ebb_program_run(ebb_env *env, const char *const *argv, char *said, size_t n,
                                       int *code);

/* ---- workers ---- */

/* Calls task(ctx, i, worker) for i in [0, n), by at most n_workers threads (the caller is worker 0). Which
 * worker takes which i is not fixed: results must not depend on it. Returns when all are done. If a thread
 * cannot be started, the others do its work; the caller always works, so this cannot fail. task must not
 * touch an env that is shared. */
void ebb_parallel_for(uint32_t n_workers, uint32_t n, void (*task)(void *ctx, uint32_t i, uint32_t worker),
                      void *ctx);
/* Processors that this process may run on, >= 1. */
uint32_t ebb_cpu_count(void);

/* The processor's name, family, model and widest vectors: the facts that times measured here depend on
 * besides the number of threads. Never empty. */
#define EBB_MACHINE_TEXT 128
void ebb_machine_text(char text[EBB_MACHINE_TEXT]);

#endif
