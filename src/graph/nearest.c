/* The op that a misspelt name was meant to be. */
#include "graph/parse.h"

const char *ebb_op_nearest(const char *name, size_t n) {
    const char *best = NULL;
    if (n > EBB_LONGEST_WORD) return NULL;
    size_t best_distance = n / 2 < 4 ? n / 2 + 1 : 4; /* farther is another word */
    for (uint32_t i = 0; i < EBB_N_OPS; i++) {
        size_t m = strlen(ebb_ops[i]->name);
        if (m > EBB_LONGEST_WORD) continue;
        size_t d = ebb_edit_distance(name, n, ebb_ops[i]->name, m);
        if (d >= best_distance) continue;
        best = ebb_ops[i]->name;
        best_distance = d;
    }
    return best;
}
