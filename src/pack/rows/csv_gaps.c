/* csv_gaps: spans of a row's time in which its bytes, or some of them, are free: "3-5 7-9@0:64". */
#include "pack/rows/csv.h"

/* Two numbers with a mark between them; false when it is none, or the first is not below the second. */
static bool read_pair(const char *text, size_t n, char mark, int64_t out[2]) {
    char lower[24], upper[24];
    const char *at = memchr(text, mark, n);
    if (!at || at == text) return false;
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
    size_t n_steps = at ? (size_t)(at - text) : n;
    if (!read_pair(text, n_steps, '-', steps)) return false;
    if (at && !read_pair(at + 1, n - n_steps - 1, ':', bytes)) return false;
    *gap = (ebb_steps){steps[0], steps[1]};
    *window = (ebb_window){bytes[0], bytes[1]};
    return true;
}

ebb_status ebb_csv_read_gaps(ebb_csv *csv) {
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

ebb_status ebb_csv_check_gaps(const ebb_csv *csv, const ebb_row *row, size_t from) {
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
