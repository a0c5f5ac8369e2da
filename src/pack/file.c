/* file: a table of rows from a file, packed, and to a file again.
 *
 * takes: a path. gives: a table that can be packed. What is wrong with a row is named with its line, before
 * anything is packed or written. */
#include "pack/pack.h"

#define MAX_FILE_BYTES ((size_t)1 << 30)

ebb_status ebb_rows_read(ebb_env *env, const char *path, ebb_rows **out) {
    char *text = NULL;
    size_t n = 0;
    *out = NULL;
    ebb_status status = ebb_file_read(env, path, MAX_FILE_BYTES, &text, &n);
    if (status != EBB_OK) return status;
    status = ebb_rows_parse(env, strcmp(path, "-") == 0 ? "standard input" : path, text, n, out);
    ebb_file_free(env, text, n);
    if (status == EBB_OK) status = ebb_rows_link(env, *out);
    if (status != EBB_OK) {
        ebb_rows_destroy(*out);
        *out = NULL;
    }
    return status;
}

uint32_t ebb_rows_count(const ebb_rows *rows) {
    return rows->n;
}

static ebb_status check_sizes(ebb_env *env, const ebb_rows *rows, int64_t capacity) {
    for (uint32_t i = 0; capacity >= 0 && i < rows->n; i++)
        if (rows->rows[i].size > capacity)
            return ebb_fail(env, EBB_BAD_INPUT,
                            "%s: line %u: size %lld is above the capacity of %lld bytes", rows->where,
                            rows->lines[i], (long long)rows->rows[i].size, (long long)capacity);
    return EBB_OK;
}

/* Pools are drawn on top of one another. */
static void stack_pools(ebb_rows *rows) {
    rows->height = 0;
    for (uint32_t k = 0; k < rows->n_pools; k++) {
        rows->pool_bottom[k] = rows->height;
        rows->height += rows->pools[k].height;
    }
}

ebb_status ebb_rows_pack(ebb_env *env, ebb_rows *rows, const ebb_pack_options *options,
                         ebb_pack_answer *answer) {
    ebb_pack_job job = {.rows = rows->rows,
                        .n = rows->n,
                        .fixed = rows->offsets,
                        .gaps_from = rows->gaps_from,
                        .gaps = rows->gaps,
                        .windows = rows->windows,
                        .over_from = rows->over_from,
                        .over = rows->over};
    int64_t capacity[EBB_PACK_MAX_POOLS], height[EBB_PACK_MAX_POOLS] = {0};
    uint32_t *wanted = EBB_NEW(&rows->arena, uint32_t, rows->n),
             *given = EBB_NEW(&rows->arena, uint32_t, rows->n);
    int64_t *packed = EBB_NEW(&rows->arena, int64_t, rows->n);
    *answer = (ebb_pack_answer){.found_by = "list"};
    if (!packed || !wanted || !given) return EBB_NO_MEMORY;
    ebb_status status = check_sizes(env, rows, options->capacity);
    if (status == EBB_OK) status = ebb_rows_find_pools(env, rows, wanted);
    if (status != EBB_OK) return status;
    for (uint32_t k = 0; k < rows->n_pools; k++) capacity[k] = rows->pools[k].capacity;
    ebb_pack_pools pools = {rows->n_pools, capacity, wanted, given, height};
    if (rows->n_pools > 0) job.pools = &pools;
    status = ebb_pack_solve(env, &job, options, packed, answer);
    if (status != EBB_OK) return status;
    rows->packed = packed;
    rows->height = answer->height;
    for (uint32_t k = 0; k < rows->n_pools; k++) rows->pools[k].height = height[k];
    if (rows->n_pools > 0) {
        rows->given = given;
        stack_pools(rows);
    }
    return EBB_OK;
}

static ebb_status write_text(ebb_env *env, ebb_text *text, const char *path) {
    ebb_status status = ebb_text_status(text);
    if (status == EBB_OK) status = ebb_file_write(env, path, text->at ? text->at : "", text->n);
    ebb_text_deinit(text);
    return status;
}

ebb_status ebb_rows_write(ebb_env *env, const ebb_rows *rows, const char *path) {
    ebb_text text;
    ebb_text_init(&text, env);
    ebb_rows_print(&text, rows, rows->packed);
    return write_text(env, &text, path);
}

ebb_status ebb_rows_draw(ebb_env *env, const ebb_rows *rows, const char *path) {
    ebb_text text;
    ebb_text_init(&text, env);
    ebb_rows_svg(&text, rows);
    return write_text(env, &text, path);
}
