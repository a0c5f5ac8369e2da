/* A trace's options, and its own copy of what they point to. */
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

bool ebb_trace_texts_copy(ebb_arena *arena, ebb_options *plan) {
    return (!plan->cache || text_copy(arena, &plan->cache)) &&
           (!plan->dump || text_copy(arena, &plan->dump)) &&
           list_copy(arena, &plan->fetch, plan->n_fetch) && list_copy(arena, &plan->keep, plan->n_keep) &&
           list_copy(arena, &plan->drop, plan->n_drop);
}
