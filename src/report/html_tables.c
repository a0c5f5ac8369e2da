/* html_tables: alive at the peak, run again, measured. Sortable by the script; in their best order without
 * it. */
#include "report/html.h"

#include <stdio.h>

void ebb_html_table(ebb_text *out, const char *id, const char *title, const char *caption,
                    const char *const *columns, uint32_t numbers) {
    ebb_text_add(out,
                 "<section id=\"%s\">\n<h2>%s</h2>\n<div class=\"wide\">\n<table "
                 "class=\"sortable\">\n<caption>%s</caption>\n"
                 "<thead><tr>",
                 id, title, caption);
    for (uint32_t i = 0; columns[i] != NULL; i++)
        ebb_text_add(out, "<th scope=\"col\"%s>%s</th>", (numbers >> i & 1) != 0 ? " class=\"n\"" : "",
                     columns[i]);
    ebb_text_add(out, "</tr></thead>\n<tbody>\n");
}

void ebb_html_table_end(ebb_text *out) {
    ebb_text_add(out, "</tbody>\n</table>\n</div>\n</section>\n");
}

void ebb_html_name(ebb_text *out, const char *name) {
    ebb_text_add(out, "<td class=\"name\"><bdi>");
    ebb_html_put(out, name);
    ebb_text_add(out, "</bdi></td>");
}

void ebb_html_n(ebb_text *out, int64_t n, const char *words) {
    ebb_text_add(out, "<td class=\"n\" data-n=\"%lld\">%s</td>", (long long)n, words);
}

static void print_alive(ebb_text *out, const ebb_report *r) {
    static const char *const columns[] = {"tensor",           "bytes", "category", "from step", "to step",
                                          "if dropped, peak", "for",   "why not",  NULL};
    uint32_t n = r->n_alive < EBB_HTML_MAX_ROWS ? r->n_alive : EBB_HTML_MAX_ROWS;
    char caption[160];
    (void)snprintf(caption, sizeof caption, "%u of %u, largest first; the others are in ebb report --json.",
                   n, r->n_alive);
    ebb_html_table(out, "alive", "Alive at the peak", caption, columns, 0x7A);
    for (uint32_t i = 0; i < n; i++) {
        const ebb_report_alive *row = &r->alive[i];
        const ebb_report_life *life = &r->lives[row->buffer];
        bool can = row->drop == EBB_DROP_CAN;
        ebb_text_add(out, "<tr data-tensor=\"%u\">", row->buffer);
        ebb_html_name(out, life->name);
        ebb_html_n(out, row->held_bytes, ebb_word_bytes(row->held_bytes).text);
        ebb_text_add(
            out, "<td>%s</td><td class=\"n\" data-n=\"%u\">%u</td><td class=\"n\" data-n=\"%u\">%u</td>",
            ebb_category_name(life->category), life->lower, life->lower, life->until - 1, life->until - 1);
        ebb_html_n(out, can ? row->drop_peak_bytes : r->peak_bytes,
                   can ? ebb_word_bytes(row->drop_peak_bytes).text : "");
        ebb_html_n(out, can ? row->drop_ns : -1, can ? ebb_word_time(row->drop_ns).text : "");
        ebb_text_add(out, "<td>%s</td></tr>\n", can ? "" : ebb_drop_name(row->drop));
    }
    ebb_html_table_end(out);
}

static void print_again(ebb_text *out, const ebb_report *r) {
    static const char *const columns[] = {"op",    "kind",         "saved",     "at the peak", "runs",
                                          "added", "bytes per ms", "from step", "to step",     NULL};
    uint32_t n = r->n_again < EBB_HTML_MAX_ROWS ? r->n_again : EBB_HTML_MAX_ROWS;
    char caption[160];
    (void)snprintf(caption, sizeof caption,
                   "%u of %u ops, most bytes per time first. Steps: the longest time without it.", n,
                   r->n_again);
    ebb_html_table(out, "again", "Run again", r->n_again > 0 ? caption : "Nothing runs again.", columns,
                   0x1FC);
    for (uint32_t i = 0; i < n; i++) {
        const ebb_report_again *row = &r->again[i];
        ebb_text_add(out, "<tr data-op=\"%u\">", row->op);
        ebb_html_name(out, row->name);
        ebb_text_add(out, "<td><bdi>");
        ebb_html_put(out, row->kind);
        ebb_text_add(out, "</bdi></td>");
        ebb_html_n(out, row->saved_bytes, ebb_word_bytes(row->saved_bytes).text);
        ebb_html_n(out, row->saved_peak, ebb_word_bytes(row->saved_peak).text);
        ebb_text_add(out, "<td class=\"n\" data-n=\"%u\">%u</td>", row->n_runs, row->n_runs);
        ebb_html_n(out, row->added_ns, ebb_word_time(row->added_ns).text);
        ebb_html_n(out, row->bytes_per_ms, ebb_word_rate(row->bytes_per_ms).text);
        ebb_text_add(out,
                     "<td class=\"n\" data-n=\"%u\">%u</td><td class=\"n\" data-n=\"%u\">%u</td></tr>\n",
                     row->gap_lower, row->gap_lower, row->gap_upper, row->gap_upper);
    }
    ebb_html_table_end(out);
}

static void print_measured(ebb_text *out, const ebb_report *r) {
    static const char *const columns[] = {"figure", "predicted", "measured", "change", NULL};
    ebb_compared_row rows[EBB_COMPARED_ROWS];
    uint32_t n = ebb_report_compared(r, rows);
    char caption[96];
    if (n == 0) return;
    (void)snprintf(caption, sizeof caption, "Over %lld steps.", (long long)r->measured.n_steps);
    ebb_html_table(out, "measured", "Predicted against measured", caption, columns, 0xE);
    for (uint32_t i = 0; i < n; i++) {
        ebb_word (*word)(int64_t) = rows[i].is_time ? ebb_word_time : ebb_word_bytes;
        ebb_text_add(out, "<tr><th scope=\"row\">%s</th>", rows[i].name);
        ebb_html_n(out, rows[i].predicted, word(rows[i].predicted).text);
        ebb_html_n(out, rows[i].measured, word(rows[i].measured).text);
        ebb_text_add(out, "<td class=\"n\">%s</td></tr>\n",
                     ebb_word_change(rows[i].measured, rows[i].predicted).text);
    }
    ebb_html_table_end(out);
}

static void print_kinds(ebb_text *out, const ebb_report *r) {
    static const char *const columns[] = {"op", "steps", "again", "predicted", "measured", "change", NULL};
    const ebb_report_measured *m = &r->measured;
    const uint32_t n = m->n_kinds < EBB_REPORT_KINDS ? m->n_kinds : EBB_REPORT_KINDS;
    char caption[96];
    if (n == 0) return;
    (void)snprintf(caption, sizeof caption, "%u of %u kinds, longest measured first.", n, m->n_kinds);
    ebb_html_table(out, "kinds", "Measured by kind of op", caption, columns, 0x3E);
    for (uint32_t i = 0; i < n; i++) {
        const ebb_report_kind *k = &m->kinds[i];
        ebb_text_add(out, "<tr>");
        ebb_html_name(out, k->kind);
        ebb_text_add(out, "<td class=\"n\" data-n=\"%u\">%u</td><td class=\"n\" data-n=\"%u\">%u</td>",
                     k->n_steps, k->n_steps, k->n_again, k->n_again);
        ebb_html_n(out, k->predicted_ns, ebb_word_time(k->predicted_ns).text);
        ebb_html_n(out, k->measured_ns, ebb_word_time(k->measured_ns).text);
        ebb_text_add(out, "<td class=\"n\">%s</td></tr>\n",
                     ebb_word_change(k->measured_ns, k->predicted_ns).text);
    }
    ebb_html_table_end(out);
}

void ebb_html_tables(ebb_text *out, const ebb_report *r) {
    print_alive(out, r);
    print_again(out, r);
    print_measured(out, r);
    print_kinds(out, r);
}
