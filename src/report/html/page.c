/* html: the page, from its head to its notes. */
#include "report/html/html.h"
#include "report/words/words.h"

#include "report_page.h"

void ebb_html_put(ebb_text *out, const char *text) {
    static const char *const escaped[256] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};
    for (const char *p = text; *p != '\0'; p++) {
        const char *entity = escaped[(unsigned char)*p];
        if (entity)
            ebb_text_add(out, "%s", entity);
        else
            ebb_text_put(out, p, 1);
    }
}

void ebb_html_begin(ebb_text *out, const char *title, const char *name) {
    ebb_text_add(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '%s'; "
        "script-src '%s'; base-uri 'none'; form-action 'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"referrer\" content=\"no-referrer\">\n<title>%s ",
        PAGE_STYLE_HASH, PAGE_SCRIPT_HASH, title);
    ebb_html_put(out, name);
    ebb_text_add(out, "</title>\n<style>");
    ebb_text_put(out, page_style, sizeof page_style);
    ebb_text_add(out, "</style>\n</head>\n<body>\n");
}

void ebb_html_end(ebb_text *out) {
    ebb_text_add(out, "<script>");
    ebb_text_put(out, page_script, sizeof page_script);
    ebb_text_add(out, "</script>\n</body>\n</html>\n");
}

static void print_categories(ebb_text *out, const ebb_report *r) {
    const ebb_report_step *peak = &r->steps[r->peak_step];
    ebb_text_add(out,
                 "<section id=\"categories\">\n<h2>At the peak, step %u</h2>\n<div class=\"wide\">\n<table "
                 "class=\"sortable\">\n<thead><tr>"
                 "<th scope=\"col\">category</th><th scope=\"col\" class=\"n\">bytes</th><th scope=\"col\" "
                 "class=\"n\">in words</th><th scope=\"col\" class=\"n\">at most</th><th "
                 "scope=\"col\">what</th></tr>"
                 "</thead>\n<tbody>\n",
                 r->peak_step);
    for (int c = 0; c < EBB_N_CATEGORIES; c++) {
        if (r->most_bytes[c] == 0) continue;
        ebb_text_add(out,
                     "<tr data-key=\"%s\"><th scope=\"row\">%s</th><td data-n=\"%lld\">%lld</td><td "
                     "data-n=\"%lld\">%s</td><td data-n=\"%lld\">%s</td><td>%s</td></tr>\n",
                     ebb_category_name((ebb_category)c), ebb_category_name((ebb_category)c),
                     (long long)peak->bytes[c], (long long)peak->bytes[c], (long long)peak->bytes[c],
                     ebb_word_bytes(peak->bytes[c]).text, (long long)r->most_bytes[c],
                     ebb_word_bytes(r->most_bytes[c]).text, ebb_category_about((ebb_category)c));
    }
    ebb_text_add(
        out,
        "</tbody>\n<tfoot><tr data-key=\"live\"><th scope=\"row\">live</th><td data-n=\"%lld\">"
        "%lld</td><td class=\"n\">%s</td><td></td><td></td></tr></tfoot>\n</table>\n</div>\n</section>\n",
        (long long)peak->live_bytes, (long long)peak->live_bytes, ebb_word_bytes(peak->live_bytes).text);
}

static void print_notes(ebb_text *out, const ebb_report *r) {
    ebb_text_add(out,
                 "<section id=\"notes\">\n<h2>What these figures are</h2>\n"
                 "<p>Tensors that share bytes on purpose (a view and its base, an output and the "
                 "input that it is written over) "
                 "are counted once, as the last one written that is no view. The live bytes of a step "
                 "are the sum of its "
                 "categories; the most of them plus what packing lost is the total.</p>\n"
                 "<p><em>If dropped</em> is of first order: the tensor is released after its last use "
                 "before the peak and made "
                 "again just before its next use. That the inputs of that run may be gone by then, "
                 "the bytes that the run itself "
                 "needs, chances to write in place and packing are not counted.</p>\n"
                 "<p>An op that runs again only for another one to run, or whose output another one "
                 "is written over, saves "
                 "nothing by itself: so the rows of that table add up.</p>\n"
                 "<p>Times are predictions of the plan's cost model. A plan records no batch, no seed and "
                 "no search configuration: %s.</p>\n</section>\n",
                 r->search.present ? "they are from the search's log" : "ebb plan --log writes them");
}

void ebb_report_html(ebb_text *out, const ebb_report *r) {
    ebb_html_begin(out, "Memory of", r->graph_name);
    ebb_html_glance(out, r);
    ebb_html_curve(out, r);
    ebb_html_map(out, r);
    print_categories(out, r);
    ebb_html_tables(out, r);
    ebb_html_search(out, r);
    ebb_html_batches(out, r);
    ebb_html_measured(out, r);
    print_notes(out, r);
    ebb_html_end(out);
}
