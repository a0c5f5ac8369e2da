/* Regions of a call: those that are left out, before each of which a segment ends, and those that may
 * differ. */
#include "trace/trace.h"

static ebb_status exclude(ebb_trace *trace) {
    ebb_status status = EBB_OK;
    ebb_entry *entry;
    while (!status && trace->mode == EBB_CALL_COMPARE && !ebb_next_entry(trace, EBB_ENTRY_EXCLUDE))
        status = ebb_call_turn(trace, NULL, "an excluded region", false);
    if (!status && trace->mode != EBB_CALL_COMPARE)
        status = ebb_entry_add(trace, EBB_ENTRY_EXCLUDE, NULL, 0, &entry);
    else if (!status)
        trace->at++;
    return status ? status : ebb_segment_end(trace);
}

bool ebb_trace_may_differ(ebb_trace *trace, bool on) {
    const bool before = trace->may_differ;
    trace->may_differ = on;
    return before;
}

ebb_status ebb_trace_exclude_begin(ebb_trace *trace) {
    if (!trace->calling) return EBB_OK;
    const ebb_status status = trace->excluded == 0 && trace->recorded ? exclude(trace) : EBB_OK;
    if (!status) trace->excluded++;
    return status;
}

ebb_status ebb_trace_exclude_end(ebb_trace *trace) {
    if (trace->calling && trace->excluded) trace->excluded--;
    return EBB_OK;
}
