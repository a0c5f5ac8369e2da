/* csv: the seam to other packers: tables of rows in MiniMalloc's columns.
 *
 * One row a line, columns by name in any order. Columns that we do not know are passed over. Memory is
 * bounded by the bytes of the text. Lines and fields are csv_field.c's, the column of gaps csv_gaps.c's. */
#include "pack/rows/csv.h"

#define N_COLUMNS 9

static const char *const column_names[N_COLUMNS] = {"id",     "lower", "upper",         "size", "alignment",
                                                    "offset", "gaps",  "may_overwrite", "pool"};
#define MAX_BYTES (INT64_MAX / 8) /* of all rows together */

/* ---- the header line ------------------------------------------------------------------------- */

static ebb_column column_named(const char *name) {
    for (uint32_t c = 0; c < N_COLUMNS; c++)
        if (strcmp(column_names[c], name) == 0) return (ebb_column)c;
    return COLUMN_OTHER;
}

static ebb_status read_header(ebb_csv *csv, bool seen[N_COLUMNS]) {
    ebb_csv_skip_mark(csv);
    if (!ebb_csv_next_line(csv))
        return ebb_fail(csv->env, EBB_BAD_INPUT,
                        "%s: empty; the first line must name the columns id, lower, upper, size",
                        csv->where);
    while (!csv->line_done) {
        ebb_status status = ebb_csv_next_field(csv);
        if (status != EBB_OK) return status;
        if (csv->n_columns == EBB_CSV_MAX_COLUMNS)
            return ebb_fail(csv->env, EBB_BAD_INPUT, "%s: line %u: more than %d columns", csv->where,
                            csv->line, EBB_CSV_MAX_COLUMNS);
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

static ebb_status read_text(ebb_csv *csv, ebb_rows *rows, const char **out) {
    *out = ebb_arena_text(&rows->arena, csv->field);
    return *out ? EBB_OK : EBB_NO_MEMORY;
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
        return ebb_csv_read_gaps(csv);
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
    int64_t offset = rows->offsets ? ebb_max_i64(0, rows->offsets[rows->n]) : 0;
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
    return ebb_csv_check_gaps(csv, row, gaps_from);
}

static ebb_status read_row(ebb_csv *csv, ebb_rows *rows) {
    uint32_t n_fields = 0;
    size_t gaps_from = csv->gaps.n;
    rows->rows[rows->n].alignment = 1;
    rows->lines[rows->n] = csv->line;
    if (rows->offsets) rows->offsets[rows->n] = -1;
    for (; !csv->line_done; n_fields++) {
        ebb_status status = ebb_csv_next_field(csv);
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
    if (rows->gaps_from) rows->gaps_from[rows->n] = (uint32_t)csv->gaps.n;
    return EBB_OK;
}

/* Those that are not there in every file. */
static ebb_status make_columns(ebb_rows *rows, const bool seen[N_COLUMNS], uint32_t n_lines) {
    if (seen[COLUMN_OFFSET]) rows->offsets = EBB_NEW(&rows->arena, int64_t, n_lines);
    if (seen[COLUMN_GAPS]) rows->gaps_from = EBB_NEW(&rows->arena, uint32_t, (size_t)n_lines + 1);
    if (seen[COLUMN_OVER]) rows->over_text = EBB_NEW(&rows->arena, const char *, n_lines);
    if (seen[COLUMN_POOL]) rows->pool_text = EBB_NEW(&rows->arena, const char *, n_lines);
    return (seen[COLUMN_OFFSET] && !rows->offsets) || (seen[COLUMN_GAPS] && !rows->gaps_from) ||
                   (seen[COLUMN_OVER] && !rows->over_text) || (seen[COLUMN_POOL] && !rows->pool_text)
               ? EBB_NO_MEMORY
               : EBB_OK;
}

static ebb_status read_table(ebb_csv *csv, ebb_rows *rows) {
    bool seen[N_COLUMNS] = {false};
    size_t longest = 0, n = csv->at == csv->end ? 0 : (size_t)(csv->end - csv->at);
    const char *nul = n == 0 ? NULL : memchr(csv->at, '\0', n);
    if (nul)
        return ebb_fail(csv->env, EBB_BAD_INPUT, "%s: a NUL byte at byte %zu: not a text", csv->where,
                        (size_t)(nul - csv->at));
    uint32_t n_lines = ebb_csv_count_lines(csv->at, csv->end, &longest);
    if (n_lines > EBB_ROWS_MAX + 1)
        return ebb_fail(csv->env, EBB_BAD_INPUT, "%s: line %u: %u rows; a file may have at most %u",
                        csv->where, EBB_ROWS_MAX + 2, n_lines - 1, EBB_ROWS_MAX);
    csv->field = EBB_NEW(&rows->arena, char, longest + 1);
    rows->ids = EBB_NEW(&rows->arena, const char *, n_lines);
    rows->rows = EBB_NEW(&rows->arena, ebb_row, n_lines);
    rows->lines = EBB_NEW(&rows->arena, uint32_t, n_lines);
    rows->where = ebb_arena_text(&rows->arena, csv->where);
    if (!csv->field || !rows->ids || !rows->rows || !rows->lines || !rows->where) return EBB_NO_MEMORY;
    ebb_status status = read_header(csv, seen);
    if (status == EBB_OK) status = make_columns(rows, seen, n_lines);
    while (status == EBB_OK && ebb_csv_next_line(csv)) status = read_row(csv, rows);
    if (status == EBB_OK && csv->gaps.n > 0) {
        rows->gaps = ebb_arena_copy(&rows->arena, csv->gaps.at, csv->gaps.n, sizeof *rows->gaps);
        if (csv->any_window)
            rows->windows =
                ebb_arena_copy(&rows->arena, csv->windows.at, csv->windows.n, sizeof *rows->windows);
        if (!rows->gaps || (csv->any_window && !rows->windows)) status = EBB_NO_MEMORY;
    }
    if (csv->gaps.n == 0) rows->gaps_from = NULL;
    return status;
}

ebb_status ebb_rows_parse(ebb_env *env, const char *where, const char *text, size_t n, ebb_rows **out) {
    *out = NULL;
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    ebb_rows *rows = EBB_NEW(&arena, ebb_rows, 1);
    if (!rows) {
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
    if (!rows) return;
    ebb_arena arena = rows->arena; /* the rows live in their own arena */
    ebb_arena_deinit(&arena);
}
