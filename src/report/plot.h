/* report/plot.h: the curve of live bytes, cut into columns. Private to the room. */
#ifndef EBB_REPORT_PLOT_H
#define EBB_REPORT_PLOT_H

#include "report/report.h"

/* Column i of n stands for steps [i * n_points / n, ...), at least one; it shows the one with the most live
 * bytes. */
uint32_t ebb_plot_step(const ebb_report *report, uint32_t i, uint32_t n_columns);
/* First step of column i; n_points for i = n_columns. */
uint32_t ebb_plot_lower(const ebb_report *report, uint32_t i, uint32_t n_columns);
/* The top of the scale: the peak, and the total, budget and baseline as far as they are at most twice the
 * peak. > 0. */
int64_t ebb_plot_top(const ebb_report *report);

/* The plot of the text view: rows of eighths, lines of budget and baseline, the phases below. */
void ebb_plot_text(ebb_text *out, const ebb_report *report);

#endif
