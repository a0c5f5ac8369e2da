/* out: prints and writes a command's output: JSON, files written whole or not at all, words and tables for
 * people, and progress. */
#ifndef EBB_TOOL_OUT_H
#define EBB_TOOL_OUT_H

#include "tool/session/session.h"

/* ---- JSON: a document in memory, one member per line ---- */

typedef struct out_json {
    FILE *to; /* into text; NULL when memory ran out */
    char *text;
    size_t n;
    uint32_t depth;
    bool first; /* nothing follows the last bracket yet */
} out_json;

/* Begins {"schema": schema; out_json_end ends it. */
void out_json_begin(out_json *json, const char *schema);
void out_open(out_json *json, const char *key, char bracket);
void out_close(out_json *json, char bracket);
void out_integer(out_json *json, const char *key, int64_t value);
void out_real(out_json *json, const char *key, double value); /* null when it is not finite */
void out_bool(out_json *json, const char *key, bool value);
void out_text(out_json *json, const char *key, const char *value); /* NULL prints null */

/* Writes "costs": {"machine", "id", "measured", "calibrated", "built_in"} of the plan, or null. */
void out_costs(out_json *json, const ebb_plan_summary *summary);

/* Ends the document and writes it to the file of -o and, with --json, to standard output. Always frees it.
 * EBB_IO, EBB_NO_MEMORY. */
EBB_CHECKED ebb_status out_json_end(tool *t, out_json *json);
void out_json_drop(out_json *json); /* frees it unprinted */

/* Writes a file whole or not at all; devices and pipes are written directly. EBB_IO. */
EBB_CHECKED ebb_status out_file(tool *t, const char *path, const char *bytes, size_t n);
/* Flushes standard output. EBB_IO when anything was lost. */
EBB_CHECKED ebb_status out_finish(tool *t);

/* ---- words for people ---- */

typedef struct out_word {
    char text[64];
} out_word;
out_word out_bytes(int64_t bytes); /* "10.98 GiB" */
/* "476.84 MiB (500000000 bytes)", and as typed if in other units: "(500MB, ..". */
out_word out_budget(const tool_args *args, int64_t bytes);
out_word out_time(int64_t ns);                    /* "12.3 ms" */
out_word out_change(int64_t now, int64_t before); /* "-64.1 %" */
out_word out_count(int64_t n);
const char *out_phase(ebb_phase phase); /* "backward" */
/* Replaces code points that no line may show (ebb_text_shown), and invalid UTF-8, by '?', because names
 * come from files. Truncates between code points; out_safe at 4095 bytes. */
void out_clean(char *to, size_t size, const char *text);
void out_safe(FILE *to, const char *text);

/* A table: the first and the sixth column are left-aligned, the others right-aligned. */
enum { OUT_COLUMNS = 6, OUT_ROWS = 72 };
typedef struct out_table {
    char cell[OUT_ROWS][OUT_COLUMNS][256]; /* longer ones are truncated */
    uint32_t n_rows, n_columns;
} out_table;
/* Adds a row with the cells up to the first NULL; at most OUT_ROWS rows. */
void out_row(out_table *table, const char *const cells[OUT_COLUMNS]);
void out_table_print(const out_table *table, FILE *to);

/* ---- several plans, and views ---- */

/* Makes the folder of --plans, if one was given. EBB_IO. */
EBB_CHECKED ebb_status tool_plans_folder(tool *t);
/* Writes DIR/MODEL.WHICH.plan.json, DIR being that folder or this one, and its name into path. EBB_IO. */
EBB_CHECKED ebb_status tool_plans_write(tool *t, const ebb_plan *plan, const char *which,
                                        char path[PATH_MAX]);

/* The view chosen by the flags; otherwise, with -o, by its suffix or JSON, as in every command; otherwise
 * text. EBB_USAGE: flags choose two. */
EBB_CHECKED ebb_status tool_format(tool *t, ebb_report_format *out);

/* ---- progress, on standard error ---- */

/* A bar when standard error is a terminal, otherwise a line every 10 s; with =json, an ebb.progress/1 on
 * each line, at least 500 ms apart. */
typedef enum tool_progress_kind {
    TOOL_PROGRESS_NONE,
    TOOL_PROGRESS_BAR,
    TOOL_PROGRESS_LINES,
    TOOL_PROGRESS_JSON
} tool_progress_kind;
typedef struct tool_progress {
    tool_progress_kind kind;
    bool drawn, untold;          /* untold: something happened since the last line */
    int64_t begin_ns, search_ns; /* start of everything, and of the current search */
    int64_t last_ns, n_searches; /* of the last line; searches so far */
    int64_t done, total;         /* candidates of the current search */
    double added, least;         /* of the best so far, and the lower bound; -1: none, unknown */
    const char *aim;             /* of the current search */
} tool_progress;
void tool_progress_begin(tool_progress *progress, const tool *t, ebb_options *options);
void tool_progress_end(tool_progress *progress); /* wipes the bar; prints JSON's last state */

#endif
