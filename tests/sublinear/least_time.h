/* The least time of any schedule within a budget, by trying them all. For graphs of a few ops. */
#ifndef EBB_TESTS_SUBLINEAR_LEAST_TIME_H
#define EBB_TESTS_SUBLINEAR_LEAST_TIME_H

#include "graph/pgraph.h"

#define LEAST_TIME_NONE      INT64_MAX /* nothing fits */
#define LEAST_TIME_TOO_LARGE (-1)

/* Any order, any number of runs, any alternatives, bytes of a storage given up one by one. What memory
 * allows here is at least what it allows in a plan: bytes that are no longer read are gone at no cost, and
 * nothing is asked of addresses. */
int64_t least_time(ebb_env *env, const ebb_pgraph *graph, int64_t budget_bytes, int64_t alignment);

#endif
