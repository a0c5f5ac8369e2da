/* text: the report for a terminal. Names stand last in their lines: what a character is wide is a
 * terminal's own idea. */
#include "report/view.h"

#include <stdio.h>

#include "report/plot.h"

enum { MAX_ROWS = 20 };

static void print_card(ebb_text *out, const ebb_report *r) {
    ebb_card card;
    ebb_card_make(r, &card);
    ebb_text_add(out, "%s (%s, %u %s): %u steps\n%s\n\n", r->graph_name, r->backend, r->n_threads,
                 r->n_threads == 1 ? "thread" : "threads", r->n_steps, card.verdict.text);
    for (uint32_t i = 0; i < card.n_rows; i++) {
        const ebb_card_row *row = &card.rows[i];
        if (row->present)
            ebb_text_add(out, "%-27s  %20lld  %s\n", row->name, (long long)row->figure, row->words.text);
        else
            ebb_text_add(out, "%-27s  %20s  %s\n", row->name, "-", row->words.text);
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

static void print_measured(ebb_text *out, const ebb_report *r) {
    ebb_compared_row rows[EBB_COMPARED_ROWS];
    uint32_t n = ebb_report_compared(r, rows);
    if (n == 0) return;
    ebb_text_add(out, "\nMeasured over %lld steps\n\n%-15s  %14s  %14s\n", (long long)r->measured.n_steps,
                 "", "predicted", "measured");
    for (uint32_t i = 0; i < n; i++) {
        ebb_word (*word)(int64_t) = rows[i].is_time ? ebb_word_time : ebb_word_bytes;
        ebb_text_add(out, "%-15s  %14s  %14s  %s\n", rows[i].name, word(rows[i].predicted).text,
                     word(rows[i].measured).text,
                     ebb_word_change(rows[i].measured, rows[i].predicted).text);
    }
}

static void print_kinds(ebb_text *out, const ebb_report *r) {
    const ebb_report_measured *m = &r->measured;
    if (m->n_kinds == 0) return;
    ebb_text_add(out, "\nMeasured by kind of op, longest first\n\n%6s  %6s  %12s  %12s  %9s  %s\n", "steps",
                 "again", "predicted", "measured", "", "op");
    for (uint32_t i = 0; i < m->n_kinds && i < EBB_REPORT_KINDS; i++) {
        const ebb_report_kind *k = &m->kinds[i];
        ebb_text_add(out, "%6u  %6u  %12s  %12s  %9s  %s\n", k->n_steps, k->n_again,
                     ebb_word_time(k->predicted_ns).text, ebb_word_time(k->measured_ns).text,
                     ebb_word_change(k->measured_ns, k->predicted_ns).text, k->kind);
    }
}

void ebb_report_text(ebb_text *out, const ebb_report *r) {
    print_card(out, r);
    ebb_text_add(out, "\nLive bytes over the steps\n\n");
    ebb_plot_text(out, r);
    print_categories(out, r);
    print_alive(out, r);
    print_again(out, r);
    print_measured(out, r);
    print_kinds(out, r);
}
