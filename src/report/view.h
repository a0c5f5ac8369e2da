/* report/view.h: the views. Private to the room.
 *
 * A view prints a report into a text and computes nothing that another view would have to compute too. */
#ifndef EBB_REPORT_VIEW_H
#define EBB_REPORT_VIEW_H

#include "report/report.h"

void ebb_report_text(ebb_text *out, const ebb_report *report);
void ebb_report_json(ebb_text *out, const ebb_report *report);
/* Members "measured", "search", "devices" and "batches". */
void ebb_report_json_sources(ebb_json_out *json, const ebb_report *report);
void ebb_report_markdown(ebb_text *out, const ebb_report *report);
void ebb_report_html(ebb_text *out, const ebb_report *report);
void ebb_report_trace(ebb_text *out, const ebb_report *report);
void ebb_report_megengine(ebb_text *out, const ebb_report *report);

/* What other commands' files added: the last part of either view. */
void ebb_report_text_sources(ebb_text *out, const ebb_report *report);
void ebb_report_markdown_sources(ebb_text *out, const ebb_report *report);

/* ---- rows that the views for people share
 * -------------------------------------------------------------------- */

/* A row of the verdict card: what, its exact figure, and the figure in words. */
typedef struct ebb_card_row {
    const char *key, *name; /* key: as in ebb.report/1's "verdict" */
    bool present;           /* else the words say why there is no figure */
    int64_t figure;         /* bytes, nanoseconds or a count */
    ebb_word words;
    const char *text; /* in place of the words, when not NULL: a cleaned name, which may be long */
} ebb_card_row;
enum { EBB_CARD_ROWS = 28 };
typedef struct ebb_card {
    ebb_word verdict; /* "fits: 27.30 MiB below its budget" */
    ebb_card_row rows[EBB_CARD_ROWS];
    uint32_t n_rows;
} ebb_card;
const char *ebb_card_words(const ebb_card_row *row);
void ebb_card_make(const ebb_report *report, ebb_card *out);

/* "28.53 MiB, +1.20 ms", or why it cannot be. */
ebb_word ebb_word_dropped(const ebb_report_alive *row);
/* "1.20 MiB/ms"; "no time" for -1. */
ebb_word ebb_word_rate(int64_t bytes_per_ms);

/* Predicted beside measured; 0 rows when nothing was measured. Times of ops: when the run was profiled. */
typedef struct ebb_compared_row {
    const char *name;
    bool is_time;
    int64_t predicted, measured;
} ebb_compared_row;
enum { EBB_REPORT_KINDS = 100 }; /* of a profile, most that a view for people shows */
enum { EBB_COMPARED_ROWS = 6 };
uint32_t ebb_report_compared(const ebb_report *report, ebb_compared_row rows[EBB_COMPARED_ROWS]);

#endif
