/* The sealed graph: its end, and lookup by name. */
#include "graph/graph.h"

void ebb_graph_destroy(ebb_graph *graph) {
    if (!graph) return;
    ebb_arena arena = graph->arena; /* the graph lives in it too */
    ebb_arena_deinit(&arena);
}

ebb_id ebb_graph_find(const ebb_graph *graph, const char *name) {
    for (ebb_id v = 0; v < graph->n_values; v++) {
        if (strcmp(graph->values[v].name, name) == 0) return v;
    }
    return EBB_NONE;
}
