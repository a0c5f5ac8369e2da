/* match: holds a schedule against the graph that it claims to be a rewrite of.
 *
 * takes: a request. gives: EBB_OK or EBB_INTERNAL with the first fault. cost: O(values + edges). */
#include "planner/build.h"

static ebb_status match_values(ebb_env *env, const ebb_plan_request *request) {
    const ebb_pgraph *graph = request->graph, *scheduled = request->scheduled;
    for (uint32_t v = 0; v < scheduled->n_values; v++) {
        ebb_id origin = scheduled->value_origin[v];
        const ebb_pvalue *life = &scheduled->values[v];
        const ebb_pvalue *value = origin < graph->n_values ? &graph->values[origin] : NULL;
        if (!value || life->bytes != value->bytes ||
            (life->producer == EBB_NONE) != (value->producer == EBB_NONE) ||
            ebb_role_persistent(life->role) != ebb_role_persistent(value->role))
            return ebb_fail(
                env, EBB_INTERNAL,
                "graph %s: the schedule's value %u (%s, %lld bytes) is no life of value %u of %u",
                graph->name, v, life->name, (long long)life->bytes, origin, graph->n_values);
    }
    return EBB_OK;
}

static bool same_origins(const ebb_pgraph *scheduled, const ebb_id *lives, const ebb_id *values,
                         uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (scheduled->value_origin[lives[i]] != values[i]) return false;
    return true;
}

static bool is_run_of(const ebb_plan_request *request, const ebb_pop *run) {
    if (run->origin >= request->graph->n_ops) return false;
    const ebb_pop *op = &request->graph->ops[run->origin];
    uint32_t alternative = request->alternative ? request->alternative[run->origin] : EBB_NONE;
    if (alternative != EBB_NONE && alternative >= op->n_alternatives) return false;
    ebb_pop_way way = ebb_pop_under(op, alternative);
    return run->n_in == way.n_in && run->n_out == op->n_out && run->time_ns == way.time_ns &&
           run->scratch_bytes == way.scratch_bytes &&
           same_origins(request->scheduled, run->in, way.in, way.n_in) &&
           same_origins(request->scheduled, run->out, op->out, op->n_out);
}

ebb_status ebb_plan_match(ebb_env *env, const ebb_plan_request *request) {
    ebb_status status = match_values(env, request);
    for (uint32_t i = 0; i < request->scheduled->n_ops && status == EBB_OK; i++) {
        const ebb_pop *run = &request->scheduled->ops[i];
        if (!is_run_of(request, run))
            status =
                ebb_fail(env, EBB_INTERNAL,
                         "graph %s: step %u (%s) differs from op %u of %u under its chosen alternative",
                         request->graph->name, i, run->name, run->origin, request->graph->n_ops);
    }
    return status;
}
