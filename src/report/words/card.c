/* card: the rows that text, Markdown and HTML print alike. */
#include "report/words/words.h"

#include <stdio.h>

static ebb_card_row *add(ebb_card *card, const char *key, const char *name) {
    ebb_card_row *row = &card->rows[card->n_rows++];
    *row = (ebb_card_row){.key = key, .name = name, .present = true};
    return row;
}

static void add_bytes(ebb_card *card, const char *key, const char *name, int64_t bytes) {
    ebb_card_row *row = add(card, key, name);
    row->figure = bytes;
    row->words = ebb_word_bytes(bytes);
}

/* A time, and how much more it is than the baseline's. */
static void add_time(ebb_card *card, const char *key, const char *name, int64_t ns, int64_t before) {
    ebb_card_row *row = add(card, key, name);
    row->figure = ns;
    row->words = ebb_word_time(ns);
    size_t n = strlen(row->words.text);
    if (before > 0)
        (void)snprintf(row->words.text + n, sizeof row->words.text - n, " (%.16s)",
                       ebb_word_change(ns, before).text);
}

static void add_count(ebb_card *card, const char *key, const char *name, int64_t n, const char *format,
                      uint32_t of) {
    ebb_card_row *row = add(card, key, name);
    row->figure = n;
    (void)snprintf(row->words.text, sizeof row->words.text, format, of);
}

static void add_absent(ebb_card *card, const char *key, const char *name, const char *why) {
    ebb_card_row *row = add(card, key, name);
    row->present = false;
    (void)snprintf(row->words.text, sizeof row->words.text, "%s", why);
}

static void add_verdict(ebb_card *card, const ebb_report *r) {
    if (r->budget_bytes < 0) {
        (void)snprintf(card->verdict.text, sizeof card->verdict.text, "planned without a budget");
        add_absent(card, "budget_bytes", "budget", "none");
        add_absent(card, "headroom_bytes", "headroom", "no budget");
        return;
    }
    int64_t headroom = r->budget_bytes - r->total_bytes;
    (void)snprintf(card->verdict.text, sizeof card->verdict.text, "fits: %.20s below its budget",
                   ebb_word_bytes(headroom).text);
    add_bytes(card, "budget_bytes", "budget", r->budget_bytes);
    add_bytes(card, "headroom_bytes", "headroom", headroom);
}

/* One that is no figure of a card stands in words. */
static void add_seed(ebb_card *card, uint64_t seed) {
    char digits[24];
    (void)snprintf(digits, sizeof digits, "%llu", (unsigned long long)seed);
    if (seed > INT64_MAX)
        add_absent(card, "seed", "seed", digits);
    else
        add_count(card, "seed", "seed", (int64_t)seed, "of the search", 0);
}

/* A plan does not record them; the search's log does. */
static void add_search(ebb_card *card, const ebb_report_search *s) {
    if (!s->present) {
        add_absent(card, "batch", "batch, seed, search", "in no plan: see ebb plan --log");
        return;
    }
    add_absent(card, "batch", "batch", "the model's own");
    if (s->dims[0] != '\0') card->rows[card->n_rows - 1].text = s->dims;
    add_seed(card, s->seed);
    add_count(card, "n_scored", "candidates scored", s->n_scored, "in %u searches", s->n_searches);
    add_absent(card, "search", "search", s->about);
    add_count(card, "thresh_nr_try", "thresh_nr_try", s->thresh_nr_try, "", 0);
    add_count(card, "genetic_nr_iter", "genetic_nr_iter", s->genetic_nr_iter, "", 0);
    add_count(card, "genetic_pool_size", "genetic_pool_size", s->genetic_pool_size, "", 0);
    add_bytes(card, "lb_memory_bytes", "lb_memory", s->lb_memory_bytes);
}

const char *ebb_card_words(const ebb_card_row *row) {
    return row->text ? row->text : row->words.text;
}

void ebb_card_make(const ebb_report *r, ebb_card *out) {
    *out = (ebb_card){.n_rows = 0};
    add_bytes(out, "total_bytes", "total", r->total_bytes);
    add_verdict(out, r);
    add_bytes(out, "baseline_total_bytes", "total without recomputation", r->baseline_total_bytes);
    add_bytes(out, "arena_bytes", "arena", r->arena_bytes);
    add_bytes(out, "persistent_bytes", "persistent", r->persistent_bytes);
    add_bytes(out, "fixed_bytes", "fixed", r->fixed_bytes);
    add_bytes(out, "peak_bytes", "most live in a step", r->peak_bytes);
    add_bytes(out, "holes_bytes", "lost by packing", r->holes_bytes);
    add_count(out, "peak_step", "step of the peak", r->peak_step, "of %u", r->n_steps);
    add_time(out, "time_ns", "predicted time", r->time_ns, r->baseline_time_ns);
    add_time(out, "baseline_time_ns", "time without recomputation", r->baseline_time_ns, 0);
    add_time(out, "added_ns", "added time", r->time_ns - r->baseline_time_ns, 0);
    add_time(out, "bound_time_ns", "lower bound", r->bound_time_ns, r->baseline_time_ns);
    add_count(out, "n_recomputed", "steps run again", r->n_recomputed, "of %u", r->n_steps);
    add_search(out, &r->search);
}

ebb_word ebb_word_dropped(const ebb_report_alive *row) {
    ebb_word word;
    if (row->drop != EBB_DROP_CAN)
        (void)snprintf(word.text, sizeof word.text, "%s", ebb_drop_name(row->drop));
    else
        (void)snprintf(word.text, sizeof word.text, "%.20s, +%.20s",
                       ebb_word_bytes(row->drop_peak_bytes).text, ebb_word_time(row->drop_ns).text);
    return word;
}

ebb_word ebb_word_rate(int64_t bytes_per_ms) {
    ebb_word word = {"no time"};
    if (bytes_per_ms >= 0)
        (void)snprintf(word.text, sizeof word.text, "%.20s/ms", ebb_word_bytes(bytes_per_ms).text);
    return word;
}

uint32_t ebb_report_compared(const ebb_report *r, ebb_compared_row rows[EBB_COMPARED_ROWS]) {
    const ebb_report_measured *m = &r->measured;
    uint32_t n = 0;
    if (!m->present) return 0;
    rows[n++] = (ebb_compared_row){"block", false, m->planned_bytes, m->allocated_bytes};
    if (m->resident_bytes >= 0)
        rows[n++] = (ebb_compared_row){"block in memory", false, m->planned_bytes, m->resident_bytes};
    if (m->process_peak_bytes >= 0) /* -1: the system did not tell */
        rows[n++] = (ebb_compared_row){"process peak", false, r->total_bytes, m->process_peak_bytes};
    rows[n++] = (ebb_compared_row){"step, mean", true, r->time_ns, m->mean_step_ns};
    rows[n++] = (ebb_compared_row){"step, best", true, r->time_ns, m->best_step_ns};
    if (m->op_ns) rows[n++] = (ebb_compared_row){"ops, sum", true, r->time_ns, m->ops_ns};
    return n;
}
