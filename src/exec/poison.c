/* exec/poison.c: fills bytes that hold nothing with 0xFF, so that a read of dead bytes gives NaN (or label
 * -1) instead of an answer that happens to be right. A tool for tests: O(buffers) for every buffer that
 * dies.
 */
#include "exec/program.h"

/* Does b hold bytes between step `at` - 1 and step `at`? */
static bool live(const ebb_exec *exec, const ebb_buffer *b, uint32_t at) {
    const bool given = exec->plan->graph->values[b->value].producer == EBB_NONE;
    return !b->persistent && b->bytes > 0 && (given || b->lower < at) && b->upper > at;
}

/* The first offset >= from of [from, end) that no live buffer covers, and in *until where that hole ends.
 */
static int64_t next_hole(const ebb_exec *exec, int64_t from, int64_t end, uint32_t at, int64_t *until) {
    const ebb_plan *plan = exec->plan;
    for (bool moved = true; moved && from < end;) {
        moved = false;
        *until = end;
        for (ebb_id i = 0; i < plan->n_buffers; i++) {
            const ebb_buffer *b = &plan->buffers[i];
            if (!live(exec, b, at) || b->offset + b->bytes <= from) continue;
            if (b->offset <= from) {
                from = b->offset + b->bytes;
                moved = true;
            } else {
                *until = ebb_min_i64(*until, b->offset);
            }
        }
    }
    return from;
}

/* Fills what no buffer that is live before step `at` covers of transient [from, end). */
static ebb_status poison(const ebb_exec *exec, int64_t from, int64_t end, uint32_t at) {
    ebb_status status = EBB_OK;
    while (status == EBB_OK) {
        int64_t until = end;
        from = next_hole(exec, from, end, at, &until);
        if (from >= end) break;
        void *to = (void *)(exec->transient + (uintptr_t)from);
        status = exec->backend->api->fill(exec->backend, to, 0xFF, until - from);
        from = until;
    }
    return status;
}

ebb_status ebb_poison_start(const ebb_exec *exec) {
    return poison(exec, 0, exec->plan->arena_bytes, 0);
}

ebb_status ebb_poison_step(const ebb_exec *exec, uint32_t step) {
    const ebb_plan *plan = exec->plan;
    const ebb_plan_step *s = &plan->steps[step];
    ebb_status status = poison(exec, s->scratch_offset, s->scratch_offset + s->scratch_bytes, step + 1);
    if (step + 1 == plan->n_steps) return status;
    for (uint32_t k = exec->dying_first[step]; status == EBB_OK && k < exec->dying_first[step + 1]; k++) {
        const ebb_buffer *b = &plan->buffers[exec->dying[k]];
        status = poison(exec, b->offset, b->offset + b->bytes, step + 1);
    }
    return status;
}
