/* Reading: the header is checked in full before a tensor is given to anybody.
 *
 *     length -> tokens counted -> JSON -> rows -> every byte of the data in exactly one row
 *
 * The parser takes some hundred bytes for each pair of brackets and each comma; counting both first is what
 * bounds it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "keep/rows.h"

enum { WHERE_TEXT = 512, LENGTH_BYTES = 8, MAX_BRACKETS = 1 << 16, MAX_COMMAS = 1 << 18, MAX_DEPTH = 3 };
static const char advice[] = "give a file in the safetensors format";

/* What reading a header goes through. */
typedef struct header {
    ebb_tensors *file;
    ebb_json *json;
    const ebb_json *facts;
    uint32_t n_brackets;
} header;

/* ---- the file ---- */

static ebb_status open_file(ebb_tensors *file, int64_t *size) {
    struct stat info;
    file->fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (file->fd < 0 || fstat(file->fd, &info) != 0)
        return ebb_fail_errno(file->env, "open", file->path, errno, "give a file that can be read");
    if (!S_ISREG(info.st_mode))
        return ebb_fail(file->env, EBB_IO, "cannot read %s: it is no regular file: %s", file->path, advice);
    *size = (int64_t)info.st_size;
    return EBB_OK;
}

static ebb_status read_length(ebb_tensors *file, int64_t size, int64_t *out) {
    unsigned char bytes[LENGTH_BYTES];
    uint64_t n = 0;
    if (size < LENGTH_BYTES)
        return ebb_fail(file->env, EBB_BAD_INPUT, "%s: %lld bytes, too few for the header's length: %s",
                        file->path, (long long)size, advice);
    const ebb_status status = keep_read_at(file, 0, LENGTH_BYTES, bytes);
    if (status != EBB_OK) return status;
    for (int i = LENGTH_BYTES; i-- > 0;) n = n << 8 | bytes[i];
    if (n > (uint64_t)(size - LENGTH_BYTES) || n > EBB_TENSORS_HEADER_BYTES || n < 2)
        return ebb_fail(file->env, EBB_BAD_INPUT,
                        "%s: a header of %llu bytes in a file of %lld; it must have 2 to %lld and fit: %s",
                        file->path, (unsigned long long)n, (long long)size,
                        (long long)EBB_TENSORS_HEADER_BYTES, advice);
    *out = (int64_t)n;
    return EBB_OK;
}

/* ---- the header's text ---- */

/* Counts what the parser will take memory for; what is malformed is left to it. */
static ebb_status count_tokens(header *h, const char *text, int64_t n) {
    int64_t depth = 0, n_commas = 0;
    bool in_string = false;
    for (int64_t i = 0; i < n; i++) {
        const char c = text[i];
        if (in_string && c == '\\')
            i++;
        else if (c == '"')
            in_string = !in_string;
        else if (!in_string && c == ',')
            n_commas++;
        else if (!in_string && (c == '{' || c == '['))
            h->n_brackets++, depth++;
        else if (!in_string && (c == '}' || c == ']'))
            depth--;
        if (depth > MAX_DEPTH || h->n_brackets > MAX_BRACKETS || n_commas > MAX_COMMAS)
            return ebb_fail(
                h->file->env, EBB_BAD_INPUT,
                "%s: the header has more than %d brackets, %d commas or %d levels at its byte %lld: %s",
                h->file->path, MAX_BRACKETS, MAX_COMMAS, MAX_DEPTH, (long long)i, advice);
    }
    return EBB_OK;
}

static ebb_status parse(header *h, int64_t n) {
    ebb_tensors *file = h->file;
    char *text = ebb_alloc_aligned(file->env, (size_t)n, 16);
    if (!text) return EBB_NO_MEMORY;
    ebb_status status = keep_read_at(file, LENGTH_BYTES, n, text);
    if (status == EBB_OK && text[0] != '{')
        status = ebb_fail(file->env, EBB_BAD_INPUT, "%s: the header does not begin with {: %s", file->path,
                          advice);
    if (status == EBB_OK) status = count_tokens(h, text, n);
    if (status == EBB_OK) status = ebb_json_parse(file->env, file->path, text, (size_t)n, &h->json);
    ebb_free_aligned(file->env, text, (size_t)n, 16);
    return status;
}

/* ---- rows ---- */

static ebb_status read_shape(const header *h, const ebb_json *tensor, const char *where,
                             ebb_tensor_row *row) {
    const ebb_json *shape;
    size_t n;
    char dims[WHERE_TEXT + 8];
    ebb_env *env = h->file->env;
    (void)snprintf(dims, sizeof dims, "%s: shape", where);
    ebb_status status = ebb_json_array(env, tensor, where, "shape", NULL, &shape, &n);
    if (status == EBB_OK && n > EBB_TENSORS_MAX_RANK)
        return ebb_fail(env, EBB_BAD_INPUT, "%s: rank %zu; the most is %d", where, n, EBB_TENSORS_MAX_RANK);
    for (size_t i = 0; i < n && status == EBB_OK; i++)
        status = ebb_json_at_i64(env, shape, dims, i, 0, INT64_MAX, &row->dim[row->rank++]);
    return status;
}

static ebb_status read_offsets(const header *h, const ebb_json *tensor, const char *where,
                               ebb_tensor_row *row) {
    const ebb_json *offsets;
    size_t n;
    int64_t end = 0;
    ebb_env *env = h->file->env;
    ebb_status status = ebb_json_array(env, tensor, where, "data_offsets", NULL, &offsets, &n);
    if (status == EBB_OK && n != 2)
        return ebb_fail(env, EBB_BAD_INPUT, "%s: %zu data_offsets; there must be 2", where, n);
    if (status == EBB_OK) status = ebb_json_at_i64(env, offsets, where, 0, 0, INT64_MAX, &row->offset);
    if (status == EBB_OK) status = ebb_json_at_i64(env, offsets, where, 1, 0, INT64_MAX, &end);
    if (status != EBB_OK) return status;
    if (end < row->offset || end > h->file->data_bytes)
        return ebb_fail(env, EBB_BAD_INPUT, "%s: bytes %lld to %lld of the %lld that the file has", where,
                        (long long)row->offset, (long long)end, (long long)h->file->data_bytes);
    if (end - row->offset != row->bytes)
        return ebb_fail(env, EBB_BAD_INPUT, "%s: %lld bytes at data_offsets, but %lld by dtype and shape",
                        where, (long long)(end - row->offset), (long long)row->bytes);
    return EBB_OK;
}

static ebb_status read_row(const header *h, const char *key, ebb_tensor_row *row) {
    static const char *const known[] = {"dtype", "shape", "data_offsets"};
    ebb_tensors *file = h->file;
    const ebb_json *tensor;
    const char *dtype = "", *unknown;
    char where[WHERE_TEXT];
    (void)snprintf(where, sizeof where, "%.300s: tensor \"%.100s\"", file->path, key);
    ebb_status status = ebb_json_object(file->env, h->json, where, key, NULL, &tensor);
    if (status == EBB_OK) status = ebb_json_text(file->env, tensor, where, "dtype", NULL, &dtype);
    if (status == EBB_OK) status = read_shape(h, tensor, where, row);
    if (status != EBB_OK) return status;
    if ((unknown = ebb_json_unknown_key(tensor, known, EBB_COUNT(known))))
        return ebb_fail(file->env, EBB_BAD_INPUT, "%s: unknown member \"%.60s\"", where, unknown);
    if (key[0] == '\0' || ebb_tensors_dtype_bytes(dtype) == 0)
        return ebb_fail(file->env, EBB_BAD_INPUT, "%s: %s \"%.40s\"", where,
                        key[0] ? "unknown dtype" : "no name; dtype", dtype);
    row->name = ebb_arena_text(&file->arena, key);
    row->dtype = ebb_arena_text(&file->arena, dtype);
    if (!row->name || !row->dtype) return EBB_NO_MEMORY;
    if (!keep_row_bytes(row, &row->bytes))
        return ebb_fail(file->env, EBB_BAD_INPUT, "%s: its bytes do not fit 63 bits", where);
    return read_offsets(h, tensor, where, row);
}

static ebb_status add_key(void *ctx, const char *key) {
    header *h = ctx;
    ebb_tensors *file = h->file;
    if (strcmp(key, KEEP_FACTS) == 0)
        return ebb_json_object(file->env, h->json, file->path, key, NULL, &h->facts);
    ebb_tensor_row row = {.rank = 0};
    const ebb_status status = read_row(h, key, &row);
    if (status == EBB_OK) file->rows[file->n++] = row;
    return status;
}

static ebb_status add_fact(void *ctx, const char *key) {
    header *h = ctx;
    ebb_tensors *file = h->file;
    const char *text = "";
    bool present = false; /* null is none */
    ebb_status status = ebb_json_text(file->env, h->facts, file->path, key, &present, &text);
    if (status == EBB_OK && !present)
        status = ebb_fail(file->env, EBB_BAD_INPUT,
                          "%s: " KEEP_FACTS " \"%.100s\" is null; it must be a text", file->path, key);
    if (status != EBB_OK) return status;
    ebb_tensors_fact *fact = &file->facts[file->n_facts++];
    fact->key = ebb_arena_text(&file->arena, key);
    fact->text = ebb_arena_text(&file->arena, text);
    return fact->key && fact->text ? EBB_OK : EBB_NO_MEMORY;
}

static ebb_status count_key(void *ctx, const char *key) {
    (void)key;
    (*(size_t *)ctx)++;
    return EBB_OK;
}

static ebb_status read_rows(header *h) {
    ebb_tensors *file = h->file;
    size_t n = 0;
    ebb_status status = ebb_json_each_key(h->json, count_key, &n);
    file->rows = EBB_NEW(&file->arena, ebb_tensor_row, n);
    if (!file->rows) return EBB_NO_MEMORY;
    if (status == EBB_OK) status = ebb_json_each_key(h->json, add_key, h);
    if (status != EBB_OK || !h->facts) return status;
    n = 0;
    status = ebb_json_each_key(h->facts, count_key, &n);
    file->facts = EBB_NEW(&file->arena, ebb_tensors_fact, n);
    if (!file->facts) return EBB_NO_MEMORY;
    return status == EBB_OK ? ebb_json_each_key(h->facts, add_fact, h) : status;
}

/* ---- every byte in one row ---- */

static int by_offset(const void *a, const void *b) {
    const ebb_tensor_row *x = a, *y = b;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

/* Leaves the rows by name. */
static ebb_status check_offsets(ebb_tensors *file) {
    int64_t at = 0;
    if (file->n > 1) qsort(file->rows, file->n, sizeof *file->rows, by_offset);
    for (uint32_t i = 0; i < file->n; i++) {
        const ebb_tensor_row *row = &file->rows[i];
        if (row->offset < at)
            return ebb_fail(file->env, EBB_BAD_INPUT,
                            "%s: tensors \"%.100s\" and \"%.100s\" share byte %lld", file->path,
                            file->rows[i - 1].name, row->name, (long long)row->offset);
        if (row->offset > at) break;
        at += row->bytes;
    }
    if (at != file->data_bytes)
        return ebb_fail(file->env, EBB_BAD_INPUT,
                        "%s: byte %lld of the data's %lld belongs to no tensor: %s", file->path,
                        (long long)at, (long long)file->data_bytes, advice);
    if (file->n > 1) qsort(file->rows, file->n, sizeof *file->rows, keep_by_name);
    return EBB_OK;
}

ebb_status ebb_tensors_open(ebb_env *env, const char *path, ebb_tensors **out) {
    *out = NULL;
    ebb_tensors *file = ebb_calloc(env, 1, sizeof *file);
    if (!file) return EBB_NO_MEMORY;
    *file = (ebb_tensors){.env = env, .fd = -1};
    ebb_arena_init(&file->arena, env);
    header h = {.file = file};
    int64_t size = 0, n = 0;
    file->path = ebb_arena_text(&file->arena, path);
    ebb_status status = file->path ? open_file(file, &size) : EBB_NO_MEMORY;
    if (status == EBB_OK) status = read_length(file, size, &n);
    file->data_at = LENGTH_BYTES + n;
    file->data_bytes = size - file->data_at;
    if (status == EBB_OK) status = parse(&h, n);
    if (status == EBB_OK) status = read_rows(&h);
    if (status == EBB_OK) status = check_offsets(file);
    if (h.json) ebb_json_free(h.json);
    if (status == EBB_OK)
        *out = file;
    else
        ebb_tensors_close(file);
    return status;
}
