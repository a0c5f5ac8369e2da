/* html: writes the HTML page and its parts.
 *
 * The page is self-contained: it includes its style and script, and its content security policy allows only
 * these two, by their hashes, so that no text in a plan can become a script, a style or a request. Drawings
 * are SVG made here, in whole units; without the script, hovering shows a drawing's titles and the tables
 * do not sort.
 */
#ifndef EBB_REPORT_HTML_H
#define EBB_REPORT_HTML_H

#include "report/words/words.h"

void ebb_report_html(ebb_text *out, const ebb_report *report);

enum { EBB_HTML_WIDTH = 12000, EBB_HTML_MAX_COLUMNS = 1000, EBB_HTML_MAX_ROWS = 1000 };

/* Writes escaped text, for between tags or an attribute's double quotes. */
void ebb_html_put(ebb_text *out, const char *text);

/* Write the page up to the body, and its end. title is ours, name is cleaned. */
void ebb_html_begin(ebb_text *out, const char *title, const char *name);
void ebb_html_end(ebb_text *out);

/* Writes a sortable table in its own section. numbers: bit i: column i is numbers. columns end in NULL. */
void ebb_html_table(ebb_text *out, const char *id, const char *title, const char *caption,
                    const char *const *columns, uint32_t numbers);
void ebb_html_table_end(ebb_text *out);
const char *ebb_html_others(uint32_t n, uint32_t of); /* for a caption: where the other rows are; "" if
                                                       * there are none */
void ebb_html_name(ebb_text *out, const char *name);  /* a cell */
void ebb_html_n(ebb_text *out, int64_t n, const char *words); /* a cell sorted by n */

/* Only the table, within a section of the caller's. */
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
    int width, height; /* of the drawing, including axes and labels */
} ebb_chart;
typedef enum ebb_mark {
    EBB_MARK_DOT,
    EBB_MARK_SQUARE,
    EBB_MARK_TRIANGLE,
    EBB_MARK_DIAMOND,
    EBB_MARK_DISC,
} ebb_mark;

/* A round step that divides a range into a handful of parts: a power of 2, or 1, 2 or 5 times a power of
 * 10. */
double ebb_axis_step(double range, bool bytes);
ebb_word ebb_axis_word(ebb_axis_unit unit, double at);
/* Writes from <svg> to the axes. An axis without extent is widened. label is ours. */
void ebb_chart_begin(ebb_text *out, ebb_chart *chart, const char *label);
int ebb_chart_x(const ebb_chart *chart, double x);
int ebb_chart_y(const ebb_chart *chart, double y);
bool ebb_chart_shows(const ebb_chart *chart, double x, double y);
/* Write a horizontal or vertical line with a label; nothing if it is off the scale. */
void ebb_chart_level(ebb_text *out, const ebb_chart *chart, const char *class, double y, const char *what);
void ebb_chart_upright(ebb_text *out, const ebb_chart *chart, const char *class, double x,
                       const char *what);
/* Writes a mark up to its title, which the caller prints next. */
void ebb_chart_mark(ebb_text *out, const ebb_chart *chart, ebb_mark shape, const char *class, double x,
                    double y);
void ebb_chart_mark_end(ebb_text *out);
void ebb_chart_swatch(ebb_text *out, ebb_mark shape, const char *class); /* in a drawing of 240 by 240 */

/* ---- parts, in order; a part without content prints nothing ---- */

void ebb_html_glance(ebb_text *out,
                     const ebb_report *report); /* head, verdict, links, tiles, all figures */
void ebb_html_curve(ebb_text *out, const ebb_report *report);
/* Draws the largest EBB_HTML_MAX_BOXES individually and the others aggregated in cells. */
enum { EBB_HTML_MAX_BOXES = 8000 };
void ebb_html_map(ebb_text *out, const ebb_report *report);
void ebb_html_tables(ebb_text *out, const ebb_report *report); /* alive, again */
void ebb_html_search(ebb_text *out, const ebb_report *report);
void ebb_html_batches(ebb_text *out, const ebb_report *report);
void ebb_html_measured(ebb_text *out, const ebb_report *report);

#endif
