/* rows_file: a table of rows from a file, packed, and to a file again.
 *
 * takes: a path. gives: a table that can be packed. What is wrong with a row is named with its line, before
 * anything is packed or written. */
#include "planner/rows.h"

#define MAX_FILE_BYTES ((size_t)1 << 30)

/* An open table of row numbers by their ids' hash, twice as large as it is full. */
ebb_status ebb_rows_check_ids(ebb_env *env, const ebb_rows *rows) {
    size_t n_slots = 2;
    while (n_slots < 2 * (size_t)rows->n) n_slots *= 2;
    uint32_t *slots = ebb_calloc(env, n_slots, sizeof *slots); /* the row's number + 1 */
    ebb_status status = slots == NULL ? EBB_NO_MEMORY : EBB_OK;
    for (uint32_t i = 0; i < rows->n && status == EBB_OK; i++) {
        ebb_hash hash;
        ebb_hash_init(&hash);
        ebb_hash_add(&hash, rows->ids[i], strlen(rows->ids[i]));
        size_t at = hash.low & (n_slots - 1);
        while (slots[at] != 0 && strcmp(rows->ids[slots[at] - 1], rows->ids[i]) != 0)
            at = (at + 1) & (n_slots - 1);
        if (slots[at] != 0)
            status = ebb_fail(env, EBB_BAD_INPUT, "%s: line %u: id \"%.60s\" is also that of line %u",
                              rows->where, rows->lines[i], rows->ids[i], rows->lines[slots[at] - 1]);
        slots[at] = i + 1;
    }
    if (slots != NULL) ebb_cfree(env, slots, n_slots, sizeof *slots);
    return status;
}

ebb_status ebb_rows_read(ebb_env *env, const char *path, ebb_rows **out) {
    char *text = NULL;
    size_t n = 0;
    *out = NULL;
    ebb_status status = ebb_file_read(env, path, MAX_FILE_BYTES, &text, &n);
    if (status != EBB_OK) return status;
    status = ebb_rows_parse(env, strcmp(path, "-") == 0 ? "standard input" : path, text, n, out);
    ebb_file_free(env, text, n);
    if (status == EBB_OK) status = ebb_rows_check_ids(env, *out);
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

ebb_status ebb_rows_pack(ebb_env *env, ebb_rows *rows, const ebb_pack_options *options,
                         ebb_pack_answer *answer) {
    const ebb_pack_job job = {.rows = rows->rows,
                              .n = rows->n,
                              .fixed = rows->offsets,
                              .gaps_from = rows->gaps_from,
                              .gaps = rows->gaps,
                              .windows = rows->windows};
    *answer = (ebb_pack_answer){.found_by = "list"};
    ebb_status status = check_sizes(env, rows, options->capacity);
    if (status != EBB_OK) return status;
    int64_t *packed = EBB_NEW(&rows->arena, int64_t, rows->n);
    if (packed == NULL) return EBB_NO_MEMORY;
    status = ebb_pack_solve(env, &job, options, packed, answer);
    if (status != EBB_OK) return status;
    rows->packed = packed;
    rows->height = answer->height;
    return EBB_OK;
}

static ebb_status write_text(ebb_env *env, ebb_text *text, const char *path) {
    ebb_status status = ebb_text_status(text);
    if (status == EBB_OK) status = ebb_file_write(env, path, text->at == NULL ? "" : text->at, text->n);
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
