/* diff_views: a diff for people and for programs. */
#include "report/diff/diff.h"
#include "report/views/views.h"
#include "report/words/words.h"

#include <stdio.h>

enum { MAX_ROWS = 30 };

const char *ebb_change_name(ebb_change change) {
    static const char *const names[EBB_N_CHANGES] = {"added", "removed", "resized",
                                                     "fate",  "moved",   "same"};
    return names[change];
}

ebb_word ebb_word_figure(ebb_unit unit, int64_t figure) {
    ebb_word word;
    if (unit == EBB_UNIT_BYTES) return ebb_word_bytes(figure);
    if (unit == EBB_UNIT_TIME) return ebb_word_time(figure);
    (void)snprintf(word.text, sizeof word.text, "%lld", (long long)figure);
    return word;
}

ebb_word ebb_word_difference(ebb_unit unit, int64_t a, int64_t b) {
    ebb_word word = {"same"};
    if (a == b) return word;
    (void)snprintf(word.text, sizeof word.text, "%s%.20s%s%.16s%s", b > a ? "+" : "",
                   ebb_word_figure(unit, b - a).text, a > 0 ? " (" : "",
                   a > 0 ? ebb_word_change(b, a).text : "", a > 0 ? ")" : "");
    return word;
}

ebb_word ebb_word_change_of(const ebb_diff_tensor *row) {
    ebb_word word;
    if (row->change == EBB_CHANGE_RESIZED)
        (void)snprintf(word.text, sizeof word.text, "%.20s -> %.20s", ebb_word_bytes(row->a.bytes).text,
                       ebb_word_bytes(row->b.bytes).text);
    else if (row->change == EBB_CHANGE_FATE)
        (void)snprintf(word.text, sizeof word.text, "%.8s x%u -> %.8s x%u", ebb_fate_name(row->a.fate),
                       row->a.n_lives, ebb_fate_name(row->b.fate), row->b.n_lives);
    else
        (void)snprintf(word.text, sizeof word.text, "%s", ebb_change_name(row->change));
    return word;
}

ebb_diff_note ebb_diff_graphs(const ebb_diff *d) {
    ebb_diff_note note = {""};
    if (!d->same_graph)
        (void)snprintf(
            note.text, sizeof note.text,
            "two graphs: layers and tensors are paired by name alone; %u of %u names are in both",
            d->n_shared, d->n_names);
    return note;
}

/* " 0 added, 2 removed, ..." */
static void put_counts(ebb_text *out, const ebb_diff *d) {
    for (int c = 0; c < EBB_N_CHANGES; c++)
        ebb_text_add(out, "%s %u %s", c == 0 ? "" : ",", d->n_changes[c], ebb_change_name((ebb_change)c));
}

static void put_same(ebb_text *out, const ebb_diff *d) {
    ebb_text_add(out, "\nNo layer and no tensor differs: %u layers, %u tensors.\n", d->n_layers_all,
                 d->n_changes[EBB_CHANGE_NONE]);
}

/* The columns of a layer or tensor, without its name. */
typedef struct cells {
    ebb_word first, second;
} cells;

static cells layer_cells(const ebb_diff_layer *row) {
    return (cells){ebb_word_difference(EBB_UNIT_BYTES, row->a_peak_bytes, row->b_peak_bytes),
                   ebb_word_difference(EBB_UNIT_TIME, row->a_ns, row->b_ns)};
}

static cells tensor_cells(const ebb_diff_tensor *row) {
    return (cells){ebb_word_difference(EBB_UNIT_BYTES, row->a.peak_bytes, row->b.peak_bytes),
                   ebb_word_change_of(row)};
}

/* ---- text */

static void print_row(ebb_text *out, cells c, const char *name) {
    ebb_text_add(out, "%-26s  %-30s  %s\n", c.first.text, c.second.text, name);
}

static void print_rows(ebb_text *out, const ebb_diff *d) {
    uint32_t n = d->n_layers < MAX_ROWS ? d->n_layers : MAX_ROWS;
    ebb_text_add(out, "\nLayers: %u of %u that differ, of %u\n\n%-26s  %-30s  layer\n", n, d->n_layers,
                 d->n_layers_all, "bytes at the peak", "time");
    for (uint32_t i = 0; i < n; i++) print_row(out, layer_cells(&d->layers[i]), d->layers[i].name);
    n = d->n_tensors < MAX_ROWS ? d->n_tensors : MAX_ROWS;
    ebb_text_add(out, "\nTensors:");
    put_counts(out, d);
    ebb_text_add(out, "; %u of %u\n\n%-26s  %-30s  tensor\n", n, d->n_tensors, "bytes at the peak",
                 "change");
    for (uint32_t i = 0; i < n; i++) print_row(out, tensor_cells(&d->tensors[i]), d->tensors[i].name);
}

void ebb_diff_text(ebb_text *out, const ebb_diff *d) {
    ebb_text_add(out, "A  %s: %s\nB  %s: %s\n", d->a_where, d->a_graph, d->b_where, d->b_graph);
    if (!d->same_graph) ebb_text_add(out, "%s\n", ebb_diff_graphs(d).text);
    if (d->rule) ebb_text_add(out, "%s\n", d->fault ? d->fault : "within the rule");
    ebb_text_add(out, "\n%-12s  %20s  %20s  %s\n", "", "A", "B", "B - A");
    for (size_t i = 0; i < EBB_DIFF_FIGURES; i++) {
        const ebb_diff_figure *f = &d->figures[i];
        if (i == EBB_DIFF_PLAN_FIGURES) ebb_text_add(out, "\nat the peak\n");
        if (f->a == 0 && f->b == 0) continue;
        ebb_text_add(out, "%-12s  %20lld  %20lld  %s\n", f->name, (long long)f->a, (long long)f->b,
                     ebb_word_difference(f->unit, f->a, f->b).text);
    }
    if (d->n_layers == 0 && d->n_tensors == 0)
        put_same(out, d);
    else
        print_rows(out, d);
}

/* ---- markdown */

static void mark_row(ebb_text *out, cells c, const char *name) {
    ebb_text_add(out, "| ");
    ebb_markdown_name(out, name);
    ebb_text_add(out, " | %s | %s |\n", c.first.text, c.second.text);
}

static void mark_rows(ebb_text *out, const ebb_diff *d) {
    uint32_t n = d->n_layers < MAX_ROWS ? d->n_layers : MAX_ROWS;
    ebb_text_add(out,
                 "\n### Layers: %u of %u that differ, of %u\n\n| layer | bytes at the peak | time "
                 "|\n|---|---:|---:|\n",
                 n, d->n_layers, d->n_layers_all);
    for (uint32_t i = 0; i < n; i++) mark_row(out, layer_cells(&d->layers[i]), d->layers[i].name);
    n = d->n_tensors < MAX_ROWS ? d->n_tensors : MAX_ROWS;
    ebb_text_add(out, "\n### Tensors:");
    put_counts(out, d);
    ebb_text_add(out, "; %u of %u\n\n| tensor | bytes at the peak | change |\n|---|---:|---|\n", n,
                 d->n_tensors);
    for (uint32_t i = 0; i < n; i++) mark_row(out, tensor_cells(&d->tensors[i]), d->tensors[i].name);
}

void ebb_diff_markdown(ebb_text *out, const ebb_diff *d) {
    ebb_text_add(out, "## Memory: ");
    ebb_markdown_name(out, d->a_where);
    ebb_text_add(out, " and ");
    ebb_markdown_name(out, d->b_where);
    if (!d->same_graph) ebb_text_add(out, "\n\n%s", ebb_diff_graphs(d).text);
    if (d->rule) ebb_text_add(out, "\n\n**%s**", d->fault ? d->fault : "within the rule");
    ebb_text_add(out, "\n\n| | A | B | B - A |\n|---|---:|---:|---:|\n");
    for (size_t i = 0; i < EBB_DIFF_FIGURES; i++) {
        const ebb_diff_figure *f = &d->figures[i];
        if (f->a == 0 && f->b == 0) continue;
        ebb_text_add(out, "| %s%s | %lld | %lld | %s |\n", f->name,
                     i < EBB_DIFF_PLAN_FIGURES ? "" : ", at the peak", (long long)f->a, (long long)f->b,
                     ebb_word_difference(f->unit, f->a, f->b).text);
    }
    if (d->n_layers == 0 && d->n_tensors == 0)
        put_same(out, d);
    else
        mark_rows(out, d);
}
