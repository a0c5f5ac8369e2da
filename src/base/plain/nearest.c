/* The word that a misspelt one was meant to be. */
#include "base/plain/plain.h"

enum { LONGEST_WORD = 40, FARTHEST = 3 }; /* bytes; edits: farther is another word */

/* Levenshtein (1966) by the rows of Wagner and Fischer (1974): single-byte edits that make one word the
 * other; neighbours that change places are one (Damerau, 1964; each byte in one edit at most). */
static size_t edit_distance(const char *a, size_t n, const char *b, size_t m) {
    size_t rows[3][LONGEST_WORD + 1], *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= m; j++) before[j] = last[j] = j;
    for (size_t i = 1; i <= n; i++) {
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            const size_t change = last[j - 1] + (a[i - 1] != b[j - 1]);
            const size_t edit = (last[j] < row[j - 1] ? last[j] : row[j - 1]) + 1;
            row[j] = change < edit ? change : edit;
            const bool turned = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (turned && before[j - 2] + 1 < row[j]) row[j] = before[j - 2] + 1;
        }
        size_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[m];
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
