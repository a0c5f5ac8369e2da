/* Plans with certificates. */
#include "certified.h"

certified certify(ebb_env *env, const ebb_pgraph *graph, int64_t budget_bytes, int64_t alignment) {
    certified c;
    ebb_arena_init(&c.arena, env);
    want_status(env, ebb_certify(&c.arena, graph, budget_bytes, alignment, &c.bound), EBB_OK);
    return c;
}

/* What the last of the given persistent values may leave of its last unit of 64. */
static int64_t persistent_slack(const ebb_pgraph *graph) {
    int64_t slack = 0;
    for (ebb_id v = 0; v < graph->n_values; v++) {
        const ebb_pvalue *value = &graph->values[v];
        if (value->producer == EBB_NONE && ebb_role_persistent(value->role))
            slack = ebb_max_i64(slack, ebb_align_up(value->bytes, 64) - value->bytes);
    }
    return slack;
}

ebb_plan *certified_plan(ebb_env *env, const ebb_pgraph *graph, int64_t transient_bytes) {
    ebb_select_request request = small_request(graph, EBB_METHOD_BUDGET, transient_bytes);
    ebb_selection *selection = NULL;
    if (ebb_select(env, &request, &selection) != EBB_OK) return NULL;
    ebb_plan *plan =
        plan_steps(env, graph, selection->steps, selection->n_steps, selection->alternative, 64);
    ebb_selection_destroy(selection);
    if (plan->arena_bytes > transient_bytes) {
        ebb_plan_destroy(plan);
        return NULL;
    }
    plan->budget_bytes = transient_bytes + plan->total_bytes - plan->arena_bytes;
    certified c = certify(env, graph, transient_bytes + persistent_slack(graph), 64);
    want_status(env,
                ebb_plan_certify(plan, plan->arena_bytes, plan->total_bytes, plan->time_ns, c.bound.time_ns,
                                 c.bound.kind, c.bound.json),
                EBB_OK);
    ebb_arena_deinit(&c.arena);
    return plan;
}
