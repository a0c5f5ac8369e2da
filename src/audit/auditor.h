/* audit/auditor.h: what the stages of the audit share. Private to the audit.
 *
 * The audit proves a plan from the plan alone. It stands on the planning graph and base only; nothing here
 * may be shared with what makes plans. Every fault is EBB_VIOLATION: one line with the step, the buffer and
 * the numbers.
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
    uint32_t *update_in;  /* position of what it replaces; EBB_NONE when it is no update */
    bool *persistent;     /* lives in the persistent region */
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

/* Must run by itself. An optional op must, too, when what it makes is asked for at the end. */
bool ebb_audit_is_needed(const ebb_pgraph *graph, const ebb_pop *op);

/* The stages, in this order: each may lean on what the ones before it have proved. */

/* Ids, indices and list lengths; sizes small enough for sums of two. */
EBB_CHECKED ebb_status ebb_audit_form(ebb_auditor *a);
/* Which ops run, how often, in what order, by which alternative. */
EBB_CHECKED ebb_status ebb_audit_schedule(ebb_auditor *a);
/* Buffers against values: who writes and reads them, lifetimes, regions, alignment. Fills writer. */
EBB_CHECKED ebb_status ebb_audit_lives(ebb_auditor *a);
/* The steps in order, with the last writer of every byte. Fills joined. */
EBB_CHECKED ebb_status ebb_audit_bytes(ebb_auditor *a);
/* The plan's sums. */
EBB_CHECKED ebb_status ebb_audit_figures(ebb_auditor *a);
/* The certificate's proof. */
EBB_CHECKED ebb_status ebb_audit_bound(ebb_auditor *a);

#endif
