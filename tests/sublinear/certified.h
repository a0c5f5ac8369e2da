/* Plans with certificates, for the tests of both. */
#ifndef EBB_TESTS_SUBLINEAR_CERTIFIED_H
#define EBB_TESTS_SUBLINEAR_CERTIFIED_H

#include "support.h"

/* A bound and the arena that its text is in. */
typedef struct certified {
    ebb_arena arena;
    ebb_bound bound;
} certified;

certified certify(ebb_env *env, const ebb_pgraph *graph, int64_t budget_bytes, int64_t alignment);
/* The best plan that a short search finds within the transient budget, with its certificate. NULL: none. */
ebb_plan *certified_plan(ebb_env *env, const ebb_pgraph *graph, int64_t transient_bytes);

#endif
