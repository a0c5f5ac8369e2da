/* pack/rows/csv.h: reads a table of rows from CSV text. Private to the reader. */
#ifndef EBB_PACK_ROWS_CSV_H
#define EBB_PACK_ROWS_CSV_H

#include "pack/pack.h"

typedef enum ebb_column {
    COLUMN_ID,
    COLUMN_LOWER,
    COLUMN_UPPER,
    COLUMN_SIZE,
    COLUMN_ALIGNMENT,
    COLUMN_OFFSET,
    COLUMN_GAPS,
    COLUMN_OVER,
    COLUMN_POOL,
    COLUMN_OTHER,
} ebb_column;

#define EBB_CSV_MAX_COLUMNS 64

typedef struct ebb_csv {
    ebb_env *env;
    const char *where;
    const char *at, *end; /* the rest of the text */
    uint32_t line;        /* of the current line, from 1 */
    char *field;          /* the field that was read, NUL-terminated; room for the longest line */
    bool line_done;       /* the line's last field was read */
    ebb_column columns[EBB_CSV_MAX_COLUMNS];
    uint32_t n_columns;
    int64_t sum_bytes; /* of sizes and alignments so far: no offset can be larger */
    EBB_ARRAY(ebb_steps) gaps;
    EBB_ARRAY(ebb_window) windows; /* of each gap */
    bool any_window;
} ebb_csv;

/* ---- csv_field.c: lines and fields ---- */

/* Counts the lines that are not blank, and finds the bytes of the longest. */
uint32_t ebb_csv_count_lines(const char *text, const char *end, size_t *longest);
/* Skips the byte order mark with which spreadsheets begin UTF-8. */
void ebb_csv_skip_mark(ebb_csv *csv);
/* Goes to the next line that is not blank; false at the end. */
bool ebb_csv_next_line(ebb_csv *csv);
/* Reads the next field of this line into csv->field and goes past its comma or the line's end. */
EBB_CHECKED ebb_status ebb_csv_next_field(ebb_csv *csv);

/* ---- csv_gaps.c: the column of gaps ---- */

/* Reads gaps separated by spaces; they are checked against the row after the whole line was read. */
EBB_CHECKED ebb_status ebb_csv_read_gaps(ebb_csv *csv);
/* Checks the gaps from number `from` on against the row. */
EBB_CHECKED ebb_status ebb_csv_check_gaps(const ebb_csv *csv, const ebb_row *row, size_t from);

#endif
