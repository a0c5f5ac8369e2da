/* The recordings that a trace has: found by key, the latest used first; as many as there may be. */
#include "trace/trace.h"

/* ---- found ---------------------------------------------------------------------------------- */

static void bring_first(ebb_trace *trace, ebb_recorded *r) {
    ebb_recorded **link = &trace->recordings;
    while (*link != r) link = &(*link)->next;
    *link = r->next;
    r->next = trace->recordings;
    trace->recordings = r;
}

/* One that is refused only where there is no other: a single call of another course does not end planning.
 */
ebb_recorded *ebb_recordings_find(ebb_trace *trace, const ebb_recording_key *key) {
    ebb_recorded *found = NULL;
    for (ebb_recorded *r = trace->recordings; r && (!found || found->refused); r = r->next) {
        if (ebb_key_same(&r->key, key) && (!found || !r->refused)) found = r;
    }
    if (found) bring_first(trace, found);
    return found;
}

/* ---- kept, and dropped ---------------------------------------------------------------------- */

/* It reads a tensor that nobody but recordings holds, so that no call will bring it again: gradients, say,
 * that were added up and are others since. */
static bool is_lost(const ebb_recorded *r) {
    for (size_t i = 0; i < r->captured.n; i++) {
        const ebb_captured *captured = &r->captured.at[i];
        const ebb_tensor *handle = captured->value == EBB_NONE ? NULL : captured->handle;
        if (handle && handle->n_refs == handle->n_recorded) return true;
    }
    return false;
}

static void unlink_one(ebb_trace *trace, ebb_recorded **link) {
    ebb_recorded *r = *link;
    *link = r->next;
    ebb_recorded_destroy(r);
    trace->n_recordings--;
}

/* What no call can meet any more; and of recordings that are refused, all of the key but `by`. */
static void sweep(ebb_trace *trace, const ebb_recorded *by) {
    for (ebb_recorded **link = &trace->recordings; *link;) {
        const ebb_recorded *r = *link;
        const bool replaced = by->refused && r->refused && ebb_key_same(&r->key, &by->key);
        if (r != by && (replaced || is_lost(r)))
            unlink_one(trace, link);
        else
            link = &(*link)->next;
    }
}

void ebb_recordings_keep(ebb_trace *trace) {
    ebb_recorded *r = trace->now;
    if (trace->is_new) {
        r->next = trace->recordings;
        trace->recordings = r;
        trace->n_recordings++;
        trace->facts.n_recorded++;
        if (r->refused && trace->runs)
            ebb_log(trace->env, EBB_LOG_WARN, "a traced function has no plan and runs op by op: %s",
                    r->refused);
    } else {
        bring_first(trace, r); /* perhaps the call turned to it */
        trace->facts.n_compared++;
    }
    trace->last = r;
    if (trace->is_new) sweep(trace, r);
    while (trace->n_recordings > trace->options.n_most) {
        ebb_recorded **link = &trace->recordings;
        while ((*link)->next) link = &(*link)->next;
        unlink_one(trace, link);
    }
}
