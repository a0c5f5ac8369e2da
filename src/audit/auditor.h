/* audit/auditor.h: declares what the stages of the audit share. Private to the audit.
 *
 * The audit proves a plan from the plan alone. It uses only the planning graph and base, and shares nothing
 * with the code that makes plans. Every fault is EBB_VIOLATION: one line with the step, the buffer and the
 * numbers.
 */
#ifndef EBB_AUDIT_AUDITOR_H
#define EBB_AUDIT_AUDITOR_H

#include "plan/plan.h"

typedef struct ebb_auditor {
    ebb_env *env;
    const ebb_plan *plan;
    const ebb_pgraph *graph;
    ebb_arena arena; /* owns the tables */
    /* Of values, from the graph. */
    uint32_t *view_in; /* position of the base among its producer's inputs; EBB_NONE when it is no view */
    int64_t *view_offset; /* bytes from the base's start */
    uint32_t *update_in;  /* position of the value that it replaces; EBB_NONE when it is no update */
    bool *persistent;     /* in the persistent region */
    bool *lasting;        /* an output, or the last life of a param or state */
    /* Of buffers. */
    uint32_t *writer; /* step that writes it; EBB_NONE when it is given */
    ebb_id
        *joined; /* buffer whose bytes it takes over: a view's base, an overwritten input; else EBB_NONE */
} ebb_auditor;

/* For texts: `step 7 "relu_bw"`, `buffer 3 "x"`, `op 2 "conv"`. */
#define AUDIT_STEP                     "step %u \"%.60s\""
#define AUDIT_STEP_ARGS(a, s)          (s), (a)->graph->ops[(a)->plan->steps[s].op].name
#define AUDIT_BUFFER                   "buffer %u \"%.60s\""
#define AUDIT_BUFFER_ARGS(a, b)        (b), (a)->graph->values[(a)->plan->buffers[b].value].name
#define AUDIT_OP                       "op %u \"%.60s\""
#define AUDIT_OP_ARGS(a, op)           (op), (a)->graph->ops[op].name
#define AUDIT_RANGE                    "[%lld, %lld)"
#define AUDIT_RANGE_ARGS(start, bytes) (long long)(start), (long long)((start) + (bytes))

/* Whether an op must run regardless of readers; an optional one must if a result is needed at the end. */
bool ebb_audit_is_needed(const ebb_pgraph *graph, const ebb_pop *op);

/* The stages, in this order: each may rely on what the earlier ones have proved. */

/* Checks ids, indices and list lengths, and that sums of two sizes do not overflow. */
EBB_CHECKED ebb_status ebb_audit_form(ebb_auditor *a);
/* Checks which ops run, how often, in what order, by which alternative. */
EBB_CHECKED ebb_status ebb_audit_schedule(ebb_auditor *a);
/* Checks buffers against values: writers and readers, lifetimes, regions, alignment. Fills writer. */
EBB_CHECKED ebb_status ebb_audit_lives(ebb_auditor *a);
/* Checks the steps in order, tracking the last writer of every byte. Fills joined. */
EBB_CHECKED ebb_status ebb_audit_bytes(ebb_auditor *a);
/* Checks the plan's sums. */
EBB_CHECKED ebb_status ebb_audit_figures(ebb_auditor *a);
/* Checks the certificate's proof. */
EBB_CHECKED ebb_status ebb_audit_bound(ebb_auditor *a);

#endif
