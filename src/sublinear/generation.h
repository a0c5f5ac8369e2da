/* sublinear/generation.h: members that are annealed side by side, one on each island. */
#ifndef EBB_SUBLINEAR_GENERATION_H
#define EBB_SUBLINEAR_GENERATION_H

#include "sublinear/select.h"

typedef struct ebb_generation {
    ebb_search *search;
    const ebb_select_request *request;
    ebb_member *islands;
    ebb_anneal_plan *plans; /* one for each island */
    bool *warm;             /* likewise: is it lukewarm? */
    uint32_t n_islands;
} ebb_generation;

/* In the search's arena. Each island gets its own random stream: of the request's seed, from first_stream
 * on. Workers are not hired. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_generation_open(ebb_generation *g, ebb_search *search,
                                           const ebb_select_request *request, uint32_t n_islands,
                                           uint64_t first_stream);
/* Anneals what the islands hold from hot or from lukewarm, n_stage candidates in each of EBB_STAGES stages,
 * in parts short enough for a look at the clock and the stop flag between them. Each island has its best
 * afterwards. *go_on is false when the search is to end. EBB_NO_MEMORY, EBB_INTERRUPTED. */
enum { EBB_STAGES = 64 };
EBB_CHECKED ebb_status ebb_generation_run(ebb_generation *g, uint32_t n_stage, bool *go_on);

#endif
