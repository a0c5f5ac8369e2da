/* Entries without a program: op by op, into the data that are alive. */
#include "trace/trace.h"

/* Data of the graph's values, by name: those that are given, held. */
static ebb_status values_fill(ebb_trace *trace, const ebb_graph *graph, ebb_datum **values, bool *kept) {
    ebb_status status = EBB_OK;
    for (ebb_id id = 0; !status && id < graph->n_values; id++) {
        const ebb_value *value = &graph->values[id];
        const uint32_t v = ebb_traced_find(trace->now, value->name);
        kept[id] = v != EBB_NONE && trace->now->values.at[v].output;
        if (value->producer != EBB_NONE || v == EBB_NONE) continue;
        status = ebb_value_data(trace, v, &values[id]);
        if (!status)
            ebb_datum_hold(values[id]);
        else
            values[id] = NULL;
    }
    return status;
}

static void values_take(ebb_trace *trace, const ebb_graph *graph, ebb_datum *const *values) {
    for (ebb_id id = 0; id < graph->n_values; id++) {
        const uint32_t v = ebb_traced_find(trace->now, graph->values[id].name);
        if (v == EBB_NONE || graph->values[id].producer == EBB_NONE || !values[id]) continue;
        ebb_datum *datum = trace->present.at[v].datum;
        if (!ebb_present_alive(&trace->present.at[v]) || datum->block) continue;
        datum->block = values[id]->block;
        datum->block->n_refs++;
    }
}

static ebb_status play(ebb_trace *trace, const ebb_graph *graph, ebb_datum **values, bool *kept) {
    ebb_eager *eager = trace->eager;
    const ebb_recorder *recorder = eager->recorder;
    ebb_tape *tapes = eager->tapes;
    const uint64_t seed = eager->seed; /* the body may have set another since */
    ebb_status status = values_fill(trace, graph, values, kept);
    eager->recorder = NULL;
    eager->tapes = NULL;
    eager->seed = trace->seed;
    if (!status) status = ebb_play(eager, graph, 0, values, kept, trace->draws);
    eager->recorder = recorder;
    eager->tapes = tapes;
    eager->seed = seed;
    if (!status) values_take(trace, graph, values);
    for (uint32_t i = 0; i < graph->n_values; i++) ebb_datum_drop(eager, values[i]);
    return status;
}

/* Of a graph whose outputs are the values that are marked so. */
static ebb_status marked_play(ebb_trace *trace, uint32_t begin, uint32_t end) {
    ebb_graph *graph;
    ebb_status status = ebb_segment_graph(trace->env, trace->now,
                                          &(ebb_segment){.begin = begin, .end = end}, 0, false, &graph);
    if (status) return status;
    const size_t n = graph->n_values;
    ebb_datum **values = ebb_calloc(trace->env, n, sizeof *values);
    bool *kept = ebb_calloc(trace->env, n, sizeof *kept);
    status = values && kept ? play(trace, graph, values, kept) : EBB_NO_MEMORY;
    ebb_cfree(trace->env, values, n, sizeof *values);
    ebb_cfree(trace->env, kept, n, sizeof *kept);
    ebb_graph_destroy(graph);
    return status;
}

/* Outputs are what is alive now; the recording's program, which is for calls that go on as it says, keeps
 * its own. */
ebb_status ebb_segment_play(ebb_trace *trace, uint32_t begin, uint32_t end) {
    ebb_recorded *r = trace->now;
    const size_t n = r->values.n;
    bool *own = ebb_calloc(trace->env, n, sizeof *own);
    if (!own) return EBB_NO_MEMORY;
    for (size_t v = 0; v < n; v++) own[v] = r->values.at[v].output;
    (void)ebb_outputs_find(trace, r, begin, end);
    const ebb_status status = marked_play(trace, begin, end);
    for (size_t v = 0; v < n; v++) r->values.at[v].output = own[v];
    ebb_cfree(trace->env, own, n, sizeof *own);
    return status;
}
