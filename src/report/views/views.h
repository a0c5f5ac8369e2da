/* views: text, JSON, Markdown, trace events and MegEngine's StaticMemoryInfo.
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

/* What other commands' files added: the last part of either view. */
void ebb_report_text_sources(ebb_text *out, const ebb_report *report);
void ebb_report_markdown_sources(ebb_text *out, const ebb_report *report);

/* A name as a code span of Markdown: a backtick in it is shown as ', a bar as a broken one. */
void ebb_markdown_name(ebb_text *out, const char *name);

/* The plot of the text view: rows of eighths, lines of budget and baseline, the phases below. */
void ebb_plot_text(ebb_text *out, const ebb_report *report);

#endif
