/* Printing JSON: commas, line breaks and escapes. */
#include "base/json/json.h"

enum { MAX_WIDE_DEPTH = 63 }; /* what fits the mask; deeper ones print on one line */

void ebb_json_out_init(ebb_json_out *out, ebb_text *text) {
    *out = (ebb_json_out){.text = text};
}

static void put(ebb_json_out *out, const char *text) {
    ebb_text_put(out->text, text, strlen(text));
}

static bool is_wide(const ebb_json_out *out) {
    return out->depth <= MAX_WIDE_DEPTH && (out->wide >> out->depth & 1) != 0;
}

static void new_line(ebb_json_out *out, uint32_t depth) {
    put(out, "\n");
    for (uint32_t i = 0; i < depth; i++) put(out, "  ");
}

/* Nothing follows the bracket yet. A text never ends in an unquoted bracket otherwise. */
static bool is_first(const ebb_json_out *out) {
    const ebb_text *text = out->text;
    return text->n == 0 || text->at[text->n - 1] == '{' || text->at[text->n - 1] == '[';
}

static void put_escaped(ebb_json_out *out, uint32_t code) {
    switch (code) {
    case '"':
        put(out, "\\\"");
        break;
    case '\\':
        put(out, "\\\\");
        break;
    case '\n':
        put(out, "\\n");
        break;
    case '\r':
        put(out, "\\r");
        break;
    case '\t':
        put(out, "\\t");
        break;
    default:
        ebb_text_add(out->text, "\\u%04x", (unsigned)code);
        break;
    }
}

static void put_string(ebb_json_out *out, const char *value) {
    size_t n = strlen(value), plain = 0; /* value[plain, i) waits to be put as it is */
    put(out, "\"");
    for (size_t i = 0; i < n;) {
        uint32_t code = 0;
        size_t length = ebb_utf8_decode(value + i, n - i, &code);
        bool escaped = code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == '"' || code == '\\';
        if (length > 0 && !escaped) {
            i += length;
            continue;
        }
        ebb_text_put(out->text, value + plain, i - plain);
        if (length == 0) {
            put(out, "\xEF\xBF\xBD"); /* U+FFFD for each byte that is no UTF-8 */
            length = 1;
        } else {
            put_escaped(out, code);
        }
        i += length;
        plain = i;
    }
    ebb_text_put(out->text, value + plain, n - plain);
    put(out, "\"");
}

/* What comes before a value: the comma, the line break, the key. */
static void before_value(ebb_json_out *out, const char *key) {
    if (out->depth > 0) {
        bool first = is_first(out), wide = is_wide(out);
        if (!first) put(out, wide ? "," : ", ");
        if (wide) new_line(out, out->depth);
    }
    if (!key) return;
    put_string(out, key);
    put(out, ": ");
}

void ebb_json_begin(ebb_json_out *out, const char *key, char bracket, bool wide) {
    before_value(out, key);
    ebb_text_put(out->text, &bracket, 1);
    out->depth++;
    if (out->depth > MAX_WIDE_DEPTH) return;
    uint64_t bit = UINT64_C(1) << out->depth;
    out->wide = wide ? out->wide | bit : out->wide & ~bit;
}

void ebb_json_end(ebb_json_out *out, char bracket) {
    bool on_own_line = is_wide(out) && !is_first(out);
    if (out->depth > 0) out->depth--;
    if (on_own_line) new_line(out, out->depth);
    ebb_text_put(out->text, &bracket, 1);
}

void ebb_json_put_i64(ebb_json_out *out, const char *key, int64_t value) {
    before_value(out, key);
    ebb_text_add(out->text, "%lld", (long long)value);
}

void ebb_json_put_u64(ebb_json_out *out, const char *key, uint64_t value) {
    before_value(out, key);
    ebb_text_add(out->text, value > INT64_MAX ? "\"%llu\"" : "%llu", (unsigned long long)value);
}

void ebb_json_put_bool(ebb_json_out *out, const char *key, bool value) {
    before_value(out, key);
    put(out, value ? "true" : "false");
}

void ebb_json_put_text(ebb_json_out *out, const char *key, const char *value) {
    before_value(out, key);
    if (!value)
        put(out, "null");
    else
        put_string(out, value);
}

void ebb_json_put_null(ebb_json_out *out, const char *key) {
    before_value(out, key);
    put(out, "null");
}
