/* Comparing: what the next entry says, and what happens when a call does something else. */
#include "trace/trace.h"

const ebb_entry *ebb_next_entry(const ebb_trace *trace, ebb_entry_kind kind) {
    if (trace->at >= trace->now->entries.n) return NULL;
    const ebb_entry *entry = &trace->now->entries.at[trace->at];
    return entry->kind == kind ? entry : NULL;
}

/* A value of this call that was made in an excluded region is known when it is first met. */
static bool operand_is(ebb_trace *trace, uint32_t v, ebb_datum *datum) {
    if (v == EBB_NONE || !datum) return v == EBB_NONE && !datum;
    const ebb_present *p = &trace->present.at[v];
    const ebb_traced_value *value = &trace->now->values.at[v];
    if (p->datum) return p->datum == datum && p->serial == datum->serial;
    if (value->source != EBB_SOURCE_IMPORTED || datum->owner == trace || datum->serial <= trace->serial ||
        !ebb_type_equal(&datum->type, &value->type))
        return false;
    return ebb_value_bind(trace, v, datum) == EBB_OK;
}

bool ebb_operands_are(ebb_trace *trace, const ebb_entry *entry, ebb_datum *const *in, uint32_t n_in) {
    if (entry->n_in != n_in) return false;
    for (uint32_t i = 0; i < n_in; i++) {
        if (!operand_is(trace, trace->now->operands.at[entry->in + i], in[i])) return false;
    }
    for (uint32_t i = 0; i < n_in; i++) {
        if (in[i]) ebb_value_read(trace, trace->now->operands.at[entry->in + i]);
    }
    return true;
}

ebb_status ebb_results_promise(ebb_trace *trace, const ebb_entry *entry, ebb_datum **out) {
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; i < entry->n_out; i++) out[i] = NULL;
    for (uint32_t i = 0; !status && i < entry->n_out; i++) {
        const ebb_traced_value *value = &trace->now->values.at[entry->out + i];
        if (value->missing) continue;
        out[i] = ebb_datum_create(trace->eager, &value->type);
        status = out[i] ? ebb_value_bind(trace, entry->out + i, out[i]) : EBB_NO_MEMORY;
    }
    for (uint32_t i = 0; status && i < entry->n_out; i++) {
        ebb_datum_drop(trace->eager, out[i]);
        out[i] = NULL;
    }
    return status;
}

/* ---- another way ---------------------------------------------------------------------------- */

/* From now on the values of the call are those of `to`, which says the same so far. */
static ebb_status present_fit(ebb_trace *trace, ebb_recorded *to) {
    const size_t n = to->values.n, known = ebb_recorded_values(trace->now, trace->at);
    for (size_t v = known; v < trace->present.n; v++) {
        ebb_present *p = &trace->present.at[v];
        if (!ebb_present_alive(p)) continue;
        if (p->datum->owner == trace) p->datum->owner = NULL;
        if (p->held) ebb_datum_drop(trace->eager, p->datum);
    }
    if (!EBB_RESERVE(trace->env, &trace->present, n)) return EBB_NO_MEMORY;
    for (size_t v = known; v < n; v++) trace->present.at[v] = (ebb_present){0};
    trace->present.n = n;
    trace->now = to;
    return ebb_captured_bind(trace);
}

/* Another recording of what the call has done so far, whose next entry is of the kind (NULL: any). Values
 * that the recordings number alike so far may be another's beyond: those are not bound yet. */
static ebb_recorded *other(const ebb_trace *trace, const ebb_entry_kind *next) {
    for (ebb_recorded *r = trace->now->next; r; r = r->next) {
        if (!ebb_key_same(&r->key, &trace->now->key) || r->refused || r->entries.n < trace->at) continue;
        if (next && (r->entries.n == trace->at || r->entries.at[trace->at].kind != *next)) continue;
        if (ebb_recorded_same(trace->now, r, trace->at)) return r;
    }
    return NULL;
}

ebb_status ebb_call_turn_to(ebb_trace *trace, ebb_entry_kind next, bool *turned) {
    ebb_recorded *to = other(trace, &next);
    *turned = to != NULL;
    return to ? present_fit(trace, to) : EBB_OK;
}

static ebb_status refuse(const ebb_trace *trace, const char *name, const char *what) {
    char place[EBB_TRACE_PLACE] = "", text[256];
    if (trace->options.where) trace->options.where(trace->options.where_ctx, place);
    const ebb_recorded *r = trace->now;
    if (trace->at >= r->entries.n)
        return ebb_fail(trace->env, EBB_MISMATCH,
                        "too many instructions: %s%s%s follows the last of the %u of the recorded call",
                        what, place[0] ? " at " : "", place, trace->at);
    const ebb_entry *entry = &r->entries.at[trace->at];
    return ebb_fail(trace->env, EBB_MISMATCH,
                    "%s: %s%s%s where the recorded call has %s%s%s (instruction %u of %zu)",
                    name ? name : "operator mismatch", what, place[0] ? " at " : "", place,
                    ebb_entry_text(r, entry, text), entry->place[0] ? " at " : "", entry->place, trace->at,
                    r->entries.n);
}

ebb_status ebb_call_turn(ebb_trace *trace, const char *name, const char *what, bool always) {
    ebb_recorded *to = other(trace, NULL);
    if (to) return present_fit(trace, to);
    if (trace->options.strict && !always && !trace->may_differ) return refuse(trace, name, what);
    ebb_status status =
        trace->runs ? ebb_segment_play(trace, trace->now->segments.at[trace->segment].begin, trace->at)
                    : EBB_OK;
    if (!status) status = ebb_recorded_fork(trace, trace->now, trace->at, &to);
    if (!status) status = present_fit(trace, to);
    if (status) {
        if (to != trace->now) ebb_recorded_destroy(to);
        return status;
    }
    trace->is_new = true;
    trace->mode = trace->runs ? EBB_CALL_EAGER : EBB_CALL_LAZY;
    return EBB_OK;
}
