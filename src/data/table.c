/* .csv and .csv.gz: a line for each picture: the grey values of a square, whole numbers, and its label. The
 * largest value of the file becomes white. */
#include <math.h>

#include "data/data.h"

enum { MOST_VALUE = 65535, MOST_COLUMNS = 1 << 20 };

typedef struct table {
    ebb_data *data;
    const char *text; /* NUL-terminated */
    size_t n;
    int64_t n_rows, n_pixels; /* of a row */
    uint16_t *values;         /* [n_rows * n_pixels] */
    uint32_t most;
} table;

/* A whole number of at most `most` at *at, then a comma or the end of its line. */
static bool read_number(const char **at, uint32_t most, bool last, uint32_t *out) {
    uint32_t value = 0;
    const char *p = *at;
    for (; *p >= '0' && *p <= '9'; p++) {
        value = value * 10 + (uint32_t)(*p - '0');
        if (value > most) return false;
    }
    if (p == *at) return false;
    if (last && *p == '\r') p++;
    if (*p != (last ? '\n' : ',') && !(last && *p == '\0')) return false;
    *at = p + (*p != '\0');
    *out = value;
    return true;
}

static ebb_status measure(table *t) {
    ebb_data *d = t->data;
    for (const char *p = t->text; *p != '\0' && *p != '\n'; p++) t->n_pixels += *p == ',';
    for (size_t i = 0; i < t->n; i++) t->n_rows += t->text[i] == '\n';
    t->n_rows += t->n > 0 && t->text[t->n - 1] != '\n'; /* the last line needs no end */
    const int64_t side = (int64_t)sqrt((double)t->n_pixels);
    if (t->n_pixels < 1 || t->n_pixels > MOST_COLUMNS || side * side != t->n_pixels ||
        strlen(t->text) != t->n)
        return ebb_fail(
            d->env, EBB_BAD_INPUT,
            "%s: %lld values before the first line's label: each line has the pixels of a square, at most "
            "%d, and a label, whole numbers with commas between them",
            d->path, (long long)t->n_pixels, MOST_COLUMNS);
    d->n = t->n_rows;
    d->height = d->width = (uint32_t)side;
    d->channels = d->n_classes = 1;
    return data_check_shape(d, "lines");
}

static ebb_status read_rows(table *t) {
    ebb_data *d = t->data;
    const char *at = t->text;
    for (int64_t i = 0; i < t->n_rows; i++) {
        uint32_t value = 0;
        bool good = true;
        for (int64_t k = 0; k < t->n_pixels && good; k++) {
            good = read_number(&at, MOST_VALUE, false, &value);
            t->values[i * t->n_pixels + k] = (uint16_t)value;
            if (good && value > t->most) t->most = value;
        }
        if (!good || !read_number(&at, EBB_DATA_MAX_CLASSES - 1, true, &d->labels[i]))
            return ebb_fail(d->env, EBB_BAD_INPUT,
                            "%s:%lld: expected %lld values of at most %d, and a label", d->path,
                            (long long)i + 1, (long long)t->n_pixels, MOST_VALUE);
        if (d->labels[i] >= d->n_classes) d->n_classes = d->labels[i] + 1;
    }
    return EBB_OK;
}

/* Lines of at least two bytes a pixel: what is taken is bounded by the text. */
static ebb_status read_text(table *t) {
    ebb_data *d = t->data;
    ebb_status status = measure(t);
    if (status != EBB_OK) return status;
    if (t->n_rows > (int64_t)t->n / (2 * t->n_pixels))
        return ebb_fail(d->env, EBB_BAD_INPUT, "%s: lines shorter than the first, of %lld values", d->path,
                        (long long)t->n_pixels);
    const size_t n = (size_t)(t->n_rows * t->n_pixels);
    ebb_arena arena;
    ebb_arena_init(&arena, d->env);
    t->values = EBB_NEW(&arena, uint16_t, n);
    d->labels = EBB_NEW(&d->arena, uint32_t, t->n_rows);
    uint8_t *records = EBB_NEW(&d->arena, uint8_t, n);
    status = t->values && d->labels && records ? read_rows(t) : EBB_NO_MEMORY;
    for (size_t i = 0; i < n && status == EBB_OK; i++)
        records[i] = (uint8_t)((t->values[i] * 255U + t->most / 2) / (t->most > 0 ? t->most : 1));
    ebb_arena_deinit(&arena);
    d->records = records;
    return status;
}

static ebb_status inflate_text(table *t, const uint8_t *packed, size_t n, char **out) {
    ebb_data *d = t->data;
    size_t whole;
    ebb_arena arena;
    ebb_arena_init(&arena, d->env);
    ebb_status status = data_inflated_bytes(&arena, d->path, packed, n, (size_t)EBB_DATA_MAX_TABLE, &whole);
    char *text = status == EBB_OK ? ebb_alloc_aligned(d->env, whole + 1, 16) : NULL;
    if (status == EBB_OK)
        status =
            text ? data_inflate(&arena, d->path, packed, n, false, (uint8_t *)text, whole) : EBB_NO_MEMORY;
    ebb_arena_deinit(&arena);
    if (text) text[whole] = '\0';
    *out = text;
    t->text = text;
    t->n = whole;
    return status;
}

ebb_status data_open_table(ebb_data *d) {
    table t = {.data = d};
    char *bytes = NULL, *inflated = NULL;
    size_t n = 0;
    ebb_status status = ebb_file_read(d->env, d->path, (size_t)EBB_DATA_MAX_TABLE, &bytes, &n);
    if (status != EBB_OK) return status;
    t.text = bytes;
    t.n = n;
    if (n > 18 && bytes[0] == '\x1f' && bytes[1] == '\x8b')
        status = inflate_text(&t, (const uint8_t *)bytes, n, &inflated);
    if (status == EBB_OK && t.n == 0) status = ebb_fail(d->env, EBB_BAD_INPUT, "%s is empty", d->path);
    if (status == EBB_OK) status = read_text(&t);
    ebb_free_aligned(d->env, inflated, t.n + 1, 16);
    ebb_file_free(d->env, bytes, n);
    return status;
}
