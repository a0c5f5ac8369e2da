/* values: numbers, shares and budgets of flags. */
#include "tool/line/line.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
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

bool tool_parse_budget(const char *text, ebb_frontier_budget *out) {
    enum { MOST = 10 }; /* times the baseline's bytes: more never binds */
    size_t n = strlen(text);
    *out = (ebb_frontier_budget){.bytes = -1};
    if (n > 0 && text[n - 1] == '%')
        return tool_parse_share(text, &out->share) && out->share > 0 && out->share <= MOST;
    return ebb_parse_bytes(text, &out->bytes) && out->bytes > 0;
}
