/* exec/run.c: runs a program, whole or one phase of it. Nothing is allocated here, but by a backend for a
 * recording and for marks, once. */
#include "exec/program.h"

/* The backend's error, with the step before it. */
static ebb_status fail_at(const ebb_exec *exec, uint32_t step, ebb_status status) {
    return ebb_fail(exec->env, status, "step %u (%s): %s", step, exec->step_names[step],
                    ebb_env_error(exec->backend->env));
}

/* Before the first step: poison, and for a checker whose bytes are whose. */
static ebb_status start(const ebb_exec *exec) {
    const ebb_backend_api *api = exec->backend->api;
    ebb_status status = EBB_OK;
    if (api->given) {
        status = api->fill(exec->backend, (void *)exec->transient, 0xFF, exec->plan->arena_bytes);
    } else if (exec->poison) {
        status = ebb_poison_start(exec);
    }
    for (ebb_id v = 0; api->given && status == EBB_OK && v < exec->plan->graph->n_values; v++) {
        int64_t bytes;
        void *at = ebb_exec_given(exec, v, &bytes);
        if (exec->given[v] != EBB_NONE) status = api->given(exec->backend, at, bytes, exec->given[v]);
    }
    return status;
}

/* Is the time of steps taken by marks in the backend's own time? */
static bool marks(const ebb_exec *exec, const ebb_run_options *options) {
    return options->step_ns && exec->backend->api->mark;
}

static ebb_status launch_step(ebb_exec *exec, uint32_t s, const ebb_run_options *options) {
    const ebb_backend_api *api = exec->backend->api;
    ebb_exec_step *row = &exec->steps[s];
    const bool timed = options->step_ns && !api->mark;
    row->launch.seed = options->seed;
    row->launch.step = options->step;
    const uint64_t before = timed ? ebb_clock_ns(exec->env) : 0;
    const ebb_status status = api->launch(exec->backend, row->kernel, &row->launch);
    if (timed) options->step_ns[s] += ebb_clock_ns(exec->env) - before;
    return status;
}

static ebb_status run_step(ebb_exec *exec, uint32_t s, const ebb_run_options *options) {
    const ebb_exec_step *row = &exec->steps[s];
    if (row->kernel || row->launch.check) {
        exec->touched = exec->touched || row->check.n_update > 0;
        ebb_status status = launch_step(exec, s, options);
        if (status != EBB_OK) return fail_at(exec, s, status);
        if (options->on_step) status = options->on_step(options->on_step_ctx, s);
        if (status != EBB_OK) return status;
    }
    return exec->poison ? ebb_poison_step(exec, s) : EBB_OK;
}

/* Mark i stands before step first + i: poison is of the step before it. */
static ebb_status run_steps(ebb_exec *exec, uint32_t first, uint32_t end, const ebb_run_options *options) {
    const ebb_backend_api *api = exec->backend->api;
    ebb_status status = first == 0 ? start(exec) : EBB_OK;
    for (uint32_t s = first; status == EBB_OK && s < end; s++) {
        if (marks(exec, options)) status = api->mark(exec->backend, s - first);
        if (status == EBB_OK) status = run_step(exec, s, options);
    }
    if (status == EBB_OK && marks(exec, options)) status = api->mark(exec->backend, end - first);
    const uint32_t n_steps = exec->plan->n_steps;
    if (status == EBB_OK && end == n_steps && exec->steps[n_steps].launch.check) {
        status = api->launch(exec->backend, NULL, &exec->steps[n_steps].launch);
        if (status != EBB_OK) status = fail_at(exec, n_steps, status);
    }
    return status;
}

/* ---- recordings ---------------------------------------------------------------------------------- */

void ebb_replays_clear(ebb_exec *exec) {
    const ebb_backend_api *api = exec->backend->api;
    for (uint32_t i = 0; i < EBB_N_REPLAYS; i++) {
        if (exec->replays[i].recording) api->record_free(exec->backend, exec->replays[i].recording);
        exec->replays[i] = (ebb_replay){EBB_REPLAY_COLD, NULL};
    }
}

/* The replay that this run goes by, or NULL: step by step. */
static ebb_replay *replay_of(ebb_exec *exec, uint32_t replay, const ebb_run_options *options) {
    const bool by_replay =
        exec->backend->api->record_begin && !exec->no_record && !options->step_ns && !options->on_step;
    return by_replay ? &exec->replays[replay] : NULL;
}

/* Records the steps; nothing of them is done. A recording that a failed launch has broken is ended all the
 * same, and the launch's error is the one that is told. */
static ebb_status record(ebb_exec *exec, ebb_replay *replay, uint32_t first, uint32_t end,
                         const ebb_run_options *options) {
    const ebb_backend_api *api = exec->backend->api;
    ebb_recording *recording = NULL;
    ebb_status status = api->record_begin(exec->backend);
    if (status == EBB_OK) {
        status = run_steps(exec, first, end, options);
        ebb_env_hold_error(exec->backend->env, status != EBB_OK);
        const ebb_status ended = api->record_end(exec->backend, &recording);
        ebb_env_hold_error(exec->backend->env, false);
        if (status == EBB_OK) status = ended;
        if (status != EBB_OK && recording) api->record_free(exec->backend, recording);
        if (status != EBB_OK) recording = NULL;
    }
    *replay = (ebb_replay){status == EBB_OK ? EBB_REPLAY_RECORDED : EBB_REPLAY_REFUSED, recording};
    return status;
}

static ebb_status run_replay(ebb_exec *exec, ebb_replay *replay, uint32_t first, uint32_t end,
                             const ebb_run_options *options) {
    if (!replay || replay->state == EBB_REPLAY_COLD || replay->state == EBB_REPLAY_REFUSED) {
        const ebb_status status = run_steps(exec, first, end, options);
        if (replay && replay->state == EBB_REPLAY_COLD && status == EBB_OK) replay->state = EBB_REPLAY_WARM;
        return status;
    }
    if (replay->state == EBB_REPLAY_WARM && record(exec, replay, first, end, options) != EBB_OK) {
        ebb_log(exec->env, EBB_LOG_WARN, "%s: not recorded, its steps are launched one by one: %s",
                exec->plan->graph->name, ebb_env_error(exec->env));
        return run_steps(exec, first, end, options);
    }
    exec->n_replayed++;
    for (uint32_t s = first; s < end; s++)
        exec->touched = exec->touched || exec->steps[s].check.n_update > 0;
    return exec->backend->api->replay(exec->backend, replay->recording);
}

uint64_t ebb_exec_n_replayed(const ebb_exec *exec) {
    return exec->n_replayed;
}

bool ebb_exec_touched(const ebb_exec *exec) {
    return exec->touched;
}

/* ---- a run --------------------------------------------------------------------------------------- */

/* The times between the run's marks, added to those of its steps. */
static ebb_status add_marked(ebb_exec *exec, uint32_t first, uint32_t end, const ebb_run_options *options) {
    const ebb_status status = exec->backend->api->marks_read(exec->backend, end - first + 1, exec->mark_ns);
    for (uint32_t s = first; status == EBB_OK && s < end; s++) {
        if (exec->steps[s].kernel) options->step_ns[s] += exec->mark_ns[s - first];
    }
    return status;
}

static ebb_status run_range(ebb_exec *exec, uint32_t which, uint32_t first, uint32_t end,
                            const ebb_run_options *options) {
    const ebb_backend_api *api = exec->backend->api;
    exec->touched = false;
    if (!exec->bound) {
        return ebb_fail(exec->env, EBB_USAGE, "program of %s: not bound to memory: bind a block first",
                        exec->plan->graph->name);
    }
    if (first == end) return EBB_OK;
    ebb_status status = marks(exec, options) ? api->marks_reserve(exec->backend, end - first + 1) : EBB_OK;
    if (status == EBB_OK && api->begin) {
        const ebb_run run = {options->n_run_threads, options->seed, options->step};
        status = api->begin(exec->backend, &run);
    }
    if (status != EBB_OK) return status;
    status = run_replay(exec, replay_of(exec, which, options), first, end, options);
    ebb_env_hold_error(exec->backend->env, status != EBB_OK);
    const ebb_status ended = api->end ? api->end(exec->backend) : EBB_OK;
    ebb_env_hold_error(exec->backend->env, false);
    if (status == EBB_OK) status = ended;
    if (status != EBB_OK) return status;
    return marks(exec, options) ? add_marked(exec, first, end, options) : EBB_OK;
}

ebb_status ebb_exec_run(ebb_exec *exec, const ebb_run_options *options) {
    return run_range(exec, EBB_REPLAY_WHOLE, 0, exec->plan->n_steps, options);
}

static ebb_phase phase_of(const ebb_exec *exec, uint32_t step) {
    return exec->plan->graph->ops[exec->plan->steps[step].op].phase;
}

/* Such steps belong to those around them: one that runs again, and an optional op, which may have waited
 * until something read what it makes. */
static bool of_any_phase(const ebb_exec *exec, uint32_t step) {
    const ebb_plan_step *s = &exec->plan->steps[step];
    return s->recompute || exec->plan->graph->ops[s->op].optional;
}

/* One past the last step of the phase or an earlier one that is not of any. The update ends with the
 * program. */
static uint32_t phase_end(const ebb_exec *exec, ebb_phase phase) {
    uint32_t end = exec->plan->n_steps;
    if (phase == EBB_UPDATE) return end;
    while (end > 0 && (of_any_phase(exec, end - 1) || phase_of(exec, end - 1) > phase)) end--;
    return end;
}

ebb_status ebb_exec_run_phase(ebb_exec *exec, ebb_phase phase, const ebb_run_options *options) {
    const uint32_t first = phase == EBB_FORWARD ? 0 : phase_end(exec, (ebb_phase)(phase - 1));
    const uint32_t end = phase_end(exec, phase);
    for (uint32_t s = first; s < end; s++) {
        if (of_any_phase(exec, s) || phase_of(exec, s) == phase) continue;
        return ebb_fail(exec->env, EBB_USAGE,
                        "program of %s: step %u (%s) of phase %s lies before the end of phase %s at step "
                        "%u: plan with phases",
                        exec->plan->graph->name, s, exec->step_names[s], ebb_phase_name(phase_of(exec, s)),
                        ebb_phase_name(phase), end);
    }
    return run_range(exec, EBB_REPLAY_PHASES + (uint32_t)phase, first, end, options);
}
