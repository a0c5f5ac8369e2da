/* What the text of a recording does not say: the data that it is given, and what its function returned. */
#include "trace/trace.h"

static void kept_drop(ebb_recorded *r) {
    for (size_t i = 0; i < r->kept.n; i++) ebb_tensor_destroy(r->kept.at[i].handle);
    r->kept.n = r->returned.n = 0;
}

void ebb_kept_free(ebb_recorded *r) {
    kept_drop(r);
    EBB_ARRAY_FREE(r->env, &r->kept);
    EBB_ARRAY_FREE(r->env, &r->returned);
}

static ebb_status host_data_keep(ebb_trace *trace, ebb_recorded *r, uint32_t v) {
    const ebb_present *p = &trace->present.at[v];
    if (r->values.at[v].source != EBB_SOURCE_ENTRY || !ebb_value_given(r, v) || !ebb_present_alive(p))
        return EBB_OK;
    ebb_status status = p->datum->block ? EBB_OK : ebb_number_fill(trace, v);
    if (status) return status;
    const ebb_kept kept = {v, ebb_tensor_of(trace->eager, ebb_datum_hold(p->datum))};
    if (!kept.handle) return EBB_NO_MEMORY;
    if (EBB_PUSH(r->env, &r->kept, kept)) return EBB_OK;
    ebb_tensor_destroy(kept.handle);
    return EBB_NO_MEMORY;
}

ebb_status ebb_kept_take(ebb_trace *trace, ebb_tensor *const *returned, uint32_t n) {
    ebb_recorded *r = trace->now;
    ebb_status status = EBB_OK;
    kept_drop(r);
    for (uint32_t v = 0; !status && v < trace->present.n; v++) status = host_data_keep(trace, r, v);
    for (uint32_t i = 0; !status && i < n; i++) {
        const ebb_datum *datum = returned[i]->datum;
        const uint32_t v = datum->owner == trace ? datum->number : EBB_NONE;
        if (!EBB_PUSH(r->env, &r->returned, v)) status = EBB_NO_MEMORY;
        /* The text has it before the program is made, too. */
        if (v != EBB_NONE && !r->segments.at[r->values.at[v].segment].made) r->values.at[v].output = true;
    }
    return status;
}

/* ---- what is to be seen of it --------------------------------------------------------------- */

static ebb_status last_of(const ebb_trace *trace, const ebb_recorded **out) {
    *out = trace->last;
    if (!*out || !trace->options.keep)
        return ebb_fail(trace->env, EBB_USAGE, "nothing is kept of a call: %s",
                        *out ? "the option `keep` is not set" : "none has ended");
    return EBB_OK;
}

static ebb_tensor *data_of(const ebb_recorded *r, uint32_t v) {
    const ebb_traced_value *value = &r->values.at[v];
    if (value->source == EBB_SOURCE_CAPTURED)
        return r->captured.at[value->at].beside ? NULL : r->captured.at[value->at].handle;
    for (size_t i = 0; i < r->kept.n; i++) {
        if (r->kept.at[i].value == v) return r->kept.at[i].handle;
    }
    return NULL;
}

ebb_status ebb_trace_given_at(const ebb_trace *trace, uint32_t i, ebb_trace_given *out) {
    const ebb_recorded *r;
    ebb_status status = last_of(trace, &r);
    if (status) return status;
    uint32_t v = 0;
    while (v < r->values.n && (!ebb_value_given(r, v) || i-- > 0)) v++;
    if (v == r->values.n) return ebb_fail(trace->env, EBB_USAGE, "the recording is given less values");
    const ebb_traced_value *value = &r->values.at[v];
    const ebb_tensor *data = data_of(r, v);
    *out = (ebb_trace_given){.kind = value->source == EBB_SOURCE_ARGUMENT   ? EBB_GIVEN_ARGUMENT
                                     : value->source == EBB_SOURCE_CAPTURED ? EBB_GIVEN_TENSOR
                                     : value->source == EBB_SOURCE_IMPORTED ? EBB_GIVEN_IMPORT
                                                                            : EBB_GIVEN_CONSTANT,
                             .argument = value->source == EBB_SOURCE_ARGUMENT ? value->at : EBB_NONE};
    (void)ebb_traced_name(r, v, out->name);
    return data ? ebb_tensor_share(data, &out->tensor) : EBB_OK;
}

uint32_t ebb_trace_n_given(const ebb_trace *trace) {
    uint32_t n = 0;
    for (uint32_t v = 0; trace->last && v < trace->last->values.n; v++)
        n += ebb_value_given(trace->last, v);
    return n;
}

ebb_status ebb_trace_returned_at(const ebb_trace *trace, uint32_t i, char name[EBB_TRACE_NAME]) {
    const ebb_recorded *r;
    ebb_status status = last_of(trace, &r);
    if (status) return status;
    if (i >= r->returned.n)
        return ebb_fail(trace->env, EBB_USAGE, "result %u of %zu of the traced function", i, r->returned.n);
    name[0] = '\0';
    if (r->returned.at[i] != EBB_NONE) (void)ebb_traced_name(r, r->returned.at[i], name);
    return EBB_OK;
}
