/* Made-up inputs, for what measures steps or compares them. */
#include "engine/run/run.h"

/* Noise in [-1, 1), so that no product falls among numbers that a processor is slow with; labels and ids by
 * chance, which no step learns away; a learning rate (a scalar) that changes nothing much. */
void ebb_make_up(const ebb_graph *graph, ebb_id value, void *at, ebb_rng *rng) {
    const ebb_type *type = &graph->values[value].type;
    const int64_t n = ebb_type_count(type);
    const int64_t below = type->dtype == EBB_I32 ? ebb_integers_below(graph, value) : 1;
    for (int64_t i = 0; i < n; i++) {
        const double x = type->rank == 0 ? 1e-3 : 2 * ebb_rng_unit(rng) - 1;
        const double made = ebb_dtype_real(type->dtype) ? x
                            : type->dtype == EBB_I32    ? ebb_rng_below(rng, (uint32_t)below)
                                                        : 0;
        ebb_dtypes[type->dtype].store(at, i, made);
    }
}

static bool is_made_up(const ebb_program *program, ebb_id v) {
    return program->compiled.graph->values[v].role == EBB_ROLE_INPUT && ebb_value_is_given(program, v);
}

ebb_status ebb_made_up_draw(ebb_arena *arena, const ebb_program *program, ebb_made_up *out) {
    const ebb_graph *graph = program->compiled.graph;
    ebb_rng rng;
    ebb_rng_init(&rng, 1, 0);
    *out = (ebb_made_up){.graph = graph, .data = EBB_NEW(arena, void *, graph->n_values)};
    if (!out->data) return EBB_NO_MEMORY;
    for (uint32_t v = 0; v < graph->n_values; v++) {
        const ebb_value *value = &graph->values[v];
        if (!is_made_up(program, v)) continue;
        out->data[v] = ebb_arena_alloc(arena, (size_t)ebb_type_bytes(&value->type), 1);
        if (!out->data[v]) return EBB_NO_MEMORY;
        ebb_make_up(graph, v, out->data[v], &rng);
    }
    return EBB_OK;
}

ebb_status ebb_made_up_feed(ebb_program *program, const ebb_made_up *made_up) {
    ebb_status status = EBB_OK;
    for (uint32_t v = 0; v < made_up->graph->n_values && status == EBB_OK; v++) {
        const ebb_value *value = &made_up->graph->values[v];
        if (made_up->data[v])
            status = ebb_feed(program, value->name, made_up->data[v], (size_t)ebb_type_bytes(&value->type));
    }
    return status;
}

static ebb_status feed_both(ebb_program *program, ebb_program *other, ebb_id v, void *data, ebb_rng *rng) {
    const ebb_value *value = &program->compiled.graph->values[v];
    const size_t bytes = (size_t)ebb_type_bytes(&value->type);
    ebb_make_up(program->compiled.graph, v, data, rng);
    const ebb_status status = ebb_feed(program, value->name, data, bytes);
    return status == EBB_OK ? ebb_feed(other, value->name, data, bytes) : status;
}

ebb_status ebb_made_up_feed_both(ebb_program *program, ebb_program *other) {
    const ebb_graph *graph = program->compiled.graph;
    ebb_env *env = program->engine->env;
    ebb_status status = EBB_OK;
    ebb_rng rng;
    ebb_rng_init(&rng, 1, 0);
    for (uint32_t v = 0; v < graph->n_values && status == EBB_OK; v++) {
        if (!is_made_up(program, v)) continue;
        const size_t bytes = (size_t)ebb_type_bytes(&graph->values[v].type);
        void *data = ebb_calloc(env, bytes, 1);
        status = data ? feed_both(program, other, v, data, &rng) : EBB_NO_MEMORY;
        ebb_cfree(env, data, bytes, 1);
    }
    return status;
}
