/* Inputs must be fed before each step: their bytes are reused, by the step itself and by other programs of
 * the engine, whose transient regions are one. */
#include "engine/run/run.h"

ebb_status ebb_feeds_find(ebb_program *program) {
    const ebb_graph *graph = program->compiled.graph;
    const ebb_plan *plan = program->compiled.plan;
    program->feeds = EBB_NEW(&program->arena, ebb_feed_row, graph->n_values);
    if (!program->feeds) return EBB_NO_MEMORY;
    for (uint32_t b = 0; b < plan->n_buffers; b++) {
        const ebb_id v = plan->buffers[b].value;
        if (graph->values[v].role == EBB_ROLE_INPUT)
            program->feeds[program->n_feeds++] = (ebb_feed_row){.value = v};
    }
    return EBB_OK;
}

static ebb_feed_row *row_of(ebb_program *program, ebb_id value) {
    for (uint32_t i = 0; i < program->n_feeds; i++)
        if (program->feeds[i].value == value) return &program->feeds[i];
    return NULL;
}

static void forget(ebb_program *program) {
    for (uint32_t i = 0; i < program->n_feeds; i++) program->feeds[i].fed = false;
}

void ebb_feeds_add(ebb_program *program, ebb_id value) {
    ebb_feed_row *row = row_of(program, value);
    if (!row) return; /* a param, or an input that nothing reads */
    if (program->engine->fed != program) forget(program);
    program->engine->fed = program;
    row->fed = true;
}

void ebb_feeds_lend(ebb_program *program, ebb_id value) {
    ebb_feed_row *row = row_of(program, value);
    if (row) row->lent = true;
}

ebb_status ebb_feeds_check(const ebb_program *program) {
    const ebb_engine *engine = program->engine;
    if (!engine->plugin && !engine->backend->api->computes) return EBB_OK;
    for (uint32_t i = 0; i < program->n_feeds; i++) {
        const ebb_feed_row *row = &program->feeds[i];
        if (row->lent || (row->fed && engine->fed == program)) continue;
        return ebb_fail(
            engine->env, EBB_USAGE,
            "input %s was not fed: feed every input before each step, and one program at a time",
            program->compiled.graph->values[row->value].name);
    }
    return EBB_OK;
}

void ebb_feeds_use(ebb_program *program) {
    forget(program);
    program->engine->fed = NULL;
}
