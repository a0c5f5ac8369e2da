/* Growing strings. */
#include "base/env/env.h"

#include <stdio.h>

void ebb_text_init(ebb_text *text, ebb_env *env) {
    *text = (ebb_text){.env = env};
}

void ebb_text_deinit(ebb_text *text) {
    ebb_cfree(text->env, text->at, text->cap, 1);
    *text = (ebb_text){.env = text->env};
}

/* Room for n more bytes and the NUL; false, latched, when there is none. */
static bool make_room(ebb_text *text, size_t n) {
    if (!text->failed && n < SIZE_MAX - text->n) {
        if (EBB_RESERVE(text->env, text, text->n + n + 1)) return true;
    }
    text->failed = true;
    return false;
}

void ebb_text_add(ebb_text *text, const char *format, ...) {
    if (!make_room(text, 0)) return;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text->at + text->n, text->cap - text->n, format, args);
    va_end(args);
    if (n >= 0 && (size_t)n >= text->cap - text->n) {
        text->at[text->n] = '\0';
        if (!make_room(text, (size_t)n)) return;
        va_start(args, format);
        n = vsnprintf(text->at + text->n, text->cap - text->n, format, args);
        va_end(args);
    }
    if (n < 0) {
        text->at[text->n] = '\0';
        text->failed = true;
        return;
    }
    text->n += (size_t)n;
}

void ebb_text_put(ebb_text *text, const char *bytes, size_t n) {
    if (!make_room(text, n)) return;
    if (n > 0) memcpy(text->at + text->n, bytes, n);
    text->n += n;
    text->at[text->n] = '\0';
}

ebb_status ebb_text_status(const ebb_text *text) {
    if (!text->failed) return EBB_OK;
    return ebb_fail(text->env, EBB_NO_MEMORY, "out of memory: a text of %zu bytes could not grow", text->n);
}
