/* Writing: all that needs memory or may be refused comes first, so that a thread without an env can do the
 * rest: fill a file beside the old one, sync it, put it in the old one's place, sync the folder. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "keep/rows.h"

/* A piece of the data: n bytes at `at`. */
typedef struct piece {
    const void *at;
    int64_t n;
} piece;

struct ebb_keep_job {
    ebb_env *env;
    ebb_arena arena;
    ebb_text header;
    piece *pieces;
    uint32_t n_pieces;
    pthread_t thread;
    bool running;
    const char *verb; /* what failed, with the errno `error` */
    int error;
    bool in_place; /* the file is whole under its name already */
    char path[PATH_MAX], temporary[PATH_MAX], folder[PATH_MAX];
};

/* ---- the thread's part: no env ---- */

static bool failed(ebb_keep_job *job, const char *verb) {
    job->error = errno;
    job->verb = verb;
    return false;
}

static bool put(ebb_keep_job *job, int fd, const char *bytes, int64_t n) {
    while (n > 0) {
        const ssize_t done = write(fd, bytes, (size_t)n);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return failed(job, "write");
        bytes += done;
        n -= done;
    }
    return true;
}

/* The file that a killed run left is taken over; one that somebody is writing is not. Its writer may have
 * put it in place between our two calls: then the name is another file's, or nobody's. A file system
 * without locks has one writer at a time by the caller's care alone. */
static int open_temporary(ebb_keep_job *job) {
#ifdef F_OFD_SETLK
    const int command = F_OFD_SETLK; /* holds against this process's other writers, too */
#else
    const int command = F_SETLK;
#endif
    for (;;) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        struct stat ours, named;
        const int fd = open(job->temporary, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd < 0 && errno == EINTR) continue;
        if (fd < 0) return failed(job, "create"), -1;
        if (fcntl(fd, command, &lock) != 0 && (errno == EAGAIN || errno == EACCES)) {
            (void)failed(job, "take over");
            (void)close(fd);
            return -1;
        }
        if (fstat(fd, &ours) == 0 && stat(job->temporary, &named) == 0 && ours.st_ino == named.st_ino &&
            ours.st_dev == named.st_dev)
            return fd;
        (void)close(fd);
    }
}

/* EINVAL: what cannot be synced. */
static bool sync_file(ebb_keep_job *job, int fd, const char *verb) {
    return fsync(fd) == 0 || errno == EINVAL ? true : failed(job, verb);
}

static bool fill(ebb_keep_job *job, int fd) {
    bool good = ftruncate(fd, 0) == 0 ? true : failed(job, "empty");
    good = good && put(job, fd, job->header.at, (int64_t)job->header.n);
    for (uint32_t i = 0; i < job->n_pieces && good; i++)
        good = put(job, fd, job->pieces[i].at, job->pieces[i].n);
    good = good && sync_file(job, fd, "sync");
    if (good && rename(job->temporary, job->path) != 0) good = failed(job, "rename");
    return good;
}

/* A name that is not synced may be the old file's again after a crash of the machine. */
static void sync_folder(ebb_keep_job *job) {
    job->in_place = true;
    const int fd = open(job->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        (void)failed(job, "open the folder of");
        return;
    }
    (void)sync_file(job, fd, "sync the folder of");
    (void)close(fd);
}

static void *write_file(void *ctx) {
    ebb_keep_job *job = ctx;
    const int fd = open_temporary(job);
    if (fd < 0) return NULL;
    const bool good = fill(job, fd);
    if (!good) (void)unlink(job->temporary); /* while the lock is held */
    if (close(fd) != 0 && good && errno != EINTR) (void)failed(job, "close");
    if (good) sync_folder(job);
    return NULL;
}

/* ---- the caller's part ---- */

static int by_pointed_name(const void *a, const void *b) {
    return strcmp((*(const ebb_tensor_row *const *)a)->name, (*(const ebb_tensor_row *const *)b)->name);
}

static ebb_status check_rows(ebb_keep_job *job, const ebb_tensor_row *rows, uint32_t n) {
    const ebb_tensor_row **sorted = EBB_NEW(&job->arena, const ebb_tensor_row *, n);
    int64_t bytes;
    if (!sorted) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++) {
        sorted[i] = &rows[i];
        if (rows[i].name[0] == '\0' || strcmp(rows[i].name, KEEP_FACTS) == 0)
            return ebb_fail(job->env, EBB_USAGE, "%s: a tensor cannot be named \"%s\" in a file: rename it",
                            job->path, rows[i].name);
        if (rows[i].rank > EBB_TENSORS_MAX_RANK || !keep_row_bytes(&rows[i], &bytes) ||
            bytes != rows[i].bytes)
            return ebb_fail(job->env, EBB_USAGE,
                            "%s: tensor %.100s of dtype %.20s and rank %u has not %lld bytes", job->path,
                            rows[i].name, rows[i].dtype, rows[i].rank, (long long)rows[i].bytes);
    }
    if (n > 1) qsort(sorted, n, sizeof(*sorted), by_pointed_name);
    for (uint32_t i = 1; i < n; i++)
        if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0)
            return ebb_fail(job->env, EBB_USAGE, "%s: two tensors are named %.100s", job->path,
                            sorted[i]->name);
    return EBB_OK;
}

static ebb_status check_facts(const ebb_keep_job *job, const ebb_tensors_fact *facts, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(facts[i].key, facts[k].key) == 0)
                return ebb_fail(job->env, EBB_USAGE, "%s: two facts are named %.100s", job->path,
                                facts[i].key);
    return EBB_OK;
}

static void print_row(ebb_json_out *json, const ebb_tensor_row *row, int64_t begin, int64_t end) {
    ebb_json_begin(json, row->name, '{', false);
    ebb_json_put_text(json, "dtype", row->dtype);
    ebb_json_begin(json, "shape", '[', false);
    for (uint32_t i = 0; i < row->rank; i++) ebb_json_put_i64(json, NULL, row->dim[i]);
    ebb_json_end(json, ']');
    ebb_json_begin(json, "data_offsets", '[', false);
    ebb_json_put_i64(json, NULL, begin);
    ebb_json_put_i64(json, NULL, end);
    ebb_json_end(json, ']');
    ebb_json_end(json, '}');
}

/* Wide elements first, so that every tensor is aligned to its own. */
static bool print_rows(ebb_keep_job *job, ebb_json_out *json, const ebb_tensor_row *rows,
                       const void *const *data, uint32_t n) {
    int64_t offset = 0;
    for (int64_t width = 8; width > 0; width /= 2) {
        for (uint32_t i = 0; i < n; i++) {
            if (ebb_tensors_dtype_bytes(rows[i].dtype) != width) continue;
            int64_t end;
            if (!ebb_add_i64(offset, rows[i].bytes, &end)) return false;
            print_row(json, &rows[i], offset, end);
            offset = end;
            job->pieces[job->n_pieces++] = (piece){data[i], rows[i].bytes};
        }
    }
    return true;
}

static ebb_status print_header(ebb_keep_job *job, const ebb_tensor_row *rows, const void *const *data,
                               uint32_t n, const ebb_tensors_fact *facts, uint32_t n_facts) {
    static const char room[8] = {0};
    ebb_json_out json;
    ebb_text_put(&job->header, room, sizeof room);
    ebb_json_out_init(&json, &job->header);
    ebb_json_begin(&json, NULL, '{', false);
    if (n_facts > 0) ebb_json_begin(&json, KEEP_FACTS, '{', false);
    for (uint32_t i = 0; i < n_facts; i++) ebb_json_put_text(&json, facts[i].key, facts[i].text);
    if (n_facts > 0) ebb_json_end(&json, '}');
    const bool fits = print_rows(job, &json, rows, data, n);
    ebb_json_end(&json, '}');
    while (!job->header.failed && job->header.n % 8 != 0) ebb_text_put(&job->header, " ", 1);
    const ebb_status status = ebb_text_status(&job->header);
    if (status != EBB_OK) return status;
    uint64_t length = job->header.n - sizeof room;
    if (!fits || (int64_t)length > EBB_TENSORS_HEADER_BYTES)
        return ebb_fail(job->env, EBB_USAGE, "%s: a header of %llu bytes; the most is %lld", job->path,
                        (unsigned long long)length, (long long)EBB_TENSORS_HEADER_BYTES);
    for (size_t i = 0; i < sizeof room; i++, length >>= 8) job->header.at[i] = (char)(length & 0xFF);
    return EBB_OK;
}

/* The folder of path is all up to its last slash. */
static ebb_status name_files(ebb_keep_job *job, const char *path) {
    const char *slash = strrchr(path, '/');
    const int folder = slash ? (int)(slash - path) + 1 : 0;
    if (path[0] == '\0' || snprintf(job->temporary, PATH_MAX, "%s.tmp", path) >= PATH_MAX)
        return ebb_fail_errno(job->env, "write", path[0] ? path : "\"\"", path[0] ? ENAMETOOLONG : ENOENT,
                              "give another path");
    (void)snprintf(job->path, PATH_MAX, "%s", path);
    (void)snprintf(job->folder, PATH_MAX, "%.*s", folder > 0 ? folder : 1, folder > 0 ? path : ".");
    return EBB_OK;
}

static void drop(ebb_keep_job *job) {
    ebb_env *env = job->env;
    ebb_text_deinit(&job->header);
    ebb_arena_deinit(&job->arena);
    ebb_cfree(env, job, 1, sizeof *job);
}

static ebb_status make(ebb_env *env, const char *path, const ebb_tensor_row *rows, const void *const *data,
                       uint32_t n, const ebb_tensors_fact *facts, uint32_t n_facts, ebb_keep_job **out) {
    ebb_keep_job *job = ebb_calloc(env, 1, sizeof *job);
    if (!job) return EBB_NO_MEMORY;
    job->env = env;
    ebb_arena_init(&job->arena, env);
    ebb_text_init(&job->header, env);
    job->pieces = EBB_NEW(&job->arena, piece, n);
    ebb_status status = job->pieces ? name_files(job, path) : EBB_NO_MEMORY;
    if (status == EBB_OK) status = check_rows(job, rows, n);
    if (status == EBB_OK) status = check_facts(job, facts, n_facts);
    if (status == EBB_OK) status = print_header(job, rows, data, n, facts, n_facts);
    if (status == EBB_OK)
        *out = job;
    else
        drop(job);
    return status;
}

ebb_status ebb_keep_job_begin(ebb_env *env, const char *path, const ebb_tensor_row *rows,
                              const void *const *data, uint32_t n, const ebb_tensors_fact *facts,
                              uint32_t n_facts, ebb_keep_job **out) {
    *out = NULL;
    const ebb_status status = make(env, path, rows, data, n, facts, n_facts, out);
    if (status != EBB_OK) return status;
    (*out)->running = pthread_create(&(*out)->thread, NULL, write_file, *out) == 0;
    if (!(*out)->running) (void)write_file(*out);
    return EBB_OK;
}

ebb_status ebb_keep_job_end(ebb_keep_job *job) {
    if (!job) return EBB_OK;
    if (job->running) (void)pthread_join(job->thread, NULL);
    const ebb_status status =
        job->error == 0
            ? EBB_OK
            : ebb_fail_errno(job->env, job->verb, job->path, job->error,
                             job->in_place ? "the file is written, but may be lost if the machine stops now"
                                           : "check the folder, the free space, the permissions and who "
                                             "else writes it");
    drop(job);
    return status;
}

ebb_status ebb_tensors_write(ebb_env *env, const char *path, const ebb_tensor_row *rows,
                             const void *const *data, uint32_t n, const ebb_tensors_fact *facts,
                             uint32_t n_facts) {
    ebb_keep_job *job = NULL;
    const ebb_status status = make(env, path, rows, data, n, facts, n_facts, &job);
    if (status != EBB_OK) return status;
    (void)write_file(job);
    return ebb_keep_job_end(job);
}
