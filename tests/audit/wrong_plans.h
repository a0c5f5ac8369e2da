/* Plans that are wrong in one thing. Each row takes a plan that is right and breaks one thing; what must
 * change with it (lifetimes, sums) is changed too, so that only the fault that is named is left. */
#ifndef EBB_TESTS_AUDIT_WRONG_PLANS_H
#define EBB_TESTS_AUDIT_WRONG_PLANS_H

#include "../plan/plans.h"

typedef struct wrong_plan {
    const char *name;
    const plan_text *plan;
    edit edits[MAX_EDITS];
    const char *words[3];
} wrong_plan;

/* Each is refused, with all of its words. */
void expect_refused(const wrong_plan *rows, size_t n);

/* A copy of the small plan whose tables may be changed. */
typedef struct open_plan {
    ebb_plan *plan;
    ebb_plan_step *steps;
    ebb_buffer *buffers;
} open_plan;

open_plan open_small_plan(ebb_env *env);

#endif
