/* sublinear/trim.h: runs that can be left out after all.
 *
 * A gap has one state, so a value that is made again at several places of it is held either from the first
 * of them on or nowhere. Between two of them there may be room all the same:
 *
 *     steps        f . f . . . f . .       the second run of f goes when its first life can last so long
 *     live bytes   ######____######        within the limit
 *
 * What only such a run needed goes with it. Nothing is ever slower, or above the limit.
 */
#ifndef EBB_SUBLINEAR_TRIM_H
#define EBB_SUBLINEAR_TRIM_H

#include "sublinear/search.h"

typedef struct ebb_trimmed {
    ebb_id *steps; /* in the arena; of the space's order */
    uint32_t n_steps;
    ebb_score score;
} ebb_trimmed;

#define EBB_TRIM_WORK INT64_C(40000000) /* half a second */
/* Plays the genes, which are valid and stay within limit_bytes, and leaves out runs that are not first
 * ones, dearest first, as long as the peak stays within. *work: steps of tries that are left to all
 * candidates of an answer together; what comes after it is used up is not tried. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_trim(ebb_arena *arena, ebb_scorer *scorer, const ebb_space *space,
                                const uint8_t *genes, int64_t limit_bytes, int64_t *work, ebb_trimmed *out);
/* The steps as they are, nothing left out. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_trim_nothing(ebb_arena *arena, ebb_scorer *scorer, const uint8_t *genes,
                                        int64_t limit_bytes, ebb_trimmed *out);

#endif
