/* cpu/team.c: threads: the one parallel loop, and the OpenMP settings around a run. */
#include <omp.h>

#include "exec/cpu/cpu.h"

/* Below this, waking a team costs more than it saves. Between one thread and n_run there is nothing: OpenMP
 * runtimes start and stop threads when the team's size changes. */
enum { TEAM_BYTES = 128 * 1024 };

void cpu_spans(const cpu_backend *cpu, int64_t n, int64_t unit, int64_t bytes, cpu_span *span,
               const void *ctx) {
    const int64_t units = cpu_ceil_div(n, unit);
    if (cpu->n_run == 1 || units < 2 || bytes < TEAM_BYTES) {
        if (n > 0) span(ctx, 0, n);
        return;
    }
    const int team = cpu->n_run;
#pragma omp parallel for schedule(static, 1) num_threads(team)
    for (int i = 0; i < team; i++) {
        const int64_t begin = cpu_cut(units, team, i) * unit;
        const int64_t end = ebb_min_i64(cpu_cut(units, team, i + 1) * unit, n);
        if (begin < end) span(ctx, begin, end);
    }
}

int cpu_width_enter(const cpu_backend *cpu) {
    const int before = omp_get_max_threads(), width = (int)cpu->base.n_threads;
    if (before != width) omp_set_num_threads(width);
    return before;
}

void cpu_width_leave(const cpu_backend *cpu, int before) {
    if (before != (int)cpu->base.n_threads) omp_set_num_threads(before);
}

/* A team smaller than the width would give other sums, or wait for ever for the threads that are missing.
 */
ebb_status cpu_begin(ebb_backend *backend, uint32_t n_run_threads) {
    cpu_backend *cpu = cpu_of(backend);
    const uint32_t width = backend->n_threads;
    if (width > 1 && omp_get_thread_limit() < (int)width) {
        return ebb_fail(backend->env, EBB_USAGE,
                        "backend cpu: the plan is %u threads wide but OpenMP allows %d: raise "
                        "OMP_THREAD_LIMIT or plan with %d",
                        width, omp_get_thread_limit(), omp_get_thread_limit());
    }
    if (width > 1 && omp_get_active_level() >= omp_get_max_active_levels()) {
        return ebb_fail(backend->env, EBB_USAGE,
                        "backend cpu: the plan is %u threads wide but OpenMP gives one here (%d parallel "
                        "levels are active and %d allowed): run outside, raise OMP_MAX_ACTIVE_LEVELS or "
                        "plan with 1",
                        width, omp_get_active_level(), omp_get_max_active_levels());
    }
    cpu->n_run = (int)(n_run_threads && n_run_threads < width ? n_run_threads : width);
    cpu->n_before = cpu_width_enter(cpu);
    cpu->dynamic_before = omp_get_dynamic();
    omp_set_dynamic(0);
    return EBB_OK;
}

void cpu_end(ebb_backend *backend) {
    cpu_backend *cpu = cpu_of(backend);
    omp_set_dynamic(cpu->dynamic_before);
    cpu_width_leave(cpu, cpu->n_before);
    cpu->n_run = (int)backend->n_threads;
}
