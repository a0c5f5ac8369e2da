/* A program's profile: switched on and off, and read beside the plan. */
#include "engine/run/run.h"

enum { MOST_RUNS = 10000 };

ebb_status ebb_program_profile(ebb_program *program, uint32_t n_runs) {
    ebb_env *env = program->engine->env;
    ebb_profile *profile = NULL;
    if (n_runs > MOST_RUNS)
        return ebb_fail(env, EBB_USAGE, "a profile of %u runs: keep at most %d", n_runs, MOST_RUNS);
    if (program->xla)
        return ebb_fail(env, EBB_USAGE,
                        "XLA runs a step as one program: its ops cannot be timed one by one");
    if (program->next_phase != EBB_FORWARD)
        return ebb_fail(env, EBB_USAGE, "a step is half done: run the %s phase first",
                        ebb_phase_name((ebb_phase)program->next_phase));
    if (n_runs > 0) {
        ebb_status status = ebb_profile_create(env, program->compiled.plan->n_steps, n_runs, &profile);
        if (status != EBB_OK) return status;
    }
    ebb_profile_destroy(program->profile);
    program->profile = profile;
    return EBB_OK;
}

static int64_t operand_bytes(const ebb_plan *plan, const ebb_plan_step *step) {
    int64_t bytes = 0; /* sums of a plan's bytes fit */
    for (uint32_t i = 0; i < step->n_reads; i++) bytes += plan->buffers[step->reads[i]].bytes;
    for (uint32_t i = 0; i < step->n_writes; i++) bytes += plan->buffers[step->writes[i]].bytes;
    return bytes;
}

ebb_status ebb_plan_step_times(ebb_env *env, const ebb_plan *plan, const ebb_profile *profile, uint32_t i,
                               ebb_step_times *out) {
    *out = (ebb_step_times){0};
    if (i >= plan->n_steps) return ebb_fail(env, EBB_USAGE, "step %u: the plan has %u", i, plan->n_steps);
    if (!profile || ebb_profile_n_runs(profile) == 0)
        return ebb_fail(env, EBB_USAGE, "nothing was measured: switch the profile on, then run a step");
    const ebb_plan_step *step = &plan->steps[i];
    const ebb_pop *op = &plan->graph->ops[step->op];
    ebb_profile_time time;
    ebb_profile_step(profile, i, &time);
    *out = (ebb_step_times){.name = op->name,
                            .kind = op->kind,
                            .op = step->op,
                            .phase = op->phase,
                            .recompute = step->recompute,
                            .bytes = operand_bytes(plan, step),
                            .predicted_ns = ebb_pop_under(op, step->alternative).time_ns,
                            .median_ns = time.median_ns,
                            .least_ns = time.least_ns,
                            .n_runs = ebb_profile_n_runs(profile)};
    return EBB_OK;
}

ebb_status ebb_program_step_times(const ebb_program *program, uint32_t i, ebb_step_times *out) {
    const ebb_status status =
        ebb_plan_step_times(program->engine->env, program->compiled.plan, program->profile, i, out);
    /* A step runs forward and backward once for each of its parts. */
    const int64_t n_parts = ebb_options_parts(&program->engine->options);
    if (out->phase != EBB_UPDATE && !ebb_mul_i64(out->predicted_ns, n_parts, &out->predicted_ns))
        out->predicted_ns = INT64_MAX;
    return status;
}
