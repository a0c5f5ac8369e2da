/* html_glance: the head of the page: the verdict, links to the parts, the figures that matter as tiles, and
 * all of them, exact, in a table. */
#include "report/html/html.h"
#include "report/words/words.h"

#include <stdio.h>

enum { BAR = 1000 };

static const ebb_card_row *find(const ebb_card *card, const char *key) {
    for (uint32_t i = 0; i < card->n_rows; i++)
        if (strcmp(card->rows[i].key, key) == 0) return &card->rows[i];
    return NULL;
}

static void print_head(ebb_text *out, const ebb_report *r, const ebb_card *card) {
    ebb_text_add(out, "<header>\n<h1>Memory of <bdi>");
    ebb_html_put(out, r->graph_name);
    ebb_text_add(out, "</bdi></h1>\n<p class=\"verdict %s\">%s</p>\n<p class=\"faint\">backend <bdi>",
                 r->budget_bytes < 0                 ? ""
                 : r->total_bytes <= r->budget_bytes ? "fits"
                                                     : "over",
                 card->verdict.text);
    ebb_html_put(out, r->backend);
    ebb_text_add(out, "</bdi>, %u %s, %u steps</p>\n</header>\n", r->n_threads,
                 r->n_threads == 1 ? "thread" : "threads", r->n_steps);
}

static void print_links(ebb_text *out, const ebb_report *r) {
    const struct {
        const char *id, *name;
        bool present;
    } parts[] = {{"verdict", "Figures", true},
                 {"curve", "Live bytes", true},
                 {"map", "Addresses", true},
                 {"categories", "At the peak", true},
                 {"alive", "Alive", true},
                 {"again", "Run again", true},
                 {"search", "Search", r->search.present},
                 {"batches", "Batch", r->n_devices > 0},
                 {"measured", "Measured", r->measured.present},
                 {"notes", "Notes", true}};
    ebb_text_add(out, "<nav aria-label=\"parts\">\n");
    for (size_t i = 0; i < EBB_COUNT(parts); i++)
        if (parts[i].present) ebb_text_add(out, "<a href=\"#%s\">%s</a>\n", parts[i].id, parts[i].name);
    ebb_text_add(out, "</nav>\n");
}

static void begin_tile(ebb_text *out, const char *title, const ebb_card_row *row, const char *words) {
    ebb_text_add(out, "<div class=\"tile\"><h3>%s</h3>\n<p class=\"figure\" data-key=\"%s\"", title,
                 row->key);
    if (row->present) ebb_text_add(out, " data-n=\"%lld\"", (long long)row->figure);
    ebb_text_add(out, ">");
    ebb_html_put(out, words);
    ebb_text_add(out, "</p>\n");
}

static int share(int64_t bytes, int64_t of) {
    double x = of > 0 ? (double)bytes / (double)of : 0;
    return (int)(x * BAR + 0.5);
}

/* The total as a part of the baseline (or of itself), and the budget as a tick. */
static void print_bar(ebb_text *out, const ebb_report *r) {
    int64_t whole = ebb_max_i64(r->total_bytes, r->baseline_total_bytes);
    whole = ebb_max_i64(whole, r->budget_bytes <= 2 * (whole / 2) ? r->budget_bytes : 0);
    ebb_text_add(out,
                 "<svg viewBox=\"0 0 %d 60\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect "
                 "class=\"track\" "
                 "width=\"%d\" height=\"60\"/><rect class=\"bar\" width=\"%d\" height=\"60\"/>",
                 BAR, BAR, share(r->total_bytes, whole));
    if (r->budget_bytes >= 0 && r->budget_bytes <= whole) {
        int x = share(r->budget_bytes, whole) - 6;
        ebb_text_add(out, "<rect class=\"tick\" x=\"%d\" width=\"6\" height=\"60\"/>", x > 0 ? x : 0);
    }
    ebb_text_add(out, "</svg>\n");
}

static void print_bytes_tiles(ebb_text *out, const ebb_report *r, const ebb_card *card) {
    begin_tile(out, "total", find(card, "total_bytes"), find(card, "total_bytes")->words.text);
    print_bar(out, r);
    ebb_text_add(out, "<p>arena %s, persistent %s</p></div>\n", find(card, "arena_bytes")->words.text,
                 find(card, "persistent_bytes")->words.text);
    begin_tile(out, "headroom", find(card, "headroom_bytes"), find(card, "headroom_bytes")->words.text);
    ebb_text_add(out, "<p>budget: %s</p></div>\n", find(card, "budget_bytes")->words.text);
    begin_tile(out, "without recomputation", find(card, "baseline_total_bytes"),
               find(card, "baseline_total_bytes")->words.text);
    ebb_text_add(out, "<p>this plan: %s</p></div>\n",
                 ebb_word_change(r->total_bytes, r->baseline_total_bytes).text);
    begin_tile(out, "most live in a step", find(card, "peak_bytes"), find(card, "peak_bytes")->words.text);
    ebb_text_add(out, "<p>in step %u; lost by packing: %s</p></div>\n", r->peak_step,
                 find(card, "holes_bytes")->words.text);
}

static void print_search_tiles(ebb_text *out, const ebb_report *r, const ebb_card *card) {
    const ebb_report_search *s = &r->search;
    if (!s->present) {
        begin_tile(out, "batch, seed, search", find(card, "batch"), "not given");
        ebb_text_add(
            out, "<p>no plan holds them: ebb plan --log FILE writes them, ebb report --search FILE shows "
                 "them</p></div>\n");
        return;
    }
    begin_tile(out, "batch", find(card, "batch"), ebb_card_words(find(card, "batch")));
    ebb_text_add(out, "<p>seed %llu</p></div>\n", (unsigned long long)s->seed);
    begin_tile(out, "search", find(card, "n_scored"), s->mode);
    ebb_text_add(
        out,
        "<p>%s; %lld candidates<br>thresh_nr_try %lld, genetic_nr_iter %lld, genetic_pool_size %lld, "
        "lb_memory %s</p></div>\n",
        s->about, (long long)s->n_scored, (long long)s->thresh_nr_try, (long long)s->genetic_nr_iter,
        (long long)s->genetic_pool_size, ebb_word_bytes(s->lb_memory_bytes).text);
}

static void print_tiles(ebb_text *out, const ebb_report *r, const ebb_card *card) {
    ebb_text_add(out, "<div class=\"tiles\">\n");
    print_bytes_tiles(out, r, card);
    begin_tile(out, "added time", find(card, "added_ns"), find(card, "added_ns")->words.text);
    ebb_text_add(out, "<p>%s; no plan is below %s</p></div>\n", find(card, "time_ns")->words.text,
                 ebb_word_change(r->bound_time_ns, r->baseline_time_ns).text);
    begin_tile(out, "steps run again", find(card, "n_recomputed"), "");
    out->n -= sizeof "</p>\n" - 1; /* the figure itself is the words */
    ebb_text_add(out, "%u</p>\n<p>of %u</p></div>\n", r->n_recomputed, r->n_steps);
    print_search_tiles(out, r, card);
    ebb_text_add(out, "</div>\n");
}

static void print_figures(ebb_text *out, const ebb_report *r, const ebb_card *card) {
    ebb_text_add(out,
                 "<section id=\"verdict\">\n<h2>All figures</h2>\n<details><summary>exact, and in "
                 "words</summary>\n<table>\n<caption>Bytes and nanoseconds are exact; the bound's proof: ");
    ebb_html_put(out, r->bound_kind);
    ebb_text_add(
        out, "</caption>\n<thead><tr><th scope=\"col\">figure</th><th scope=\"col\" class=\"n\">exact</th>"
             "<th scope=\"col\" class=\"n\">in words</th></tr></thead>\n<tbody>\n");
    for (uint32_t i = 0; i < card->n_rows; i++) {
        const ebb_card_row *row = &card->rows[i];
        ebb_text_add(out, "<tr data-key=\"%s\"><th scope=\"row\">%s</th>", row->key, row->name);
        if (row->present)
            ebb_text_add(out, "<td data-n=\"%lld\">%lld</td>", (long long)row->figure,
                         (long long)row->figure);
        else
            ebb_text_add(out, "<td class=\"n\">-</td>");
        ebb_text_add(out, "<td class=\"n\">");
        ebb_html_put(out, ebb_card_words(row));
        ebb_text_add(out, "</td></tr>\n");
    }
    ebb_text_add(out, "</tbody>\n</table>\n</details>\n</section>\n");
}

void ebb_html_glance(ebb_text *out, const ebb_report *r) {
    ebb_card card;
    ebb_card_make(r, &card);
    print_head(out, r, &card);
    print_links(out, r);
    print_tiles(out, r, &card);
    print_figures(out, r, &card);
}
