/* Reading small texts: byte sizes, integers, glob patterns, words. */
#include "base/plain/plain.h"

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static const struct {
    const char *name;
    int64_t bytes;
} units[] = {
    {"", 1},
    {"B", 1},
    {"kB", 1000},
    {"KB", 1000},
    {"KiB", INT64_C(1) << 10},
    {"MB", 1000000},
    {"MiB", INT64_C(1) << 20},
    {"GB", 1000000000},
    {"GiB", INT64_C(1) << 30},
    {"TB", 1000000000000},
    {"TiB", INT64_C(1) << 40},
};

bool ebb_parse_bytes(const char *text, int64_t *out) {
    const char *p = text;
    int64_t whole = 0;
    if (!is_digit(*p)) return false;
    for (; is_digit(*p); p++) {
        if (!ebb_mul_i64(whole, 10, &whole) || !ebb_add_i64(whole, *p - '0', &whole)) return false;
    }
    const char *fraction = p, *fraction_end = p;
    if (*p == '.') {
        fraction = ++p;
        while (is_digit(*p)) p++;
        fraction_end = p;
        if (fraction == fraction_end) return false;
    }
    while (*p == ' ') p++;
    if (*p == '\0' && p[-1] == ' ') return false;

    int64_t unit = 0;
    for (size_t i = 0; i < EBB_COUNT(units); i++) {
        if (strcmp(p, units[i].name) == 0) unit = units[i].bytes;
    }
    if (unit == 0) return false;
    if (unit == 1 && fraction != fraction_end) return false; /* bytes do not split */
    /* floor(0.d1d2...dk * unit), exact for any k: floor((d * unit + x) / 10) needs only floor(x), so the
     * digits are taken from the last to the first. */
    int64_t part = 0;
    while (fraction_end > fraction) part = ((*--fraction_end - '0') * unit + part) / 10;
    int64_t bytes;
    if (!ebb_mul_i64(whole, unit, &bytes) || !ebb_add_i64(bytes, part, &bytes)) return false;
    *out = bytes;
    return true;
}

bool ebb_parse_i64(const char *text, int64_t min, int64_t max, int64_t *out) {
    bool negative = *text == '-';
    const char *p = text + negative;
    if (!is_digit(*p)) return false;
    int64_t value = 0;
    for (; is_digit(*p); p++) {
        int digit = negative ? '0' - *p : *p - '0';
        if (__builtin_mul_overflow(value, 10, &value)) return false;
        if (__builtin_add_overflow(value, digit, &value)) return false;
    }
    if (*p != '\0' || value < min || value > max) return false;
    *out = value;
    return true;
}

bool ebb_glob(const char *pattern, const char *text) {
    /* Only the last star ever needs to be tried again: a later star makes the earlier ones final. */
    const char *star = NULL, *retry = NULL;
    while (*text != '\0') {
        if (*pattern == '*') {
            star = ++pattern;
            retry = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star;
            text = ++retry;
        } else {
            return false;
        }
    }
    while (*pattern == '*') pattern++;
    return *pattern == '\0';
}

/* ---- words ---- */

static char upper(char c) {
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

void ebb_word_to_upper(char *word) {
    for (; *word; word++) *word = upper(*word);
}

bool ebb_word_equal(const char *a, const char *b) {
    while (*a && upper(*a) == upper(*b)) a++, b++;
    return *a == *b;
}
