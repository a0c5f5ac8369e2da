/* text_sources: the search, the batches and the measurements for a terminal. */
#include "report/views/views.h"
#include "report/words/words.h"

#include <stdio.h>

enum { MAX_ROWS = 20 };

/* The last rounds count: there the best is. */
static void print_search(ebb_text *out, const ebb_report *r) {
    const ebb_report_search *s = &r->search;
    uint32_t first = s->n_rounds > MAX_ROWS ? s->n_rounds - MAX_ROWS : 0;
    if (!s->present) return;
    ebb_text_add(out, "\nSearch: %s; %u searches, %lld candidates, %u on the front\n", s->about,
                 s->n_searches, (long long)s->n_scored, s->n_front);
    if (s->n_rounds == 0) return;
    ebb_text_add(out, "\n%6s  %10s  %12s  %12s  %12s  %10s  %s\n", "search", "generation", "candidates",
                 "live", "time", "added", "fits");
    for (uint32_t i = first; i < s->n_rounds; i++) {
        const ebb_report_round *round = &s->rounds[i];
        ebb_text_add(out, "%6u  %10u  %12lld  %12s  %12s  %10s  %s\n", round->search + 1, round->round,
                     (long long)round->n_scored, ebb_word_bytes(round->peak_bytes).text,
                     ebb_word_time(round->time_ns).text,
                     ebb_word_change(round->time_ns, r->baseline_time_ns).text, round->fits ? "yes" : "no");
    }
}

/* The answers; what was tried on the way is in the JSON and on the page. */
static void print_batches(ebb_text *out, const ebb_report *r) {
    if (r->n_devices == 0) return;
    ebb_text_add(out, "\nLargest batch found\n\n%-10s  %12s  %10s  %12s  %12s  %10s\n", "mode", "device",
                 "batch", "total", "time", "added");
    for (uint32_t i = 0; i < r->n_batches; i++) {
        const ebb_report_batch *row = &r->batches[i];
        if (!row->answer) continue;
        ebb_text_add(out, "%-10s  %12s  %10lld  %12s  %12s  %10s\n", ebb_batch_mode_name(row->mode),
                     ebb_word_bytes(row->budget_bytes).text, (long long)row->batch,
                     ebb_word_bytes(row->total_bytes).text, ebb_word_time(row->time_ns).text,
                     ebb_word_change(row->time_ns, row->baseline_time_ns).text);
    }
}

static void print_timed(ebb_text *out, const ebb_report *r) {
    const ebb_report_measured *m = &r->measured;
    uint32_t n = m->n_timed < MAX_ROWS ? m->n_timed : MAX_ROWS;
    if (!m->op_ns) return;
    ebb_text_add(
        out,
        "\nMeasured ops: %u of %u, furthest from prediction first\n\n%4s  %12s  %12s  %12s  %10s  %s\n", n,
        m->n_timed, "runs", "bytes", "predicted", "measured", "change", "op");
    for (uint32_t i = 0; i < n; i++) {
        const ebb_report_timed *row = &m->timed[i];
        ebb_text_add(out, "%4u  %12s  %12s  %12s  %10s  %s\n", row->n_runs,
                     row->bytes < 0 ? "-" : ebb_word_bytes(row->bytes).text,
                     ebb_word_time(row->predicted_ns).text, ebb_word_time(row->measured_ns).text,
                     ebb_word_change(row->measured_ns, row->predicted_ns).text, row->name);
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

void ebb_report_text_sources(ebb_text *out, const ebb_report *r) {
    print_search(out, r);
    print_batches(out, r);
    print_measured(out, r);
    print_kinds(out, r);
    print_timed(out, r);
}
