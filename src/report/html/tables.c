/* html_tables: alive at the peak, run again. Sortable by the script; in their best order without
 * it. */
#include "report/html/html.h"
#include "report/words/words.h"

#include <stdio.h>

void ebb_html_rows(ebb_text *out, const char *caption, const char *const *columns, uint32_t numbers) {
    ebb_text_add(out, "<table class=\"sortable\">\n<caption>%s</caption>\n<thead><tr>", caption);
    for (uint32_t i = 0; columns[i]; i++)
        ebb_text_add(out, "<th scope=\"col\"%s>%s</th>", (numbers >> i & 1) != 0 ? " class=\"n\"" : "",
                     columns[i]);
    ebb_text_add(out, "</tr></thead>\n<tbody>\n");
}

/* Long tables scroll within the page; without a pointer, too. */
void ebb_html_table(ebb_text *out, const char *id, const char *title, const char *caption,
                    const char *const *columns, uint32_t numbers) {
    ebb_text_add(
        out,
        "<section id=\"%s\">\n<h2>%s</h2>\n<div class=\"wide tall\" tabindex=\"0\" role=\"region\" "
        "aria-label=\"%s\">\n",
        id, title, title);
    ebb_html_rows(out, caption, columns, numbers);
}

const char *ebb_html_others(uint32_t n, uint32_t of) {
    return n < of ? " The others are in ebb report --json." : "";
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
    ebb_text_add(out, "<td data-n=\"%lld\">%s</td>", (long long)n, words);
}

void ebb_html_count(ebb_text *out, int64_t n) {
    ebb_text_add(out, "<td data-n=\"%lld\">%lld</td>", (long long)n, (long long)n);
}

static void print_alive(ebb_text *out, const ebb_report *r) {
    static const char *const columns[] = {"tensor",           "bytes", "category", "from step", "to step",
                                          "if dropped, peak", "for",   "why not",  NULL};
    uint32_t n = r->n_alive < EBB_HTML_MAX_ROWS ? r->n_alive : EBB_HTML_MAX_ROWS;
    char caption[160];
    (void)snprintf(caption, sizeof caption, "%u of %u, largest first.%s", n, r->n_alive,
                   ebb_html_others(n, r->n_alive));
    ebb_html_table(out, "alive", "Alive at the peak", caption, columns, 0x7A);
    for (uint32_t i = 0; i < n; i++) {
        const ebb_report_alive *row = &r->alive[i];
        const ebb_report_life *life = &r->lives[row->buffer];
        bool can = row->drop == EBB_DROP_CAN;
        ebb_text_add(out, "<tr data-tensor=\"%u\">", row->buffer);
        ebb_html_name(out, life->name);
        ebb_html_n(out, row->held_bytes, ebb_word_bytes(row->held_bytes).text);
        ebb_text_add(out, "<td>%s</td><td data-n=\"%u\">%u</td><td data-n=\"%u\">%u</td>",
                     ebb_category_name(life->category), life->lower, life->lower, life->until - 1,
                     life->until - 1);
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
        ebb_text_add(out, "<td data-n=\"%u\">%u</td>", row->n_runs, row->n_runs);
        ebb_html_n(out, row->added_ns, ebb_word_time(row->added_ns).text);
        ebb_html_n(out, row->bytes_per_ms, ebb_word_rate(row->bytes_per_ms).text);
        ebb_text_add(out, "<td data-n=\"%u\">%u</td><td data-n=\"%u\">%u</td></tr>\n", row->gap_lower,
                     row->gap_lower, row->gap_upper, row->gap_upper);
    }
    ebb_html_table_end(out);
}

void ebb_html_tables(ebb_text *out, const ebb_report *r) {
    print_alive(out, r);
    print_again(out, r);
}
