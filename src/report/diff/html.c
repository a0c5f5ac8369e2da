/* html_diff: a diff as a page of tables. */
#include "report/diff/diff.h"
#include "report/html/html.h"
#include "report/words/words.h"

#include <stdio.h>

static void put_difference(ebb_text *out, ebb_unit unit, int64_t a, int64_t b) {
    ebb_html_n(out, b - a, ebb_word_difference(unit, a, b).text);
}

static void print_figures(ebb_text *out, const ebb_diff *d) {
    static const char *const columns[] = {"figure", "A", "B", "B - A", NULL};
    ebb_html_table(out, "figures", "Figures",
                   "Bytes, nanoseconds and counts are exact; categories are those at each plan's own peak.",
                   columns, 0xE);
    for (size_t i = 0; i < EBB_DIFF_FIGURES; i++) {
        const ebb_diff_figure *f = &d->figures[i];
        char a[24], b[24];
        if (f->a == 0 && f->b == 0) continue;
        (void)snprintf(a, sizeof a, "%lld", (long long)f->a);
        (void)snprintf(b, sizeof b, "%lld", (long long)f->b);
        ebb_text_add(out, "<tr><th scope=\"row\">%s%s</th>", f->name,
                     i < EBB_DIFF_PLAN_FIGURES ? "" : ", at the peak");
        ebb_html_n(out, f->a, a);
        ebb_html_n(out, f->b, b);
        put_difference(out, f->unit, f->a, f->b);
        ebb_text_add(out, "</tr>\n");
    }
    ebb_html_table_end(out);
}

static void print_layers(ebb_text *out, const ebb_diff *d) {
    static const char *const columns[] = {"layer", "bytes at the peak", "time", NULL};
    uint32_t n = d->n_layers < EBB_HTML_MAX_ROWS ? d->n_layers : EBB_HTML_MAX_ROWS;
    char caption[160];
    (void)snprintf(caption, sizeof caption, "%u of %u that differ, of %u.%s", n, d->n_layers,
                   d->n_layers_all, n < d->n_layers ? " The others are in ebb diff --json." : "");
    ebb_html_table(out, "layers", "Layers", caption, columns, 0x6);
    for (uint32_t i = 0; i < n; i++) {
        ebb_text_add(out, "<tr>");
        ebb_html_name(out, d->layers[i].name);
        put_difference(out, EBB_UNIT_BYTES, d->layers[i].a_peak_bytes, d->layers[i].b_peak_bytes);
        put_difference(out, EBB_UNIT_TIME, d->layers[i].a_ns, d->layers[i].b_ns);
        ebb_text_add(out, "</tr>\n");
    }
    ebb_html_table_end(out);
}

static void print_tensors(ebb_text *out, const ebb_diff *d) {
    static const char *const columns[] = {"tensor", "bytes at the peak", "change", NULL};
    uint32_t n = d->n_tensors < EBB_HTML_MAX_ROWS ? d->n_tensors : EBB_HTML_MAX_ROWS;
    char caption[256];
    int at = snprintf(caption, sizeof caption, "%u of %u that differ.", n, d->n_tensors);
    for (int c = 0; c < EBB_N_CHANGES; c++)
        at += snprintf(caption + at, sizeof caption - (size_t)at, "%s %u %s", c == 0 ? "" : ",",
                       d->n_changes[c], ebb_change_name((ebb_change)c));
    ebb_html_table(out, "tensors", "Tensors", caption, columns, 0x2);
    for (uint32_t i = 0; i < n; i++) {
        const ebb_diff_tensor *row = &d->tensors[i];
        ebb_text_add(out, "<tr>");
        ebb_html_name(out, row->name);
        put_difference(out, EBB_UNIT_BYTES, row->a.peak_bytes, row->b.peak_bytes);
        ebb_text_add(out, "<td>");
        ebb_html_put(out, ebb_word_change_of(row).text);
        ebb_text_add(out, "</td></tr>\n");
    }
    ebb_html_table_end(out);
}

void ebb_diff_html(ebb_text *out, const ebb_diff *d) {
    const struct {
        const char *letter, *where, *graph;
    } sides[] = {{"A", d->a_where, d->a_graph}, {"B", d->b_where, d->b_graph}};
    ebb_html_begin(out, "Memory of two plans:", d->b_where);
    ebb_text_add(out, "<header>\n<h1>Memory of two plans</h1>\n");
    for (size_t i = 0; i < EBB_COUNT(sides); i++) {
        ebb_text_add(out, "<p>%s: <bdi>", sides[i].letter);
        ebb_html_put(out, sides[i].where);
        ebb_text_add(out, "</bdi>, <bdi>");
        ebb_html_put(out, sides[i].graph);
        ebb_text_add(out, "</bdi></p>\n");
    }
    if (!d->same_graph) ebb_text_add(out, "<p>%s</p>\n", ebb_diff_graphs(d).text);
    if (d->rule) {
        ebb_text_add(out, "<p class=\"verdict\">");
        ebb_html_put(out, d->fault ? d->fault : "within the rule");
        ebb_text_add(out, "</p>\n");
    }
    ebb_text_add(out, "</header>\n");
    print_figures(out, d);
    print_layers(out, d);
    print_tensors(out, d);
    ebb_html_end(out);
}
