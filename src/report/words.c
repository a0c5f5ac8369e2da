/* words: figures, names and reasons as every view shows them. */
#include "report/report.h"

#include <stdio.h>

/* By the order of the enum. */
static const struct category {
    const char *name, *about;
} categories[EBB_N_CATEGORIES] = {
    [EBB_CATEGORY_FIXED] = {"fixed", "counted besides the plan's regions"},
    [EBB_CATEGORY_PARAMS] = {"params", "parameters and constants"},
    [EBB_CATEGORY_STATE] = {"state", "optimizer state, running statistics"},
    [EBB_CATEGORY_IO] = {"io", "inputs and outputs"},
    [EBB_CATEGORY_RECOMPUTED] = {"recomputed", "made again"},
    [EBB_CATEGORY_GRADIENTS] = {"gradients", "made in backward and update"},
    [EBB_CATEGORY_KEPT] = {"kept", "activations held from forward into backward"},
    [EBB_CATEGORY_TRANSIENT] = {"transient", "other activations"},
    [EBB_CATEGORY_SCRATCH] = {"scratch", "of the running op"},
    [EBB_CATEGORY_PADDING] = {"padding", "rounding up to the alignment"},
};

const char *ebb_category_name(ebb_category category) {
    return categories[category].name;
}

const char *ebb_category_about(ebb_category category) {
    return categories[category].about;
}

const char *ebb_join_name(ebb_join join) {
    static const char *const names[] = {"", "view of", "written over", "update of"};
    return names[join];
}

const char *ebb_fate_name(ebb_fate fate) {
    static const char *const names[] = {"empty", "given", "lasts", "dropped", "kept", "used_up"};
    return names[fate];
}

const char *ebb_drop_name(ebb_drop drop) {
    static const char *const names[] = {"can be dropped", "given", "its op runs once", "in use at the peak",
                                        "needed after the last step"};
    return names[drop];
}

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

/* ---- names
 * ------------------------------------------------------------------------------------------------ */

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

/* ---- reasons
 * ---------------------------------------------------------------------------------------------- */

/* The last step that has a life's bytes: of what owns them longer than it is read, because of a view. */
static uint32_t last_step(const ebb_report_life *life) {
    return (life->until != EBB_NONE && life->until > life->upper ? life->until : life->upper) - 1;
}

static void why_kept(ebb_text *text, const ebb_report *r, const ebb_report_life *life) {
    ebb_text_add(text, "kept from forward into backward, until step %u", last_step(life));
    if (!life->repeatable)
        ebb_text_add(text, "; its op runs exactly once");
    else
        ebb_text_add(text, "; making it again would take %s",
                     ebb_word_time(r->steps[life->writer].time_ns).text);
}

static void why_dropped(ebb_text *text, const ebb_report *r, const ebb_report_life *life) {
    const ebb_report_life *next = &r->lives[life->next];
    ebb_text_add(text, "dropped after step %u and made again in step %u, which takes %s", last_step(life),
                 next->lower, ebb_word_time(r->steps[next->writer].time_ns).text);
}

void ebb_report_why(ebb_text *text, const ebb_report *r, ebb_id buffer) {
    const ebb_report_life *life = &r->lives[buffer];
    if (life->recomputed) ebb_text_add(text, "made again; ");
    switch (life->fate) {
    case EBB_FATE_EMPTY:
        ebb_text_add(text, "0 bytes: it only orders ops");
        break;
    case EBB_FATE_GIVEN:
        ebb_text_add(text, life->persistent ? "given, and there in every step" : "given before the step");
        break;
    case EBB_FATE_LASTS:
        ebb_text_add(text, "needed after the last step");
        break;
    case EBB_FATE_DROPPED:
        why_dropped(text, r, life);
        break;
    case EBB_FATE_KEPT:
        why_kept(text, r, life);
        break;
    case EBB_FATE_USED_UP:
        ebb_text_add(text, "needed until step %u only", last_step(life));
        break;
    }
}
