/* own_tokens: strings, numbers and words, and where a document is wrong. */
#include "base/json/own_reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The place is that of byte `at`, the last one that was looked at. */
ebb_status own_refuse(const own_reader *r, size_t at, const char *fault) {
    int line = 1, column = 0;
    for (size_t i = 0; i < r->n && i <= at; i++) {
        const bool ends = r->text[i] == '\n' && i < at;
        line += ends;
        column = ends ? 0 : column + ((r->text[i] & 0xC0) != 0x80);
    }
    return ebb_fail(r->env, EBB_BAD_INPUT, "%s: line %d, column %d: %s: correct the JSON there", r->name,
                    line, column > 0 ? column : 1, fault);
}

ebb_status own_refuse_token(const own_reader *r, const char *fault) {
    char text[64];
    if (r->at >= r->n) {
        (void)snprintf(text, sizeof text, "%.32s near end of file", fault);
        return own_refuse(r, r->n > 0 ? r->n - 1 : 0, text);
    }
    (void)snprintf(text, sizeof text, "%.32s near '%c'", fault, r->text[r->at]);
    return own_refuse(r, r->at, text);
}

/* NUL after the end. */
char own_byte_at(const own_reader *r, size_t at) {
    if (at >= r->n) return '\0';
    return r->text[at];
}

char own_skip_space(own_reader *r) {
    while (r->at < r->n && strchr(" \t\r\n", r->text[r->at]) && r->text[r->at]) r->at++;
    return own_byte_at(r, r->at);
}

/* ---- strings ---- */

static bool hex4(const own_reader *r, size_t at, uint32_t *code) {
    *code = 0;
    for (size_t i = at; i < at + 4; i++) {
        const char c = own_byte_at(r, i);
        const int digit = c >= '0' && c <= '9'                 ? c - '0'
                          : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                               : -1;
        if (digit < 0) return false;
        *code = *code * 16 + (uint32_t)digit;
    }
    return true;
}

static size_t put_utf8(char *to, uint32_t code) {
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    const size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; code >>= 6) to[i] = (char)(0x80 | (code & 0x3F));
    to[0] = (char)((n == 2 ? 0xC0 : n == 3 ? 0xE0 : 0xF0) | code);
    return n;
}

/* The code point after "\u"; moves past it. */
static ebb_status read_code(own_reader *r, uint32_t *code) {
    uint32_t low;
    if (!hex4(r, r->at + 2, code)) return own_refuse(r, r->at, "invalid escape");
    if (*code == 0) return own_refuse(r, r->at, "\\u0000 is not allowed");
    if (*code >= 0xDC00 && *code <= 0xDFFF) return own_refuse(r, r->at, "invalid Unicode: half of a pair");
    r->at += 6;
    if (*code < 0xD800 || *code > 0xDBFF) return EBB_OK;
    if (r->at + 1 >= r->n || r->text[r->at] != '\\' || r->text[r->at + 1] != 'u' ||
        !hex4(r, r->at + 2, &low) || low < 0xDC00 || low > 0xDFFF)
        return own_refuse(r, r->at - 1, "invalid Unicode: half of a pair");
    *code = 0x10000 + ((*code - 0xD800) << 10) + (low - 0xDC00);
    r->at += 6;
    return EBB_OK;
}

static ebb_status read_escape(own_reader *r, char *to, size_t *n) {
    static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    const char c = own_byte_at(r, r->at + 1);
    uint32_t code;
    if (c == 'u') {
        const ebb_status status = read_code(r, &code);
        if (status == EBB_OK) *n += put_utf8(to + *n, code);
        return status;
    }
    const char *known = c ? strchr(names, c) : NULL;
    if (!known) return own_refuse(r, r->at, "invalid escape");
    to[(*n)++] = bytes[known - names];
    r->at += 2;
    return EBB_OK;
}

static ebb_status read_plain(own_reader *r, char *to, size_t *n) {
    uint32_t code;
    char fault[48];
    const unsigned char c = (unsigned char)r->text[r->at];
    if (c == '\n') return own_refuse(r, r->at, "unexpected newline");
    if (c < 0x20) return own_refuse(r, r->at, "control character in a string");
    const size_t bytes = ebb_utf8_decode(r->text + r->at, r->n - r->at, &code);
    if (bytes == 0) {
        (void)snprintf(fault, sizeof fault, "unable to decode byte 0x%x", c);
        return own_refuse(r, r->at, fault);
    }
    memcpy(to + *n, r->text + r->at, bytes);
    *n += bytes;
    r->at += bytes;
    return EBB_OK;
}

/* From the opening quote to after the closing one. */
ebb_status own_read_string(own_reader *r, const char **out) {
    size_t end = r->at + 1, n = 0;
    while (end < r->n && r->text[end] != '"') end += r->text[end] == '\\' ? 2 : 1;
    char *to =
        ebb_arena_alloc(&r->document->arena, ebb_min_i64((int64_t)end, (int64_t)r->n) - r->at + 4, 1);
    if (!to) return EBB_NO_MEMORY;
    r->at++;
    while (r->at < r->n && r->text[r->at] != '"') {
        const ebb_status status = r->text[r->at] == '\\' ? read_escape(r, to, &n) : read_plain(r, to, &n);
        if (status != EBB_OK) return status;
    }
    if (r->at >= r->n) return own_refuse(r, r->n - 1, "premature end of file in a string");
    r->at++;
    *out = to;
    return EBB_OK;
}

/* ---- numbers and words ---- */

static size_t digits(const own_reader *r, size_t at) {
    size_t n = 0;
    while (at + n < r->n && r->text[at + n] >= '0' && r->text[at + n] <= '9') n++;
    return n;
}

static ebb_status too_large(const own_reader *r, size_t at) {
    return own_refuse(r, at, "a number is beyond 64 bits: give one that fits");
}

ebb_status own_read_number(own_reader *r, json_t *out) {
    char text[32];
    const size_t begin = r->at;
    size_t at = begin + (r->text[begin] == '-'), n = digits(r, at);
    if (n == 0 || (n > 1 && r->text[at] == '0')) return own_refuse(r, at, "invalid token");
    at += n;
    out->type = JSON_INTEGER;
    if (at < r->n && r->text[at] == '.') {
        out->type = JSON_REAL;
        if ((n = digits(r, at + 1)) == 0) return own_refuse(r, at, "invalid token");
        at += 1 + n;
    }
    if (at < r->n && (r->text[at] == 'e' || r->text[at] == 'E')) {
        const size_t sign = at + 1 < r->n && (r->text[at + 1] == '+' || r->text[at + 1] == '-');
        out->type = JSON_REAL;
        if ((n = digits(r, at + 1 + sign)) == 0) return own_refuse(r, at, "invalid token");
        at += 1 + sign + n;
    }
    r->at = at;
    /* The text is followed by a NUL or another byte that ends a number: see ebb_json_own_parse. */
    if (out->type == JSON_REAL) return isinf(strtod(r->text + begin, NULL)) ? too_large(r, at - 1) : EBB_OK;
    if (at - begin >= sizeof text) return too_large(r, at - 1);
    memcpy(text, r->text + begin, at - begin);
    text[at - begin] = '\0';
    return ebb_parse_i64(text, INT64_MIN, INT64_MAX, &out->integer) ? EBB_OK : too_large(r, at - 1);
}

ebb_status own_read_word(own_reader *r, json_t *out) {
    static const struct {
        const char *word;
        json_own_type type;
    } words[] = {{"null", JSON_NULL}, {"true", JSON_TRUE}, {"false", JSON_FALSE}};
    for (size_t k = 0; k < EBB_COUNT(words); k++) {
        const size_t n = strlen(words[k].word);
        if (r->n - r->at < n || memcmp(r->text + r->at, words[k].word, n) != 0) continue;
        out->type = words[k].type;
        r->at += n;
        return EBB_OK;
    }
    return own_refuse_token(r, "invalid token");
}
