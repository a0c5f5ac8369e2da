/* text: the report for a terminal. Names come last in their lines: what a character is wide is a
 * terminal's own idea. */
#include "report/views/views.h"
#include "report/words/words.h"

#include <stdio.h>

enum { MAX_ROWS = 20 };

static void print_card(ebb_text *out, const ebb_report *r) {
    ebb_card card;
    ebb_card_make(r, &card);
    ebb_text_add(out, "%s (%s, %u %s): %u steps\n%s\n\n", r->graph_name, r->backend, r->n_threads,
                 r->n_threads == 1 ? "thread" : "threads", r->n_steps, card.verdict.text);
    for (uint32_t i = 0; i < card.n_rows; i++) {
        const ebb_card_row *row = &card.rows[i];
        if (row->present)
            ebb_text_add(out, "%-27s  %20lld  %s\n", row->name, (long long)row->figure,
                         ebb_card_words(row));
        else
            ebb_text_add(out, "%-27s  %20s  %s\n", row->name, "-", ebb_card_words(row));
    }
    ebb_text_add(out, "bytes and nanoseconds are exact; bound: %s\n", r->bound_kind);
}

static void print_categories(ebb_text *out, const ebb_report *r) {
    const ebb_report_step *peak = &r->steps[r->peak_step];
    ebb_text_add(out, "\nAt the peak, step %u, %s of phase %s\n\n", r->peak_step,
                 peak->recompute ? "run again," : "a step", ebb_phase_name(peak->phase));
    ebb_text_add(out, "%-12s  %20s  %12s  %12s\n", "category", "bytes", "", "at most");
    for (int c = 0; c < EBB_N_CATEGORIES; c++) {
        if (r->most_bytes[c] == 0) continue;
        ebb_text_add(out, "%-12s  %20lld  %12s  %12s  %s\n", ebb_category_name((ebb_category)c),
                     (long long)peak->bytes[c], ebb_word_bytes(peak->bytes[c]).text,
                     ebb_word_bytes(r->most_bytes[c]).text, ebb_category_about((ebb_category)c));
    }
    ebb_text_add(out, "%-12s  %20lld  %12s\n", "live", (long long)peak->live_bytes,
                 ebb_word_bytes(peak->live_bytes).text);
}

static void print_alive(ebb_text *out, const ebb_report *r) {
    uint32_t n = r->n_alive < MAX_ROWS ? r->n_alive : MAX_ROWS;
    ebb_text_add(out, "\nAlive at the peak: %u of %u, largest first\n\n", n, r->n_alive);
    ebb_text_add(out, "%12s  %-10s  %-14s  %-26s  %s\n", "bytes", "category", "steps",
                 "if dropped: peak, time", "tensor");
    for (uint32_t i = 0; i < n; i++) {
        const ebb_report_life *life = &r->lives[r->alive[i].buffer];
        char steps[32];
        (void)snprintf(steps, sizeof steps, "[%u, %u)", life->lower, life->until);
        ebb_text_add(out, "%12s  %-10s  %-14s  %-26s  %s\n", ebb_word_bytes(r->alive[i].held_bytes).text,
                     ebb_category_name(life->category), steps, ebb_word_dropped(&r->alive[i]).text,
                     life->name);
    }
}

static void print_again(ebb_text *out, const ebb_report *r) {
    uint32_t n = r->n_again < MAX_ROWS ? r->n_again : MAX_ROWS;
    if (r->n_again == 0) {
        ebb_text_add(out, "\nNothing runs again.\n");
        return;
    }
    ebb_text_add(out, "\nRun again: %u of %u ops, most bytes per time first\n\n", n, r->n_again);
    ebb_text_add(out, "%12s  %12s  %4s  %12s  %16s  %s\n", "saved", "at the peak", "runs", "added",
                 "bytes per time", "op");
    for (uint32_t i = 0; i < n; i++) {
        const ebb_report_again *row = &r->again[i];
        ebb_text_add(out, "%12s  %12s  %4u  %12s  %16s  %s\n", ebb_word_bytes(row->saved_bytes).text,
                     ebb_word_bytes(row->saved_peak).text, row->n_runs, ebb_word_time(row->added_ns).text,
                     ebb_word_rate(row->bytes_per_ms).text, row->name);
    }
}

void ebb_report_text(ebb_text *out, const ebb_report *r) {
    print_card(out, r);
    ebb_text_add(out, "\nLive bytes over the steps\n\n");
    ebb_plot_text(out, r);
    print_categories(out, r);
    print_alive(out, r);
    print_again(out, r);
    ebb_report_text_sources(out, r);
}
