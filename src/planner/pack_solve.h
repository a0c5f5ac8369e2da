/* planner/pack_solve.h: private to the portfolio: one job as its stages see it.
 *
 *     pack.c        the stages, one after the other
 *     pack_ask.c    what the complete search is asked for, and in which order
 *     pack_judge.c  the bound before, the check after: by plain rows, with nothing that the packers use
 */
#ifndef EBB_PLANNER_PACK_SOLVE_H
#define EBB_PLANNER_PACK_SOLVE_H

#include "planner/pack_fit.h"

typedef struct ebb_packing {
    ebb_env *env;
    const ebb_pack_job *job;
    const ebb_pack_options *options;
    ebb_pack_problem problem;
    ebb_pack_workers workers;
    uint64_t started_ns, deadline_ns; /* 0: none */
    int64_t *offsets, *trial;         /* [n] the best; the stage's own */
    ebb_pack_answer *answer;          /* of offsets; height 0: none yet */
} ebb_packing;

/* The height that ends it. */
int64_t ebb_packing_enough(const ebb_packing *p);
/* It is reached, or time is over. */
bool ebb_packing_is_done(const ebb_packing *p);
/* trial becomes the best. */
void ebb_packing_keep(ebb_packing *p, int64_t height, const char *found_by);
/* The complete search, within the effort; with a capacity that it does not meet, within twice the effort.
 */
EBB_CHECKED ebb_status ebb_packing_search(ebb_packing *p);
/* answer->lower_bound: the most live bytes and the ends of fixed rows. EBB_BAD_INPUT: fixed rows overlap.
 */
EBB_CHECKED ebb_status ebb_packing_bound(ebb_packing *p);
/* EBB_INTERNAL when offsets are no packing of that height. */
EBB_CHECKED ebb_status ebb_packing_check(ebb_packing *p);

#endif
