/* sublinear/space/maker.h: declares what the two halves of making a space share. Private to them. */
#ifndef EBB_SUBLINEAR_SPACE_MAKER_H
#define EBB_SUBLINEAR_SPACE_MAKER_H

#include "sublinear/space/space.h"

typedef struct ebb_space_maker {
    ebb_env *env;
    ebb_space *space;
    const ebb_pgraph *graph;
    const ebb_id **readers; /* per value: base positions of distinct reading ops, ascending */
    uint32_t *n_readers;
} ebb_space_maker;

/* Whether a way has its own lists; otherwise it shares those of way 0. */
static inline bool ebb_space_own_inputs(const ebb_pop *op, uint32_t way) {
    return way == 0 || op->alternatives[way - 1].has_inputs;
}
static inline bool ebb_space_own_pairs(const ebb_pop *op, uint32_t way) {
    return way == 0 || op->alternatives[way - 1].has_in_place;
}

/* Makes the genes from the finished tables: readers, gaps, waiting ops, and the candidate without
 * recomputation. False when memory is out. */
bool ebb_space_make_genes(ebb_space_maker *m);
/* Gives gaps with a late part their late position, and LATE. False when memory is out. O(values +
 * edges). */
bool ebb_space_find_late(ebb_space_maker *m);

#endif
