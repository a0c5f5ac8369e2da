/* print: a table of rows as CSV, with the offsets and pools that they were given. */
#include "pack/pack.h"

static void print_cell(ebb_text *text, const char *id) {
    if (!strpbrk(id, ",\" \t\r")) {
        ebb_text_add(text, "%s", id);
        return;
    }
    ebb_text_put(text, "\"", 1);
    for (; *id != '\0'; id++) ebb_text_put(text, *id == '"' ? "\"\"" : id, *id == '"' ? 2 : 1);
    ebb_text_put(text, "\"", 1);
}

static void print_gaps(ebb_text *text, const ebb_rows *rows, uint32_t i) {
    for (uint32_t g = rows->gaps_from[i]; g < rows->gaps_from[i + 1]; g++) {
        ebb_text_add(text, "%s%lld-%lld", g == rows->gaps_from[i] ? "," : " ",
                     (long long)rows->gaps[g].lower, (long long)rows->gaps[g].upper);
        if (rows->windows && rows->windows[g].upper > 0)
            ebb_text_add(text, "@%lld:%lld", (long long)rows->windows[g].lower,
                         (long long)rows->windows[g].upper);
    }
    if (rows->gaps_from[i] == rows->gaps_from[i + 1]) ebb_text_put(text, ",", 1);
}

/* That which it lies in; before it is packed, that which it must. */
static const char *pool_name(const ebb_rows *rows, uint32_t i) {
    return rows->given ? rows->pools[rows->given[i]].name : rows->pool_text[i];
}

void ebb_rows_print(ebb_text *text, const ebb_rows *rows, const int64_t *offsets) {
    bool aligned = false;
    for (uint32_t i = 0; i < rows->n; i++) aligned = aligned || rows->rows[i].alignment != 1;
    bool pools = rows->pool_text || rows->given;
    ebb_text_add(text, "id,lower,upper,size%s%s%s%s%s\n", aligned ? ",alignment" : "",
                 rows->gaps_from ? ",gaps" : "", rows->over_text ? ",may_overwrite" : "",
                 pools ? ",pool" : "", offsets ? ",offset" : "");
    for (uint32_t i = 0; i < rows->n; i++) {
        const ebb_row *row = &rows->rows[i];
        print_cell(text, rows->ids[i]);
        ebb_text_add(text, ",%lld,%lld,%lld", (long long)row->lower, (long long)row->upper,
                     (long long)row->size);
        if (aligned) ebb_text_add(text, ",%lld", (long long)row->alignment);
        if (rows->gaps_from) print_gaps(text, rows, i);
        if (rows->over_text) ebb_text_put(text, ",", 1);
        if (rows->over_text) print_cell(text, rows->over_text[i]);
        if (pools) ebb_text_put(text, ",", 1);
        if (pools) print_cell(text, pool_name(rows, i));
        if (offsets) ebb_text_add(text, ",%lld", (long long)offsets[i]);
        ebb_text_put(text, "\n", 1);
    }
}
