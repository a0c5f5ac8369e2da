/* plot: the curve of live bytes as text. */
#include "report/views/views.h"
#include "report/words/words.h"

enum { COLUMNS = 72, ROWS = 14 };

/* How many eighths of the whole height; for lines, in which row of eight they lie. What is above the top
 * is just above it. */
static int eighths(int64_t bytes, int64_t top) {
    if (bytes > top) return 8 * ROWS + 8;
    return (int)((double)bytes / (double)top * ROWS * 8 + 0.5);
}

/* A cell is filled up to its column's height; a line shows where it is empty. */
static void print_row(ebb_text *out, const ebb_report *r, const int *height, uint32_t n, int row,
                      int64_t top) {
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    int budget = r->budget_bytes < 0 ? -1 : (eighths(r->budget_bytes, top) - 1) / 8;
    int baseline = (eighths(r->baseline_total_bytes, top) - 1) / 8;
    const char *empty = row == budget ? "╌" : row == baseline ? "·" : " ";
    for (uint32_t i = 0; i < n; i++) {
        int fill = height[i] - 8 * row;
        ebb_text_add(out, "%s", fill <= 0 ? empty : blocks[fill < 8 ? fill : 8]);
    }
    if (row == budget) ebb_text_add(out, "  budget %s", ebb_word_bytes(r->budget_bytes).text);
    if (row == baseline)
        ebb_text_add(out, "  without recomputation %s", ebb_word_bytes(r->baseline_total_bytes).text);
    ebb_text_add(out, "\n");
}

static void print_phases(ebb_text *out, const ebb_report *r, uint32_t n) {
    static const char letters[] = {[EBB_FORWARD] = 'F', [EBB_BACKWARD] = 'B', [EBB_UPDATE] = 'U'};
    ebb_text_add(out, "%11s  ", "");
    for (uint32_t i = 0; i < n; i++)
        ebb_text_add(out, "%c", letters[r->steps[ebb_plot_step(r, i, n)].phase]);
    ebb_text_add(out, "\n%11s  a column's highest step: F forward, B backward, U update\n", "");
}

/* A line that is not there must not look like one that does not exist. */
static void print_off_scale(ebb_text *out, const ebb_report *r, int64_t top) {
    if (r->budget_bytes > top)
        ebb_text_add(out, "%11s  above the scale: budget %s\n", "", ebb_word_bytes(r->budget_bytes).text);
    if (r->baseline_total_bytes > top)
        ebb_text_add(out, "%11s  above the scale: without recomputation %s\n", "",
                     ebb_word_bytes(r->baseline_total_bytes).text);
}

void ebb_plot_text(ebb_text *out, const ebb_report *r) {
    uint32_t n = r->n_points < COLUMNS ? r->n_points : COLUMNS;
    int64_t top = ebb_plot_top(r);
    int height[COLUMNS];
    for (uint32_t i = 0; i < n; i++) {
        int64_t live = r->steps[ebb_plot_step(r, i, n)].live_bytes;
        height[i] = eighths(live, top);
        if (live > 0 && height[i] == 0) height[i] = 1;
    }
    for (int row = ROWS - 1; row >= 0; row--) {
        ebb_text_add(out, "%11s  ", row == ROWS - 1 ? ebb_word_bytes(top).text : row == 0 ? "0 B" : "");
        print_row(out, r, height, n, row, top);
    }
    print_phases(out, r, n);
    print_off_scale(out, r, top);
}
