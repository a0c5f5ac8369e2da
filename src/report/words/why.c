/* why: a sentence about why a life is as it is. */
#include "report/words/words.h"

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
