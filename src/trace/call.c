/* A call: from begin to end, or until it fails. */
#include "trace/xla.h"

enum { MOST_PROFILED = 10000 };

/* ---- traces --------------------------------------------------------------------------------- */

ebb_status ebb_trace_create(ebb_eager *eager, const ebb_trace_options *options, ebb_trace **out) {
    *out = NULL;
    ebb_status status = ebb_options_check(eager->env, &options->plan);
    if (!status && options->n_profiled > MOST_PROFILED)
        status = ebb_fail(eager->env, EBB_USAGE, "a profile of %u runs: keep at most %d",
                          options->n_profiled, MOST_PROFILED);
    if (status) return status;
    ebb_trace *trace = ebb_calloc(eager->env, 1, sizeof *trace);
    if (!trace) return EBB_NO_MEMORY;
    trace->eager = eager;
    trace->env = eager->env;
    ebb_arena_init(&trace->arena, eager->env);
    status = ebb_trace_options_take(trace, options);
    if (!status && options->plan.xla) status = ebb_trace_xla_open(trace);
    if (status)
        ebb_trace_destroy(trace);
    else
        *out = trace;
    return status;
}

void ebb_trace_destroy(ebb_trace *trace) {
    if (!trace) return;
    if (trace->calling) ebb_trace_abort(trace);
    while (trace->recordings) {
        ebb_recorded *recorded = trace->recordings;
        trace->recordings = recorded->next;
        ebb_recorded_destroy(recorded);
    }
    EBB_ARRAY_FREE(trace->env, &trace->present);
    EBB_ARRAY_FREE(trace->env, &trace->arguments);
    EBB_ARRAY_FREE(trace->env, &trace->restore);
    EBB_ARRAY_FREE(trace->env, &trace->kept);
    EBB_ARRAY_FREE(trace->env, &trace->beside);
    if (trace->backend && trace->backend != trace->eager->backend)
        trace->backend->api->destroy(trace->backend);
    ebb_arena_deinit(&trace->arena);
    ebb_cfree(trace->env, trace, 1, sizeof *trace);
}

void ebb_trace_facts_now(const ebb_trace *trace, ebb_trace_facts *out) {
    *out = trace->facts;
    out->n_recordings = trace->n_recordings;
    out->n_entries = trace->last ? (uint32_t)trace->last->entries.n : 0;
    out->refused = trace->last ? trace->last->refused : NULL;
}

/* ---- begin ---------------------------------------------------------------------------------- */

static ebb_status arguments_bind(ebb_trace *trace, ebb_tensor *const *arguments, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        ebb_datum *datum = arguments[i]->datum;
        if (!EBB_PUSH(trace->env, &trace->arguments, arguments[i])) return EBB_NO_MEMORY;
        ebb_tensor_hold(arguments[i]);
        if (!trace->is_new) {
            if (ebb_value_bind(trace, i, datum)) return EBB_NO_MEMORY;
        } else if (ebb_value_add(trace, datum, EBB_SOURCE_ARGUMENT, i) == EBB_NONE) {
            return EBB_NO_MEMORY;
        }
    }
    trace->now->n_arguments = n;
    return EBB_OK;
}

static ebb_status start(ebb_trace *trace, ebb_recording_key *key, ebb_tensor *const *arguments,
                        uint32_t n) {
    trace->now = ebb_recordings_find(trace, key);
    trace->is_new = !trace->now;
    const bool lazy = trace->options.symbolic || !trace->runs;
    const bool plain = trace->is_new || (trace->now->refused && trace->runs);
    trace->mode = trace->is_new && lazy ? EBB_CALL_LAZY : plain ? EBB_CALL_EAGER : EBB_CALL_COMPARE;
    trace->recorded = trace->is_new || trace->mode == EBB_CALL_COMPARE;
    trace->at = trace->segment = 0;
    trace->ending = false;
    trace->draws = trace->drawn = trace->eager->draws;
    trace->seed = trace->eager->seed;
    trace->serial = trace->eager->serial;
    ebb_status status = EBB_OK;
    if (trace->is_new) status = ebb_recorded_create(trace, key, &trace->now);
    trace->present.n = 0;
    if (!status && !trace->is_new) {
        if (!EBB_RESERVE(trace->env, &trace->present, trace->now->values.n)) return EBB_NO_MEMORY;
        trace->present.n = trace->now->values.n;
        if (trace->present.n) memset(trace->present.at, 0, trace->present.n * sizeof *trace->present.at);
    }
    if (!status) status = arguments_bind(trace, arguments, n);
    return status || trace->is_new ? status : ebb_captured_bind(trace);
}

ebb_status ebb_trace_begin(ebb_trace *trace, const void *key, size_t n_key, ebb_tensor *const *arguments,
                           uint32_t n) {
    ebb_eager *eager = trace->eager;
    ebb_recording_key made;
    if (eager->recorder)
        return ebb_fail(
            trace->env, EBB_USAGE,
            "a traced call is going on: traced functions do not call one another, and each call "
            "is ended or aborted");
    for (uint32_t i = 0; i < n; i++) {
        if (!arguments[i] || arguments[i]->eager != eager)
            return ebb_fail(trace->env, EBB_USAGE, "argument %u of a traced call is no tensor of its eager",
                            i);
        const ebb_status status = ebb_datum_need(eager, arguments[i]->datum);
        if (status) return status;
    }
    ebb_status status = ebb_key_make(trace, key, n_key, arguments, n, &made);
    if (status) return status;
    trace->calling = true;
    status = start(trace, &made, arguments, n);
    ebb_key_free(trace->env, &made);
    if (status) {
        ebb_trace_abort(trace);
        return status;
    }
    eager->recorder = &ebb_trace_recorder;
    eager->recorder_ctx = trace;
    return EBB_OK;
}

/* ---- segments ------------------------------------------------------------------------------- */

ebb_status ebb_segment_end(ebb_trace *trace) {
    ebb_recorded *r = trace->now;
    ebb_status status = EBB_OK;
    if (trace->mode != EBB_CALL_COMPARE) r->segments.at[trace->segment].end = (uint32_t)r->entries.n;
    if (trace->mode != EBB_CALL_EAGER) status = ebb_segment_run(trace, trace->segment);
    if (status) return status;
    trace->segment++;
    if (trace->mode == EBB_CALL_COMPARE) return EBB_OK;
    return EBB_PUSH(trace->env, &r->segments, (ebb_segment){.begin = (uint32_t)r->entries.n})
               ? EBB_OK
               : EBB_NO_MEMORY;
}

/* ---- the end -------------------------------------------------------------------------------- */

/* Nothing of the call is held any more. */
static void forget(ebb_trace *trace) {
    for (uint32_t v = 0; v < trace->present.n; v++) {
        ebb_present *p = &trace->present.at[v];
        if (!ebb_present_alive(p)) continue;
        if (p->datum->owner == trace) p->datum->owner = NULL;
        if (p->held) ebb_datum_drop(trace->eager, p->datum);
    }
    for (size_t i = 0; i < trace->restore.n; i++) {
        ebb_datum_drop(trace->eager, trace->restore.at[i].datum);
        ebb_tensor_destroy(trace->restore.at[i].handle);
    }
    for (size_t i = 0; i < trace->arguments.n; i++) ebb_tensor_destroy(trace->arguments.at[i]);
    for (size_t i = 0; i < trace->kept.n; i++) ebb_datum_drop(trace->eager, trace->kept.at[i]);
    ebb_beside_forget(trace);
    trace->present.n = trace->restore.n = trace->arguments.n = trace->kept.n = trace->beside_at = 0;
    trace->eager->recorder = NULL;
    trace->calling = false;
    trace->excluded = 0;
    trace->may_differ = false;
    trace->now = NULL;
}

/* What was assigned; and what was drawn, where nothing ran. */
static void take_back(ebb_trace *trace) {
    for (size_t i = trace->restore.n; i-- > 0;)
        ebb_tensor_set(trace->restore.at[i].handle, ebb_datum_hold(trace->restore.at[i].datum));
    if (!trace->runs) trace->eager->draws = trace->drawn;
}

void ebb_trace_abort(ebb_trace *trace) {
    if (!trace->calling) return;
    take_back(trace);
    /* A call that was refused before any op ran is as if it had never been made. */
    const bool ran = trace->mode == EBB_CALL_EAGER || trace->segment > 0;
    if (!ran && trace->eager->seed == trace->seed) trace->eager->draws = trace->drawn;
    ebb_recorded *made = trace->is_new ? trace->now : NULL;
    forget(trace);
    ebb_recorded_destroy(made);
}

ebb_status ebb_call_note(ebb_trace *trace, ebb_tensor *to) {
    for (size_t i = 0; i < trace->restore.n; i++) {
        if (trace->restore.at[i].handle == to) return EBB_OK;
    }
    const ebb_restore restore = {to, to->datum};
    if (!EBB_PUSH(trace->env, &trace->restore, restore)) return EBB_NO_MEMORY;
    ebb_tensor_hold(to);
    ebb_datum_hold(to->datum);
    return EBB_OK;
}

/* Numbers that somebody keeps, beyond the call's own hold, have bytes from now on. */
static ebb_status numbers_fill(ebb_trace *trace) {
    ebb_status status = EBB_OK;
    for (uint32_t v = 0; !status && v < trace->present.n; v++) {
        const ebb_present *p = &trace->present.at[v];
        const bool due = trace->runs || ebb_value_given(trace->now, v); /* else it stays without */
        if (due && ebb_present_alive(p) && p->held && !p->datum->block && p->datum->n_refs > 1)
            status = ebb_number_fill(trace, v);
    }
    return status;
}

/* An assigned handle does not share its datum with others, so that a tape which watches one does not see
 * the other. Without memory for that they share it. */
static void handles_part(ebb_trace *trace) {
    for (size_t i = 0; i < trace->restore.n; i++) {
        ebb_tensor *handle = trace->restore.at[i].handle;
        ebb_datum *own = ebb_datum_apart(trace->eager, handle->datum);
        if (own) ebb_tensor_set(handle, own);
    }
}

static ebb_status finish(ebb_trace *trace) {
    ebb_status status = EBB_OK;
    while (!status && trace->mode == EBB_CALL_COMPARE && trace->at < trace->now->entries.n)
        status = ebb_call_turn(trace, "mismature end", "the function's end", false);
    ebb_recorded *r = trace->now;
    if (!status && r->refused && trace->plugin) status = ebb_trace_xla_refuse(trace, r->refused);
    if (status) return status;
    if (trace->mode != EBB_CALL_COMPARE) {
        r->segments.at[trace->segment].end = (uint32_t)r->entries.n;
    }
    trace->ending = true;
    /* Those before the one in which the call went another way, where nothing runs. */
    for (uint32_t s = 0; !status && !trace->runs && s < trace->segment; s++)
        if (!r->segments.at[s].made) status = ebb_segment_run(trace, s);
    if (status) return status;
    if (trace->mode != EBB_CALL_EAGER) status = ebb_segment_run(trace, trace->segment);
    return status ? status : numbers_fill(trace);
}

ebb_status ebb_trace_end(ebb_trace *trace, ebb_tensor *const *returned, uint32_t n_returned) {
    if (!trace->calling) return ebb_fail(trace->env, EBB_USAGE, "no traced call is going on");
    ebb_status status = EBB_OK;
    if (trace->excluded)
        status = ebb_fail(trace->env, EBB_USAGE, "an excluded region is not ended in the traced call");
    if (!status && trace->recorded) status = finish(trace);
    if (!status && trace->recorded && trace->options.keep)
        status = ebb_kept_take(trace, returned, n_returned);
    if (status) {
        ebb_trace_abort(trace);
        return status;
    }
    if (trace->runs)
        handles_part(trace);
    else
        take_back(trace);
    if (trace->recorded) ebb_recordings_keep(trace);
    forget(trace);
    return EBB_OK;
}
