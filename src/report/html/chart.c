/* html_chart: two axes with ticks at round figures, lines and marks. What is drawn is placed in whole
 * units; a figure outside of the axes is for the caller to leave out. */
#include "report/html/html.h"
#include "report/words/words.h"

#include <stdio.h>

enum { LEFT = 900, RIGHT = 330, TOP = 150, BOTTOM = 450, MOST_TICKS = 6 };

int ebb_chart_x(const ebb_chart *c, double x) {
    double share = (x - c->x.from) / (c->x.to - c->x.from);
    return LEFT + (int)(share * (c->width - LEFT - RIGHT) + 0.5);
}

int ebb_chart_y(const ebb_chart *c, double y) {
    double share = (y - c->y.from) / (c->y.to - c->y.from);
    return c->height - BOTTOM - (int)(share * (c->height - TOP - BOTTOM) + 0.5);
}

bool ebb_chart_shows(const ebb_chart *c, double x, double y) {
    return x >= c->x.from && x <= c->x.to && y >= c->y.from && y <= c->y.to;
}

double ebb_axis_step(double range, bool bytes) {
    double step = 1;
    while (range / step > MOST_TICKS) step *= bytes ? 2 : 10;
    if (bytes) return step;
    while (step > 1e-9 && range / (step / 10) <= MOST_TICKS) step /= 10;
    if (range / (step / 5) <= MOST_TICKS) return step / 5;
    return range / (step / 2) <= MOST_TICKS ? step / 2 : step;
}

/* The first multiple of step that is not below from, as a count of steps. */
static double first_tick(double from, double step) {
    double whole = (double)(int64_t)(from / step);
    return whole * step < from ? whole + 1 : whole;
}

/* "1.5 GiB": no digits that the step does not need. */
ebb_word ebb_axis_word(ebb_axis_unit unit, double at) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    static const char *const thousands[EBB_COUNT(units)] = {"", "k", "M", "G", "T", "P", "E"};
    ebb_word word;
    size_t i = 0;
    double next = unit == EBB_AXIS_BYTES ? 1024 : 1000;
    if (unit == EBB_AXIS_PERCENT) {
        (void)snprintf(word.text, sizeof word.text, "%.6g %%", at);
        return word;
    }
    for (; (at < 0 ? -at : at) >= next && i + 1 < EBB_COUNT(units); i++) at /= next;
    (void)snprintf(word.text, sizeof word.text, "%.6g%s%s", at, unit == EBB_AXIS_BYTES || i > 0 ? " " : "",
                   unit == EBB_AXIS_BYTES ? units[i] : thousands[i]);
    return word;
}

static void print_ticks(ebb_text *out, const ebb_chart *c, bool across) {
    const ebb_chart_axis *axis = across ? &c->x : &c->y;
    double step = ebb_axis_step(axis->to - axis->from, axis->unit == EBB_AXIS_BYTES);
    double first = first_tick(axis->from, step);
    for (int i = 0; i <= MOST_TICKS && (first + i) * step <= axis->to; i++) {
        double at = (first + i) * step + 0.0; /* no "-0" */
        ebb_word word = ebb_axis_word(axis->unit, at);
        if (across) {
            int x = ebb_chart_x(c, at);
            ebb_text_add(out, "<path class=\"grid\" d=\"M%d %dV%d\"/>\n", x, TOP, c->height - BOTTOM);
            ebb_text_add(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x,
                         c->height - BOTTOM + 180, word.text);
        } else {
            int y = ebb_chart_y(c, at);
            ebb_text_add(out, "<path class=\"grid\" d=\"M%d %dH%d\"/>\n", LEFT, y, c->width - RIGHT);
            ebb_text_add(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", LEFT - 60, y + 45,
                         word.text);
        }
    }
}

static void widen(ebb_chart_axis *axis) {
    if (axis->to > axis->from) return;
    axis->to = axis->from + (axis->from > 1 ? axis->from / 10 : 1);
}

void ebb_chart_begin(ebb_text *out, ebb_chart *c, const char *label) {
    widen(&c->x);
    widen(&c->y);
    ebb_text_add(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n", c->width, c->height,
                 label);
    print_ticks(out, c, true);
    print_ticks(out, c, false);
    ebb_text_add(out, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/>\n", LEFT, TOP, c->height - BOTTOM,
                 c->width - RIGHT);
    ebb_text_add(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", c->width - RIGHT,
                 c->height - 60, c->x.name);
    ebb_text_add(out, "<text x=\"%d\" y=\"%d\">%s</text>\n", LEFT + 80, TOP + 60, c->y.name);
}

void ebb_chart_level(ebb_text *out, const ebb_chart *c, const char *class, double y, const char *what) {
    if (y < c->y.from || y > c->y.to) return;
    int at = ebb_chart_y(c, y);
    ebb_text_add(out, "<path class=\"%s\" d=\"M%d %dH%d\"/>\n", class, LEFT, at, c->width - RIGHT);
    ebb_text_add(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", c->width - RIGHT - 40,
                 at - 50, what);
}

void ebb_chart_upright(ebb_text *out, const ebb_chart *c, const char *class, double x, const char *what) {
    if (x < c->x.from || x > c->x.to) return;
    int at = ebb_chart_x(c, x);
    ebb_text_add(out, "<path class=\"%s\" d=\"M%d %dV%d\"/>\n", class, at, TOP, c->height - BOTTOM);
    bool left = at > c->width / 2;
    ebb_text_add(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\">%s</text>\n", left ? at - 50 : at + 50,
                 TOP + 330, left ? "end" : "start", what);
}

/* Shapes tell what colours do. */
static const char *const paths[] = {
    [EBB_MARK_DOT] = "m-45 0a45 45 0 1 0 90 0a45 45 0 1 0 -90 0z",
    [EBB_MARK_SQUARE] = "m-70 -70h140v140h-140z",
    [EBB_MARK_TRIANGLE] = "m0 -90l85 150h-170z",
    [EBB_MARK_DIAMOND] = "m0 -105l105 105l-105 105l-105 -105z",
    [EBB_MARK_DISC] = "m-80 0a80 80 0 1 0 160 0a80 80 0 1 0 -160 0z",
};

void ebb_chart_swatch(ebb_text *out, ebb_mark shape, const char *class) {
    ebb_text_add(out, "<path class=\"mark %s\" d=\"M120 120%s\"/>", class, paths[shape]);
}

void ebb_chart_mark(ebb_text *out, const ebb_chart *c, ebb_mark shape, const char *class, double x,
                    double y) {
    ebb_text_add(out, "<path class=\"mark %s\" d=\"M%d %d%s\"><title>", class, ebb_chart_x(c, x),
                 ebb_chart_y(c, y), paths[shape]);
}

void ebb_chart_mark_end(ebb_text *out) {
    ebb_text_add(out, "</title></path>\n");
}
