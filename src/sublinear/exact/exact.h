/* sublinear/exact/exact.h: branch and bound over a small space, to the proved best of it. */
#ifndef EBB_SUBLINEAR_EXACT_EXACT_H
#define EBB_SUBLINEAR_EXACT_EXACT_H

#include "sublinear/pool/pool.h"

/* Branch and bound over the whole space the graph's own order of ops given, when it is
 * small enough for a try. search->proved: the best in the pool is the best there is. *go_on: it is not, and
 * another selector has its turn, with the effort that is left. Nodes count as candidates. EBB_INTERRUPTED,
 * EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_select_exact(ebb_search *search, const ebb_select_request *request, bool *go_on);
/* There are no more candidates than the effort (all of it, whatever the part): the exact search is sure to
 * come to its end. */
bool ebb_select_exact_is_sure(const ebb_search *search, const ebb_select_request *request);

#endif
