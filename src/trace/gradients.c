/* A backward as a call of its own: what its tape has kept for it, and the gradients that are given, are the
 * call's arguments. */
#include "trace/trace.h"

typedef struct work {
    ebb_tensor **arguments; /* held */
    uint32_t *key;
    uint32_t n_arguments, n_key, most_arguments, most_key;
} work;

static ebb_status argument_add(ebb_eager *eager, work *w, ebb_datum *datum) {
    ebb_tensor *handle = ebb_tensor_of(eager, ebb_datum_hold(datum));
    if (handle) w->arguments[w->n_arguments++] = handle;
    return handle ? EBB_OK : EBB_NO_MEMORY;
}

static uint32_t number_of(const ebb_tape *tape, const ebb_tensor *tensor) {
    return tensor ? ebb_tape_find(tape, tensor->datum->serial) : EBB_NONE;
}

/* What the backward depends on besides its arguments, as far as that is cheap: its ops are compared. */
static void key_fill(const ebb_tape *tape, ebb_tensor *const *ys, ebb_tensor *const *dys, uint32_t n_y,
                     ebb_tensor *const *of, uint32_t n_of, work *w) {
    w->key[w->n_key++] = (uint32_t)tape->nodes.n;
    w->key[w->n_key++] = (uint32_t)tape->values.n;
    for (uint32_t i = 0; i < n_y; i++) {
        w->key[w->n_key++] = number_of(tape, ys[i]);
        w->key[w->n_key++] = dys && dys[i];
    }
    for (uint32_t i = 0; i < n_of; i++) w->key[w->n_key++] = number_of(tape, of[i]);
}

static ebb_status work_fill(ebb_trace *trace, const ebb_tape *tape, ebb_tensor *const *dys, uint32_t n_y,
                            uint32_t n_of, work *w) {
    ebb_status status = EBB_OK;
    w->most_arguments = (uint32_t)tape->values.n + n_y + 1; /* never none */
    w->most_key = 2 + 2 * n_y + n_of;
    w->arguments = ebb_calloc(trace->env, w->most_arguments, sizeof *w->arguments);
    w->key = ebb_calloc(trace->env, w->most_key, sizeof *w->key);
    if (!w->arguments || !w->key) return EBB_NO_MEMORY;
    for (size_t v = 0; !status && v < tape->values.n; v++) {
        if (tape->values.at[v].datum) status = argument_add(trace->eager, w, tape->values.at[v].datum);
    }
    for (uint32_t i = 0; !status && dys && i < n_y; i++) {
        if (dys[i]) status = argument_add(trace->eager, w, dys[i]->datum);
    }
    return status;
}

static void work_drop(ebb_trace *trace, work *w) {
    for (uint32_t i = 0; i < w->n_arguments; i++) ebb_tensor_destroy(w->arguments[i]);
    ebb_cfree(trace->env, w->arguments, w->most_arguments, sizeof *w->arguments);
    ebb_cfree(trace->env, w->key, w->most_key, sizeof *w->key);
}

ebb_status ebb_trace_gradients(ebb_trace *trace, ebb_tape *tape, ebb_tensor *const *ys,
                               ebb_tensor *const *dys, uint32_t n_y, ebb_tensor *const *of, uint32_t n_of,
                               bool keep, ebb_tensor **out) {
    work w = {.n_arguments = 0};
    for (uint32_t i = 0; i < n_of; i++) out[i] = NULL;
    if (tape->eager != trace->eager)
        return ebb_fail(trace->env, EBB_USAGE, "a tape of another device's eager cannot be traced");
    const uint64_t seed = trace->eager->seed;
    ebb_status status = ebb_tape_ends_check(tape, ys, dys, n_y, of, n_of);
    if (!status) status = ebb_tape_seed(tape, &trace->eager->seed);
    if (!status) status = work_fill(trace, tape, dys, n_y, n_of, &w);
    if (!status) key_fill(tape, ys, dys, n_y, of, n_of, &w);
    if (!status)
        status = ebb_trace_begin(trace, w.key, w.n_key * sizeof *w.key, w.arguments, w.n_arguments);
    if (!status) {
        trace->draws = tape->draws; /* what is drawn again was drawn since the tape began */
        status = ebb_tape_gradients(tape, ys, dys, n_y, of, n_of, keep, out);
        if (status) ebb_trace_abort(trace);
        if (!status) status = ebb_trace_end(trace, NULL, 0);
    }
    for (uint32_t i = 0; status && i < n_of; i++) {
        ebb_tensor_destroy(out[i]);
        out[i] = NULL;
    }
    trace->eager->seed = seed;
    work_drop(trace, &w);
    return status;
}
