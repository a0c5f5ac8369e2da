/* What the tests of plan files and of the audit share: plans written by hand, with ' for ", and edits of
 * them.
 *
 * STEP(n) and BUF(n) put a member that the reader does not know at the start of a line, so that an edit can
 * name it.
 */
#ifndef EBB_TESTS_PLAN_TEXT_H
#define EBB_TESTS_PLAN_TEXT_H

#include "plan/plan.h"
#include "support/env.h"

/* The parts of a plan file. */
typedef struct plan_text {
    const char *name, *fixed_bytes, *values, *ops, *steps, *buffers, *figures;
} plan_text;

/* One run: op, alternative, recompute, reads, writes, scratch. */
#define STEP(n, op, alternative, recompute, reads, writes, offset, bytes)                                 \
    "{'step': " #n ", 'op': " #op ", 'alternative': " #alternative ", 'recompute': " #recompute           \
    ", 'reads': " reads ", 'writes': " writes ", 'scratch_offset': " #offset ", 'scratch_bytes': " #bytes \
    "}"
#define BUF(id, value, region, offset, bytes, lower, upper)                            \
    "{'id': " #id ", 'value': " #value ", 'region': '" #region "', 'offset': " #offset \
    ", 'bytes': " #bytes ", 'lower': " #lower ", 'upper': " #upper "}"

typedef struct edit {
    const char *find, *replace; /* find occurs exactly once */
} edit;
#define MAX_EDITS 8

/* Grown in place: the plan with its edits, ' turned into ". */
ebb_text edit_plan(ebb_env *env, const plan_text *plan, const edit *edits, size_t n);
/* The same, read: fails the test when it is no plan. */
ebb_plan *parse_edited(ebb_env *env, const plan_text *plan, const edit *edits, size_t n);

#endif
