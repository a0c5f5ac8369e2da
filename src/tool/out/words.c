/* words: figures and names for people. */
#include "tool/out/out.h"

#include <string.h>

out_word out_bytes(int64_t bytes) {
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    out_word word;
    double x = (double)bytes;
    size_t i = 0;
    for (; x >= 1024 && i + 1 < TOOL_COUNT(names); i++) x /= 1024;
    snprintf(word.text, sizeof word.text, i == 0 ? "%.0f %s" : "%.2f %s", x, names[i]);
    return word;
}

out_word out_budget(const tool_args *args, int64_t bytes) {
    const char *typed = args->budget_text;
    bool other = typed && args->budget_bytes == bytes && strlen(typed) < 16 && strpbrk(typed, "kKMGT") &&
                 !strchr(typed, 'i');
    out_word word;
    snprintf(word.text, sizeof word.text, "%.16s (%s%s%lld bytes)", out_bytes(bytes).text,
             other ? typed : "", other ? ", " : "", (long long)bytes);
    return word;
}

const char *out_phase(ebb_phase phase) {
    return phase == EBB_FORWARD ? "forward" : phase == EBB_BACKWARD ? "backward" : "update";
}

out_word out_time(int64_t ns) {
    static const char *const names[] = {"ns", "us", "ms", "s"};
    out_word word;
    double x = (double)ns;
    size_t i = 0;
    for (; x >= 1000 && i + 1 < TOOL_COUNT(names); i++) x /= 1000;
    snprintf(word.text, sizeof word.text, i == 0 ? "%.0f %s" : "%.2f %s", x, names[i]);
    return word;
}

out_word out_change(int64_t now, int64_t before) {
    out_word word = {"-"};
    if (before > 0)
        snprintf(word.text, sizeof word.text, "%+.1f %%",
                 100 * ((double)now - (double)before) / (double)before);
    return word;
}

out_word out_count(int64_t n) {
    out_word word;
    snprintf(word.text, sizeof word.text, "%lld", (long long)n);
    return word;
}

void out_clean(char *to, size_t size, const char *text) {
    size_t used = 0;
    for (size_t at = 0, n = strlen(text); at < n;) {
        bool plain;
        size_t length = ebb_text_shown(text + at, n - at, NULL, &plain), put = plain ? length : 1;
        if (used + put >= size) break;
        memcpy(to + used, plain ? text + at : "?", put);
        used += put;
        at += length;
    }
    to[used] = '\0';
}

void out_safe(FILE *to, const char *text) {
    char clean[4096];
    out_clean(clean, sizeof clean, text);
    fputs(clean, to);
}
