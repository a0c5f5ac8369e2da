/* The op that a misspelt name was meant to be. */
#include "graph/parse.h"

#define LONGEST 32

/* Edit distance (Levenshtein 1966; the two-row form of Wagner and Fischer 1974). n and m are at most
 * LONGEST. */
static size_t distance(const char *a, size_t n, const char *b, size_t m) {
    size_t row[LONGEST + 1];
    for (size_t j = 0; j <= m; j++) row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t change = diagonal + (a[i - 1] != b[j - 1]);
            size_t edit = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = change < edit ? change : edit;
        }
    }
    return row[m];
}

const char *ebb_op_nearest(const char *name, size_t n) {
    const char *best = NULL;
    if (n > LONGEST) return NULL;
    size_t best_distance = n / 2 < 4 ? n / 2 + 1 : 4; /* farther is another word */
    for (uint32_t i = 0; i < EBB_N_OPS; i++) {
        size_t m = strlen(ebb_ops[i]->name);
        if (m > LONGEST) continue;
        size_t d = distance(name, n, ebb_ops[i]->name, m);
        if (d >= best_distance) continue;
        best = ebb_ops[i]->name;
        best_distance = d;
    }
    return best;
}
