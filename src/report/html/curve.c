/* html_curve: live bytes over the schedule, stacked by category. At most EBB_HTML_MAX_COLUMNS columns:
 * where a plan has more steps, a column shows the one of its steps with the most live bytes, and the
 * caption says so. */
#include "report/html/html.h"
#include "report/words/words.h"

enum { HEIGHT = 3600, BAND = 200 };

typedef struct curve {
    const ebb_report *r;
    uint32_t n;  /* columns */
    int64_t top; /* of the scale, bytes */
    uint32_t step[EBB_HTML_MAX_COLUMNS];
} curve;

static int x_of(const curve *c, uint32_t column) {
    return (int)((uint64_t)column * EBB_HTML_WIDTH / c->n);
}

static int y_of(const curve *c, int64_t bytes) {
    return HEIGHT - (int)((double)bytes / (double)c->top * HEIGHT + 0.5);
}

/* Bytes of the categories below `category` in a column. */
static int64_t below(const curve *c, uint32_t column, int category) {
    int64_t sum = 0;
    for (int k = 0; k < category; k++) sum += c->r->steps[c->step[column]].bytes[k];
    return sum;
}

/* Along the upper edge, and back along the lower one; levels that do not change are passed over. */
static void print_layer(ebb_text *out, const curve *c, int category) {
    int last = -1;
    ebb_text_add(out, "<path class=\"layer %s\" d=\"", ebb_category_name((ebb_category)category));
    for (uint32_t i = 0; i < c->n; i++) {
        int y = y_of(c, below(c, i, category + 1));
        if (i == 0)
            ebb_text_add(out, "M0 %d", y);
        else if (y != last)
            ebb_text_add(out, "H%dV%d", x_of(c, i), y);
        last = y;
    }
    ebb_text_add(out, "H%d", EBB_HTML_WIDTH);
    last = -1;
    for (uint32_t i = c->n; i-- > 0;) {
        int y = y_of(c, below(c, i, category));
        if (y != last) ebb_text_add(out, "H%dV%d", x_of(c, i + 1), y);
        last = y;
    }
    ebb_text_add(out, "H0Z\"/>\n");
}

/* What a column's step does: its phase, or that it runs again. */
static const char *band_of(const curve *c, uint32_t column) {
    const ebb_report_step *step = &c->r->steps[c->step[column]];
    return step->recompute ? "recomputed" : ebb_phase_name(step->phase);
}

static void print_bands(ebb_text *out, const curve *c) {
    for (uint32_t i = 0, end; i < c->n; i = end) {
        const char *band = band_of(c, i);
        for (end = i + 1; end < c->n && strcmp(band_of(c, end), band) == 0;) end++;
        ebb_text_add(
            out,
            "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"><title>%s</title></rect>\n",
            band, x_of(c, i), HEIGHT, x_of(c, end) - x_of(c, i), BAND, band);
    }
}

/* A level across the drawing, if it is on the scale. */
static void print_level(ebb_text *out, const curve *c, const char *class, const char *what, int64_t bytes,
                        bool left) {
    if (bytes < 0 || bytes > c->top) return;
    int y = y_of(c, bytes), text_y = y < 200 ? y + 150 : y - 40;
    ebb_text_add(out, "<path class=\"%s\" d=\"M0 %dH%d\"/>\n", class, y, EBB_HTML_WIDTH);
    ebb_text_add(out, "<text x=\"%d\" y=\"%d\"%s>%s %s</text>\n",
                 left ? EBB_HTML_WIDTH / 2 : EBB_HTML_WIDTH - 60, text_y,
                 left ? " text-anchor=\"middle\"" : " text-anchor=\"end\"", what,
                 ebb_word_bytes(bytes).text);
}

/* Levels at round figures, over the layers, with their words. */
static void print_scale(ebb_text *out, const curve *c) {
    double step = ebb_axis_step((double)c->top, true);
    for (int k = 1; k * step < (double)c->top * 0.97; k++) {
        double at = k * step;
        int y = y_of(c, (int64_t)at);
        ebb_text_add(out, "<path class=\"grid\" d=\"M0 %dH%d\"/>\n<text x=\"60\" y=\"%d\">%s</text>\n", y,
                     EBB_HTML_WIDTH, y - 40, ebb_axis_word(EBB_AXIS_BYTES, at).text);
    }
}

static void print_column(ebb_text *out, const curve *c, uint32_t i) {
    const ebb_report_step *step = &c->r->steps[c->step[i]];
    ebb_text_add(
        out, "<rect class=\"column\" x=\"%d\" y=\"0\" width=\"%d\" height=\"%d\"><title>step %u, %s%s\n",
        x_of(c, i), x_of(c, i + 1) - x_of(c, i), HEIGHT, c->step[i], ebb_phase_name(step->phase),
        step->recompute ? ", run again" : "");
    ebb_html_put(out, step->name);
    ebb_text_add(out, "\n%s live", ebb_word_bytes(step->live_bytes).text);
    for (int k = 0; k < EBB_N_CATEGORIES; k++)
        if (step->bytes[k] != 0)
            ebb_text_add(out, "\n%s %s", ebb_category_name((ebb_category)k),
                         ebb_word_bytes(step->bytes[k]).text);
    ebb_text_add(out, "</title></rect>\n");
}

/* A line that is not there must not look like one that does not exist. */
static void print_off_scale(ebb_text *out, const curve *c) {
    const ebb_report *r = c->r;
    if (r->budget_bytes > c->top)
        ebb_text_add(out, " Above the scale: budget %s.", ebb_word_bytes(r->budget_bytes).text);
    if (r->baseline_total_bytes > c->top)
        ebb_text_add(out, " Above the scale: without recomputation %s.",
                     ebb_word_bytes(r->baseline_total_bytes).text);
}

static void print_legend(ebb_text *out, const ebb_report *r) {
    ebb_text_add(out, "<ul class=\"legend\">\n");
    for (int k = EBB_N_CATEGORIES; k-- > 0;) {
        const char *name = ebb_category_name((ebb_category)k);
        if (r->most_bytes[k] == 0) continue;
        ebb_text_add(out,
                     "<li><svg viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect class=\"%s\" width=\"10\" "
                     "height=\"10\"/></svg>%s: %s</li>\n",
                     name, name, ebb_category_about((ebb_category)k));
    }
    ebb_text_add(out, "</ul>\n");
}

void ebb_html_curve(ebb_text *out, const ebb_report *r) {
    curve c = {.r = r, .top = ebb_plot_top(r)};
    c.n = r->n_points < EBB_HTML_MAX_COLUMNS ? r->n_points : EBB_HTML_MAX_COLUMNS;
    for (uint32_t i = 0; i < c.n; i++) c.step[i] = ebb_plot_step(r, i, c.n);
    ebb_text_add(
        out,
        "<section id=\"curve\">\n<h2>Live bytes over the steps</h2>\n<div class=\"side\">\n<figure>\n<svg "
        "viewBox=\"0 0 %d %d\" "
        "role=\"img\" aria-label=\"Live bytes over %u steps, stacked by category; the peak is %s in step "
        "%u\">\n",
        EBB_HTML_WIDTH, HEIGHT + BAND, r->n_steps, ebb_word_bytes(r->peak_bytes).text, r->peak_step);
    for (int k = 0; k < EBB_N_CATEGORIES; k++)
        if (r->most_bytes[k] > 0) print_layer(out, &c, k);
    print_bands(out, &c);
    print_scale(out, &c);
    print_level(out, &c, "budget", "budget", r->budget_bytes, false);
    print_level(out, &c, "baseline", "without recomputation", r->baseline_total_bytes, true);
    for (uint32_t i = 0; i < c.n; i++) print_column(out, &c, i);
    ebb_text_add(
        out,
        "</svg>\n<figcaption>The strip below shows by its colours and titles what a step does: forward, "
        "backward, update, or again.");
    if (c.n < r->n_points)
        ebb_text_add(out,
                     " %u columns for %u steps: each shows the one of its steps with the most live bytes.",
                     c.n, r->n_points);
    print_off_scale(out, &c);
    ebb_text_add(out, "</figcaption>\n</figure>\n<div class=\"panel\" id=\"curve-panel\" role=\"status\" "
                      "hidden></div>\n</div>\n");
    print_legend(out, r);
    ebb_text_add(out, "</section>\n");
}
