/* A reader of JSON (RFC 8259) for machines without jansson: the same documents, and the same words of
 * refusal.
 *
 * Values of open arrays and objects wait on a stack, and go to the document's arena together when theirs is
 * closed: memory is a constant times the text, and nesting has a limit. */
#include "base/json_own.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_DEPTH = 2048 };

typedef struct document {
    json_t root; /* first */
    ebb_arena arena;
} document;

typedef struct reader {
    ebb_env *env;
    const char *name, *text;
    size_t n, at;
    document *document;
    EBB_ARRAY(json_t) waiting;
} reader;

/* The place is that of byte `at`, the last one that was looked at. */
static ebb_status refuse(const reader *r, size_t at, const char *fault) {
    int line = 1, column = 0;
    for (size_t i = 0; i < r->n && i <= at; i++) {
        const bool ends = r->text[i] == '\n' && i < at;
        line += ends;
        column = ends ? 0 : column + ((r->text[i] & 0xC0) != 0x80);
    }
    return ebb_fail(r->env, EBB_BAD_INPUT, "%s: line %d, column %d: %s: correct the JSON there", r->name,
                    line, column > 0 ? column : 1, fault);
}

static ebb_status refuse_token(const reader *r, const char *fault) {
    char text[64];
    if (r->at >= r->n) {
        (void)snprintf(text, sizeof text, "%.32s near end of file", fault);
        return refuse(r, r->n > 0 ? r->n - 1 : 0, text);
    }
    (void)snprintf(text, sizeof text, "%.32s near '%c'", fault, r->text[r->at]);
    return refuse(r, r->at, text);
}

/* NUL behind the end. */
static char byte_at(const reader *r, size_t at) {
    if (at >= r->n) return '\0';
    return r->text[at];
}

static char skip_space(reader *r) {
    while (r->at < r->n && strchr(" \t\r\n", r->text[r->at]) && r->text[r->at]) r->at++;
    return byte_at(r, r->at);
}

/* ---- strings ---------------------------------------------------------------------------------------- */

static bool hex4(const reader *r, size_t at, uint32_t *code) {
    *code = 0;
    for (size_t i = at; i < at + 4; i++) {
        const char c = byte_at(r, i);
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

/* The code point behind "\u", and on past it. */
static ebb_status read_code(reader *r, uint32_t *code) {
    uint32_t low;
    if (!hex4(r, r->at + 2, code)) return refuse(r, r->at, "invalid escape");
    if (*code == 0) return refuse(r, r->at, "\\u0000 is not allowed");
    if (*code >= 0xDC00 && *code <= 0xDFFF) return refuse(r, r->at, "invalid Unicode: half of a pair");
    r->at += 6;
    if (*code < 0xD800 || *code > 0xDBFF) return EBB_OK;
    if (r->at + 1 >= r->n || r->text[r->at] != '\\' || r->text[r->at + 1] != 'u' ||
        !hex4(r, r->at + 2, &low) || low < 0xDC00 || low > 0xDFFF)
        return refuse(r, r->at - 1, "invalid Unicode: half of a pair");
    *code = 0x10000 + ((*code - 0xD800) << 10) + (low - 0xDC00);
    r->at += 6;
    return EBB_OK;
}

static ebb_status read_escape(reader *r, char *to, size_t *n) {
    static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    const char c = byte_at(r, r->at + 1);
    uint32_t code;
    if (c == 'u') {
        const ebb_status status = read_code(r, &code);
        if (status == EBB_OK) *n += put_utf8(to + *n, code);
        return status;
    }
    const char *known = c ? strchr(names, c) : NULL;
    if (!known) return refuse(r, r->at, "invalid escape");
    to[(*n)++] = bytes[known - names];
    r->at += 2;
    return EBB_OK;
}

static ebb_status read_plain(reader *r, char *to, size_t *n) {
    uint32_t code;
    char fault[48];
    const unsigned char c = (unsigned char)r->text[r->at];
    if (c == '\n') return refuse(r, r->at, "unexpected newline");
    if (c < 0x20) return refuse(r, r->at, "control character in a string");
    const size_t bytes = ebb_utf8_decode(r->text + r->at, r->n - r->at, &code);
    if (bytes == 0) {
        (void)snprintf(fault, sizeof fault, "unable to decode byte 0x%x", c);
        return refuse(r, r->at, fault);
    }
    memcpy(to + *n, r->text + r->at, bytes);
    *n += bytes;
    r->at += bytes;
    return EBB_OK;
}

/* From the opening quote to behind the closing one. */
static ebb_status read_string(reader *r, const char **out) {
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
    if (r->at >= r->n) return refuse(r, r->n - 1, "premature end of file in a string");
    r->at++;
    *out = to;
    return EBB_OK;
}

/* ---- numbers and words ------------------------------------------------------------------------------ */

static size_t digits(const reader *r, size_t at) {
    size_t n = 0;
    while (at + n < r->n && r->text[at + n] >= '0' && r->text[at + n] <= '9') n++;
    return n;
}

static ebb_status too_large(const reader *r, size_t at) {
    ebb_status status = refuse(r, at, "a number is beyond 64 bits: give one that fits");
    return status;
}

static ebb_status read_number(reader *r, json_t *out) {
    char text[32];
    const size_t begin = r->at;
    size_t at = begin + (r->text[begin] == '-'), n = digits(r, at);
    if (n == 0 || (n > 1 && r->text[at] == '0')) return refuse(r, at, "invalid token");
    at += n;
    out->type = JSON_INTEGER;
    if (at < r->n && r->text[at] == '.') {
        out->type = JSON_REAL;
        if ((n = digits(r, at + 1)) == 0) return refuse(r, at, "invalid token");
        at += 1 + n;
    }
    if (at < r->n && (r->text[at] == 'e' || r->text[at] == 'E')) {
        const size_t sign = at + 1 < r->n && (r->text[at + 1] == '+' || r->text[at + 1] == '-');
        out->type = JSON_REAL;
        if ((n = digits(r, at + 1 + sign)) == 0) return refuse(r, at, "invalid token");
        at += 1 + sign + n;
    }
    r->at = at;
    /* The text has a NUL behind it or another byte that ends a number: see ebb_json_own_parse. */
    if (out->type == JSON_REAL) return isinf(strtod(r->text + begin, NULL)) ? too_large(r, at - 1) : EBB_OK;
    if (at - begin >= sizeof text) return too_large(r, at - 1);
    memcpy(text, r->text + begin, at - begin);
    text[at - begin] = '\0';
    return ebb_parse_i64(text, INT64_MIN, INT64_MAX, &out->integer) ? EBB_OK : too_large(r, at - 1);
}

static ebb_status read_word(reader *r, json_t *out) {
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
    return refuse_token(r, "invalid token");
}

/* ---- arrays and objects ----------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b) {
    return strcmp((*(const json_t *const *)a)->key, (*(const json_t *const *)b)->key);
}

/* Gives an open value what waits from `first` on. */
static ebb_status close_value(reader *r, size_t first, json_t *out) {
    ebb_arena *arena = &r->document->arena;
    out->n = r->waiting.n - first;
    if (!(out->at = EBB_NEW(arena, json_t, out->n))) return EBB_NO_MEMORY;
    if (out->n > 0 && r->waiting.at) memcpy(out->at, r->waiting.at + first, out->n * sizeof *out->at);
    r->waiting.n = first;
    if (out->type != JSON_OBJECT) return EBB_OK;
    if (!(out->sorted = EBB_NEW(arena, const json_t *, out->n))) return EBB_NO_MEMORY;
    for (size_t i = 0; i < out->n; i++) out->sorted[i] = &out->at[i];
    if (out->n > 1) qsort(out->sorted, out->n, sizeof(void *), by_key);
    return EBB_OK;
}

static ebb_status read_key(reader *r, const char **key, size_t *end) {
    if (skip_space(r) != '"') return refuse_token(r, "string or '}' expected");
    const ebb_status status = read_string(r, key);
    *end = r->at - 1;
    if (status != EBB_OK) return status;
    if (skip_space(r) != ':') return refuse_token(r, "':' expected");
    r->at++;
    return EBB_OK;
}

/* A key twice: found when the object is closed, and told where the second one is. */
static ebb_status check_keys(const reader *r, const json_t *object, const size_t *ends) {
    const json_t *second = NULL;
    for (size_t i = 1; i < object->n; i++) {
        const json_t *a = object->sorted[i - 1], *b = object->sorted[i];
        if (strcmp(a->key, b->key) != 0) continue;
        const json_t *later = a > b ? a : b;
        if (!second || later < second) second = later;
    }
    return second && ends ? refuse(r, ends[second - object->at], "duplicate object key") : EBB_OK;
}

static ebb_status read_value(reader *r, uint32_t depth, json_t *out);

static ebb_status read_members(reader *r, uint32_t depth, json_t *out) {
    const char end = out->type == JSON_OBJECT ? '}' : ']';
    const size_t first = r->waiting.n;
    EBB_ARRAY(size_t) ends = {0};
    ebb_status status = EBB_OK;
    r->at++;
    for (bool more = skip_space(r) != end; more && status == EBB_OK; r->at += more) {
        json_t value = {.type = JSON_NULL};
        size_t at = 0;
        const char *key = NULL;
        if (end == '}') status = read_key(r, &key, &at);
        if (status == EBB_OK) status = read_value(r, depth + 1, &value);
        value.key = key;
        if (status == EBB_OK && (!EBB_PUSH(r->env, &r->waiting, value) || !EBB_PUSH(r->env, &ends, at)))
            status = EBB_NO_MEMORY;
        if (status != EBB_OK) break;
        more = skip_space(r) == ',';
        if (!more && (r->at >= r->n || r->text[r->at] != end))
            status = refuse_token(r, end == '}' ? "'}' expected" : "']' expected");
    }
    r->at++;
    if (status == EBB_OK) status = close_value(r, first, out);
    if (status == EBB_OK && end == '}') status = check_keys(r, out, ends.at);
    EBB_ARRAY_FREE(r->env, &ends);
    return status;
}

/* Recursion ends at MOST_DEPTH. */
static ebb_status read_value(reader *r, uint32_t depth, json_t *out) {
    const char c = skip_space(r);
    *out = (json_t){.type = JSON_NULL};
    if (depth > MOST_DEPTH) {
        char fault[64];
        (void)snprintf(fault, sizeof fault, "nested deeper than %d: make it flatter", MOST_DEPTH);
        return refuse(r, r->at, fault);
    }
    if (r->at >= r->n) return refuse_token(r, "unexpected end");
    if (c == '{' || c == '[') {
        out->type = c == '{' ? JSON_OBJECT : JSON_ARRAY;
        return read_members(r, depth, out);
    }
    if (c == '-' || (c >= '0' && c <= '9')) return read_number(r, out);
    if (c == '"') {
        out->type = JSON_STRING;
        return read_string(r, &out->text);
    }
    return strchr("}],:", c) && c ? refuse_token(r, "unexpected token") : read_word(r, out);
}

/* ---- documents -------------------------------------------------------------------------------------- */

static ebb_status read_document(reader *r) {
    const char c = skip_space(r);
    if (c != '{' && c != '[') return refuse_token(r, "'[' or '{' expected");
    const ebb_status status = read_value(r, 1, &r->document->root);
    if (status != EBB_OK) return status;
    (void)skip_space(r);
    return r->at < r->n ? refuse(r, r->at, "end of file expected") : EBB_OK;
}

ebb_status ebb_json_own_parse(ebb_env *env, const char *name, const char *text, size_t n, json_t **out) {
    *out = NULL;
    document *d = ebb_calloc(env, 1, sizeof *d);
    if (!d) return EBB_NO_MEMORY;
    ebb_arena_init(&d->arena, env);
    /* A copy with a NUL: what strtod reads ends there. */
    char *copy = ebb_calloc(env, n + 1, 1);
    if (copy && n) memcpy(copy, text, n);
    reader r = {.env = env, .name = name, .text = copy, .n = n, .document = d};
    const ebb_status status = copy ? read_document(&r) : EBB_NO_MEMORY;
    EBB_ARRAY_FREE(env, &r.waiting);
    ebb_cfree(env, copy, copy ? n + 1 : 0, 1);
    if (status == EBB_OK)
        *out = &d->root;
    else
        ebb_json_own_free(&d->root);
    return status;
}

void ebb_json_own_free(json_t *root) {
    document *d = (document *)root;
    if (!d) return;
    ebb_env *env = d->arena.env;
    ebb_arena_deinit(&d->arena);
    ebb_cfree(env, d, 1, sizeof *d);
}

const json_t *ebb_json_own_member(const json_t *object, const char *key) {
    if (!json_is_object(object)) return NULL;
    size_t low = 0, high = object->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(object->sorted[middle]->key, key);
        if (order == 0) return object->sorted[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
