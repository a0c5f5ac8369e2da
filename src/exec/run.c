/* exec/run.c: runs a program, whole or one phase of it. Nothing is allocated here. */
#include "exec/program.h"

#include <stdio.h>

/* The backend's error, with the step before it. */
static ebb_status fail_at(const ebb_exec *exec, uint32_t step, ebb_status status) {
    char reason[512]; /* a copy: the new text overwrites the old one */
    (void)snprintf(reason, sizeof(reason), "%s", ebb_env_error(exec->backend->env));
    return ebb_fail(exec->env, status, "step %u (%s): %s", step, exec->step_names[step], reason);
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

static ebb_status run_step(ebb_exec *exec, uint32_t s, const ebb_run_options *options) {
    const ebb_backend_api *api = exec->backend->api;
    ebb_exec_step *row = &exec->steps[s];
    ebb_status status = EBB_OK;
    if (row->kernel || row->launch.check) {
        row->launch.seed = options->seed;
        row->launch.step = options->step;
        const uint64_t before = options->step_ns ? ebb_clock_ns(exec->env) : 0;
        status = api->launch(exec->backend, row->kernel, &row->launch);
        if (options->step_ns) options->step_ns[s] += ebb_clock_ns(exec->env) - before;
        if (status != EBB_OK) return fail_at(exec, s, status);
        if (options->on_step) status = options->on_step(options->on_step_ctx, s);
        if (status != EBB_OK) return status;
    }
    return exec->poison ? ebb_poison_step(exec, s) : EBB_OK;
}

static ebb_status run_steps(ebb_exec *exec, uint32_t first, uint32_t end, const ebb_run_options *options) {
    const ebb_backend_api *api = exec->backend->api;
    ebb_status status = first == 0 ? start(exec) : EBB_OK;
    for (uint32_t s = first; status == EBB_OK && s < end; s++) status = run_step(exec, s, options);
    const uint32_t n_steps = exec->plan->n_steps;
    if (status == EBB_OK && end == n_steps && exec->steps[n_steps].launch.check) {
        status = api->launch(exec->backend, NULL, &exec->steps[n_steps].launch);
        if (status != EBB_OK) status = fail_at(exec, n_steps, status);
    }
    return status;
}

static ebb_status run_range(ebb_exec *exec, uint32_t first, uint32_t end, const ebb_run_options *options) {
    const ebb_backend_api *api = exec->backend->api;
    if (!exec->bound) {
        return ebb_fail(exec->env, EBB_USAGE, "program of %s: not bound to memory: bind a block first",
                        exec->plan->graph->name);
    }
    if (first == end) return EBB_OK;
    if (api->begin) {
        const ebb_run run = {options->n_run_threads, options->seed, options->step};
        const ebb_status status = api->begin(exec->backend, &run);
        if (status != EBB_OK) return status;
    }
    const ebb_status status = run_steps(exec, first, end, options);
    const ebb_status ended = api->end ? api->end(exec->backend) : EBB_OK;
    return status == EBB_OK ? ended : status;
}

ebb_status ebb_exec_run(ebb_exec *exec, const ebb_run_options *options) {
    return run_range(exec, 0, exec->plan->n_steps, options);
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
    return run_range(exec, first, end, options);
}
