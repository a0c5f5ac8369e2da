/* Who wrote each byte: tokens on the bytes of both regions, and their writers. O(n log n) to make. */
#include "audit/keeper.h"

#include <stdio.h>

const char *ebb_keeper_region(bool persistent) {
    return persistent ? "persistent" : "transient";
}

const char *ebb_keeper_who(const ebb_audit_keeper *k, uint32_t token, char text[EBB_WHO_BYTES]) {
    const ebb_auditor *a = k->a;
    ebb_audit_write w = k->writes[token];
    if (token == 0)
        (void)snprintf(text, EBB_WHO_BYTES, "nobody wrote there");
    else if (w.step == EBB_NONE)
        (void)snprintf(text, EBB_WHO_BYTES, AUDIT_BUFFER " is given there", AUDIT_BUFFER_ARGS(a, w.buffer));
    else if (w.buffer == EBB_NONE)
        (void)snprintf(text, EBB_WHO_BYTES, AUDIT_STEP " has its scratch there",
                       AUDIT_STEP_ARGS(a, w.step));
    else
        (void)snprintf(text, EBB_WHO_BYTES, AUDIT_STEP " writes " AUDIT_BUFFER " there",
                       AUDIT_STEP_ARGS(a, w.step), AUDIT_BUFFER_ARGS(a, w.buffer));
    return text;
}

uint32_t ebb_keeper_newest(const ebb_audit_keeper *k, bool persistent, int64_t start, int64_t end) {
    uint32_t least, most;
    ebb_byte_map_look(&k->maps[persistent], start, end, &least, &most);
    return most;
}

bool ebb_keeper_intact(const ebb_audit_keeper *k, ebb_id b, uint32_t *who) {
    const ebb_buffer *buffer = ebb_keeper_buffer(k, b);
    uint32_t least, most;
    if (buffer->bytes == 0) return true;
    ebb_byte_map_look(&k->maps[buffer->persistent], buffer->offset, buffer->offset + buffer->bytes, &least,
                      &most);
    *who = most != k->token[b] ? most : least;
    return least == k->token[b] && most == k->token[b];
}

uint32_t ebb_keeper_put(ebb_audit_keeper *k, bool persistent, int64_t offset, int64_t bytes,
                        ebb_audit_write w) {
    uint32_t token = k->n_writes++;
    k->writes[token] = w;
    ebb_byte_map_write(&k->maps[persistent], offset, offset + bytes, token);
    return token;
}

/* ---- tables ---- */

static ebb_status check_scratch_place(const ebb_auditor *a, uint32_t s) {
    const ebb_plan_step *step = &a->plan->steps[s];
    int64_t arena_bytes = a->plan->arena_bytes;
    if (step->scratch_bytes < 0 || step->scratch_offset < 0)
        return ebb_fail(
            a->env, EBB_VIOLATION, AUDIT_STEP ": %lld bytes of scratch at offset %lld: negative",
            AUDIT_STEP_ARGS(a, s), (long long)step->scratch_bytes, (long long)step->scratch_offset);
    if (step->scratch_bytes == 0) return EBB_OK;
    if (step->scratch_bytes > arena_bytes || step->scratch_offset > arena_bytes - step->scratch_bytes)
        return ebb_fail(a->env, EBB_VIOLATION,
                        AUDIT_STEP ": %lld bytes of scratch at offset %lld end past the arena's %lld",
                        AUDIT_STEP_ARGS(a, s), (long long)step->scratch_bytes,
                        (long long)step->scratch_offset, (long long)arena_bytes);
    if ((step->scratch_offset & (a->plan->alignment - 1)) != 0)
        return ebb_fail(a->env, EBB_VIOLATION, AUDIT_STEP ": scratch offset %lld is not a multiple of %lld",
                        AUDIT_STEP_ARGS(a, s), (long long)step->scratch_offset,
                        (long long)a->plan->alignment);
    return EBB_OK;
}

static ebb_status make_map(ebb_audit_keeper *k, bool persistent) {
    const ebb_plan *plan = k->a->plan;
    size_t n = 0, most = 2 * ((size_t)plan->n_buffers + (persistent ? 0 : plan->n_steps));
    int64_t *ends = EBB_NEW(&k->a->arena, int64_t, most);
    if (!ends) return EBB_NO_MEMORY;
    for (ebb_id b = 0; b < plan->n_buffers; b++) {
        const ebb_buffer *buffer = &plan->buffers[b];
        if (buffer->persistent != persistent || buffer->bytes == 0) continue;
        ends[n++] = buffer->offset;
        ends[n++] = buffer->offset + buffer->bytes;
    }
    for (uint32_t s = 0; !persistent && s < plan->n_steps; s++) {
        if (plan->steps[s].scratch_bytes == 0) continue;
        ends[n++] = plan->steps[s].scratch_offset;
        ends[n++] = plan->steps[s].scratch_offset + plan->steps[s].scratch_bytes;
    }
    return ebb_byte_map_init(&k->maps[persistent], &k->a->arena, ends, n);
}

ebb_status ebb_keeper_init(ebb_audit_keeper *k) {
    ebb_auditor *a = k->a;
    const ebb_plan *plan = a->plan;
    uint32_t most_outputs = 0;
    ebb_status status = EBB_OK;
    for (uint32_t s = 0; status == EBB_OK && s < plan->n_steps; s++) {
        status = check_scratch_place(a, s);
        if (plan->steps[s].n_writes > most_outputs) most_outputs = plan->steps[s].n_writes;
    }
    if (status == EBB_OK) status = make_map(k, false);
    if (status == EBB_OK) status = make_map(k, true);
    if (status != EBB_OK) return status;
    /* A buffer is written at most once and a step has one scratch; token 0 is nobody's. */
    k->writes = EBB_NEW(&a->arena, ebb_audit_write, 1 + (size_t)plan->n_buffers + plan->n_steps);
    k->n_writes = 1;
    k->token = EBB_NEW(&a->arena, uint32_t, plan->n_buffers);
    k->over = EBB_NEW(&a->arena, uint32_t, most_outputs);
    k->listed = EBB_NEW(&a->arena, bool, most_outputs);
    if (!k->writes || !k->token || !k->over || !k->listed) return EBB_NO_MEMORY;
    for (ebb_id b = 0; b < plan->n_buffers; b++) a->joined[b] = EBB_NONE;
    return EBB_OK;
}
