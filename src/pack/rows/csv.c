/* rows_csv: the seam to other packers: tables of rows in MiniMalloc's columns.
 *
 * One row a line, columns by name in any order. A field may be in double quotes, with "" for a quote.
 * Columns that we do not know are passed over. Memory is bounded by the bytes of the text. */
#include "pack/pack.h"

typedef enum ebb_column {
    COLUMN_ID,
    COLUMN_LOWER,
    COLUMN_UPPER,
    COLUMN_SIZE,
    COLUMN_ALIGNMENT,
    COLUMN_OFFSET,
    COLUMN_GAPS,
    COLUMN_OVER,
    COLUMN_POOL,
    COLUMN_OTHER,
} ebb_column;
#define N_COLUMNS 9

static const char *const column_names[N_COLUMNS] = {"id",     "lower", "upper",         "size", "alignment",
                                                    "offset", "gaps",  "may_overwrite", "pool"};
#define MAX_COLUMNS 64
#define MAX_BYTES   (INT64_MAX / 8) /* of all rows together */

typedef struct ebb_csv {
    ebb_env *env;
    const char *where;
    const char *at, *end; /* what is left of the text */
    uint32_t line;        /* of the line that is read, from 1 */
    char *field;          /* the field that was read, NUL-terminated; room for the longest line */
    bool line_done;       /* the line's last field was read */
    ebb_column columns[MAX_COLUMNS];
    uint32_t n_columns;
    int64_t sum_bytes; /* sizes and alignments so far: no offset can be larger */
    EBB_ARRAY(ebb_steps) gaps;
    EBB_ARRAY(ebb_window) windows; /* of each gap */
    bool any_window;
} ebb_csv;

/* ---- lines and fields ------------------------------------------------------------------------ */

static const char *line_end(const char *at, const char *end) {
    const char *newline = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    return newline == NULL ? end : newline;
}

static bool is_blank(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r')) at++;
    return at == end;
}

/* Goes to the next line that is not blank; false at the end. */
static bool next_line(ebb_csv *csv) {
    while (csv->at < csv->end) {
        csv->line++;
        if (!is_blank(csv->at, line_end(csv->at, csv->end))) {
            csv->line_done = false;
            return true;
        }
        csv->at = line_end(csv->at, csv->end);
        if (csv->at < csv->end) csv->at++;
    }
    return false;
}

/* A quoted field from after its quote; false when its quote does not close on this line. */
static bool copy_quoted(ebb_csv *csv, const char *end, char **to) {
    for (; csv->at < end; csv->at++) {
        if (*csv->at == '"') {
            if (csv->at + 1 < end && csv->at[1] == '"') {
                csv->at++;
            } else {
                csv->at++;
                return true;
            }
        }
        *(*to)++ = *csv->at;
    }
    return false;
}

static void trim(char *field) {
    size_t n = strlen(field), skip = strspn(field, " \t");
    while (n > skip && (field[n - 1] == ' ' || field[n - 1] == '\t')) n--;
    memmove(field, field + skip, n - skip);
    field[n - skip] = '\0';
}

/* Reads the next field of this line into csv->field and goes past its comma or the line's end. */
static ebb_status next_field(ebb_csv *csv) {
    const char *newline = line_end(csv->at, csv->end);
    const char *end = newline > csv->at && newline[-1] == '\r' ? newline - 1 : newline;
    char *to = csv->field;
    if (csv->at < end && *csv->at == '"') {
        csv->at++;
        if (!copy_quoted(csv, end, &to) || (csv->at < end && *csv->at != ','))
            return ebb_fail(
                csv->env, EBB_BAD_INPUT,
                "%s: line %u: a quoted field must end with a quote before the comma or line end",
                csv->where, csv->line);
        *to = '\0';
    } else {
        while (csv->at < end && *csv->at != ',') *to++ = *csv->at++;
        *to = '\0';
        trim(csv->field);
    }
    csv->line_done = csv->at >= end;
    csv->at = csv->line_done ? newline + (newline < csv->end) : csv->at + 1;
    return EBB_OK;
}

/* Spreadsheets begin UTF-8 with a byte order mark, which is no part of the first column's name. */
static void skip_mark(ebb_csv *csv) {
    static const char mark[] = {'\xEF', '\xBB', '\xBF'};
    size_t n = (size_t)(csv->end - csv->at);
    if (n >= sizeof mark && memcmp(csv->at, mark, sizeof mark) == 0) csv->at += sizeof mark;
}

/* ---- the header line ------------------------------------------------------------------------- */

static ebb_column column_named(const char *name) {
    for (uint32_t c = 0; c < N_COLUMNS; c++)
        if (strcmp(column_names[c], name) == 0) return (ebb_column)c;
    return COLUMN_OTHER;
}

static ebb_status read_header(ebb_csv *csv, bool seen[N_COLUMNS]) {
    skip_mark(csv);
    if (!next_line(csv))
        return ebb_fail(csv->env, EBB_BAD_INPUT,
                        "%s: empty; the first line must name the columns id, lower, upper, size",
                        csv->where);
    while (!csv->line_done) {
        ebb_status status = next_field(csv);
        if (status != EBB_OK) return status;
        if (csv->n_columns == MAX_COLUMNS)
            return ebb_fail(csv->env, EBB_BAD_INPUT, "%s: line %u: more than %d columns", csv->where,
                            csv->line, MAX_COLUMNS);
        ebb_column column = column_named(csv->field);
        if (column != COLUMN_OTHER && seen[column])
            return ebb_fail(csv->env, EBB_BAD_INPUT, "%s: line %u: column \"%s\" is named twice",
                            csv->where, csv->line, csv->field);
        if (column != COLUMN_OTHER) seen[column] = true;
        csv->columns[csv->n_columns++] = column;
    }
    for (uint32_t c = COLUMN_ID; c <= COLUMN_SIZE; c++)
        if (!seen[c])
            return ebb_fail(csv->env, EBB_BAD_INPUT, "%s: line %u: no column \"%s\"", csv->where, csv->line,
                            column_names[c]);
    return EBB_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static ebb_status read_number(ebb_csv *csv, ebb_column column, int64_t min, int64_t *out) {
    if (ebb_parse_i64(csv->field, min, INT64_MAX, out)) return EBB_OK;
    return ebb_fail(csv->env, EBB_BAD_INPUT,
                    "%s: line %u: %s is \"%.40s\"; need a whole number from %lld up", csv->where, csv->line,
                    column_names[column], csv->field, (long long)min);
}

/* Two numbers with a mark between them; false when it is none, or the first is not below the second. */
static bool read_pair(const char *text, size_t n, char mark, int64_t out[2]) {
    char lower[24], upper[24];
    const char *at = memchr(text, mark, n);
    if (at == NULL || at == text) return false;
    size_t n_lower = (size_t)(at - text), n_upper = n - n_lower - 1;
    if (n_lower >= sizeof lower || n_upper >= sizeof upper) return false;
    memcpy(lower, text, n_lower);
    memcpy(upper, at + 1, n_upper);
    lower[n_lower] = upper[n_upper] = '\0';
    return ebb_parse_i64(lower, 0, INT64_MAX, &out[0]) && ebb_parse_i64(upper, 0, INT64_MAX, &out[1]) &&
           out[0] < out[1];
}

/* "3-5", or "3-5@0:64". */
static bool read_gap(const char *text, size_t n, ebb_steps *gap, ebb_window *window) {
    const char *at = memchr(text, '@', n);
    int64_t steps[2], bytes[2] = {0, 0};
    size_t n_steps = at == NULL ? n : (size_t)(at - text);
    if (!read_pair(text, n_steps, '-', steps)) return false;
    if (at != NULL && !read_pair(at + 1, n - n_steps - 1, ':', bytes)) return false;
    *gap = (ebb_steps){steps[0], steps[1]};
    *window = (ebb_window){bytes[0], bytes[1]};
    return true;
}

/* Gaps with spaces between them; that they suit the row is seen when the whole line was read. */
static ebb_status read_gaps(ebb_csv *csv) {
    for (const char *at = csv->field; *at != '\0'; at += strspn(at, " ")) {
        size_t n = strcspn(at, " ");
        ebb_steps gap;
        ebb_window window;
        if (!read_gap(at, n, &gap, &window))
            return ebb_fail(
                csv->env, EBB_BAD_INPUT,
                "%s: line %u: gaps is \"%.40s\"; need half-open spans of steps such as \"3-5 7-9@0:64\"",
                csv->where, csv->line, csv->field);
        if (!EBB_PUSH(csv->env, &csv->gaps, gap) || !EBB_PUSH(csv->env, &csv->windows, window))
            return EBB_NO_MEMORY;
        csv->any_window = csv->any_window || window.upper > 0;
        at += n;
    }
    return EBB_OK;
}

static ebb_status check_gaps(const ebb_csv *csv, const ebb_row *row, size_t from) {
    int64_t lower = row->lower, idle = 0;
    for (size_t g = from; g < csv->gaps.n; g++) {
        const ebb_steps *gap = &csv->gaps.at[g];
        if (gap->lower < lower || gap->upper > row->upper)
            return ebb_fail(
                csv->env, EBB_BAD_INPUT,
                "%s: line %u: gap %lld-%lld: need gaps within %lld-%lld, in order and not overlapping",
                csv->where, csv->line, (long long)gap->lower, (long long)gap->upper, (long long)row->lower,
                (long long)row->upper);
        if (csv->windows.at[g].upper > row->size)
            return ebb_fail(csv->env, EBB_BAD_INPUT,
                            "%s: line %u: gap %lld-%lld: byte %lld is above the size %lld", csv->where,
                            csv->line, (long long)gap->lower, (long long)gap->upper,
                            (long long)csv->windows.at[g].upper, (long long)row->size);
        lower = gap->upper;
        idle += gap->upper - gap->lower;
    }
    if (idle < row->upper - row->lower) return EBB_OK;
    return ebb_fail(csv->env, EBB_BAD_INPUT, "%s: line %u: the gaps leave no step of %lld-%lld", csv->where,
                    csv->line, (long long)row->lower, (long long)row->upper);
}

static ebb_status read_text(ebb_csv *csv, ebb_rows *rows, const char **out) {
    *out = ebb_arena_text(&rows->arena, csv->field);
    return *out == NULL ? EBB_NO_MEMORY : EBB_OK;
}

static ebb_status read_cell(ebb_csv *csv, ebb_column column, ebb_rows *rows) {
    ebb_row *row = &rows->rows[rows->n];
    switch (column) {
    case COLUMN_ID:
        return read_text(csv, rows, &rows->ids[rows->n]);
    case COLUMN_LOWER:
        return read_number(csv, column, 0, &row->lower);
    case COLUMN_UPPER:
        return read_number(csv, column, 0, &row->upper);
    case COLUMN_SIZE:
        return read_number(csv, column, 0, &row->size);
    case COLUMN_ALIGNMENT:
        return csv->field[0] == '\0' ? EBB_OK : read_number(csv, column, 1, &row->alignment);
    case COLUMN_OFFSET:
        return csv->field[0] == '\0' ? EBB_OK : read_number(csv, column, 0, &rows->offsets[rows->n]);
    case COLUMN_GAPS:
        return read_gaps(csv);
    case COLUMN_OVER:
        return read_text(csv, rows, &rows->over_text[rows->n]);
    case COLUMN_POOL:
        return read_text(csv, rows, &rows->pool_text[rows->n]);
    case COLUMN_OTHER:
        break;
    }
    return EBB_OK;
}

/* What a line's fields must be together. */
static ebb_status check_row(ebb_csv *csv, const ebb_rows *rows, size_t gaps_from) {
    const ebb_row *row = &rows->rows[rows->n];
    int64_t offset = rows->offsets == NULL ? 0 : ebb_max_i64(0, rows->offsets[rows->n]);
    if (row->lower >= row->upper)
        return ebb_fail(csv->env, EBB_BAD_INPUT, "%s: line %u: lower %lld is not below upper %lld",
                        csv->where, csv->line, (long long)row->lower, (long long)row->upper);
    if ((row->alignment & (row->alignment - 1)) != 0)
        return ebb_fail(csv->env, EBB_BAD_INPUT, "%s: line %u: alignment %lld is no power of two",
                        csv->where, csv->line, (long long)row->alignment);
    if (offset % row->alignment != 0 || offset > MAX_BYTES)
        return ebb_fail(csv->env, EBB_BAD_INPUT,
                        "%s: line %u: offset %lld: need a multiple of the alignment %lld up to %lld",
                        csv->where, csv->line, (long long)offset, (long long)row->alignment,
                        (long long)MAX_BYTES);
    if (row->size > MAX_BYTES || row->alignment > MAX_BYTES ||
        !ebb_add_i64(csv->sum_bytes, row->size + 2 * row->alignment, &csv->sum_bytes) ||
        csv->sum_bytes > MAX_BYTES - offset)
        return ebb_fail(csv->env, EBB_BAD_INPUT,
                        "%s: line %u: with size %lld all sizes sum to more than %lld bytes", csv->where,
                        csv->line, (long long)row->size, (long long)MAX_BYTES);
    return check_gaps(csv, row, gaps_from);
}

static ebb_status read_row(ebb_csv *csv, ebb_rows *rows) {
    uint32_t n_fields = 0;
    size_t gaps_from = csv->gaps.n;
    rows->rows[rows->n].alignment = 1;
    rows->lines[rows->n] = csv->line;
    if (rows->offsets != NULL) rows->offsets[rows->n] = -1;
    for (; !csv->line_done; n_fields++) {
        ebb_status status = next_field(csv);
        if (status == EBB_OK && n_fields < csv->n_columns)
            status = read_cell(csv, csv->columns[n_fields], rows);
        if (status != EBB_OK) return status;
    }
    if (n_fields != csv->n_columns)
        return ebb_fail(csv->env, EBB_BAD_INPUT, "%s: line %u: %u fields; the header has %u columns",
                        csv->where, csv->line, n_fields, csv->n_columns);
    ebb_status status = check_row(csv, rows, gaps_from);
    if (status != EBB_OK) return status;
    if (csv->gaps.n > EBB_ROWS_MAX)
        return ebb_fail(csv->env, EBB_BAD_INPUT, "%s: line %u: more than %u gaps", csv->where, csv->line,
                        EBB_ROWS_MAX);
    rows->n++;
    if (rows->gaps_from != NULL) rows->gaps_from[rows->n] = (uint32_t)csv->gaps.n;
    return EBB_OK;
}

/* Lines that are not blank, and the bytes of the longest. */
static uint32_t count_lines(const char *text, const char *end, size_t *longest) {
    uint32_t n = 0;
    *longest = 0;
    while (text < end && n < UINT32_MAX) {
        const char *newline = line_end(text, end);
        if (!is_blank(text, newline)) n++;
        if ((size_t)(newline - text) > *longest) *longest = (size_t)(newline - text);
        text = newline < end ? newline + 1 : end;
    }
    return n;
}

/* Those that are not there in every file. */
static ebb_status make_columns(ebb_rows *rows, const bool seen[N_COLUMNS], uint32_t n_lines) {
    if (seen[COLUMN_OFFSET]) rows->offsets = EBB_NEW(&rows->arena, int64_t, n_lines);
    if (seen[COLUMN_GAPS]) rows->gaps_from = EBB_NEW(&rows->arena, uint32_t, (size_t)n_lines + 1);
    if (seen[COLUMN_OVER]) rows->over_text = EBB_NEW(&rows->arena, const char *, n_lines);
    if (seen[COLUMN_POOL]) rows->pool_text = EBB_NEW(&rows->arena, const char *, n_lines);
    return (seen[COLUMN_OFFSET] && rows->offsets == NULL) ||
                   (seen[COLUMN_GAPS] && rows->gaps_from == NULL) ||
                   (seen[COLUMN_OVER] && rows->over_text == NULL) ||
                   (seen[COLUMN_POOL] && rows->pool_text == NULL)
               ? EBB_NO_MEMORY
               : EBB_OK;
}

static ebb_status read_table(ebb_csv *csv, ebb_rows *rows) {
    bool seen[N_COLUMNS] = {false};
    size_t longest = 0, n = csv->at == csv->end ? 0 : (size_t)(csv->end - csv->at);
    const char *nul = n == 0 ? NULL : memchr(csv->at, '\0', n);
    if (nul != NULL)
        return ebb_fail(csv->env, EBB_BAD_INPUT, "%s: a NUL byte at byte %zu: not a text", csv->where,
                        (size_t)(nul - csv->at));
    uint32_t n_lines = count_lines(csv->at, csv->end, &longest);
    if (n_lines > EBB_ROWS_MAX + 1)
        return ebb_fail(csv->env, EBB_BAD_INPUT, "%s: line %u: %u rows; a file may have at most %u",
                        csv->where, EBB_ROWS_MAX + 2, n_lines - 1, EBB_ROWS_MAX);
    csv->field = EBB_NEW(&rows->arena, char, longest + 1);
    rows->ids = EBB_NEW(&rows->arena, const char *, n_lines);
    rows->rows = EBB_NEW(&rows->arena, ebb_row, n_lines);
    rows->lines = EBB_NEW(&rows->arena, uint32_t, n_lines);
    rows->where = ebb_arena_text(&rows->arena, csv->where);
    if (csv->field == NULL || rows->ids == NULL || rows->rows == NULL || rows->lines == NULL ||
        rows->where == NULL)
        return EBB_NO_MEMORY;
    ebb_status status = read_header(csv, seen);
    if (status == EBB_OK) status = make_columns(rows, seen, n_lines);
    while (status == EBB_OK && next_line(csv)) status = read_row(csv, rows);
    if (status == EBB_OK && csv->gaps.n > 0) {
        rows->gaps = ebb_arena_copy(&rows->arena, csv->gaps.at, csv->gaps.n, sizeof *rows->gaps);
        if (csv->any_window)
            rows->windows =
                ebb_arena_copy(&rows->arena, csv->windows.at, csv->windows.n, sizeof *rows->windows);
        if (rows->gaps == NULL || (csv->any_window && rows->windows == NULL)) status = EBB_NO_MEMORY;
    }
    if (csv->gaps.n == 0) rows->gaps_from = NULL;
    return status;
}

ebb_status ebb_rows_parse(ebb_env *env, const char *where, const char *text, size_t n, ebb_rows **out) {
    *out = NULL;
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    ebb_rows *rows = EBB_NEW(&arena, ebb_rows, 1);
    if (rows == NULL) {
        ebb_arena_deinit(&arena);
        return EBB_NO_MEMORY;
    }
    rows->arena = arena;
    ebb_csv csv = {.env = env, .where = where, .at = text, .end = n == 0 ? text : text + n};
    if (n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) csv.at += 3; /* some editors begin UTF-8 so */
    ebb_status status = read_table(&csv, rows);
    EBB_ARRAY_FREE(env, &csv.gaps);
    EBB_ARRAY_FREE(env, &csv.windows);
    if (status == EBB_OK)
        *out = rows;
    else
        ebb_rows_destroy(rows);
    return status;
}

void ebb_rows_destroy(ebb_rows *rows) {
    if (rows == NULL) return;
    ebb_arena arena = rows->arena; /* the rows live in their own arena */
    ebb_arena_deinit(&arena);
}
