/* html: the page and its parts.
 *
 * The page needs nothing from outside: it contains its style and script, and its content security policy
 * allows these two by their hashes and nothing else, so that no text of a plan can become a script, a style
 * or a request. Drawings are SVG made here, in whole units; without the script, hovering shows a drawing's
 * titles and the tables do not sort.
 */
#ifndef EBB_REPORT_HTML_H
#define EBB_REPORT_HTML_H

#include "report/words/words.h"

void ebb_report_html(ebb_text *out, const ebb_report *report);

enum { EBB_HTML_WIDTH = 12000, EBB_HTML_MAX_COLUMNS = 1000, EBB_HTML_MAX_ROWS = 1000 };

/* Text between tags or in an attribute's double quotes. */
void ebb_html_put(ebb_text *out, const char *text);

/* From the first byte to the body, and from there to the last. title is ours, name a cleaned one. */
void ebb_html_begin(ebb_text *out, const char *title, const char *name);
void ebb_html_end(ebb_text *out);

/* A sortable table in a section of its own. numbers: bit i: column i is numbers. columns end in NULL. */
void ebb_html_table(ebb_text *out, const char *id, const char *title, const char *caption,
                    const char *const *columns, uint32_t numbers);
void ebb_html_table_end(ebb_text *out);
const char *ebb_html_others(uint32_t n,
                            uint32_t of); /* of a caption: where the rest is; "" when there is none */
void ebb_html_name(ebb_text *out, const char *name);          /* a cell */
void ebb_html_n(ebb_text *out, int64_t n, const char *words); /* a cell that is sorted by n */

/* The table alone, within a section of the caller's. */
void ebb_html_rows(ebb_text *out, const char *caption, const char *const *columns, uint32_t numbers);
void ebb_html_count(ebb_text *out, int64_t n); /* a cell: the figure itself */

/* ---- charts ---- */

typedef enum ebb_axis_unit { EBB_AXIS_BYTES, EBB_AXIS_PERCENT, EBB_AXIS_COUNT } ebb_axis_unit;
typedef struct ebb_chart_axis {
    const char *name;
    ebb_axis_unit unit;
    double from, to;
} ebb_chart_axis;
typedef struct ebb_chart {
    ebb_chart_axis x, y;
    int width, height; /* of the drawing, axes and their words included */
} ebb_chart;
typedef enum ebb_mark {
    EBB_MARK_DOT,
    EBB_MARK_SQUARE,
    EBB_MARK_TRIANGLE,
    EBB_MARK_DIAMOND,
    EBB_MARK_DISC,
} ebb_mark;

/* A round step for so wide a range, of which it has a handful: a power of 2, or 1, 2, 5 times one of 10. */
double ebb_axis_step(double range, bool bytes);
ebb_word ebb_axis_word(ebb_axis_unit unit, double at);
/* From <svg> to the axes. An axis without an extent is widened. label is ours. */
void ebb_chart_begin(ebb_text *out, ebb_chart *chart, const char *label);
int ebb_chart_x(const ebb_chart *chart, double x);
int ebb_chart_y(const ebb_chart *chart, double y);
bool ebb_chart_shows(const ebb_chart *chart, double x, double y);
/* A line across, or upright, with words; nothing when it is off the scale. */
void ebb_chart_level(ebb_text *out, const ebb_chart *chart, const char *class, double y, const char *what);
void ebb_chart_upright(ebb_text *out, const ebb_chart *chart, const char *class, double x,
                       const char *what);
/* A mark up to its title, which is what the caller prints next. */
void ebb_chart_mark(ebb_text *out, const ebb_chart *chart, ebb_mark shape, const char *class, double x,
                    double y);
void ebb_chart_mark_end(ebb_text *out);
void ebb_chart_swatch(ebb_text *out, ebb_mark shape, const char *class); /* in a drawing of 240 by 240 */

/* ---- parts, in their order; those that have nothing to show print nothing ---- */

void ebb_html_glance(ebb_text *out,
                     const ebb_report *report); /* head, verdict, links, tiles, all figures */
void ebb_html_curve(ebb_text *out, const ebb_report *report);
/* Draws the largest EBB_HTML_MAX_BOXES one by one and the others summed up by cells. */
enum { EBB_HTML_MAX_BOXES = 8000 };
void ebb_html_map(ebb_text *out, const ebb_report *report);
void ebb_html_tables(ebb_text *out, const ebb_report *report); /* alive, again */
void ebb_html_search(ebb_text *out, const ebb_report *report);
void ebb_html_batches(ebb_text *out, const ebb_report *report);
void ebb_html_measured(ebb_text *out, const ebb_report *report);

#endif
