/* cpu/team.c: threads: the one parallel loop, and the OpenMP settings around a run. */
#include <omp.h>

#include "exec/cpu/cpu.h"

/* gcc's thread sanitizer does not see how libgomp's threads wait for one another, so it is told here, and
 * the function with the parallel loop, whose arguments libgomp hands over, is left alone. */
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#define TEAM_LOOP           __attribute__((no_sanitize_thread, noinline))
#define HAPPENED_BEFORE(at) __tsan_release(at)
#define HAPPENS_AFTER(at)   __tsan_acquire(at)
#else
#define TEAM_LOOP
#define HAPPENED_BEFORE(at) ((void)(at))
#define HAPPENS_AFTER(at)   ((void)(at))
#endif

typedef struct team_work {
    cpu_span *span;
    const void *ctx;
    int64_t n, unit, units;
    int team;
    char begun, done; /* for the sanitizer: points in time */
} team_work;

static void work_part(team_work *work, int i) {
    HAPPENS_AFTER(&work->begun);
    const int64_t begin = cpu_cut(work->units, work->team, i) * work->unit;
    const int64_t end = ebb_min_i64(cpu_cut(work->units, work->team, i + 1) * work->unit, work->n);
    if (begin < end) work->span(work->ctx, begin, end);
    HAPPENED_BEFORE(&work->done);
}

TEAM_LOOP static void work_parts(team_work *work, int team) {
#pragma omp parallel for schedule(static, 1) num_threads(team)
    for (int i = 0; i < team; i++) work_part(work, i);
}

void cpu_spans(cpu_backend *cpu, int64_t n, int64_t unit, int64_t bytes, cpu_span *span, const void *ctx) {
    const int64_t units = cpu_ceil_div(n, unit);
    if (cpu->n_run == 1 || units < 2 || bytes < cpu->team_bytes) {
        if (n > 0) span(ctx, 0, n);
        return;
    }
    cpu->n_teams++;
    team_work work = {span, ctx, n, unit, units, cpu->n_run, 0, 0};
    HAPPENED_BEFORE(&work.begun);
    work_parts(&work, work.team);
    HAPPENS_AFTER(&work.done);
}

int cpu_team_enter(int n_threads) {
    const int before = omp_get_max_threads();
    if (before != n_threads) omp_set_num_threads(n_threads);
    return before;
}

void cpu_team_leave(int before) {
    if (before != omp_get_max_threads()) omp_set_num_threads(before);
}

/* A team smaller than the width would give other sums, or wait for ever for the threads that are missing.
 */
ebb_status cpu_begin(ebb_backend *backend, const ebb_run *run) {
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
    cpu->n_run = (int)(run->n_threads && run->n_threads < width ? run->n_threads : width);
    cpu->n_before = cpu_team_enter((int)width);
    cpu->dynamic_before = omp_get_dynamic();
    omp_set_dynamic(0);
    return EBB_OK;
}

ebb_status cpu_end(ebb_backend *backend) {
    cpu_backend *cpu = cpu_of(backend);
    omp_set_dynamic(cpu->dynamic_before);
    cpu_team_leave(cpu->n_before);
    cpu->n_run = (int)backend->n_threads;
    return EBB_OK;
}
