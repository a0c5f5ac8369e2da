/* Labels and ids: what their readers can use, looked at before anything has been changed by a step. */
#include "engine/run/run.h"

/* INT64_MAX: no reader bounds it. */
static int64_t bound_of(const ebb_graph *graph, ebb_id value) {
    int64_t below = INT64_MAX;
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const ebb_node *node = &graph->nodes[i];
        if (node->op->places_on == 0 || node->in[1] != value) continue;
        below = ebb_min_i64(below, graph->values[node->in[0]].type.dim[node->op->places_on - 1]);
    }
    return below;
}

int64_t ebb_integers_below(const ebb_graph *graph, ebb_id value) {
    const int64_t below = bound_of(graph, value);
    return below == INT64_MAX ? 1 : ebb_min_i64(below, INT32_MAX);
}

ebb_status ebb_integers_find(ebb_program *program) {
    const ebb_graph *graph = program->compiled.graph;
    program->bounds = EBB_NEW(&program->arena, ebb_bounded, graph->n_values);
    if (!program->bounds) return EBB_NO_MEMORY;
    for (ebb_id v = 0; v < graph->n_values; v++) {
        const ebb_value *value = &graph->values[v];
        if (value->role != EBB_ROLE_INPUT || value->type.dtype != EBB_I32) continue;
        const int64_t below = bound_of(graph, v);
        if (below != INT64_MAX) program->bounds[program->n_bounds++] = (ebb_bounded){v, below};
    }
    return EBB_OK;
}

static ebb_status check_bounded(const ebb_program *program, const ebb_bounded *bounded, const void *data) {
    const ebb_value *value = &program->compiled.graph->values[bounded->value];
    const char *bytes = data;
    for (int64_t i = 0, n = ebb_type_count(&value->type); i < n; i++) {
        int32_t x; /* the caller's bytes may lie anywhere */
        memcpy(&x, bytes + i * (int64_t)sizeof x, sizeof x);
        if (x >= 0 && x < bounded->below) continue;
        char at[EBB_ELEMENT_TEXT];
        ebb_element_text(&value->type, i, at);
        return ebb_fail(program->engine->env, EBB_BAD_INPUT,
                        "%s: %d at %s is outside [0, %lld): correct what is fed", value->name, x, at,
                        (long long)bounded->below);
    }
    return EBB_OK;
}

ebb_status ebb_integers_check(const ebb_program *program, ebb_id value, const void *data) {
    for (uint32_t i = 0; i < program->n_bounds; i++)
        if (program->bounds[i].value == value) return check_bounded(program, &program->bounds[i], data);
    return EBB_OK;
}

ebb_status ebb_integers_check_all(const ebb_program *program) {
    const ebb_backend_api *api = program->engine->backend->api;
    if (!api->host_memory || !api->computes || program->engine->plugin) return EBB_OK;
    for (uint32_t i = 0; i < program->n_bounds; i++) {
        int64_t bytes;
        const void *at = ebb_exec_given(program->exec, program->bounds[i].value, &bytes);
        const ebb_status status = at ? check_bounded(program, &program->bounds[i], at) : EBB_OK;
        if (status != EBB_OK) return status;
    }
    return EBB_OK;
}
