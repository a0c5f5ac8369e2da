/* A second plan of the same schedule and offsets. */
#include "plan/plan.h"

static bool copy_steps(const ebb_plan *from, ebb_plan *to) {
    ebb_plan_step *steps = ebb_arena_copy(&to->arena, from->steps, from->n_steps, sizeof *steps);
    to->steps = steps;
    for (uint32_t i = 0; steps && i < from->n_steps; i++) {
        const ebb_plan_step *s = &from->steps[i];
        steps[i].reads = ebb_arena_copy(&to->arena, s->reads, s->n_reads, sizeof *s->reads);
        steps[i].writes = ebb_arena_copy(&to->arena, s->writes, s->n_writes, sizeof *s->writes);
        if (!steps[i].reads || !steps[i].writes) return false;
    }
    return steps != NULL;
}

static ebb_status copy(ebb_env *env, const ebb_plan *from, ebb_plan *to) {
    ebb_status status = ebb_plan_copy_graph(env, from->graph, &to->graph);
    if (status != EBB_OK) return status;
    to->backend = ebb_arena_text(&to->arena, from->backend);
    to->buffers = ebb_arena_copy(&to->arena, from->buffers, from->n_buffers, sizeof *from->buffers);
    if (!to->backend || !to->buffers || !copy_steps(from, to)) return EBB_NO_MEMORY;
    return ebb_plan_certify(to, from->baseline_arena_bytes, from->baseline_total_bytes,
                            from->baseline_time_ns, from->bound_time_ns, from->bound_kind,
                            from->bound_json);
}

ebb_status ebb_plan_copy(ebb_env *env, const ebb_plan *plan, int64_t budget_bytes, ebb_plan **out) {
    *out = NULL;
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    ebb_plan *to = EBB_NEW(&arena, ebb_plan, 1);
    if (!to) {
        ebb_arena_deinit(&arena);
        return EBB_NO_MEMORY;
    }
    *to = *plan;
    to->arena = arena; /* the plan lives in its own arena */
    to->graph = NULL;
    to->budget_bytes = budget_bytes;
    ebb_status status = copy(env, plan, to);
    if (status == EBB_OK)
        *out = to;
    else
        ebb_plan_destroy(to);
    return status;
}
