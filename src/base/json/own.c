/* A reader of JSON (RFC 8259) for machines without jansson: the same documents, and the same words of
 * refusal.
 *
 * Values of open arrays and objects wait on a stack, and go to the document's arena together when theirs is
 * closed: memory is a constant times the text, and nesting has a limit. */
#include "base/json/own_reader.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_DEPTH = 2048 };

/* ---- arrays and objects ---- */

static int by_key(const void *a, const void *b) {
    return strcmp((*(const json_t *const *)a)->key, (*(const json_t *const *)b)->key);
}

/* Gives an open value what waits from `first` on. */
static ebb_status close_value(own_reader *r, size_t first, json_t *out) {
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

static ebb_status read_key(own_reader *r, const char **key, size_t *end) {
    if (own_skip_space(r) != '"') return own_refuse_token(r, "string or '}' expected");
    const ebb_status status = own_read_string(r, key);
    *end = r->at - 1;
    if (status != EBB_OK) return status;
    if (own_skip_space(r) != ':') return own_refuse_token(r, "':' expected");
    r->at++;
    return EBB_OK;
}

/* A key twice: found when the object is closed, and reported where the second one is. */
static ebb_status check_keys(const own_reader *r, const json_t *object, const size_t *ends) {
    const json_t *second = NULL;
    for (size_t i = 1; i < object->n; i++) {
        const json_t *a = object->sorted[i - 1], *b = object->sorted[i];
        if (strcmp(a->key, b->key) != 0) continue;
        const json_t *later = a > b ? a : b;
        if (!second || later < second) second = later;
    }
    return second && ends ? own_refuse(r, ends[second - object->at], "duplicate object key") : EBB_OK;
}

static ebb_status read_value(own_reader *r, uint32_t depth, json_t *out);

static ebb_status read_members(own_reader *r, uint32_t depth, json_t *out) {
    const char end = out->type == JSON_OBJECT ? '}' : ']';
    const size_t first = r->waiting.n;
    EBB_ARRAY(size_t) ends = {0};
    ebb_status status = EBB_OK;
    r->at++;
    for (bool more = own_skip_space(r) != end; more && status == EBB_OK; r->at += more) {
        json_t value = {.type = JSON_NULL};
        size_t at = 0;
        const char *key = NULL;
        if (end == '}') status = read_key(r, &key, &at);
        if (status == EBB_OK) status = read_value(r, depth + 1, &value);
        value.key = key;
        if (status == EBB_OK && (!EBB_PUSH(r->env, &r->waiting, value) || !EBB_PUSH(r->env, &ends, at)))
            status = EBB_NO_MEMORY;
        if (status != EBB_OK) break;
        more = own_skip_space(r) == ',';
        if (!more && (r->at >= r->n || r->text[r->at] != end))
            status = own_refuse_token(r, end == '}' ? "'}' expected" : "']' expected");
    }
    r->at++;
    if (status == EBB_OK) status = close_value(r, first, out);
    if (status == EBB_OK && end == '}') status = check_keys(r, out, ends.at);
    EBB_ARRAY_FREE(r->env, &ends);
    return status;
}

/* Recursion ends at MOST_DEPTH. */
static ebb_status read_value(own_reader *r, uint32_t depth, json_t *out) {
    const char c = own_skip_space(r);
    *out = (json_t){.type = JSON_NULL};
    if (depth > MOST_DEPTH) {
        char fault[64];
        (void)snprintf(fault, sizeof fault, "nested deeper than %d: make it flatter", MOST_DEPTH);
        return own_refuse(r, r->at, fault);
    }
    if (r->at >= r->n) return own_refuse_token(r, "unexpected end");
    if (c == '{' || c == '[') {
        out->type = c == '{' ? JSON_OBJECT : JSON_ARRAY;
        return read_members(r, depth, out);
    }
    if (c == '-' || (c >= '0' && c <= '9')) return own_read_number(r, out);
    if (c == '"') {
        out->type = JSON_STRING;
        return own_read_string(r, &out->text);
    }
    return strchr("}],:", c) && c ? own_refuse_token(r, "unexpected token") : own_read_word(r, out);
}

/* ---- documents ---- */

static ebb_status read_document(own_reader *r) {
    const char c = own_skip_space(r);
    if (c != '{' && c != '[') return own_refuse_token(r, "'[' or '{' expected");
    const ebb_status status = read_value(r, 1, &r->document->root);
    if (status != EBB_OK) return status;
    (void)own_skip_space(r);
    return r->at < r->n ? own_refuse(r, r->at, "end of file expected") : EBB_OK;
}

ebb_status ebb_json_own_parse(ebb_env *env, const char *name, const char *text, size_t n, json_t **out) {
    *out = NULL;
    own_document *d = ebb_calloc(env, 1, sizeof *d);
    if (!d) return EBB_NO_MEMORY;
    ebb_arena_init(&d->arena, env);
    /* A copy with a NUL: what strtod reads ends there. */
    char *copy = ebb_calloc(env, n + 1, 1);
    if (copy && n) memcpy(copy, text, n);
    own_reader r = {.env = env, .name = name, .text = copy, .n = n, .document = d};
    const ebb_status status = copy ? read_document(&r) : EBB_NO_MEMORY;
    EBB_ARRAY_FREE(env, &r.waiting);
    ebb_cfree(env, copy, n + 1, 1);
    if (status == EBB_OK)
        *out = &d->root;
    else
        ebb_json_own_free(&d->root);
    return status;
}

void ebb_json_own_free(json_t *root) {
    own_document *d = (own_document *)root;
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
