/* The audit's first two stages: the plan's form, and its schedule against the graph's rules. O(steps +
 * edges). */
#include "audit/auditor.h"

static ebb_status check_ids(const ebb_auditor *a, uint32_t s, const char *list, const ebb_id *ids,
                            uint32_t n, uint32_t wanted) {
    if (n != wanted)
        return ebb_fail(a->env, EBB_VIOLATION, AUDIT_STEP " %s %u buffers, but its op has %u",
                        AUDIT_STEP_ARGS(a, s), list, n, wanted);
    for (uint32_t k = 0; k < n; k++)
        if (ids[k] >= a->plan->n_buffers)
            return ebb_fail(a->env, EBB_VIOLATION,
                            AUDIT_STEP " %s buffer %u at position %u, but there are %u",
                            AUDIT_STEP_ARGS(a, s), list, ids[k], k, a->plan->n_buffers);
    return EBB_OK;
}

static ebb_status check_step_form(const ebb_auditor *a, uint32_t s) {
    const ebb_plan_step *step = &a->plan->steps[s];
    if (step->op >= a->graph->n_ops)
        return ebb_fail(a->env, EBB_VIOLATION, "step %u runs op %u, but the graph has %u", s, step->op,
                        a->graph->n_ops);
    const ebb_pop *op = &a->graph->ops[step->op];
    if (step->alternative != EBB_NONE && step->alternative >= op->n_alternatives)
        return ebb_fail(a->env, EBB_VIOLATION, AUDIT_STEP " takes alternative %u, but its op has %u",
                        AUDIT_STEP_ARGS(a, s), step->alternative, op->n_alternatives);
    ebb_status status =
        check_ids(a, s, "reads", step->reads, step->n_reads, ebb_pop_under(op, step->alternative).n_in);
    return status == EBB_OK ? check_ids(a, s, "writes", step->writes, step->n_writes, op->n_out) : status;
}

ebb_status ebb_audit_form(ebb_auditor *a) {
    const ebb_plan *plan = a->plan;
    int64_t alignment = plan->alignment, most = INT64_MAX / 4;
    if (alignment < 1 || alignment > most || (alignment & (alignment - 1)) != 0)
        return ebb_fail(a->env, EBB_VIOLATION, "alignment %lld is not a power of two",
                        (long long)alignment);
    if (plan->arena_bytes < 0 || plan->arena_bytes > most || plan->persistent_bytes < 0 ||
        plan->persistent_bytes > most)
        return ebb_fail(a->env, EBB_VIOLATION, "regions of %lld and %lld bytes: neither can be",
                        (long long)plan->arena_bytes, (long long)plan->persistent_bytes);
    for (ebb_id b = 0; b < plan->n_buffers; b++) {
        const ebb_buffer *buffer = &plan->buffers[b];
        if (buffer->value >= a->graph->n_values)
            return ebb_fail(a->env, EBB_VIOLATION, "buffer %u holds value %u, but the graph has %u", b,
                            buffer->value, a->graph->n_values);
        if (buffer->offset < 0 || buffer->bytes < 0)
            return ebb_fail(a->env, EBB_VIOLATION, AUDIT_BUFFER " has offset %lld and %lld bytes: negative",
                            AUDIT_BUFFER_ARGS(a, b), (long long)buffer->offset, (long long)buffer->bytes);
    }
    for (uint32_t s = 0; s < plan->n_steps; s++) {
        ebb_status status = check_step_form(a, s);
        if (status != EBB_OK) return status;
    }
    return EBB_OK;
}

/* ---- the schedule -------------------------------------------------------------------------------- */

typedef struct runs {
    uint32_t *first;     /* per op: its first step, or EBB_NONE */
    ebb_id last_ordered; /* the ordered op that ran last, or EBB_NONE */
} runs;

static ebb_status check_run(const ebb_auditor *a, runs *r, uint32_t s) {
    const ebb_plan_step *step = &a->plan->steps[s];
    const ebb_pop *op = &a->graph->ops[step->op];
    uint32_t first = r->first[step->op];
    if (step->recompute != (first != EBB_NONE))
        return ebb_fail(a->env, EBB_VIOLATION, AUDIT_STEP " is marked recompute %s, but its op %s before",
                        AUDIT_STEP_ARGS(a, s), step->recompute ? "true" : "false",
                        first != EBB_NONE ? "ran" : "did not run");
    if (first != EBB_NONE && !ebb_pop_repeatable(op))
        return ebb_fail(a->env, EBB_VIOLATION,
                        AUDIT_STEP " runs its op again after step %u, but it may run only once",
                        AUDIT_STEP_ARGS(a, s), first);
    if (first != EBB_NONE && step->alternative != a->plan->steps[first].alternative)
        return ebb_fail(a->env, EBB_VIOLATION,
                        AUDIT_STEP " takes another alternative than step %u of the same op",
                        AUDIT_STEP_ARGS(a, s), first);
    for (uint32_t k = 0; first == EBB_NONE && k < op->n_after; k++)
        if (r->first[op->after[k]] == EBB_NONE)
            return ebb_fail(a->env, EBB_VIOLATION,
                            AUDIT_STEP " must come after " AUDIT_OP ", which did not run before",
                            AUDIT_STEP_ARGS(a, s), AUDIT_OP_ARGS(a, op->after[k]));
    if (op->ordered) {
        if (r->last_ordered != EBB_NONE && r->last_ordered > step->op)
            return ebb_fail(a->env, EBB_VIOLATION,
                            AUDIT_STEP " runs an ordered op after " AUDIT_OP
                                       ", which comes later in the graph",
                            AUDIT_STEP_ARGS(a, s), AUDIT_OP_ARGS(a, r->last_ordered));
        r->last_ordered = step->op;
    }
    if (first == EBB_NONE) r->first[step->op] = s;
    return EBB_OK;
}

bool ebb_audit_is_needed(const ebb_pgraph *graph, const ebb_pop *op) {
    if (!op->optional || op->n_update > 0) return true;
    for (uint32_t k = 0; k < op->n_out; k++)
        if (graph->values[op->out[k]].role == EBB_ROLE_OUTPUT) return true;
    return false;
}

ebb_status ebb_audit_schedule(ebb_auditor *a) {
    runs r = {.first = EBB_NEW(&a->arena, uint32_t, a->graph->n_ops), .last_ordered = EBB_NONE};
    if (!r.first) return EBB_NO_MEMORY;
    for (ebb_id i = 0; i < a->graph->n_ops; i++) r.first[i] = EBB_NONE;
    for (uint32_t s = 0; s < a->plan->n_steps; s++) {
        ebb_status status = check_run(a, &r, s);
        if (status != EBB_OK) return status;
    }
    for (ebb_id i = 0; i < a->graph->n_ops; i++)
        if (r.first[i] == EBB_NONE && ebb_audit_is_needed(a->graph, &a->graph->ops[i]))
            return ebb_fail(a->env, EBB_VIOLATION, AUDIT_OP " never runs", AUDIT_OP_ARGS(a, i));
    return EBB_OK;
}
