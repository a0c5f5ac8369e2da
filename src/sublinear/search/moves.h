/* sublinear/search/moves.h: moves a candidate under annealing to a neighbour. */
#ifndef EBB_SUBLINEAR_SEARCH_MOVES_H
#define EBB_SUBLINEAR_SEARCH_MOVES_H

#include "sublinear/search/search.h"

enum { EBB_MAX_CHANGES = 256 }; /* genes of one move; changes beyond this are not made */

typedef struct ebb_gene_change {
    uint32_t gene;
    uint8_t old;
} ebb_gene_change;

typedef struct ebb_annealer {
    ebb_search *search;
    ebb_member *member;
    ebb_evaluator evaluator; /* of the member's genes */
    ebb_gene_change changes[EBB_MAX_CHANGES];
    uint32_t n_changes;
    uint32_t moved_from, moved_to; /* of an op in the member's order; equal: none */
    uint32_t peak_position;
    bool over; /* the current candidate is over the limit */
} ebb_annealer;

/* Changes the member's genes or its order a little and lists the changes, possibly none. The list must be
 * empty before. */
void ebb_move(ebb_annealer *a);
/* Undoes the listed changes, and every change to the evaluator since its mark. */
void ebb_move_undo(ebb_annealer *a);

#endif
