/* make: from a scheduled graph to a plan: the chapters of this room, in order.
 *
 * takes: a request. gives: a plan that owns a copy of the graph. requires: both graphs sealed.
 * cost: ebb_pack and O(values + edges). */
#include "planner/build.h"

static ebb_status check_request(ebb_env *env, const ebb_plan_request *request) {
    if (request->alignment < 1 || (request->alignment & (request->alignment - 1)) != 0)
        return ebb_fail(env, EBB_USAGE, "graph %s: alignment %lld is no power of two", request->graph->name,
                        (long long)request->alignment);
    return ebb_plan_match(env, request);
}

static ebb_status plan_memory(ebb_arena *scratch, const ebb_plan_request *request, ebb_plan *plan) {
    ebb_lives lives;
    ebb_places places;
    const ebb_pgraph *scheduled = request->scheduled;
    ebb_status status = ebb_live(scratch, scheduled, &lives);
    if (status == EBB_OK && request->reuse == EBB_REUSE_IN_PLACE)
        status = ebb_inplace(scratch, scheduled, request->alignment, &lives);
    if (status == EBB_OK)
        status = ebb_max_live(scratch->env, scheduled, &lives, request->alignment, &plan->max_live_bytes);
    if (status == EBB_OK) status = ebb_places_find(scratch, request, &lives, &places);
    if (status == EBB_OK) status = ebb_plan_fill(plan, request, &lives, &places);
    if (status != EBB_OK) return status;
    plan->arena_bytes = places.arena_bytes;
    plan->persistent_bytes = places.persistent_bytes;
    if (ebb_add_i64(places.arena_bytes, places.persistent_bytes, &plan->total_bytes) &&
        ebb_add_i64(plan->total_bytes, request->graph->fixed_bytes, &plan->total_bytes))
        return EBB_OK;
    return ebb_fail(
        scratch->env, EBB_BAD_INPUT,
        "graph %s: arena %lld, persistent %lld and fixed %lld bytes sum to more than int64 holds",
        request->graph->name, (long long)places.arena_bytes, (long long)places.persistent_bytes,
        (long long)request->graph->fixed_bytes);
}

static ebb_status build(ebb_env *env, const ebb_plan_request *request, ebb_plan *plan) {
    plan->backend = ebb_arena_text(&plan->arena, request->backend);
    if (!plan->backend) return EBB_NO_MEMORY;
    plan->n_threads = request->n_threads;
    plan->alignment = request->alignment;
    plan->budget_bytes = request->budget_bytes;
    ebb_status status = ebb_plan_copy_graph(env, request->graph, &plan->graph);
    if (status != EBB_OK) return status;
    ebb_arena scratch;
    ebb_arena_init(&scratch, env);
    status = plan_memory(&scratch, request, plan);
    ebb_arena_deinit(&scratch);
    if (status != EBB_OK) return status;
    return ebb_plan_certify(plan, plan->arena_bytes, plan->total_bytes, plan->time_ns, 0, "none", NULL);
}

ebb_status ebb_plan_make(ebb_env *env, const ebb_plan_request *request, ebb_plan **out) {
    *out = NULL;
    ebb_status status = check_request(env, request);
    if (status != EBB_OK) return status;
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    ebb_plan *plan = EBB_NEW(&arena, ebb_plan, 1);
    if (!plan) {
        ebb_arena_deinit(&arena);
        return EBB_NO_MEMORY;
    }
    plan->arena = arena; /* the plan lives in its own arena */
    status = build(env, request, plan);
    if (status == EBB_OK)
        *out = plan;
    else
        ebb_plan_destroy(plan);
    return status;
}
