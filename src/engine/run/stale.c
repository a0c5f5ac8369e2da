/* Params and states that a failed step may have left between two steps. They are of no step, so nothing
 * reads them until the caller has given each of them a value. */
#include <stdio.h>

#include "engine/run/run.h"

ebb_status ebb_stale_lost(const ebb_engine *engine) {
    return ebb_fail(engine->env, EBB_STALE,
                    "%s: the parameters were lost when their block was to move on the device: make the "
                    "engine anew and load them",
                    engine->model->name);
}

ebb_status ebb_stale_open(ebb_engine *engine, const ebb_program *first) {
    engine->stale = EBB_NEW(&engine->arena, bool, first->n_params);
    return engine->stale ? EBB_OK : EBB_NO_MEMORY;
}

ebb_status ebb_stale_mark(ebb_program *program, ebb_status status) {
    ebb_engine *engine = program->engine;
    char why[1024];
    (void)snprintf(why, sizeof why, "%s", ebb_env_error(engine->env));
    for (uint32_t i = 0; i < program->n_params; i++) engine->stale[i] = true;
    engine->n_stale = program->n_params;
    return ebb_fail(engine->env, status, "%s; params and states are undefined until all %u are fed", why,
                    program->n_params);
}

static uint32_t index_of(const ebb_program *program, ebb_id value) {
    uint32_t i = 0;
    while (i < program->n_params && program->params[i] != value) i++;
    return i;
}

void ebb_stale_fed(ebb_program *program, ebb_id value) {
    ebb_engine *engine = program->engine;
    if (engine->n_stale == 0) return;
    const uint32_t i = index_of(program, value);
    if (i == program->n_params || !engine->stale[i]) return;
    engine->stale[i] = false;
    engine->n_stale--;
}

static ebb_status refuse(const ebb_program *program, const char *what) {
    const ebb_engine *engine = program->engine;
    uint32_t i = 0;
    while (!engine->stale[i]) i++;
    return ebb_fail(engine->env, EBB_STALE,
                    "%s: a step failed halfway: %s needs all params and states fed, and %u of %u are not, "
                    "from %s on",
                    engine->model->name, what, engine->n_stale, program->n_params,
                    program->compiled.graph->values[program->params[i]].name);
}

ebb_status ebb_stale_check(const ebb_program *program) {
    if (program->engine->lost) return ebb_stale_lost(program->engine);
    return program->engine->n_stale == 0 ? EBB_OK : refuse(program, "a step");
}

ebb_status ebb_stale_check_value(const ebb_program *program, ebb_id value) {
    const ebb_engine *engine = program->engine;
    if (engine->lost) return ebb_stale_lost(engine);
    if (engine->n_stale == 0) return EBB_OK;
    const uint32_t i = index_of(program, value);
    if (i < program->n_params && !engine->stale[i]) return EBB_OK;
    return refuse(program, program->compiled.graph->values[value].name);
}
