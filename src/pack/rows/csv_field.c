/* csv_field: lines and fields of CSV. A field may be in double quotes, with "" for a quote. */
#include "pack/rows/csv.h"

static const char *line_end(const char *at, const char *end) {
    const char *newline = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    return newline ? newline : end;
}

static bool is_blank(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r')) at++;
    return at == end;
}

bool ebb_csv_next_line(ebb_csv *csv) {
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

ebb_status ebb_csv_next_field(ebb_csv *csv) {
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

void ebb_csv_skip_mark(ebb_csv *csv) {
    static const char mark[] = {'\xEF', '\xBB', '\xBF'};
    size_t n = (size_t)(csv->end - csv->at);
    if (n >= sizeof mark && memcmp(csv->at, mark, sizeof mark) == 0) csv->at += sizeof mark;
}

uint32_t ebb_csv_count_lines(const char *text, const char *end, size_t *longest) {
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
