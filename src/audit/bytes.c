/* The audit's fourth stage: the steps in order, with the last writer of every byte. Each write gets a
 * token, larger than all before it; a buffer is intact when its bytes still carry the token of what was
 * written there. A view carries its base's token and writes nothing.
 *
 *     step 3 reads x   [0, 64) carries x's token: intact
 *     step 3 writes y  [0, 64) over x: allowed when the op lists the pair, x lies at the same offset,
 *                      and no other operand has bytes there
 *     step 4 reads x   [0, 64) carries y's token: violation
 *
 * Requires the stages before it. Gives the joins of buffers into storages. O(n log n). */
#include "audit/keeper.h"

static ebb_status put_given(ebb_audit_keeper *k) {
    const ebb_auditor *a = k->a;
    for (ebb_id b = 0; b < a->plan->n_buffers; b++) {
        const ebb_buffer *buffer = ebb_keeper_buffer(k, b);
        char who[EBB_WHO_BYTES];
        if (a->writer[b] != EBB_NONE || buffer->bytes == 0) continue;
        uint32_t other =
            ebb_keeper_newest(k, buffer->persistent, buffer->offset, buffer->offset + buffer->bytes);
        if (other != 0)
            return ebb_fail(a->env, EBB_VIOLATION,
                            AUDIT_BUFFER " is given at " AUDIT_RANGE " of the %s region, but %s",
                            AUDIT_BUFFER_ARGS(a, b), AUDIT_RANGE_ARGS(buffer->offset, buffer->bytes),
                            ebb_keeper_region(buffer->persistent), ebb_keeper_who(k, other, who));
        k->token[b] = ebb_keeper_put(k, buffer->persistent, buffer->offset, buffer->bytes,
                                     (ebb_audit_write){EBB_NONE, b, 0});
    }
    return EBB_OK;
}

/* After the last step: outputs, constants and the last lives of params and states. */
static ebb_status check_end(const ebb_audit_keeper *k) {
    const ebb_auditor *a = k->a;
    for (ebb_id b = 0; b < a->plan->n_buffers; b++) {
        const ebb_buffer *buffer = ebb_keeper_buffer(k, b);
        bool lasts = a->lasting[buffer->value] && buffer->upper >= a->plan->n_steps;
        uint32_t other = 0;
        char who[EBB_WHO_BYTES];
        if ((lasts || a->graph->values[buffer->value].role == EBB_ROLE_CONSTANT) &&
            !ebb_keeper_intact(k, b, &other))
            return ebb_fail(a->env, EBB_VIOLATION,
                            AUDIT_BUFFER " at " AUDIT_RANGE
                                         " of the %s region must be intact after the last step, but %s",
                            AUDIT_BUFFER_ARGS(a, b), AUDIT_RANGE_ARGS(buffer->offset, buffer->bytes),
                            ebb_keeper_region(buffer->persistent), ebb_keeper_who(k, other, who));
    }
    return EBB_OK;
}

ebb_status ebb_audit_bytes(ebb_auditor *a) {
    ebb_audit_keeper k = {.a = a};
    ebb_status status = ebb_keeper_init(&k);
    if (status == EBB_OK) status = put_given(&k);
    for (uint32_t s = 0; status == EBB_OK && s < a->plan->n_steps; s++) status = ebb_keeper_step(&k, s);
    return status == EBB_OK ? check_end(&k) : status;
}
