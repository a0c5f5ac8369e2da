/* A trace's options: its own copy of what they point to, and the device that they plan for. */
#include "trace/trace.h"

void ebb_trace_options_init(ebb_trace_options *options) {
    *options = (ebb_trace_options){.n_most = 0};
    ebb_options_init(&options->plan);
}

static bool text_copy(ebb_arena *arena, const char **text) {
    if (*text) *text = ebb_arena_text(arena, *text);
    return *text != NULL;
}

static bool list_copy(ebb_arena *arena, const char *const **list, uint32_t n) {
    const char **own = EBB_NEW(arena, const char *, n);
    bool done = own != NULL;
    for (uint32_t i = 0; done && i < n; i++) {
        own[i] = (*list)[i];
        done = text_copy(arena, &own[i]);
    }
    *list = own;
    return done;
}

static bool texts_copy(ebb_arena *arena, ebb_options *plan) {
    return text_copy(arena, &plan->device) && (!plan->cache || text_copy(arena, &plan->cache)) &&
           (!plan->dump || text_copy(arena, &plan->dump)) &&
           list_copy(arena, &plan->fetch, plan->n_fetch) && list_copy(arena, &plan->keep, plan->n_keep) &&
           list_copy(arena, &plan->drop, plan->n_drop);
}

static ebb_status device_choose(ebb_trace *trace) {
    ebb_backend *const own = trace->eager->backend;
    ebb_options *plan = &trace->options.plan;
    trace->backend = own;
    if (!trace->options.plan_only || !ebb_device_is_file(plan->device)) {
        plan->n_threads = own->n_threads;
        plan->device = own->api->name;
        return EBB_OK;
    }
    const ebb_backend_options open = {.n_threads = plan->n_threads ? plan->n_threads : ebb_cpu_count(),
                                      .tf32 = plan->tf32,
                                      .direct_conv = plan->direct_conv,
                                      .free_engines = plan->free_engines};
    const ebb_status status = ebb_backend_open(trace->env, plan->device, &open, &trace->backend);
    if (!status) plan->n_threads = trace->backend->n_threads;
    return status;
}

ebb_status ebb_trace_options_take(ebb_trace *trace, const ebb_trace_options *options) {
    trace->options = *options;
    trace->runs = !options->record_only && !options->plan_only;
    if (!trace->options.n_most) trace->options.n_most = 64;
    const ebb_status status = device_choose(trace);
    return status || texts_copy(&trace->arena, &trace->options.plan) ? status : EBB_NO_MEMORY;
}
