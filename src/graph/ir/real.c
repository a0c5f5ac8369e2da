/* Real numbers as text. The C library does the exact conversion; only its decimal point depends on the
 * thread's locale, so that is put right on either side of the call: exactly one byte sequence of the result
 * is no digit, sign or exponent. */
#include "graph/ir/ir.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What stands between the digits of 1.5 in this thread's locale. */
static size_t point(char text[16]) {
    char one[32];
    int n = snprintf(one, sizeof one, "%.1f", 1.5);
    if (n < 3 || n > 17) { /* no locale does this */
        text[0] = '.';
        return 1;
    }
    memcpy(text, one + 1, (size_t)n - 2);
    return (size_t)n - 2;
}

const char *ebb_real_text(double f, char text[EBB_REAL_TEXT]) {
    char local[16];
    size_t n_local = point(local);
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, EBB_REAL_TEXT, "%.*g", digits, f);
        /* Not ==: a NaN must end the loop too, with its own text. */
        if (!(strtod(text, NULL) < f) && !(strtod(text, NULL) > f)) break;
    }
    for (char *p = text; *p; p++) {
        if (strncmp(p, local, n_local) != 0) continue;
        memmove(p + 1, p + n_local, strlen(p + n_local) + 1);
        *p = '.';
        break;
    }
    return text;
}

static size_t digits(const char *text, size_t n, size_t at) {
    while (at < n && text[at] >= '0' && text[at] <= '9') at++;
    return at;
}

/* The grammar of real.h; where the point stands, or n. */
static bool well_formed(const char *text, size_t n, size_t *dot) {
    size_t begin = n > 0 && text[0] == '-', at = digits(text, n, begin);
    *dot = n;
    if (at == begin) return false;
    if (at < n && text[at] == '.') {
        *dot = at;
        size_t end = digits(text, n, at + 1);
        if (end == at + 1) return false;
        at = end;
    }
    if (at < n && (text[at] == 'e' || text[at] == 'E')) {
        at++;
        if (at < n && (text[at] == '+' || text[at] == '-')) at++;
        size_t end = digits(text, n, at);
        if (end == at) return false;
        at = end;
    }
    return at == n;
}

bool ebb_real_parse(const char *text, size_t n, double *out) {
    char local[16], buffer[96];
    size_t dot, n_local = point(local);
    if (n > 64 || !well_formed(text, n, &dot)) return false;
    memcpy(buffer, text, n);
    buffer[n] = 0;
    if (dot < n) {
        memcpy(buffer + dot, local, n_local);
        memcpy(buffer + dot + n_local, text + dot + 1, n - dot - 1);
        buffer[n - 1 + n_local] = 0;
    }
    char *end;
    double f = strtod(buffer, &end);
    if (*end || !isfinite(f)) return false;
    *out = f;
    return true;
}
