/* html_search: how the plan was found: every candidate that was offered to the pool, and how the best of
 * them got better. */
#include "report/html/html.h"
#include "report/words/words.h"

#include <stdio.h>

enum { WIDTH = 6000, HEIGHT = 4000, MOST_MARKS = 2000 };

static double added_percent(const ebb_report *r, int64_t time_ns) {
    double base = r->baseline_time_ns > 0 ? (double)r->baseline_time_ns : 1;
    return 100 * ((double)time_ns - (double)r->baseline_time_ns) / base;
}

/* Three times what the plan or its bound adds: what is slower by far would press the rest into a line. */
static double most_percent(const ebb_report *r) {
    double most = added_percent(r, r->time_ns);
    return most < 3 ? 10 : 3 * most;
}

static bool is_drawn(const ebb_report *r, const ebb_report_point *point) {
    return added_percent(r, point->time_ns) <= most_percent(r);
}

static void print_figures(ebb_text *out, const ebb_report *r, int64_t peak_bytes, int64_t time_ns) {
    ebb_text_add(out, "\n%s live, %s (%s)", ebb_word_bytes(peak_bytes).text, ebb_word_time(time_ns).text,
                 ebb_word_change(time_ns, r->baseline_time_ns).text);
}

static void print_front(ebb_text *out, const ebb_report *r, const ebb_chart *c) {
    const ebb_report_search *s = &r->search;
    bool begun = false;
    ebb_text_add(out, "<path class=\"front\" d=\"");
    for (uint32_t i = 0; i < s->n_front; i++) {
        if (!is_drawn(r, &s->front[i])) continue;
        int x = ebb_chart_x(c, (double)s->front[i].peak_bytes);
        int y = ebb_chart_y(c, added_percent(r, s->front[i].time_ns));
        ebb_text_add(out, begun ? "H%dV%d" : "M%d %d", x, y);
        begun = true;
    }
    ebb_text_add(out, begun ? "\"/>\n" : "M0 0\"/>\n");
}

static void print_points(ebb_text *out, const ebb_report *r, const ebb_chart *c, uint32_t every) {
    const ebb_report_search *s = &r->search;
    uint32_t front = 0;
    for (uint32_t i = 0; i < s->n_points; i++) {
        const ebb_report_point *p = &s->points[i];
        bool best = front < s->n_front && s->front[front].peak_bytes == p->peak_bytes &&
                    s->front[front].time_ns == p->time_ns;
        front += best;
        if (!is_drawn(r, p) || (!best && i % every != 0)) continue;
        ebb_chart_mark(out, c, best ? EBB_MARK_DISC : EBB_MARK_DOT, best ? "best" : "tried",
                       (double)p->peak_bytes, added_percent(r, p->time_ns));
        ebb_text_add(out, best ? "on the front" : "a candidate");
        print_figures(out, r, p->peak_bytes, p->time_ns);
        ebb_chart_mark_end(out);
    }
    ebb_chart_mark(out, c, EBB_MARK_DIAMOND, "plan", (double)r->max_live_bytes,
                   added_percent(r, r->time_ns));
    ebb_text_add(out, "this plan, packed");
    print_figures(out, r, r->max_live_bytes, r->time_ns);
    ebb_chart_mark_end(out);
}

static void print_candidates(ebb_text *out, const ebb_report *r) {
    const ebb_report_search *s = &r->search;
    int64_t least = r->max_live_bytes, most = r->max_live_bytes;
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_points; i++) {
        if (!is_drawn(r, &s->points[i])) continue;
        least = ebb_min_i64(least, s->points[i].peak_bytes);
        most = ebb_max_i64(most, s->points[i].peak_bytes);
        n++;
    }
    ebb_chart c = {.width = WIDTH, .height = HEIGHT};
    c.x = (ebb_chart_axis){"live bytes at the peak", EBB_AXIS_BYTES, (double)least * 0.95,
                           (double)most * 1.025};
    c.y = (ebb_chart_axis){"added time", EBB_AXIS_PERCENT, 0, most_percent(r)};
    if (added_percent(r, r->bound_time_ns) < 0) c.y.from = added_percent(r, r->bound_time_ns);
    ebb_text_add(out, "<div><h3>Candidates and their Pareto front</h3>\n<figure>\n");
    ebb_chart_begin(out, &c, "Candidates: live bytes against added time");
    ebb_chart_level(out, &c, "bound", added_percent(r, r->bound_time_ns),
                    "no plan within the limit is below");
    if (s->limit_bytes >= 0) ebb_chart_upright(out, &c, "budget", (double)s->limit_bytes, "limit");
    uint32_t every = 1 + (n - (n > 0)) / MOST_MARKS;
    print_front(out, r, &c);
    print_points(out, r, &c, every);
    ebb_text_add(
        out,
        "</svg>\n<figcaption>Dots: seeds and each generation's best; discs and the line: those that no "
        "other beats in both; diamond: this plan.");
    if (n < s->n_points) ebb_text_add(out, " %u slower ones are above the scale.", s->n_points - n);
    if (every > 1) ebb_text_add(out, " Beside the front, one in %u is drawn.", every);
    ebb_text_add(out, "</figcaption>\n</figure></div>\n");
}

/* In a search for the least bytes, bytes are what falls; else time does. */
static double round_figure(const ebb_report *r, const ebb_report_round *round, bool bytes) {
    return bytes ? (double)round->peak_bytes : added_percent(r, round->time_ns);
}

static void print_rounds(ebb_text *out, const ebb_report *r, const ebb_chart *c, bool bytes) {
    const ebb_report_search *s = &r->search;
    ebb_text_add(out, "<path class=\"front\" d=\"M0 0");
    for (uint32_t i = 0; i < s->n_rounds; i++) {
        double x = (double)s->rounds[i].n_scored, y = round_figure(r, &s->rounds[i], bytes);
        if (!ebb_chart_shows(c, x, y)) continue;
        bool goes_on = i > 0 && s->rounds[i - 1].search == s->rounds[i].search &&
                       ebb_chart_shows(c, (double)s->rounds[i - 1].n_scored,
                                       round_figure(r, &s->rounds[i - 1], bytes));
        ebb_text_add(out, goes_on ? "H%dV%d" : "M%d %d", ebb_chart_x(c, x), ebb_chart_y(c, y));
    }
    ebb_text_add(out, "\"/>\n");
    for (uint32_t i = 0; i < s->n_rounds; i++) {
        const ebb_report_round *round = &s->rounds[i];
        double x = (double)round->n_scored, y = round_figure(r, round, bytes);
        if (!ebb_chart_shows(c, x, y)) continue;
        ebb_chart_mark(out, c, EBB_MARK_DISC, bytes || round->fits ? "best" : "unfit", x, y);
        if (round->round == 0)
            ebb_text_add(out, "search %u, after its seeds", round->search + 1);
        else
            ebb_text_add(out, "search %u, after generation %u", round->search + 1, round->round);
        ebb_text_add(out, "\n%lld candidates so far%s", (long long)round->n_scored,
                     bytes || round->fits ? "" : ", not within the limit");
        print_figures(out, r, round->peak_bytes, round->time_ns);
        ebb_chart_mark_end(out);
    }
}

static void print_convergence(ebb_text *out, const ebb_report *r) {
    const ebb_report_search *s = &r->search;
    bool bytes = s->limit_bytes < 0;
    ebb_chart c = {.width = WIDTH, .height = HEIGHT};
    double least = bytes ? (double)r->max_live_bytes : added_percent(r, r->bound_time_ns);
    double most = bytes ? least : added_percent(r, r->time_ns);
    for (uint32_t i = 0; i < s->n_rounds; i++) {
        double y = round_figure(r, &s->rounds[i], bytes);
        if (y < least) least = y;
        if (y > most) most = y;
    }
    if (!bytes && most > most_percent(r)) most = most_percent(r);
    double room = (most - least) / 12;
    c.x = (ebb_chart_axis){"candidates scored", EBB_AXIS_COUNT, 0,
                           (double)(s->n_scored > 0 ? s->n_scored : 1)};
    c.y = (ebb_chart_axis){bytes ? "least live bytes" : "best added time",
                           bytes ? EBB_AXIS_BYTES : EBB_AXIS_PERCENT, least - room, most + 2 * room};
    ebb_text_add(out, "<div><h3>Convergence, generation by generation</h3>\n<figure>\n");
    ebb_chart_begin(out, &c, "The best candidate so far over the candidates scored");
    if (!bytes)
        ebb_chart_level(out, &c, "bound", added_percent(r, r->bound_time_ns),
                        "no plan within the limit is below");
    print_rounds(out, r, &c, bytes);
    ebb_text_add(
        out,
        "</svg>\n<figcaption>The best so far: first after the seeds, then after each generation. A search "
        "starts anew, under a lower limit, when its answer does not pack within the budget.</figcaption>\n"
        "</figure></div>\n");
}

static void print_table(ebb_text *out, const ebb_report *r) {
    const ebb_report_search *s = &r->search;
    static const char *const columns[] = {"search", "generation", "candidates", "live bytes", "in words",
                                          "time",   "change",     "fits",       NULL};
    ebb_text_add(out, "<details><summary>Generations as a table</summary>\n");
    ebb_html_rows(out, "Generation 0: after the seeds.", columns, 0x7F);
    for (uint32_t i = 0; i < s->n_rounds; i++) {
        const ebb_report_round *round = &s->rounds[i];
        ebb_text_add(out, "<tr>");
        ebb_html_count(out, round->search + 1);
        ebb_html_count(out, round->round);
        ebb_html_count(out, round->n_scored);
        ebb_html_count(out, round->peak_bytes);
        ebb_html_n(out, round->peak_bytes, ebb_word_bytes(round->peak_bytes).text);
        ebb_html_n(out, round->time_ns, ebb_word_time(round->time_ns).text);
        ebb_html_n(out, round->time_ns, ebb_word_change(round->time_ns, r->baseline_time_ns).text);
        ebb_text_add(out, "<td>%s</td></tr>\n", round->fits ? "yes" : "no");
    }
    ebb_text_add(out, "</tbody>\n</table>\n</details>\n");
}

void ebb_html_search(ebb_text *out, const ebb_report *r) {
    const ebb_report_search *s = &r->search;
    if (!s->present) return;
    ebb_text_add(
        out,
        "<section id=\"search\">\n<h2>The search</h2>\n<p>%s: %u %s, %lld candidates scored, %u offered to "
        "the pool, %u on the front.</p>\n",
        s->about, s->n_searches, s->n_searches == 1 ? "search" : "searches", (long long)s->n_scored,
        s->n_points, s->n_front);
    if (s->n_points > 0) {
        ebb_text_add(out, "<div class=\"pair\">\n");
        print_candidates(out, r);
        print_convergence(out, r);
        ebb_text_add(out,
                     "</div>\n<div class=\"panel\" id=\"search-panel\" role=\"status\" hidden></div>\n");
        print_table(out, r);
    }
    ebb_text_add(out, "</section>\n");
}
