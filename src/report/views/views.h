/* views: prints a report as text, JSON, Markdown, trace events or MegEngine's StaticMemoryInfo.
 *
 * A view prints a report into a text and computes nothing that another view would have to compute too. */
#ifndef EBB_REPORT_VIEWS_H
#define EBB_REPORT_VIEWS_H

#include "report/value/value.h"

void ebb_report_text(ebb_text *out, const ebb_report *report);
void ebb_report_json(ebb_text *out, const ebb_report *report);
/* Members "measured", "search", "devices" and "batches". */
void ebb_report_json_sources(ebb_json_out *json, const ebb_report *report);
void ebb_report_markdown(ebb_text *out, const ebb_report *report);
void ebb_report_trace(ebb_text *out, const ebb_report *report);
void ebb_report_megengine(ebb_text *out, const ebb_report *report);

/* The last part of either view: figures from other commands' files. */
void ebb_report_text_sources(ebb_text *out, const ebb_report *report);
void ebb_report_markdown_sources(ebb_text *out, const ebb_report *report);

/* Writes a name as a Markdown code span, with ' for a backtick and a broken bar for a bar. */
void ebb_markdown_name(ebb_text *out, const char *name);

/* Draws the text view's plot: rows of eighths, lines for budget and baseline, the phases below. */
void ebb_plot_text(ebb_text *out, const ebb_report *report);

#endif
