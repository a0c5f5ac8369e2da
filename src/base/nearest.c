/* The word that a misspelt one was meant to be. */
#include "base/base.h"

/* Levenshtein (1966) in the two-row form of Wagner and Fischer (1974). */
size_t ebb_edit_distance(const char *a, size_t n, const char *b, size_t m) {
    size_t row[EBB_LONGEST_WORD + 1];
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

const char *ebb_word_nearest(const char *typed, const char *const *words, size_t n_words) {
    const char *best = NULL;
    size_t n = strlen(typed);
    if (n > EBB_LONGEST_WORD) return NULL;
    size_t best_distance = n / 2 < 4 ? n / 2 + 1 : 4; /* farther is another word */
    for (size_t i = 0; i < n_words; i++) {
        size_t m = strlen(words[i]);
        if (m > EBB_LONGEST_WORD) continue;
        size_t d = ebb_edit_distance(typed, n, words[i], m);
        if (d >= best_distance) continue;
        best = words[i];
        best_distance = d;
    }
    return best;
}
