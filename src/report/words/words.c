/* words: figures and names as every view shows them. */
#include "report/words/words.h"

#include <stdio.h>

ebb_word ebb_word_bytes(int64_t bytes) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    ebb_word word;
    double x = bytes < 0 ? -(double)bytes : (double)bytes;
    size_t i = 0;
    for (; x >= 1024 && i + 1 < EBB_COUNT(units); i++) x /= 1024;
    (void)snprintf(word.text, sizeof word.text, i == 0 ? "%s%.0f %s" : "%s%.2f %s", bytes < 0 ? "-" : "", x,
                   units[i]);
    return word;
}

ebb_word ebb_word_time(int64_t ns) {
    static const char *const units[] = {"ns", "us", "ms", "s"};
    ebb_word word;
    double x = ns < 0 ? -(double)ns : (double)ns;
    size_t i = 0;
    for (; x >= 1000 && i + 1 < EBB_COUNT(units); i++) x /= 1000;
    (void)snprintf(word.text, sizeof word.text, i == 0 ? "%s%.0f %s" : "%s%.2f %s", ns < 0 ? "-" : "", x,
                   units[i]);
    return word;
}

ebb_word ebb_word_change(int64_t now, int64_t before) {
    ebb_word word = {"-"};
    if (before > 0)
        (void)snprintf(word.text, sizeof word.text, "%+.1f %%",
                       100 * ((double)now - (double)before) / (double)before);
    return word;
}

/* ---- names ---- */

const char *ebb_report_name(ebb_arena *arena, const char *name) {
    static const char ellipsis[] = "\xE2\x80\xA6", unknown[] = "\xEF\xBF\xBD";
    char shown[(EBB_NAME_CODES + 1) * 4 + 1];
    size_t n = strlen(name), at = 0, out = 0;
    for (uint32_t codes = 0; at < n; codes++) {
        bool plain = false;
        size_t length = ebb_text_shown(name + at, n - at, NULL, &plain);
        if (codes == EBB_NAME_CODES) {
            memcpy(shown + out, ellipsis, sizeof ellipsis - 1);
            out += sizeof ellipsis - 1;
            break;
        }
        if (length == 0) length = 1;
        size_t put = plain ? length : sizeof unknown - 1;
        memcpy(shown + out, plain ? name + at : unknown, put);
        at += length;
        out += put;
    }
    shown[out] = '\0';
    return ebb_arena_text(arena, shown);
}
