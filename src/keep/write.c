/* Writing: all that needs memory or may be refused comes first, so that a thread without an env can do the
 * rest. */
#include <pthread.h>
#include <stdlib.h>

#include "keep/rows.h"

struct ebb_keep_job {
    ebb_env *env;
    ebb_arena arena;
    ebb_text header;
    ebb_file_part *parts; /* the header, then the data */
    uint32_t n_parts;
    pthread_t thread;
    bool running;
    ebb_replacement file;
};

/* The thread's part: no env. */
static void *write_file(void *ctx) {
    ebb_keep_job *job = ctx;
    ebb_replacement_write(&job->file, job->parts, job->n_parts);
    return NULL;
}

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
                            job->file.path, rows[i].name);
        if (rows[i].rank > EBB_TENSORS_MAX_RANK || !keep_row_bytes(&rows[i], &bytes) ||
            bytes != rows[i].bytes)
            return ebb_fail(
                job->env, EBB_USAGE, "%s: tensor %.100s of dtype %.20s and rank %u has not %lld bytes",
                job->file.path, rows[i].name, rows[i].dtype, rows[i].rank, (long long)rows[i].bytes);
    }
    if (n > 1) qsort(sorted, n, sizeof *sorted, by_pointed_name);
    for (uint32_t i = 1; i < n; i++)
        if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0)
            return ebb_fail(job->env, EBB_USAGE, "%s: two tensors are named %.100s", job->file.path,
                            sorted[i]->name);
    return EBB_OK;
}

static ebb_status check_facts(const ebb_keep_job *job, const ebb_tensors_fact *facts, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(facts[i].key, facts[k].key) == 0)
                return ebb_fail(job->env, EBB_USAGE, "%s: two facts are named %.100s", job->file.path,
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
            job->parts[job->n_parts++] = (ebb_file_part){data[i], (size_t)rows[i].bytes};
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
    job->n_parts = 1;
    const bool fits = print_rows(job, &json, rows, data, n);
    ebb_json_end(&json, '}');
    while (!job->header.failed && job->header.n % 8 != 0) ebb_text_put(&job->header, " ", 1);
    const ebb_status status = ebb_text_status(&job->header);
    if (status != EBB_OK) return status;
    uint64_t length = job->header.n - sizeof room;
    if (!fits || (int64_t)length > EBB_TENSORS_HEADER_BYTES)
        return ebb_fail(job->env, EBB_USAGE, "%s: a header of %llu bytes; the most is %lld", job->file.path,
                        (unsigned long long)length, (long long)EBB_TENSORS_HEADER_BYTES);
    for (size_t i = 0; i < sizeof room; i++, length >>= 8) job->header.at[i] = (char)(length & 0xFF);
    job->parts[0] = (ebb_file_part){job->header.at, job->header.n};
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
    job->parts = EBB_NEW(&job->arena, ebb_file_part, (size_t)n + 1);
    ebb_status status = job->parts ? ebb_replacement_begin(env, path, true, &job->file) : EBB_NO_MEMORY;
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
    const ebb_status status = ebb_replacement_end(job->env, &job->file);
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
