/* Steps of a program: whole, by phases, or in parts whose gradients are summed. */
#include "engine/run/run.h"

/* A profile's run is a whole step: it begins with the first phase of the first part. */
static void begin_profile(const ebb_program *program) {
    if (program->profile) ebb_profile_begin_run(program->profile);
}

/* Each part of a step draws by a number of its own. */
static ebb_run_options run_options(ebb_program *program) {
    const ebb_engine *engine = program->engine;
    const uint64_t n_parts = program->evaluates ? 1 : ebb_options_parts(&engine->options);
    return (ebb_run_options){.seed = engine->options.seed,
                             .step = engine->step * n_parts + (program->evaluates ? 0 : engine->part),
                             .n_run_threads = engine->n_run_threads,
                             .step_ns = program->profile ? ebb_profile_row(program->profile) : NULL,
                             .on_step = engine->options.check_finite ? ebb_finite_look : NULL,
                             .on_step_ctx = program};
}

static void count_step(ebb_program *program) {
    if (!program->evaluates) program->engine->step++;
    if (program->profile) ebb_profile_end_run(program->profile);
}

/* What can be told before anything has changed. */
static ebb_status check_step(ebb_program *program) {
    program->touched = false;
    ebb_status status = ebb_stale_check(program);
    if (status == EBB_OK) status = ebb_feeds_check(program);
    if (status == EBB_OK) status = ebb_integers_check_all(program);
    if (status == EBB_OK) ebb_feeds_use(program);
    return status;
}

/* The next step begins anew. */
static ebb_status fail_step(ebb_program *program, ebb_status status) {
    program->next_phase = EBB_FORWARD;
    const bool touched = program->touched || (program->exec && ebb_exec_touched(program->exec));
    return touched ? ebb_stale_mark(program, status) : status;
}

/* ---- parts ------------------------------------------------------------------------------------- */

/* What sums gradients begins at 0, whatever it held, and a copy of a state as the state. */
static ebb_status begin_value(ebb_program *program, ebb_id v) {
    const ebb_id begins_as = program->compiled.graph->values[v].begins_as;
    ebb_backend *backend = program->engine->backend;
    const ebb_backend_api *api = backend->api;
    int64_t bytes = 0;
    void *to = ebb_exec_given(program->exec, v, &bytes);
    if (!to) return EBB_OK;
    if (begins_as == EBB_NONE) return api->fill(backend, to, 0, bytes);
    const void *from = ebb_exec_given(program->exec, begins_as, &bytes);
    return (api->move ? api->move : api->copy_in)(backend, to, from, bytes);
}

static ebb_status begin_parts(ebb_program *program) {
    const ebb_graph *graph = program->compiled.graph;
    ebb_status status = EBB_OK;
    for (uint32_t v = 0; v < graph->n_values && status == EBB_OK; v++)
        if (graph->values[v].within_step && graph->values[v].producer == EBB_NONE)
            status = begin_value(program, v);
    return status;
}

static ebb_status run_part(ebb_program *program, bool last) {
    ebb_engine *engine = program->engine;
    ebb_status status = EBB_OK;
    for (ebb_phase phase = EBB_FORWARD; phase <= (last ? EBB_UPDATE : EBB_BACKWARD) && status == EBB_OK;
         phase++) {
        if (phase == EBB_FORWARD && engine->part == 0) begin_profile(program);
        ebb_run_options options = run_options(program);
        status = ebb_exec_run_phase(program->exec, phase, &options);
        program->touched = program->touched || ebb_exec_touched(program->exec);
    }
    return status;
}

/* Params and states are those of the step before it until the last part has ended; but what forward tracks,
 * running statistics, has moved. */
static ebb_status step_part(ebb_program *program, uint32_t n_parts) {
    ebb_engine *engine = program->engine;
    if (engine->part > 0 && engine->part_of != program)
        return ebb_fail(engine->env, EBB_USAGE,
                        "%u of %u parts of a step were run by another program: let that one run them all",
                        engine->part, n_parts);
    const bool touched = engine->part > 0 && program->touched;
    ebb_status status = check_step(program);
    program->touched = touched;
    if (status != EBB_OK) return status;
    engine->part_of = program;
    if (engine->part == 0) status = begin_parts(program);
    if (status == EBB_OK) status = run_part(program, engine->part + 1 == n_parts);
    if (status != EBB_OK) {
        engine->part = 0;
        return fail_step(program, status);
    }
    if (++engine->part < n_parts) return EBB_OK;
    engine->part = 0;
    count_step(program);
    return EBB_OK;
}

ebb_status ebb_step(ebb_program *program) {
    ebb_engine *engine = program->engine;
    const uint32_t n_parts = ebb_options_parts(&engine->options);
    if (n_parts > 1 && !program->evaluates) return step_part(program, n_parts);
    if (program->next_phase != EBB_FORWARD)
        return ebb_fail(engine->env, EBB_USAGE, "a step is half done: run the %s phase first",
                        ebb_phase_name((ebb_phase)program->next_phase));
    ebb_status status = check_step(program);
    if (status != EBB_OK) return status;
    begin_profile(program);
    ebb_run_options options = run_options(program);
    status = program->xla ? ebb_xla_step(program, options.step) : ebb_exec_run(program->exec, &options);
    if (status != EBB_OK) return fail_step(program, status);
    count_step(program);
    return EBB_OK;
}

ebb_status ebb_run_phase(ebb_program *program, ebb_phase phase) {
    ebb_engine *engine = program->engine;
    if (!engine->options.phased)
        return ebb_fail(engine->env, EBB_USAGE,
                        "running by phase needs the option phased, so that the plan keeps what "
                        "lives across a boundary");
    if (phase > EBB_UPDATE || (uint32_t)phase != program->next_phase)
        return ebb_fail(engine->env, EBB_USAGE, "the next phase is %s",
                        ebb_phase_name((ebb_phase)program->next_phase));
    ebb_status status = phase == EBB_FORWARD ? check_step(program) : EBB_OK;
    if (status != EBB_OK) return status;
    if (phase == EBB_FORWARD) begin_profile(program);
    ebb_run_options options = run_options(program);
    status = ebb_exec_run_phase(program->exec, phase, &options);
    if (status != EBB_OK) return fail_step(program, status);
    program->touched = program->touched || ebb_exec_touched(program->exec);
    program->next_phase = phase == EBB_UPDATE ? EBB_FORWARD : (uint32_t)phase + 1;
    if (phase == EBB_UPDATE) count_step(program);
    return EBB_OK;
}
