/* A whole backward as one entry. It is differentiated again when a program is made, after fusing, from the
 * entries that the tape has seen; where the tape has seen others, its ops are entries one by one. */
#include "trace/trace.h"

/* ---- is it one entry? ----------------------------------------------------------------------- */

typedef struct reach {
    bool *wanted,
        *apart; /* [values] leads from what is differentiated by; over an op that the tape lacks */
} reach;

static bool is_taped(const ebb_trace *trace, const ebb_tape *tape, const ebb_entry *entry) {
    const ebb_id id = ebb_tape_find(tape, trace->present.at[entry->out].serial);
    return id != EBB_NONE && tape->values.at[id].maker != EBB_NONE;
}

static void entry_reach(const ebb_trace *trace, const ebb_entry *entry, bool taped, reach *to) {
    const ebb_recorded *r = trace->now;
    bool wanted = false, apart = false;
    for (uint32_t i = 0; i < entry->n_in; i++) {
        const uint32_t v = r->operands.at[entry->in + i];
        if (v == EBB_NONE) continue;
        wanted = wanted || to->wanted[v];
        apart = apart || to->apart[v];
    }
    for (uint32_t i = 0; i < entry->n_out; i++) {
        const uint32_t v = entry->out + i;
        if (!ebb_dtype_real(r->values.at[v].type.dtype)) continue;
        to->wanted[v] = to->wanted[v] || wanted;
        to->apart[v] = apart || (wanted && !taped);
    }
}

/* The tape's nodes are entries of this segment, all of them, and every way to a y lies on the tape. */
static bool fits(const ebb_trace *trace, const ebb_backward *b, reach *to) {
    const ebb_recorded *r = trace->now;
    size_t n_taped = 0;
    for (uint32_t i = 0; i < b->n_of; i++) {
        if (b->of[i]->owner == trace) to->wanted[b->of[i]->number] = true;
    }
    for (size_t e = r->segments.at[trace->segment].begin; e < r->entries.n; e++) {
        const ebb_entry *entry = &r->entries.at[e];
        if (entry->op && entry->op->n_update) continue;
        const bool op = entry->kind == EBB_ENTRY_OP, taped = op && is_taped(trace, b->tape, entry);
        n_taped += taped;
        if (op || entry->kind == EBB_ENTRY_BACKWARD) entry_reach(trace, entry, taped, to);
    }
    if (n_taped != b->tape->nodes.n) return false;
    for (uint32_t i = 0; i < b->n_y; i++) {
        if (b->y[i]->owner != trace || to->apart[b->y[i]->number]) return false;
    }
    return true;
}

/* Others that watch must see each op. */
static bool is_watched(const ebb_trace *trace, const ebb_backward *b) {
    for (const ebb_tape *tape = trace->eager->tapes; tape; tape = tape->older) {
        if (tape != b->tape && !tape->paused) return true;
    }
    return false;
}

static ebb_status is_whole(ebb_trace *trace, const ebb_backward *b, bool *out) {
    const size_t n = trace->now->values.n;
    *out = false;
    if (is_watched(trace, b)) return EBB_OK;
    bool *flags = ebb_calloc(trace->env, 2 * n, sizeof *flags);
    if (!flags) return EBB_NO_MEMORY;
    *out = fits(trace, b, &(reach){flags, flags + n});
    ebb_cfree(trace->env, flags, 2 * n, sizeof *flags);
    return EBB_OK;
}

/* ---- the entry ------------------------------------------------------------------------------ */

/* The operands of the entry, as data. */
static ebb_datum *operand(const ebb_backward *b, uint32_t i) {
    if (i < b->n_y) return b->y[i];
    return i < 2 * b->n_y ? b->dy[i - b->n_y] : b->of[i - 2 * b->n_y];
}

/* Of what no op of the call has read there is no gradient, and it is no value of the call: a parameter that
 * is attached and not used. */
static bool is_unread(const ebb_trace *trace, const ebb_backward *b, uint32_t i) {
    return i >= 2 * b->n_y && operand(b, i)->owner != trace;
}

static ebb_status entry_add(ebb_trace *trace, const ebb_backward *b, ebb_datum *const *out) {
    ebb_recorded *r = trace->now;
    const uint32_t n_in = 2 * b->n_y + b->n_of;
    uint32_t *ids = EBB_NEW(&r->arena, uint32_t, n_in);
    ebb_entry *entry;
    if (!ids) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < n_in; i++) {
        const bool unread = is_unread(trace, b, i) && b->grads[i - 2 * b->n_y] == EBB_NONE;
        ebb_datum *datum = unread ? NULL : operand(b, i);
        ids[i] = datum ? ebb_value_of(trace, datum) : EBB_NONE;
        if (datum && ids[i] == EBB_NONE) return EBB_NO_MEMORY;
    }
    const ebb_status status = ebb_entry_add(trace, EBB_ENTRY_BACKWARD, ids, n_in, &entry);
    if (status) return status;
    entry->n_y = b->n_y;
    entry->n_taped = trace->n_taped;
    entry->out = (uint32_t)r->values.n;
    entry->n_out = b->n_of;
    const uint32_t at = (uint32_t)r->entries.n - 1;
    for (uint32_t i = 0; i < b->n_of; i++) {
        /* Of one that does not arrive there is a value, which nothing reads. */
        const ebb_traced_value none = {.type = b->of[i]->type,
                                       .source = EBB_SOURCE_ENTRY,
                                       .at = at,
                                       .segment = trace->segment,
                                       .missing = true};
        if (out[i] && out[i]->owner != trace) {
            if (ebb_value_add(trace, out[i], EBB_SOURCE_ENTRY, at) == EBB_NONE) return EBB_NO_MEMORY;
        } else if (!EBB_PUSH(trace->env, &r->values, none) ||
                   !EBB_PUSH(trace->env, &trace->present, (ebb_present){0})) {
            return EBB_NO_MEMORY;
        }
        if (out[i] && out[i]->owner == trace && (out[i]->number != entry->out + i))
            r->refused = "a gradient is a value that was there before";
    }
    return EBB_OK;
}

/* ---- what the room eager calls -------------------------------------------------------------- */

ebb_status ebb_backward_compare(void *ctx, const ebb_backward *b, ebb_datum **out, bool *took) {
    ebb_trace *trace = ctx;
    *took = false;
    if (ebb_call_silent(trace) || trace->mode != EBB_CALL_COMPARE) return EBB_OK;
    const ebb_entry *entry = ebb_next_entry(trace, EBB_ENTRY_BACKWARD);
    if (!entry) {
        bool turned;
        const ebb_status status = ebb_call_turn_to(trace, EBB_ENTRY_BACKWARD, &turned);
        return status || !turned ? status /* op by op, perhaps */ : ebb_backward_compare(ctx, b, out, took);
    }
    bool same = entry->n_in == 2 * b->n_y + b->n_of && entry->n_y == b->n_y &&
                entry->n_taped == (uint32_t)b->tape->nodes.n;
    for (uint32_t i = 0; same && i < entry->n_in; i++) {
        /* What is read behind it alone was not known when it was recorded. */
        const bool behind = i >= 2 * b->n_y && operand(b, i)->number >= entry->out;
        ebb_datum *datum = behind || is_unread(trace, b, i) ? NULL : operand(b, i);
        same = ebb_operands_are(trace, &(ebb_entry){.in = entry->in + i, .n_in = 1}, &datum, 1);
    }
    if (!same) {
        const ebb_status status = ebb_call_turn(trace, NULL, "gradients", false);
        return status || trace->mode != EBB_CALL_COMPARE ? status : ebb_backward_compare(ctx, b, out, took);
    }
    const ebb_status status = ebb_results_promise(trace, entry, out);
    trace->at += !status;
    *took = !status;
    return status;
}

static ebb_status take(ebb_trace *trace, const ebb_backward *b, ebb_datum **out) {
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; i < b->n_of; i++) out[i] = NULL;
    for (uint32_t i = 0; !status && i < b->n_of; i++) {
        if (b->grads[i] == EBB_NONE) continue;
        out[i] = ebb_datum_create(trace->eager, &b->of[i]->type);
        if (!out[i]) status = EBB_NO_MEMORY;
    }
    if (!status) status = entry_add(trace, b, out);
    for (uint32_t i = 0; status && i < b->n_of; i++) ebb_datum_drop(trace->eager, out[i]);
    return status;
}

ebb_status ebb_backward_way_of(void *ctx, const ebb_backward *b, ebb_datum **out, ebb_backward_way *way) {
    ebb_trace *trace = ctx;
    bool whole = false;
    *way = EBB_BACKWARD_EACH;
    if (ebb_call_silent(trace) || trace->mode == EBB_CALL_COMPARE) return EBB_OK;
    trace->n_taped = (uint32_t)b->tape->nodes.n;
    ebb_status status = is_whole(trace, b, &whole);
    if (status || !whole) return status;
    *way = trace->mode == EBB_CALL_LAZY ? EBB_BACKWARD_TAKEN : EBB_BACKWARD_QUIET;
    return trace->mode == EBB_CALL_LAZY ? take(trace, b, out) : EBB_OK;
}

ebb_status ebb_backward_record(void *ctx, const ebb_backward *b, ebb_datum *const *out) {
    return entry_add(ctx, b, out);
}
