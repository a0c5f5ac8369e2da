/* sublinear/exact/exact.h: searches a small space by branch and bound, for its proved best. */
#ifndef EBB_SUBLINEAR_EXACT_EXACT_H
#define EBB_SUBLINEAR_EXACT_EXACT_H

#include "sublinear/pool/pool.h"

/* Branch and bound over the whole space the graph's own order of ops given, when it is small enough for a
 * try. search->proved: the best in the pool is the best of the space. *go_on: it is not, and another
 * selector continues with the remaining effort. Nodes count as candidates. EBB_INTERRUPTED,
 * EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_select_exact(ebb_search *search, const ebb_select_request *request, bool *go_on);
/* Whether there are no more candidates than the whole effort, so that the exact search will finish. */
bool ebb_select_exact_is_sure(const ebb_search *search, const ebb_select_request *request);

#endif
