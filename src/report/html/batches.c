/* html_batches: what each size needs in each mode, and the devices' lines. */
#include "report/html/html.h"
#include "report/words/words.h"

enum { WIDTH = 12000, HEIGHT = 4600, WITHIN = EBB_N_BATCH_MODES - 1 };

/* Classes of lines and marks; "within" is the mode "budget", which is also a line's class. */
static const struct style {
    const char *class, *about;
    ebb_mark mark;
} styles[EBB_N_BATCH_MODES] = {
    {"none", "no reuse", EBB_MARK_SQUARE},
    {"in_place", "in place, no recomputation", EBB_MARK_DISC},
    {"sublinear", "least bytes, MegEngine's search", EBB_MARK_TRIANGLE},
    {"within", "least added time within the budget", EBB_MARK_DIAMOND},
};

/* One line a mode; within a budget, one for each of them. device -1: any. */
static void print_line(ebb_text *out, const ebb_report *r, const ebb_chart *c, uint32_t mode,
                       int64_t device) {
    bool begun = false;
    for (uint32_t i = 0; i < r->n_batches; i++) {
        const ebb_report_batch *row = &r->batches[i];
        if (row->mode != mode || (device >= 0 && row->budget_bytes != device)) continue;
        if (!begun) ebb_text_add(out, "<path class=\"mode %s\" d=\"", styles[mode].class);
        ebb_text_add(out, "%s%d %d", begun ? "L" : "M", ebb_chart_x(c, (double)row->batch),
                     ebb_chart_y(c, (double)row->total_bytes));
        begun = true;
    }
    if (begun) ebb_text_add(out, "\"/>\n");
}

static void print_lines(ebb_text *out, const ebb_report *r, const ebb_chart *c) {
    for (uint32_t mode = 0; mode < EBB_N_BATCH_MODES; mode++)
        if (mode != WITHIN) print_line(out, r, c, mode, -1);
    for (uint32_t i = 0; i < r->n_devices; i++) print_line(out, r, c, WITHIN, r->devices[i]);
}

static void print_marks(ebb_text *out, const ebb_report *r, const ebb_chart *c) {
    for (uint32_t i = 0; i < r->n_batches; i++) {
        const ebb_report_batch *row = &r->batches[i];
        const struct style *style = &styles[row->mode];
        ebb_chart_mark(out, c, style->mark, style->class, (double)row->batch, (double)row->total_bytes);
        ebb_text_add(out, "%s\nsize %lld: %s, %s (%s)%s", style->about, (long long)row->batch,
                     ebb_word_bytes(row->total_bytes).text, ebb_word_time(row->time_ns).text,
                     ebb_word_change(row->time_ns, row->baseline_time_ns).text,
                     row->answer ? "\nthe largest that was found to fit" : "");
        ebb_chart_mark_end(out);
    }
}

static void print_chart(ebb_text *out, const ebb_report *r) {
    int64_t size = 1, bytes = r->devices[r->n_devices - 1];
    for (uint32_t i = 0; i < r->n_batches; i++) {
        size = ebb_max_i64(size, r->batches[i].batch);
        bytes = ebb_max_i64(bytes, r->batches[i].total_bytes);
    }
    ebb_chart c = {.width = WIDTH, .height = HEIGHT};
    c.x = (ebb_chart_axis){"batch", EBB_AXIS_COUNT, 0, (double)size * 1.04};
    c.y = (ebb_chart_axis){"total bytes", EBB_AXIS_BYTES, 0, (double)bytes * 1.06};
    ebb_text_add(out, "<div class=\"side\">\n<figure>\n");
    ebb_chart_begin(out, &c, "Batch against total bytes for each memory mode, with the devices as lines");
    for (uint32_t i = 0; i < r->n_devices; i++)
        ebb_chart_level(out, &c, "budget", (double)r->devices[i], ebb_word_bytes(r->devices[i]).text);
    print_lines(out, r, &c);
    print_marks(out, r, &c);
    ebb_text_add(
        out, "</svg>\n<figcaption>Dashed lines across: the devices' bytes. Marks: sizes that ebb fit "
             "planned. Within a budget the curve stays below its line, and time is what grows."
             "</figcaption>\n</figure>\n<div class=\"panel\" id=\"batches-panel\" role=\"status\" hidden>"
             "</div>\n</div>\n<ul class=\"legend\">\n");
    for (uint32_t mode = 0; mode < EBB_N_BATCH_MODES; mode++) {
        ebb_text_add(out, "<li><svg viewBox=\"0 0 240 240\" aria-hidden=\"true\">");
        ebb_chart_swatch(out, styles[mode].mark, styles[mode].class);
        ebb_text_add(out, "</svg>%s</li>\n", styles[mode].about);
    }
    ebb_text_add(out, "</ul>\n");
}

void ebb_html_batches(ebb_text *out, const ebb_report *r) {
    static const char *const columns[] = {"mode",  "batch",  "bytes", "in words", "time",
                                          "added", "device", "",      NULL};
    if (r->n_devices == 0) return;
    ebb_text_add(out, "<section id=\"batches\">\n<h2>Batch against bytes</h2>\n");
    print_chart(out, r);
    ebb_text_add(out, "<details><summary>Sizes as a table</summary>\n");
    ebb_html_rows(out, "Sizes that were planned; the answers are marked.", columns, 0x7E);
    for (uint32_t i = 0; i < r->n_batches; i++) {
        const ebb_report_batch *row = &r->batches[i];
        ebb_text_add(out, "<tr><th scope=\"row\">%s</th>", ebb_batch_mode_name(row->mode));
        ebb_html_count(out, row->batch);
        ebb_html_count(out, row->total_bytes);
        ebb_html_n(out, row->total_bytes, ebb_word_bytes(row->total_bytes).text);
        ebb_html_n(out, row->time_ns, ebb_word_time(row->time_ns).text);
        ebb_html_n(out, row->time_ns - row->baseline_time_ns,
                   ebb_word_change(row->time_ns, row->baseline_time_ns).text);
        ebb_html_n(out, row->budget_bytes, ebb_word_bytes(row->budget_bytes).text);
        ebb_text_add(out, "<td>%s</td></tr>\n", row->answer ? "largest that fits" : "");
    }
    ebb_text_add(out, "</tbody>\n</table>\n</details>\n</section>\n");
}
