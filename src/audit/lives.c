/* The audit's third stage: buffers against the values that they hold. Gives the writer of each buffer.
 * Requires the form and the schedule. O(steps + buffers + edges). */
#include "audit/auditor.h"

static ebb_status check_reads(const ebb_auditor *a, uint32_t s, uint32_t *last_reader) {
    const ebb_plan_step *step = &a->plan->steps[s];
    ebb_pop_way way = ebb_pop_under(&a->graph->ops[step->op], step->alternative);
    for (uint32_t k = 0; k < step->n_reads; k++) {
        ebb_id b = step->reads[k], v = a->plan->buffers[b].value;
        if (v != way.in[k])
            return ebb_fail(a->env, EBB_VIOLATION,
                            AUDIT_STEP " reads " AUDIT_BUFFER " at position %u, where its op "
                                       "reads value %u \"%.60s\"",
                            AUDIT_STEP_ARGS(a, s), AUDIT_BUFFER_ARGS(a, b), k, way.in[k],
                            a->graph->values[way.in[k]].name);
        if (a->writer[b] == EBB_NONE && a->graph->values[v].producer != EBB_NONE)
            return ebb_fail(a->env, EBB_VIOLATION,
                            AUDIT_STEP " reads " AUDIT_BUFFER ", which no earlier step writes",
                            AUDIT_STEP_ARGS(a, s), AUDIT_BUFFER_ARGS(a, b));
        last_reader[b] = s;
    }
    return EBB_OK;
}

static ebb_status note_writes(ebb_auditor *a, uint32_t s) {
    const ebb_plan_step *step = &a->plan->steps[s];
    const ebb_pop *op = &a->graph->ops[step->op];
    for (uint32_t k = 0; k < step->n_writes; k++) {
        ebb_id b = step->writes[k];
        if (a->plan->buffers[b].value != op->out[k])
            return ebb_fail(a->env, EBB_VIOLATION,
                            AUDIT_STEP " writes " AUDIT_BUFFER " at position %u, where its op "
                                       "writes value %u \"%.60s\"",
                            AUDIT_STEP_ARGS(a, s), AUDIT_BUFFER_ARGS(a, b), k, op->out[k],
                            a->graph->values[op->out[k]].name);
        if (a->writer[b] != EBB_NONE)
            return ebb_fail(a->env, EBB_VIOLATION,
                            AUDIT_STEP " writes " AUDIT_BUFFER ", which step %u wrote already",
                            AUDIT_STEP_ARGS(a, s), AUDIT_BUFFER_ARGS(a, b), a->writer[b]);
        a->writer[b] = s;
    }
    return EBB_OK;
}

/* Size, region and address of one buffer. */
static ebb_status check_place(const ebb_auditor *a, ebb_id b) {
    const ebb_buffer *buffer = &a->plan->buffers[b];
    int64_t region_bytes = buffer->persistent ? a->plan->persistent_bytes : a->plan->arena_bytes;
    if (buffer->bytes != a->graph->values[buffer->value].bytes)
        return ebb_fail(a->env, EBB_VIOLATION, AUDIT_BUFFER " has %lld bytes, but its value %lld",
                        AUDIT_BUFFER_ARGS(a, b), (long long)buffer->bytes,
                        (long long)a->graph->values[buffer->value].bytes);
    if (buffer->persistent != a->persistent[buffer->value])
        return ebb_fail(a->env, EBB_VIOLATION,
                        AUDIT_BUFFER " is in the %s region, but its value belongs in the %s one",
                        AUDIT_BUFFER_ARGS(a, b), buffer->persistent ? "persistent" : "transient",
                        buffer->persistent ? "transient" : "persistent");
    if (buffer->bytes == 0) return EBB_OK; /* owns nothing, so it lies nowhere */
    if (buffer->bytes > region_bytes || buffer->offset > region_bytes - buffer->bytes)
        return ebb_fail(a->env, EBB_VIOLATION,
                        AUDIT_BUFFER ": %lld bytes at offset %lld end past its region's %lld",
                        AUDIT_BUFFER_ARGS(a, b), (long long)buffer->bytes, (long long)buffer->offset,
                        (long long)region_bytes);
    if (a->view_in[buffer->value] == EBB_NONE && (buffer->offset & (a->plan->alignment - 1)) != 0)
        return ebb_fail(a->env, EBB_VIOLATION, AUDIT_BUFFER ": offset %lld is not a multiple of %lld",
                        AUDIT_BUFFER_ARGS(a, b), (long long)buffer->offset, (long long)a->plan->alignment);
    return EBB_OK;
}

static ebb_status check_lifetime(const ebb_auditor *a, ebb_id b, uint32_t last_reader) {
    const ebb_buffer *buffer = &a->plan->buffers[b];
    uint32_t lower = a->writer[b] == EBB_NONE ? 0 : a->writer[b];
    uint32_t upper = last_reader == EBB_NONE ? lower + 1 : last_reader + 1;
    uint32_t end = a->plan->n_steps > lower ? a->plan->n_steps : upper;
    ebb_role role = a->graph->values[buffer->value].role;
    if (a->lasting[buffer->value] && (role != EBB_ROLE_OUTPUT || buffer->upper == end)) upper = end;
    /* Of an output that is recomputed, one life must last; any other may end with its last reader. */
    if (buffer->lower == lower && buffer->upper == upper) return EBB_OK;
    return ebb_fail(a->env, EBB_VIOLATION,
                    AUDIT_BUFFER " lives [%u, %u), but its writer and readers make it [%u, %u)",
                    AUDIT_BUFFER_ARGS(a, b), buffer->lower, buffer->upper, lower, upper);
}

/* Given values have one buffer, outputs one that lasts. */
static ebb_status check_values(ebb_auditor *a) {
    uint32_t *n_buffers = EBB_NEW(&a->arena, uint32_t, a->graph->n_values);
    bool *lasts = EBB_NEW(&a->arena, bool, a->graph->n_values);
    if (!n_buffers || !lasts) return EBB_NO_MEMORY;
    for (ebb_id b = 0; b < a->plan->n_buffers; b++) {
        ebb_id v = a->plan->buffers[b].value;
        n_buffers[v]++;
        lasts[v] = lasts[v] || a->plan->buffers[b].upper >= a->plan->n_steps;
    }
    for (ebb_id v = 0; v < a->graph->n_values; v++) {
        const ebb_pvalue *value = &a->graph->values[v];
        if (value->producer == EBB_NONE && n_buffers[v] != 1)
            return ebb_fail(a->env, EBB_VIOLATION,
                            "value %u \"%.60s\" is given, but has %u buffers instead of 1", v, value->name,
                            n_buffers[v]);
        if (value->role == EBB_ROLE_OUTPUT && !lasts[v])
            return ebb_fail(a->env, EBB_VIOLATION,
                            "value %u \"%.60s\" is an output, but no buffer of it lasts to step %u", v,
                            value->name, a->plan->n_steps);
    }
    return EBB_OK;
}

ebb_status ebb_audit_lives(ebb_auditor *a) {
    uint32_t n = a->plan->n_buffers;
    uint32_t *last_reader = EBB_NEW(&a->arena, uint32_t, n);
    if (!last_reader) return EBB_NO_MEMORY;
    for (ebb_id b = 0; b < n; b++) a->writer[b] = last_reader[b] = EBB_NONE;
    ebb_status status = EBB_OK;
    for (uint32_t s = 0; status == EBB_OK && s < a->plan->n_steps; s++) {
        status = check_reads(a, s, last_reader);
        if (status == EBB_OK) status = note_writes(a, s);
    }
    for (ebb_id b = 0; status == EBB_OK && b < n; b++) {
        if (a->writer[b] == EBB_NONE && a->graph->values[a->plan->buffers[b].value].producer != EBB_NONE)
            return ebb_fail(a->env, EBB_VIOLATION, AUDIT_BUFFER " is written by no step",
                            AUDIT_BUFFER_ARGS(a, b));
        status = check_place(a, b);
        if (status == EBB_OK) status = check_lifetime(a, b, last_reader[b]);
    }
    return status == EBB_OK ? check_values(a) : status;
}
