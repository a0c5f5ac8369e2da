/* report/html.h: the parts of the page. Private to the room.
 *
 * The page needs nothing from outside: style and script stand in it, and its content security policy allows
 * these two by their hashes and nothing else, so that no text of a plan can become a script, a style or a
 * request. Drawings are SVG made here, in whole units; without the script, hovering shows a drawing's
 * titles and the tables do not sort.
 */
#ifndef EBB_REPORT_HTML_H
#define EBB_REPORT_HTML_H

#include "report/view.h"

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
void ebb_html_name(ebb_text *out, const char *name);          /* a cell */
void ebb_html_n(ebb_text *out, int64_t n, const char *words); /* a cell that is sorted by n */

void ebb_html_curve(ebb_text *out, const ebb_report *report);
/* Draws the largest EBB_HTML_MAX_BOXES one by one and the others summed up by cells. */
enum { EBB_HTML_MAX_BOXES = 8000 };
void ebb_html_map(ebb_text *out, const ebb_report *report);
void ebb_html_tables(ebb_text *out, const ebb_report *report);

#endif
