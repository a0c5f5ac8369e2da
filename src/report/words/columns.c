/* columns: the curve of live bytes, cut into columns of a drawing. */
#include "report/words/words.h"

/* First step of column i; n_points for i = n_columns. */
static uint32_t column_begin(const ebb_report *r, uint32_t i, uint32_t n_columns) {
    return (uint32_t)((uint64_t)i * r->n_points / n_columns);
}

uint32_t ebb_plot_step(const ebb_report *r, uint32_t i, uint32_t n_columns) {
    uint32_t lower = column_begin(r, i, n_columns), upper = column_begin(r, i + 1, n_columns), best = lower;
    for (uint32_t s = lower + 1; s < upper; s++)
        if (r->steps[s].live_bytes > r->steps[best].live_bytes) best = s;
    return best;
}

int64_t ebb_plot_top(const ebb_report *r) {
    const int64_t lines[] = {r->total_bytes, r->budget_bytes, r->baseline_total_bytes};
    int64_t top = r->peak_bytes > 0 ? r->peak_bytes : 1;
    for (size_t i = 0; i < EBB_COUNT(lines); i++)
        if (lines[i] / 2 <= r->peak_bytes) top = ebb_max_i64(top, lines[i]);
    return top;
}
