/* words: formats figures, names, reasons and rows for all views, so that they are the same everywhere. */
#ifndef EBB_REPORT_WORDS_H
#define EBB_REPORT_WORDS_H

#include "report/value/value.h"

typedef struct ebb_word {
    char text[48];
} ebb_word;
ebb_word ebb_word_bytes(int64_t bytes);                /* "28.53 MiB"; "-" before it when negative */
ebb_word ebb_word_time(int64_t ns);                    /* "12.30 ms" */
ebb_word ebb_word_change(int64_t now, int64_t before); /* "+14.6 %", "-" when before is 0 */

/* A name as views may show it, in arena: at most EBB_NAME_CODES code points, with an ellipsis if truncated;
 * invalid UTF-8, and every control, bidirectional, zero-width, private, tag and non-character becomes
 * U+FFFD. This is safe for terminals; each view escapes < > & and the like itself. NULL when memory is
 * out. */
#define EBB_NAME_CODES 96
const char *ebb_report_name(ebb_arena *arena, const char *name);

/* Writes a sentence that explains a life: "kept: backward reads it in step 431; ...". */
void ebb_report_why(ebb_text *text, const ebb_report *report, ebb_id buffer);

/* ---- rows that the views for people share ---- */

/* A row of the verdict card: its name, its exact figure, and the figure as text. */
typedef struct ebb_card_row {
    const char *key, *name; /* key: as in ebb.report/1's "verdict" */
    bool present;           /* else the words say why there is no figure */
    int64_t figure;         /* bytes, nanoseconds or a count */
    ebb_word words;
    const char *text; /* if not NULL, replaces the words: a cleaned name, which may be long */
} ebb_card_row;
enum { EBB_CARD_ROWS = 28 };
typedef struct ebb_card {
    ebb_word verdict; /* "fits: 27.30 MiB below its budget" */
    ebb_card_row rows[EBB_CARD_ROWS];
    uint32_t n_rows;
} ebb_card;
const char *ebb_card_words(const ebb_card_row *row);
void ebb_card_make(const ebb_report *report, ebb_card *out);

/* "28.53 MiB, +1.20 ms", or why it cannot be dropped. */
ebb_word ebb_word_dropped(const ebb_report_alive *row);
/* "1.20 MiB/ms"; "no time" for -1. */
ebb_word ebb_word_rate(int64_t bytes_per_ms);

/* Rows of predicted and measured figures; 0 rows without measurements. Times of ops only if the run was
 * profiled. */
typedef struct ebb_compared_row {
    const char *name;
    bool is_time;
    int64_t predicted, measured;
} ebb_compared_row;
enum { EBB_REPORT_KINDS = 100 }; /* most kinds of a profile shown in a view for people */
enum { EBB_COMPARED_ROWS = 6 };
uint32_t ebb_report_compared(const ebb_report *report, ebb_compared_row rows[EBB_COMPARED_ROWS]);

/* ---- the curve of live bytes, cut into columns ---- */

/* Column i of n covers the steps [i * n_points / n, ...), at least one; returns the one with the most live
 * bytes. */
uint32_t ebb_plot_step(const ebb_report *report, uint32_t i, uint32_t n_columns);
/* The top of the scale: the peak, or the total, budget or baseline if larger and at most twice the peak. >
 * 0. */
int64_t ebb_plot_top(const ebb_report *report);

#endif
