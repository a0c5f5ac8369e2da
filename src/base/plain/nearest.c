/* The word that a misspelt one was meant to be. */
#include "base/plain/plain.h"

enum { LONGEST_WORD = 40, FARTHEST = 3 }; /* bytes; edits: farther is another word */

/* Levenshtein (1966) in the two-row form of Wagner and Fischer (1974): single-byte edits that make one word
 * the other. */
static size_t edit_distance(const char *a, size_t n, const char *b, size_t m) {
    size_t row[LONGEST_WORD + 1];
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

const char *ebb_word_nearest(const char *typed, size_t n, const char *(*word_at)(const void *ctx, size_t i),
                             const void *ctx) {
    const char *best = NULL, *word;
    if (n > LONGEST_WORD) return NULL;
    size_t best_distance = (n / 2 < FARTHEST ? n / 2 : FARTHEST) + 1;
    for (size_t i = 0; (word = word_at(ctx, i)) != NULL; i++) {
        size_t m = strlen(word);
        if (m > LONGEST_WORD) continue;
        size_t d = edit_distance(typed, n, word, m);
        if (d >= best_distance) continue;
        best = word;
        best_distance = d;
    }
    return best;
}
