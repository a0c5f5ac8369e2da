/* table: aligned columns. */
#include "tool/out/out.h"

#include <string.h>

void out_row(out_table *table, const char *const cells[OUT_COLUMNS]) {
    if (table->n_rows == OUT_ROWS) return;
    for (uint32_t c = 0; c < OUT_COLUMNS && cells[c]; c++) {
        out_clean(table->cell[table->n_rows][c], sizeof table->cell[0][0], cells[c]);
        if (c >= table->n_columns) table->n_columns = c + 1;
    }
    table->n_rows++;
}

void out_table_print(const out_table *table, FILE *to) {
    int width[OUT_COLUMNS] = {0};
    for (uint32_t r = 0; r < table->n_rows; r++) {
        for (uint32_t c = 0; c < table->n_columns; c++) {
            int n = (int)strlen(table->cell[r][c]);
            if (n > width[c]) width[c] = n;
        }
    }
    for (uint32_t r = 0; r < table->n_rows; r++) {
        uint32_t last = table->n_columns;
        while (last > 1 && table->cell[r][last - 1][0] == '\0') last--;
        for (uint32_t c = 0; c < last; c++) {
            if (c == 0)
                fprintf(to, "%-*s", last == 1 ? 0 : width[c], table->cell[r][c]);
            else if (c == OUT_COLUMNS - 1)
                fprintf(to, "  %s", table->cell[r][c]);
            else
                fprintf(to, "  %*s", width[c], table->cell[r][c]);
        }
        fputc('\n', to);
    }
}
