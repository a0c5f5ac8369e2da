/* html_measured: predicted against measured, in total and for each op. */
#include "report/html/html.h"
#include "report/words/words.h"

#include <stdio.h>

/* What is near to its prediction is not what one looks for; all of it is in the JSON. */
enum { MAX_ROWS = 500 };

static void print_total(ebb_text *out, const ebb_report *r) {
    static const char *const columns[] = {"figure", "predicted", "measured", "change", NULL};
    ebb_compared_row rows[EBB_COMPARED_ROWS];
    uint32_t n = ebb_report_compared(r, rows);
    char caption[96];
    (void)snprintf(caption, sizeof caption, "Over %lld steps.", (long long)r->measured.n_steps);
    ebb_text_add(out, "<div class=\"wide\">\n");
    ebb_html_rows(out, caption, columns, 0xE);
    for (uint32_t i = 0; i < n; i++) {
        ebb_word (*word)(int64_t) = rows[i].is_time ? ebb_word_time : ebb_word_bytes;
        ebb_text_add(out, "<tr><th scope=\"row\">%s</th>", rows[i].name);
        ebb_html_n(out, rows[i].predicted, word(rows[i].predicted).text);
        ebb_html_n(out, rows[i].measured, word(rows[i].measured).text);
        ebb_text_add(out, "<td class=\"n\">%s</td></tr>\n",
                     ebb_word_change(rows[i].measured, rows[i].predicted).text);
    }
    ebb_text_add(out, "</tbody>\n</table>\n</div>\n");
}

static void print_ops(ebb_text *out, const ebb_report *r) {
    static const char *const columns[] = {"op",        "kind",     "runs",   "bytes a run",
                                          "predicted", "measured", "change", NULL};
    const ebb_report_measured *m = &r->measured;
    uint32_t n = m->n_timed < MAX_ROWS ? m->n_timed : MAX_ROWS;
    char caption[160];
    if (!m->op_ns) {
        ebb_text_add(
            out, "<p class=\"faint\">The run was not profiled: there are no times of single ops.</p>\n");
        return;
    }
    (void)snprintf(caption, sizeof caption, "%u of %u ops, furthest from its prediction first.%s", n,
                   m->n_timed, ebb_html_others(n, m->n_timed));
    ebb_text_add(out, "<h3>For each op</h3>\n<div class=\"wide tall\" tabindex=\"0\" role=\"region\" "
                      "aria-label=\"Measured ops\">\n");
    ebb_html_rows(out, caption, columns, 0x7C);
    for (uint32_t i = 0; i < n; i++) {
        const ebb_report_timed *row = &m->timed[i];
        ebb_text_add(out, "<tr>");
        ebb_html_name(out, row->name);
        ebb_text_add(out, "<td><bdi>");
        ebb_html_put(out, row->kind);
        ebb_text_add(out, "</bdi></td>");
        ebb_html_count(out, row->n_runs);
        ebb_html_n(out, row->bytes, row->bytes < 0 ? "-" : ebb_word_bytes(row->bytes).text);
        ebb_html_n(out, row->predicted_ns, ebb_word_time(row->predicted_ns).text);
        ebb_html_n(out, row->measured_ns, ebb_word_time(row->measured_ns).text);
        ebb_html_n(out, row->measured_ns - row->predicted_ns,
                   ebb_word_change(row->measured_ns, row->predicted_ns).text);
        ebb_text_add(out, "</tr>\n");
    }
    ebb_text_add(out, "</tbody>\n</table>\n</div>\n");
}

static void print_kinds(ebb_text *out, const ebb_report *r) {
    static const char *const columns[] = {"op", "steps", "again", "predicted", "measured", "change", NULL};
    const ebb_report_measured *m = &r->measured;
    const uint32_t n = m->n_kinds < EBB_REPORT_KINDS ? m->n_kinds : EBB_REPORT_KINDS;
    char caption[96];
    if (n == 0) return;
    (void)snprintf(caption, sizeof caption, "%u of %u kinds, longest measured first.", n, m->n_kinds);
    ebb_text_add(out, "<h3>For each kind of op</h3>\n<div class=\"wide\">\n");
    ebb_html_rows(out, caption, columns, 0x3E);
    for (uint32_t i = 0; i < n; i++) {
        const ebb_report_kind *k = &m->kinds[i];
        ebb_text_add(out, "<tr>");
        ebb_html_name(out, k->kind);
        ebb_html_count(out, k->n_steps);
        ebb_html_count(out, k->n_again);
        ebb_html_n(out, k->predicted_ns, ebb_word_time(k->predicted_ns).text);
        ebb_html_n(out, k->measured_ns, ebb_word_time(k->measured_ns).text);
        ebb_html_n(out, k->measured_ns - k->predicted_ns,
                   ebb_word_change(k->measured_ns, k->predicted_ns).text);
        ebb_text_add(out, "</tr>\n");
    }
    ebb_text_add(out, "</tbody>\n</table>\n</div>\n");
}

void ebb_html_measured(ebb_text *out, const ebb_report *r) {
    if (!r->measured.present) return;
    ebb_text_add(out, "<section id=\"measured\">\n<h2>Predicted against measured</h2>\n");
    print_total(out, r);
    print_kinds(out, r);
    print_ops(out, r);
    ebb_text_add(out, "</section>\n");
}
