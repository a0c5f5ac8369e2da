/* values: reading the values of flags. */
#include "tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool tool_parse_integer(const char *text, int64_t min, int64_t max, int64_t *out) {
    int64_t value = 0;
    if (*text == '\0') return false;
    for (const char *p = text; *p != '\0'; p++) {
        if (!is_digit(*p)) return false;
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *p - '0', &value))
            return false;
    }
    if (value < min || value > max) return false;
    *out = value;
    return true;
}

bool tool_parse_real(const char *text, double *out) {
    if (!is_digit(*text) && *text != '.') return false;
    if (strspn(text, "0123456789.eE+-") != strlen(text)) return false;
    char *end = NULL;
    double value = strtod(text, &end);
    if (*end != '\0' || !isfinite(value)) return false;
    *out = value;
    return true;
}

bool tool_parse_share(const char *text, double *out) {
    char number[32];
    size_t n = strlen(text);
    bool percent = n > 0 && text[n - 1] == '%';
    if (n >= sizeof number) return false;
    memcpy(number, text, n + 1);
    if (percent) number[n - 1] = '\0';
    if (!tool_parse_real(number, out)) return false;
    if (percent) *out /= 100;
    return true;
}

static const struct unit {
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

/* "2.5GiB" is 25 GiB / 10: digits and point apart keep it exact. */
bool tool_parse_bytes(const char *text, int64_t *out) {
    int64_t digits = 0, tenth = 1;
    bool point = false;
    const char *p = text;
    for (; is_digit(*p) || (*p == '.' && !point && p > text && is_digit(p[1])); p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        if (__builtin_mul_overflow(digits, 10, &digits) ||
            __builtin_add_overflow(digits, *p - '0', &digits))
            return false;
        if (point && __builtin_mul_overflow(tenth, 10, &tenth)) return false;
    }
    if (p == text) return false;
    if (*p == ' ' && p[1] != '\0') p++;
    for (size_t i = 0; i < TOOL_COUNT(units); i++) {
        if (strcmp(p, units[i].name) != 0) continue;
        if (point && units[i].bytes == 1) return false;
        __extension__ typedef __int128 wide;
        wide bytes = (wide)digits * units[i].bytes / tenth;
        if (bytes > INT64_MAX) return false;
        *out = (int64_t)bytes;
        return true;
    }
    return false;
}

bool tool_parse_budget(const char *text, ebb_frontier_budget *out) {
    enum { MOST = 10 }; /* times the baseline's bytes: more never binds */
    size_t n = strlen(text);
    *out = (ebb_frontier_budget){.bytes = -1};
    if (n > 0 && text[n - 1] == '%')
        return tool_parse_share(text, &out->share) && out->share > 0 && out->share <= MOST;
    return tool_parse_bytes(text, &out->bytes) && out->bytes > 0;
}
