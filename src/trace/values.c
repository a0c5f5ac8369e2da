/* The values of a call: which datum each is, which tensor brought it, and who holds it. */
#include "trace/trace.h"

/* Value v is this datum; one that others gave is held until the call's end. */
ebb_status ebb_value_bind(ebb_trace *trace, uint32_t v, ebb_datum *datum) {
    ebb_present *p = &trace->present.at[v];
    if (p->datum) return EBB_OK;
    *p = (ebb_present){.datum = datum, .serial = datum->serial, .number = p->number};
    p->held = ebb_value_given(trace->now, v);
    if (p->held) ebb_datum_hold(datum);
    if (datum->owner == trace) return EBB_OK; /* known by another number */
    datum->owner = trace;
    datum->number = v;
    return EBB_OK;
}

void ebb_value_read(ebb_trace *trace, uint32_t v) {
    ebb_present *p = &trace->present.at[v];
    if (p->held || trace->mode == EBB_CALL_EAGER || trace->now->values.at[v].segment == trace->segment)
        return;
    p->held = true;
    ebb_datum_hold(p->datum);
}

uint32_t ebb_value_add(ebb_trace *trace, ebb_datum *datum, ebb_source source, uint32_t at) {
    ebb_recorded *r = trace->now;
    const ebb_traced_value value = {
        .type = datum->type, .source = source, .at = at, .segment = trace->segment};
    if (!EBB_PUSH(trace->env, &r->values, value)) return EBB_NONE;
    if (!EBB_PUSH(trace->env, &trace->present, (ebb_present){0})) return EBB_NONE;
    const uint32_t v = (uint32_t)r->values.n - 1;
    return ebb_value_bind(trace, v, datum) ? EBB_NONE : v;
}

/* The handle by which the datum came to the op that runs: one that was there before the call. */
static ebb_tensor *handle_of(const ebb_trace *trace, const ebb_datum *datum) {
    const ebb_eager *eager = trace->eager;
    for (uint32_t i = 0; i < eager->n_handles; i++) {
        ebb_tensor *handle = eager->handles[i];
        if (handle && handle->datum == datum && handle->serial <= trace->serial) return handle;
    }
    return NULL;
}

uint32_t ebb_value_of(ebb_trace *trace, ebb_datum *datum) {
    ebb_recorded *r = trace->now;
    if (datum->owner == trace) return datum->number;
    if (datum->serial > trace->serial) return ebb_value_add(trace, datum, EBB_SOURCE_IMPORTED, 0);
    ebb_tensor *handle = handle_of(trace, datum);
    uint32_t c = 0;
    while (c < r->captured.n && (!handle || ebb_captured_handle(trace, c) != handle)) c++;
    if (c == r->captured.n) {
        const ebb_captured captured = ebb_captured_make(trace, handle);
        if (!EBB_PUSH(trace->env, &r->captured, captured)) return EBB_NONE;
        ebb_captured_hold(captured.handle);
        if (!handle) r->refused = "it reads a value from before the call that no tensor of then has";
    }
    const uint32_t v = ebb_value_add(trace, datum, EBB_SOURCE_CAPTURED, c);
    r->captured.at[c].value = v;
    return v;
}

/* Captured tensors are what they are now, whatever the call assigns to them. */
ebb_status ebb_captured_bind_one(ebb_trace *trace, uint32_t c) {
    const ebb_captured *captured = &trace->now->captured.at[c];
    const ebb_tensor *handle = captured->beside ? captured->now : captured->handle;
    if (captured->value == EBB_NONE || !handle) return EBB_OK;
    ebb_datum *datum = handle->datum;
    /* One that is known by another number is another pattern of equal tensors: another way. */
    if (datum->owner == trace && datum->number != captured->value) return EBB_OK;
    if (datum->serial > trace->serial ||
        !ebb_type_equal(&datum->type, &trace->now->values.at[captured->value].type))
        return EBB_OK;
    return ebb_value_bind(trace, captured->value, datum);
}

ebb_status ebb_captured_bind(ebb_trace *trace) {
    ebb_status status = EBB_OK;
    ebb_beside_find(trace);
    for (uint32_t c = 0; !status && c < trace->now->captured.n; c++)
        status = ebb_captured_bind_one(trace, c);
    return status;
}
