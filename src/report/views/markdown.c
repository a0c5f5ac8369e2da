/* markdown: for a pull request. Names are code spans, in which nothing is markup; the two signs that
 * could end a span or a cell are shown as their likes. */
#include "report/views/views.h"
#include "report/words/words.h"

enum { MAX_ROWS = 20 };

void ebb_markdown_name(ebb_text *out, const char *name) {
    ebb_text_put(out, "`", 1);
    for (const char *p = name; *p != '\0'; p++) {
        if (*p == '`')
            ebb_text_put(out, "'", 1);
        else if (*p == '|')
            ebb_text_put(out, "¦", sizeof "¦" - 1);
        else
            ebb_text_put(out, p, 1);
    }
    if (*name == '\0') ebb_text_put(out, " ", 1); /* two backticks would open a longer span */
    ebb_text_put(out, "`", 1);
}

/* The user's text is printed as code, ours as it is. */
static void print_words(ebb_text *out, const ebb_card_row *row) {
    ebb_text_add(out, "| %s | - | ", row->name);
    if (row->text)
        ebb_markdown_name(out, row->text);
    else
        ebb_text_add(out, "%s", row->words.text);
    ebb_text_add(out, " |\n");
}

static void print_card(ebb_text *out, const ebb_report *r) {
    ebb_card card;
    ebb_card_make(r, &card);
    ebb_text_add(out, "## Memory of ");
    ebb_markdown_name(out, r->graph_name);
    ebb_text_add(out, "\n\n**%s** (", card.verdict.text);
    ebb_markdown_name(out, r->backend);
    ebb_text_add(out, ", %u %s, %u steps)\n\n| | exact | |\n|---|---:|---:|\n", r->n_threads,
                 r->n_threads == 1 ? "thread" : "threads", r->n_steps);
    for (uint32_t i = 0; i < card.n_rows; i++) {
        const ebb_card_row *row = &card.rows[i];
        if (row->present)
            ebb_text_add(out, "| %s | %lld | %s |\n", row->name, (long long)row->figure,
                         ebb_card_words(row));
        else
            print_words(out, row);
    }
}

static void print_categories(ebb_text *out, const ebb_report *r) {
    const ebb_report_step *peak = &r->steps[r->peak_step];
    ebb_text_add(
        out, "\n### At the peak, step %u\n\n| category | bytes | | at most | |\n|---|---:|---:|---:|---|\n",
        r->peak_step);
    for (int c = 0; c < EBB_N_CATEGORIES; c++) {
        if (r->most_bytes[c] == 0) continue;
        ebb_text_add(out, "| %s | %lld | %s | %s | %s |\n", ebb_category_name((ebb_category)c),
                     (long long)peak->bytes[c], ebb_word_bytes(peak->bytes[c]).text,
                     ebb_word_bytes(r->most_bytes[c]).text, ebb_category_about((ebb_category)c));
    }
    ebb_text_add(out, "| live | %lld | %s | | |\n", (long long)peak->live_bytes,
                 ebb_word_bytes(peak->live_bytes).text);
}

static void print_alive(ebb_text *out, const ebb_report *r) {
    uint32_t n = r->n_alive < MAX_ROWS ? r->n_alive : MAX_ROWS;
    ebb_text_add(out, "\n### Alive at the peak: %u of %u, largest first\n\n", n, r->n_alive);
    ebb_text_add(
        out, "| tensor | bytes | category | steps | if dropped: peak, time |\n|---|---:|---|---|---|\n");
    for (uint32_t i = 0; i < n; i++) {
        const ebb_report_life *life = &r->lives[r->alive[i].buffer];
        ebb_text_add(out, "| ");
        ebb_markdown_name(out, life->name);
        ebb_text_add(out, " | %s | %s | %u to %u | %s |\n", ebb_word_bytes(r->alive[i].held_bytes).text,
                     ebb_category_name(life->category), life->lower, life->until - 1,
                     ebb_word_dropped(&r->alive[i]).text);
    }
}

static void print_again(ebb_text *out, const ebb_report *r) {
    uint32_t n = r->n_again < MAX_ROWS ? r->n_again : MAX_ROWS;
    if (r->n_again == 0) {
        ebb_text_add(out, "\nNothing runs again.\n");
        return;
    }
    ebb_text_add(out, "\n### Run again: %u of %u ops, most bytes per time first\n\n", n, r->n_again);
    ebb_text_add(
        out,
        "| op | saved | at the peak | runs | added | bytes per time |\n|---|---:|---:|---:|---:|---:|\n");
    for (uint32_t i = 0; i < n; i++) {
        const ebb_report_again *row = &r->again[i];
        ebb_text_add(out, "| ");
        ebb_markdown_name(out, row->name);
        ebb_text_add(out, " | %s | %s | %u | %s | %s |\n", ebb_word_bytes(row->saved_bytes).text,
                     ebb_word_bytes(row->saved_peak).text, row->n_runs, ebb_word_time(row->added_ns).text,
                     ebb_word_rate(row->bytes_per_ms).text);
    }
}

void ebb_report_markdown(ebb_text *out, const ebb_report *r) {
    print_card(out, r);
    ebb_text_add(out, "\n```text\n");
    ebb_plot_text(out, r);
    ebb_text_add(out, "```\n");
    print_categories(out, r);
    print_alive(out, r);
    print_again(out, r);
    ebb_report_markdown_sources(out, r);
}
