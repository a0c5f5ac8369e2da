/* sublinear/select.h: what the selectors need of the pool. */
#ifndef EBB_SUBLINEAR_SELECT_H
#define EBB_SUBLINEAR_SELECT_H

#include "sublinear/search.h"

/* Candidates, when none are asked for. */
int64_t ebb_search_default_effort(const ebb_space *space);
/* A search with an empty pool for request->effort candidates. Close it also when this fails. EBB_NO_MEMORY.
 */
EBB_CHECKED ebb_status ebb_search_open(ebb_search *search, ebb_env *env, const ebb_space *space,
                                       const ebb_select_request *request);
void ebb_search_close(ebb_search *search); /* a zeroed one is allowed */

/* A valid candidate joins the pool if it is better than the pool's worst and no member is worth the same,
 * for that is nearly always a copy; the first one joins whatever it is. The pool is kept sorted, best
 * first. */
void ebb_search_offer(ebb_search *search, const ebb_member *candidate);
/* Scores genes and offers them. Returns their worth. */
ebb_worth ebb_search_offer_genes(ebb_search *search, const uint8_t *genes);
int64_t ebb_search_base_peak(ebb_search *search);
/* Between rounds: reports progress; *go_on is false when the search is over or the time limit
 * ends it (EBB_OK) or the
 * stop flag does (EBB_INTERRUPTED). */
EBB_CHECKED ebb_status ebb_search_goes_on(ebb_search *search, const ebb_select_request *request,
                                          bool *go_on);
/* Nothing is better than the best there is: it fits, and nothing takes less time. */
bool ebb_search_is_over(const ebb_search *search);
/* Or hardly anything is (EBB_CLOSE_PART): it fits, and no more can be gained. */
bool ebb_search_is_close(const ebb_search *search);
/* Candidates after which a search should look at the clock and the stop flag again; whole: they are scored
 * whole in any case. */
uint32_t ebb_search_round(const ebb_search *search, bool whole);

/* Offers no recomputation, the warm genes and all seeds (or those that the request asks for).
 * EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_seed_pool(ebb_search *search, const ebb_select_request *request);

/* Keeps dropped values of a candidate again, those whose recomputation takes longest first and the gaps in
 * which nobody reads them last, while the peak stays within limit_bytes and no time is lost. A candidate
 * above the limit stays as it is. *go_on as ebb_search_goes_on. Hires the workers. EBB_NO_MEMORY. O(genes)
 * candidates. */
EBB_CHECKED ebb_status ebb_keep_again(ebb_search *search, const ebb_select_request *request,
                                      int64_t limit_bytes, uint8_t *genes, bool *go_on);

/* What crosses members of the pool: the joints to cut at and a random stream of its own. */
typedef struct ebb_crossing {
    const uint32_t *joints;
    uint32_t n_joints;
    bool copies; /* children are copies of one parent: EBB_WITHOUT_CROSSOVER */
    ebb_rng rng;
} ebb_crossing;
/* Lives in the search's arena. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_crossing_open(ebb_crossing *crossing, ebb_search *search,
                                         const ebb_select_request *request);
/* child = two of the pool's best, cut at two joints. The pool is not empty and some gene is free. */
void ebb_cross_pool(ebb_crossing *crossing, const ebb_search *search, uint8_t *child);

#endif
