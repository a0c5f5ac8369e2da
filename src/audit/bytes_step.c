/* One step of the audit's fourth stage: what it reads is intact, what it writes lies where the graph says,
 * and over an input only where the op lists the pair. */
#include "audit/keeper.h"

static ebb_status check_reads(const ebb_audit_keeper *k, uint32_t s) {
    const ebb_auditor *a = k->a;
    const ebb_plan_step *step = &a->plan->steps[s];
    for (uint32_t i = 0; i < step->n_reads; i++) {
        const ebb_buffer *buffer = ebb_keeper_buffer(k, step->reads[i]);
        uint32_t other = 0;
        char who[EBB_WHO_BYTES];
        if (!ebb_keeper_intact(k, step->reads[i], &other))
            return ebb_fail(a->env, EBB_VIOLATION,
                            AUDIT_STEP " reads " AUDIT_BUFFER " at " AUDIT_RANGE
                                       " of the %s region, but %s",
                            AUDIT_STEP_ARGS(a, s), AUDIT_BUFFER_ARGS(a, step->reads[i]),
                            AUDIT_RANGE_ARGS(buffer->offset, buffer->bytes),
                            ebb_keeper_region(buffer->persistent), ebb_keeper_who(k, other, who));
    }
    return EBB_OK;
}

/* An output whose place the graph dictates: `what` it is, and where it must be. */
static ebb_status check_bound(const ebb_audit_keeper *k, uint32_t s, ebb_id b, ebb_id base, int64_t offset,
                              const char *what) {
    const ebb_auditor *a = k->a;
    const ebb_buffer *buffer = ebb_keeper_buffer(k, b);
    int64_t wanted = ebb_keeper_buffer(k, base)->offset + offset;
    if (buffer->bytes == 0 || buffer->offset == wanted) return EBB_OK;
    return ebb_fail(a->env, EBB_VIOLATION,
                    AUDIT_STEP ": " AUDIT_BUFFER " is %s " AUDIT_BUFFER
                               ", so it must lie at %lld and not at %lld",
                    AUDIT_STEP_ARGS(a, s), AUDIT_BUFFER_ARGS(a, b), what, AUDIT_BUFFER_ARGS(a, base),
                    (long long)wanted, (long long)buffer->offset);
}

/* Views take their base's token; all else is written. first: the step's first token. */
static ebb_status put_outputs(ebb_audit_keeper *k, uint32_t s, uint32_t first) {
    ebb_auditor *a = k->a;
    const ebb_plan_step *step = &a->plan->steps[s];
    for (uint32_t j = 0; j < step->n_writes; j++) {
        ebb_id b = step->writes[j];
        const ebb_buffer *buffer = ebb_keeper_buffer(k, b);
        uint32_t view_in = a->view_in[buffer->value], update_in = a->update_in[buffer->value];
        ebb_status status = EBB_OK;
        k->over[j] = EBB_NONE;
        k->listed[j] = false;
        if (view_in != EBB_NONE) {
            k->token[b] = k->token[step->reads[view_in]];
            a->joined[b] = step->reads[view_in];
            status = check_bound(k, s, b, a->joined[b], a->view_offset[buffer->value], "a view of");
        } else if (update_in != EBB_NONE) {
            status = check_bound(k, s, b, step->reads[update_in], 0, "the update of");
        }
        if (status != EBB_OK) return status;
        if (view_in != EBB_NONE || buffer->bytes == 0) continue;
        uint32_t other =
            ebb_keeper_newest(k, buffer->persistent, buffer->offset, buffer->offset + buffer->bytes);
        char who[EBB_WHO_BYTES];
        if (other >= first)
            return ebb_fail(a->env, EBB_VIOLATION,
                            AUDIT_STEP " writes " AUDIT_BUFFER " at " AUDIT_RANGE ", but also %s",
                            AUDIT_STEP_ARGS(a, s), AUDIT_BUFFER_ARGS(a, b),
                            AUDIT_RANGE_ARGS(buffer->offset, buffer->bytes), ebb_keeper_who(k, other, who));
        k->token[b] = ebb_keeper_put(k, buffer->persistent, buffer->offset, buffer->bytes,
                                     (ebb_audit_write){s, b, j});
    }
    return EBB_OK;
}

static ebb_status put_scratch(ebb_audit_keeper *k, uint32_t s, uint32_t first) {
    const ebb_auditor *a = k->a;
    const ebb_plan_step *step = &a->plan->steps[s];
    int64_t bytes = ebb_pop_under(&a->graph->ops[step->op], step->alternative).scratch_bytes;
    if (step->scratch_bytes != bytes)
        return ebb_fail(a->env, EBB_VIOLATION,
                        AUDIT_STEP " has %lld bytes of scratch, but its op needs %lld",
                        AUDIT_STEP_ARGS(a, s), (long long)step->scratch_bytes, (long long)bytes);
    if (bytes == 0) return EBB_OK;
    uint32_t other = ebb_keeper_newest(k, false, step->scratch_offset, step->scratch_offset + bytes);
    char who[EBB_WHO_BYTES];
    if (other >= first)
        return ebb_fail(a->env, EBB_VIOLATION, AUDIT_STEP " has its scratch at " AUDIT_RANGE ", but %s",
                        AUDIT_STEP_ARGS(a, s), AUDIT_RANGE_ARGS(step->scratch_offset, bytes),
                        ebb_keeper_who(k, other, who));
    (void)ebb_keeper_put(k, false, step->scratch_offset, bytes, (ebb_audit_write){s, EBB_NONE, 0});
    return EBB_OK;
}

static ebb_status over_operand(const ebb_audit_keeper *k, uint32_t s, uint32_t i, uint32_t token,
                               const char *why) {
    const ebb_auditor *a = k->a;
    ebb_id b = a->plan->steps[s].reads[i];
    char who[EBB_WHO_BYTES];
    return ebb_fail(a->env, EBB_VIOLATION,
                    AUDIT_STEP " reads " AUDIT_BUFFER " at " AUDIT_RANGE " as input %u, but %s: %s",
                    AUDIT_STEP_ARGS(a, s), AUDIT_BUFFER_ARGS(a, b),
                    AUDIT_RANGE_ARGS(ebb_keeper_buffer(k, b)->offset, ebb_keeper_buffer(k, b)->bytes), i,
                    ebb_keeper_who(k, token, who), why);
}

/* What the step wrote over its own input i. */
static ebb_status check_operand(ebb_audit_keeper *k, uint32_t s, uint32_t i, uint32_t first) {
    const ebb_auditor *a = k->a;
    const ebb_plan_step *step = &a->plan->steps[s];
    const ebb_buffer *in = ebb_keeper_buffer(k, step->reads[i]);
    if (in->bytes == 0) return EBB_OK;
    uint32_t token = ebb_keeper_newest(k, in->persistent, in->offset, in->offset + in->bytes);
    if (token < first) return EBB_OK;
    ebb_audit_write w = k->writes[token];
    if (w.buffer == EBB_NONE) return over_operand(k, s, i, token, "scratch may not lie over an input");
    const ebb_buffer *out = ebb_keeper_buffer(k, w.buffer);
    uint32_t update_in = a->update_in[out->value];
    if (update_in != EBB_NONE) {
        if (k->token[step->reads[i]] == k->token[step->reads[update_in]]) return EBB_OK;
        return over_operand(k, s, i, token, "an update may lie over what it replaces only");
    }
    if (in->offset != out->offset || k->over[w.result] != EBB_NONE)
        return over_operand(
            k, s, i, token,
            "in place means at the same offset, over one input whose bytes no other operand shares");
    k->over[w.result] = i;
    if (in->bytes <= out->bytes) return EBB_OK;
    token = ebb_keeper_newest(k, in->persistent, out->offset + out->bytes, in->offset + in->bytes);
    return token < first ? EBB_OK : over_operand(k, s, i, token, "a second output lies over it");
}

/* Every output that lies over an input is allowed to; the buffers are then one storage. */
static ebb_status check_pairs(ebb_audit_keeper *k, uint32_t s) {
    ebb_auditor *a = k->a;
    const ebb_plan_step *step = &a->plan->steps[s];
    ebb_pop_way way = ebb_pop_under(&a->graph->ops[step->op], step->alternative);
    for (uint32_t p = 0; p < way.n_in_place; p++)
        if (k->over[way.in_place[p].out] == way.in_place[p].in) k->listed[way.in_place[p].out] = true;
    for (uint32_t j = 0; j < step->n_writes; j++) {
        if (k->over[j] == EBB_NONE) continue;
        if (!k->listed[j])
            return over_operand(k, s, k->over[j], k->token[step->writes[j]],
                                "the op does not list that in_place");
        a->joined[step->writes[j]] = step->reads[k->over[j]];
    }
    return EBB_OK;
}

static ebb_status check_views_last(const ebb_audit_keeper *k, uint32_t s) {
    const ebb_auditor *a = k->a;
    const ebb_plan_step *step = &a->plan->steps[s];
    for (uint32_t j = 0; j < step->n_writes; j++) {
        ebb_id b = step->writes[j];
        uint32_t other = 0;
        char who[EBB_WHO_BYTES];
        if (a->view_in[ebb_keeper_buffer(k, b)->value] != EBB_NONE && !ebb_keeper_intact(k, b, &other))
            return ebb_fail(
                a->env, EBB_VIOLATION,
                AUDIT_STEP " makes the view " AUDIT_BUFFER " at " AUDIT_RANGE ", but %s",
                AUDIT_STEP_ARGS(a, s), AUDIT_BUFFER_ARGS(a, b),
                AUDIT_RANGE_ARGS(ebb_keeper_buffer(k, b)->offset, ebb_keeper_buffer(k, b)->bytes),
                ebb_keeper_who(k, other, who));
    }
    return EBB_OK;
}

ebb_status ebb_keeper_step(ebb_audit_keeper *k, uint32_t s) {
    uint32_t first = k->n_writes;
    ebb_status status = check_reads(k, s);
    if (status == EBB_OK) status = put_outputs(k, s, first);
    if (status == EBB_OK) status = put_scratch(k, s, first);
    for (uint32_t i = 0; status == EBB_OK && i < k->a->plan->steps[s].n_reads; i++)
        status = check_operand(k, s, i, first);
    if (status == EBB_OK) status = check_pairs(k, s);
    return status == EBB_OK ? check_views_last(k, s) : status;
}
