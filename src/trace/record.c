/* The recorder: what the room eager tells of a call is added to its recording, or compared with it. */
#include "trace/trace.h"

ebb_status ebb_entry_add(ebb_trace *trace, ebb_entry_kind kind, const uint32_t *in, uint32_t n_in,
                         ebb_entry **out) {
    ebb_recorded *r = trace->now;
    char place[EBB_TRACE_PLACE] = "";
    if (trace->options.where) trace->options.where(trace->options.where_ctx, place);
    ebb_entry entry = {.kind = kind,
                       .in = (uint32_t)r->operands.n,
                       .n_in = n_in,
                       .place = place[0] ? ebb_arena_text(&r->arena, place) : ""};
    *out = NULL;
    if (!entry.place) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < n_in; i++) {
        if (!EBB_PUSH(trace->env, &r->operands, in[i])) return EBB_NO_MEMORY;
        if (in[i] != EBB_NONE) ebb_value_read(trace, in[i]);
    }
    if (!EBB_PUSH(trace->env, &r->entries, entry)) return EBB_NO_MEMORY;
    *out = &r->entries.at[r->entries.n - 1];
    return EBB_OK;
}

/* ---- ops ------------------------------------------------------------------------------------ */

static ebb_status op_add(ebb_trace *trace, const ebb_known_call *call, ebb_datum *const *in, uint64_t draw,
                         ebb_datum *const *out) {
    ebb_recorded *r = trace->now;
    const ebb_op_info *op = call->call.op;
    uint32_t ids[EBB_MAX_OPERANDS];
    ebb_entry *entry;
    for (uint32_t i = 0; i < call->call.n_in; i++) {
        ids[i] = ebb_value_of(trace, in[i]);
        if (ids[i] == EBB_NONE) return EBB_NO_MEMORY;
    }
    const ebb_status status = ebb_entry_add(trace, EBB_ENTRY_OP, ids, call->call.n_in, &entry);
    if (status) return status;
    entry->op = op;
    entry->attr = ebb_arena_copy(&r->arena, call->attr, op->n_attrs, sizeof *call->attr);
    if (!entry->attr) return EBB_NO_MEMORY;
    if (op->effect == EBB_SEEDED) {
        entry->draw = draw - trace->draws;
        if (draw < trace->draws) r->refused = "it draws again what was drawn before the call";
    }
    entry->out = (uint32_t)r->values.n;
    entry->n_out = op->n_out;
    const uint32_t at = (uint32_t)r->entries.n - 1;
    for (uint32_t i = 0; i < op->n_out; i++) {
        if (ebb_value_add(trace, out[i], EBB_SOURCE_ENTRY, at) == EBB_NONE) return EBB_NO_MEMORY;
    }
    return EBB_OK;
}

/* The same op with the same attributes is due. */
static bool op_is_due(const ebb_trace *trace, const ebb_known_call *call) {
    const ebb_entry *entry = ebb_next_entry(trace, EBB_ENTRY_OP);
    const ebb_op_info *op = call->call.op;
    return entry && entry->op == op &&
           (op->n_attrs == 0 || memcmp(entry->attr, call->attr, op->n_attrs * sizeof *entry->attr) == 0);
}

static bool op_is(ebb_trace *trace, const ebb_known_call *call, ebb_datum *const *in, uint64_t draw) {
    const ebb_entry *entry = ebb_next_entry(trace, EBB_ENTRY_OP);
    if (!op_is_due(trace, call)) return false;
    if (call->call.op->effect == EBB_SEEDED && entry->draw != draw - trace->draws) return false;
    return ebb_operands_are(trace, entry, in, call->call.n_in);
}

static ebb_status promise(ebb_trace *trace, const ebb_known_call *call, ebb_datum **out) {
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; i < call->call.n_out; i++) out[i] = NULL;
    for (uint32_t i = 0; !status && i < call->call.n_out; i++) {
        out[i] = ebb_datum_create(trace->eager, &call->out[i]);
        if (!out[i]) status = EBB_NO_MEMORY;
    }
    for (uint32_t i = 0; status && i < call->call.n_out; i++) {
        ebb_datum_drop(trace->eager, out[i]);
        out[i] = NULL;
    }
    return status;
}

/* An update that runs now must not be done in the bytes of what it updates: if the call fails, they are
 * wanted. */
static ebb_status updated_keep(ebb_trace *trace, const ebb_known_call *call, ebb_datum *const *in) {
    const ebb_op_info *op = call->call.op;
    for (uint32_t u = 0; u < op->n_update; u++) {
        ebb_datum *datum = in[op->update[u].in];
        if (!EBB_PUSH(trace->env, &trace->kept, datum)) return EBB_NO_MEMORY;
        ebb_datum_hold(datum);
    }
    return EBB_OK;
}

static ebb_status on_apply(void *ctx, const ebb_known_call *call, ebb_datum *const *in, uint64_t draw,
                           ebb_datum **out, bool *took) {
    ebb_trace *trace = ctx;
    ebb_status status = EBB_OK;
    *took = false;
    if (ebb_call_silent(trace)) return updated_keep(trace, call, in);
    if (trace->mode == EBB_CALL_COMPARE) {
        if (op_is(trace, call, in, draw)) {
            *took = true;
            status = ebb_results_promise(trace, &trace->now->entries.at[trace->at], out);
            trace->at += !status;
            return status;
        }
        char what[EBB_TYPE_TEXT + 64];
        ebb_text text;
        ebb_text_init(&text, trace->env);
        ebb_call_print(&text, &call->call);
        strncpy(what, text.at ? text.at : call->call.op->name, sizeof what - 1);
        what[sizeof what - 1] = '\0';
        ebb_text_deinit(&text);
        /* Of other tensors: arguments that were one tensor, or a captured one, are another program's. */
        status = ebb_call_turn(trace, NULL, what, op_is_due(trace, call));
        /* Another recording may go on with this very op. */
        return status ? status : on_apply(ctx, call, in, draw, out, took);
    }
    if (trace->mode != EBB_CALL_LAZY) return updated_keep(trace, call, in);
    status = promise(trace, call, out);
    if (!status) status = op_add(trace, call, in, draw, out);
    *took = !status;
    return status;
}

static ebb_status on_applied(void *ctx, const ebb_known_call *call, ebb_datum *const *in, uint64_t draw,
                             ebb_datum *const *out) {
    ebb_trace *trace = ctx;
    if (ebb_call_silent(trace) || trace->mode != EBB_CALL_EAGER) return EBB_OK;
    return op_add(trace, call, in, draw, out);
}

/* ---- data from the host --------------------------------------------------------------------- */

/* Entries that make one value of host data, so that what is fed is known; numbers need no bytes before. */
static ebb_status host_entry(ebb_trace *trace, ebb_entry_kind kind, ebb_datum *datum) {
    ebb_entry *entry;
    const ebb_status status = ebb_entry_add(trace, kind, NULL, 0, &entry);
    if (status) return status;
    entry->out = (uint32_t)trace->now->values.n;
    entry->n_out = 1;
    const uint32_t at = (uint32_t)trace->now->entries.n - 1;
    return ebb_value_add(trace, datum, EBB_SOURCE_ENTRY, at) == EBB_NONE ? EBB_NO_MEMORY : EBB_OK;
}

static ebb_status host_datum(ebb_trace *trace, ebb_entry_kind kind, ebb_datum *datum) {
    if (trace->mode == EBB_CALL_COMPARE) {
        const ebb_entry *entry = ebb_next_entry(trace, kind);
        if (entry && ebb_type_equal(&trace->now->values.at[entry->out].type, &datum->type)) {
            trace->at++;
            return ebb_value_bind(trace, entry->out, datum);
        }
        const char *what = kind == EBB_ENTRY_NUMBER ? "a number" : "a new tensor";
        const ebb_status status = ebb_call_turn(trace, NULL, what, false);
        if (status) return status;
        if (trace->mode == EBB_CALL_COMPARE) return host_datum(trace, kind, datum);
    }
    return host_entry(trace, kind, datum);
}

static ebb_status on_made(void *ctx, ebb_datum *datum) {
    ebb_trace *trace = ctx;
    return ebb_call_silent(trace) ? EBB_OK : host_datum(trace, EBB_ENTRY_FRESH, datum);
}

static ebb_status on_number(void *ctx, const ebb_type *type, double value, ebb_datum **out) {
    ebb_trace *trace = ctx;
    *out = NULL;
    if (ebb_call_silent(trace)) return EBB_OK;
    ebb_datum *datum = ebb_datum_create(trace->eager, type);
    if (!datum) return EBB_NO_MEMORY;
    ebb_status status = host_datum(trace, EBB_ENTRY_NUMBER, datum);
    if (!status) trace->present.at[datum->number].number = value;
    if (!status && trace->mode == EBB_CALL_EAGER) status = ebb_datum_fill(trace->eager, datum, value);
    if (status)
        ebb_datum_drop(trace->eager, datum);
    else
        *out = datum;
    return status;
}

/* ---- assignments ---------------------------------------------------------------------------- */

/* The captured tensor of a handle; one that is only assigned to is captured, too. */
static uint32_t captured_of(ebb_trace *trace, ebb_tensor *handle) {
    ebb_recorded *r = trace->now;
    for (uint32_t c = 0; c < r->captured.n; c++) {
        if (ebb_captured_handle(trace, c) == handle) return c;
    }
    const ebb_captured captured = ebb_captured_make(trace, handle);
    if (!EBB_PUSH(trace->env, &r->captured, captured)) return EBB_NONE;
    ebb_captured_hold(captured.handle);
    return (uint32_t)r->captured.n - 1;
}

/* Was the handle there before the call? What the call itself made is replaced without a trace: its readers
 * read the new value. */
static bool is_older(const ebb_trace *trace, const ebb_tensor *to) {
    return to->serial <= trace->serial;
}

static ebb_status on_assign(void *ctx, ebb_tensor *to, ebb_datum *from) {
    ebb_trace *trace = ctx;
    if (!is_older(trace, to)) return EBB_OK;
    ebb_status status = ebb_call_note(trace, to);
    if (status || ebb_call_silent(trace)) return status;
    if (trace->mode == EBB_CALL_COMPARE) {
        const ebb_entry *entry = ebb_next_entry(trace, EBB_ENTRY_ASSIGN);
        if (entry && ebb_captured_handle(trace, entry->captured) == to &&
            ebb_operands_are(trace, entry, &from, 1)) {
            trace->at++;
            return EBB_OK;
        }
        status = ebb_call_turn(trace, NULL, "an assignment", false);
        if (status) return status;
        if (trace->mode == EBB_CALL_COMPARE) return on_assign(ctx, to, from);
    }
    const uint32_t value = ebb_value_of(trace, from), captured = captured_of(trace, to);
    ebb_entry *entry;
    if (value == EBB_NONE || captured == EBB_NONE) return EBB_NO_MEMORY;
    status = ebb_entry_add(trace, EBB_ENTRY_ASSIGN, &value, 1, &entry);
    if (!status) entry->captured = captured;
    return status;
}

/* ---- reads ---------------------------------------------------------------------------------- */

static ebb_status read_add(ebb_trace *trace, uint32_t value) {
    ebb_entry *entry;
    const ebb_status status = ebb_entry_add(trace, EBB_ENTRY_READ, &value, 1, &entry);
    return status ? status : ebb_segment_end(trace);
}

/* A number that has no bytes, of this call. */
static ebb_status number_fill(ebb_trace *trace, ebb_datum *datum) {
    return ebb_number_fill(trace, datum->number);
}

static ebb_status on_need(void *ctx, ebb_datum *datum) {
    ebb_trace *trace = ctx;
    if (datum->owner != trace) return EBB_OK;
    if (ebb_value_given(trace->now, datum->number)) return number_fill(trace, datum);
    if (!trace->runs)
        return ebb_fail(trace->env, EBB_USAGE,
                        "a value is read in a call in which nothing runs: it is recorded or planned only");
    if (trace->mode == EBB_CALL_COMPARE) {
        const ebb_entry *entry = ebb_next_entry(trace, EBB_ENTRY_READ);
        if (entry && ebb_operands_are(trace, entry, &datum, 1)) {
            trace->at++;
            return ebb_segment_end(trace);
        }
        const ebb_status status = ebb_call_turn(trace, NULL, "a read of a value", true);
        if (status || datum->block) return status;
        if (trace->mode == EBB_CALL_COMPARE) return on_need(ctx, datum);
    }
    return read_add(trace, datum->number);
}

/* A value that an entry of this segment has computed at once. */
static ebb_status on_read(void *ctx, ebb_datum *datum) {
    ebb_trace *trace = ctx;
    if (ebb_call_silent(trace) || trace->mode != EBB_CALL_EAGER || datum->owner != trace) return EBB_OK;
    const ebb_traced_value *value = &trace->now->values.at[datum->number];
    if (ebb_value_given(trace->now, datum->number) || value->segment < trace->segment) return EBB_OK;
    return read_add(trace, datum->number);
}

const ebb_recorder ebb_trace_recorder = {.apply = on_apply,
                                         .applied = on_applied,
                                         .made = on_made,
                                         .number = on_number,
                                         .assign = on_assign,
                                         .need = on_need,
                                         .read = on_read,
                                         .compare = ebb_backward_compare,
                                         .backward = ebb_backward_way_of,
                                         .backward_done = ebb_backward_record};
