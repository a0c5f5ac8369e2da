/* What a recording turns out to depend on while a call goes on: tensors that stand beside others, their
 * gradients say, of which each call may bring another; and which of them there are, which is a part of its
 * key. */
#include "trace/trace.h"

static ebb_tensor *holder_of(const ebb_trace *trace, const ebb_captured *captured) {
    return captured->argument == EBB_NONE ? captured->handle : trace->arguments.at[captured->argument];
}

/* A recording that takes over in the course of a call knows nothing of it yet. */
void ebb_beside_find(ebb_trace *trace) {
    for (size_t c = 0; c < trace->now->captured.n; c++) {
        ebb_captured *captured = &trace->now->captured.at[c];
        captured->now = NULL;
        for (size_t i = 0; captured->beside && i < trace->beside.n; i++) {
            if (trace->beside.at[i].holder == holder_of(trace, captured))
                captured->now = trace->beside.at[i].tensor;
        }
    }
}

void ebb_beside_forget(ebb_trace *trace) {
    for (size_t i = 0; i < trace->beside.n; i++) {
        ebb_tensor_destroy(trace->beside.at[i].holder);
        ebb_tensor_destroy(trace->beside.at[i].tensor);
    }
    trace->beside.n = 0;
}

ebb_captured ebb_captured_make(const ebb_trace *trace, ebb_tensor *handle) {
    ebb_captured made = {.handle = handle, .argument = EBB_NONE, .value = EBB_NONE};
    for (size_t i = 0; i < trace->beside.n; i++) {
        if (trace->beside.at[i].tensor != handle) continue;
        made.handle = trace->beside.at[i].holder;
        made.beside = true;
        made.now = handle;
        break;
    }
    for (uint32_t i = 0; i < trace->arguments.n; i++) {
        if (trace->arguments.at[i] != made.handle) continue;
        made.handle = NULL;
        made.argument = i;
        break;
    }
    return made;
}

/* The recording that is compared with has it by its holder. */
static ebb_status bind(ebb_trace *trace, ebb_tensor *holder, ebb_tensor *tensor) {
    ebb_recorded *r = trace->now;
    for (uint32_t i = 0; i < r->captured.n; i++) { /* they mostly come in the recording's order */
        const uint32_t c = (trace->beside_at + i) % (uint32_t)r->captured.n;
        ebb_captured *captured = &r->captured.at[c];
        if (!captured->beside || holder_of(trace, captured) != holder) continue;
        trace->beside_at = c + 1;
        captured->now = tensor;
        return ebb_captured_bind_one(trace, c);
    }
    return EBB_OK;
}

ebb_status ebb_trace_beside(ebb_trace *trace, ebb_tensor *holder, ebb_tensor *tensor) {
    if (!trace->calling) return ebb_fail(trace->env, EBB_USAGE, "no traced call is going on");
    if (tensor->serial > trace->serial) return EBB_OK; /* the call has made it */
    for (size_t i = 0; i < trace->beside.n; i++) {
        if (trace->beside.at[i].holder == holder) return EBB_OK;
    }
    if (!EBB_PUSH(trace->env, &trace->beside, ((ebb_beside){holder, tensor}))) return EBB_NO_MEMORY;
    ebb_tensor_hold(holder);
    ebb_tensor_hold(tensor);
    return trace->mode == EBB_CALL_COMPARE ? bind(trace, holder, tensor) : EBB_OK;
}

ebb_status ebb_trace_rekey(ebb_trace *trace, const void *key, size_t n_key) {
    if (!trace->calling) return ebb_fail(trace->env, EBB_USAGE, "no traced call is going on");
    return trace->is_new ? ebb_key_replace(trace->env, &trace->now->key, key, n_key) : EBB_OK;
}
