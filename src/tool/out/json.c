/* json: a document in memory. Strings come from files and command lines: they are escaped, and bytes that
 * are no UTF-8 become U+FFFD. */
#include "tool/out/out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void indent(out_json *json) {
    fputc('\n', json->to);
    for (uint32_t i = 0; i < json->depth; i++) fputs("  ", json->to);
}

/* What a terminal should not see is escaped, in two halves where 16 bits do not hold it: it reads back the
 * same. */
static void put_code(out_json *json, uint32_t code) {
    if (code < 0x10000)
        fprintf(json->to, "\\u%04x", (unsigned)code);
    else
        fprintf(json->to, "\\u%04x\\u%04x", (unsigned)(0xD800 + ((code - 0x10000) >> 10)),
                (unsigned)(0xDC00 + (code & 0x3FF)));
}

static void put_string(out_json *json, const char *text) {
    fputc('"', json->to);
    for (size_t at = 0, n = strlen(text); at < n;) {
        bool plain;
        uint32_t code;
        size_t length = ebb_text_shown(text + at, n - at, &code, &plain);
        if (plain) {
            if (text[at] == '"' || text[at] == '\\') fputc('\\', json->to);
            fwrite(text + at, 1, length, json->to);
        } else if (code == 0) {
            fputs("\xEF\xBF\xBD", json->to);
        } else {
            put_code(json, code);
        }
        at += length;
    }
    fputc('"', json->to);
}

/* false: memory ran out before, nothing is printed any more. */
static bool before_value(out_json *json, const char *key) {
    if (!json->to) return false;
    if (json->depth > 0) {
        if (!json->first) fputc(',', json->to);
        indent(json);
    }
    json->first = false;
    if (!key) return true;
    put_string(json, key);
    fputs(": ", json->to);
    return true;
}

void out_json_begin(out_json *json, const char *schema) {
    *json = (out_json){.first = true};
    json->to = open_memstream(&json->text, &json->n);
    out_open(json, NULL, '{');
    out_text(json, "schema", schema);
}

void out_open(out_json *json, const char *key, char bracket) {
    if (!before_value(json, key)) return;
    fputc(bracket, json->to);
    json->depth++;
    json->first = true;
}

void out_close(out_json *json, char bracket) {
    if (!json->to) return;
    json->depth--;
    if (!json->first) indent(json);
    json->first = false;
    fputc(bracket, json->to);
}

void out_integer(out_json *json, const char *key, int64_t value) {
    if (before_value(json, key)) fprintf(json->to, "%lld", (long long)value);
}

void out_real(out_json *json, const char *key, double value) {
    if (!before_value(json, key)) return;
    if (isfinite(value))
        fprintf(json->to, "%.9g", value);
    else
        fputs("null", json->to);
}

void out_bool(out_json *json, const char *key, bool value) {
    if (before_value(json, key)) fputs(value ? "true" : "false", json->to);
}

void out_text(out_json *json, const char *key, const char *value) {
    if (!before_value(json, key)) return;
    if (!value)
        fputs("null", json->to);
    else
        put_string(json, value);
}

void out_costs(out_json *json, const ebb_plan_summary *s) {
    if (!s->costs_machine) {
        out_text(json, "costs", NULL);
        return;
    }
    out_open(json, "costs", '{');
    out_text(json, "machine", s->costs_machine);
    out_text(json, "id", s->costs_id);
    out_integer(json, "measured", s->n_measured);
    out_integer(json, "calibrated", s->n_calibrated);
    out_integer(json, "built_in", s->n_built_in);
    out_close(json, '}');
}

ebb_status out_json_end(tool *t, out_json *json) {
    ebb_status status = EBB_OK;
    out_close(json, '}');
    bool lost = !json->to;
    if (!lost) {
        fputc('\n', json->to);
        lost = ferror(json->to) != 0;
        if (fclose(json->to) != 0) lost = true;
    }
    if (lost) status = tool_fail(t, EBB_NO_MEMORY, "no memory for the JSON text");
    if (status == EBB_OK && t->args.output) status = out_file(t, t->args.output, json->text, json->n);
    /* A short write shows in out_finish. */
    if (status == EBB_OK && t->args.json) (void)fwrite(json->text, 1, json->n, stdout);
    free(json->text);
    return status;
}

void out_json_drop(out_json *json) {
    if (json->to) fclose(json->to);
    free(json->text);
    *json = (out_json){.first = true};
}
