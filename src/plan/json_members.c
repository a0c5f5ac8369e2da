/* Steps through the raw text of JSON objects. Iterative and bounded; the text was parsed before, so that
 * nothing is judged here. */
#include "plan/json_members.h"

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static const char *skip_space(const char *at, const char *end) {
    while (at < end && is_space(*at)) at++;
    return at;
}

/* at is behind the opening quote; gives the closing one, or end. */
static const char *find_quote(const char *at, const char *end) {
    while (at < end && *at != '"') at += *at == '\\' && end - at > 1 ? 2 : 1;
    return at;
}

/* Past the value that starts at `at`. */
static const char *skip_value(const char *at, const char *end) {
    size_t depth = 0;
    for (; at < end; at++) {
        if (*at == '"') {
            at = find_quote(at + 1, end);
            if (at == end) return end;
        } else if (*at == '{' || *at == '[') {
            depth++;
        } else if (depth > 0 && (*at == '}' || *at == ']')) {
            depth--;
        } else if (depth == 0 && (*at == ',' || *at == '}' || *at == ']' || is_space(*at))) {
            return at;
        }
    }
    return end;
}

bool ebb_json_member_next(const char **at, const char *end, ebb_json_member *out) {
    const char *p = skip_space(*at, end);
    if (p == end || (*p != '{' && *p != ',')) return false;
    p = skip_space(p + 1, end);
    if (p == end || *p != '"') return false;
    out->key = p + 1;
    p = find_quote(p + 1, end);
    out->n_key = (size_t)(p - out->key);
    if (p == end) return false;
    p = skip_space(p + 1, end);
    if (p == end || *p != ':') return false;
    out->value = skip_space(p + 1, end);
    *at = skip_value(out->value, end);
    out->n_value = (size_t)(*at - out->value);
    return out->n_value > 0;
}

bool ebb_json_member_is(const ebb_json_member *member, const char *key) {
    return strlen(key) == member->n_key && memcmp(member->key, key, member->n_key) == 0;
}

void ebb_json_member_put(ebb_text *text, const ebb_json_member *member) {
    ebb_text_put(text, "\"", 1);
    ebb_text_put(text, member->key, member->n_key);
    ebb_text_put(text, "\": ", 3);
    const char *end = member->value + member->n_value;
    for (const char *p = member->value; p < end;) {
        const char *from = p;
        if (*p == '"') {
            p = find_quote(p + 1, end);
            p += p < end;
        } else if (is_space(*p)) {
            p++;
            continue;
        } else {
            p++;
        }
        ebb_text_put(text, from, (size_t)(p - from));
        if (*from == ',' || *from == ':') ebb_text_put(text, " ", 1);
    }
}
