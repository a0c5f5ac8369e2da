/* sublinear/select.h: what the selectors need of the pool. */
#ifndef EBB_SUBLINEAR_SELECT_H
#define EBB_SUBLINEAR_SELECT_H

#include "sublinear/search.h"

/* A valid candidate joins the pool if it is better than the pool's worst and no member is worth the same,
 * for that is nearly always a copy; the first one joins whatever it is. The pool is kept sorted, best first. */
void ebb_search_offer(ebb_search *search, const ebb_member *candidate);
/* Scores genes and offers them. Returns their worth. */
ebb_worth ebb_search_offer_genes(ebb_search *search, const uint8_t *genes);
int64_t ebb_search_base_peak(ebb_search *search);
/* Between rounds: reports progress; *go_on is false when the time limit ends the search (EBB_OK) or the
 * stop flag does (EBB_INTERRUPTED). */
EBB_CHECKED ebb_status ebb_search_goes_on(ebb_search *search, const ebb_select_request *request,
                                          bool *go_on);
/* Candidates after which a search should look at the clock and the stop flag again. */
uint32_t ebb_search_round(const ebb_search *search);

#endif
