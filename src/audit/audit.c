/* The audit of a plan, from the plan alone. Takes: any plan, also one that lies. Gives: EBB_OK when every
 * read finds the bytes that the last write of that value left, and every figure is right. Cost: O(n log n)
 * in steps, buffers and edges; addresses are never walked byte by byte. */
#include "audit/auditor.h"

static bool make_tables(ebb_auditor *a) {
    size_t n_values = a->graph->n_values, n_buffers = a->plan->n_buffers;
    a->view_in = EBB_NEW(&a->arena, uint32_t, n_values);
    a->view_offset = EBB_NEW(&a->arena, int64_t, n_values);
    a->update_in = EBB_NEW(&a->arena, uint32_t, n_values);
    a->persistent = EBB_NEW(&a->arena, bool, n_values);
    a->lasting = EBB_NEW(&a->arena, bool, n_values);
    a->writer = EBB_NEW(&a->arena, uint32_t, n_buffers);
    a->joined = EBB_NEW(&a->arena, ebb_id, n_buffers);
    return a->view_in && a->view_offset && a->update_in && a->persistent && a->lasting && a->writer &&
           a->joined;
}

/* What the graph says of its values. Ops stand in an order in which a base comes before its views. */
static void read_graph(ebb_auditor *a) {
    const ebb_pgraph *graph = a->graph;
    for (ebb_id v = 0; v < graph->n_values; v++) {
        ebb_role role = graph->values[v].role;
        a->view_in[v] = a->update_in[v] = EBB_NONE;
        a->persistent[v] = ebb_role_persistent(role);
        a->lasting[v] = role == EBB_ROLE_OUTPUT || role == EBB_ROLE_PARAM || role == EBB_ROLE_STATE;
    }
    for (ebb_id i = 0; i < graph->n_ops; i++) {
        const ebb_pop *op = &graph->ops[i];
        for (uint32_t k = 0; k < op->n_views; k++) {
            ebb_id out = op->out[op->views[k].out];
            a->view_in[out] = op->views[k].in;
            a->view_offset[out] = op->views[k].offset_bytes;
            a->persistent[out] = a->persistent[op->in[op->views[k].in]];
        }
        for (uint32_t k = 0; k < op->n_update; k++) {
            a->update_in[op->out[op->update[k].out]] = op->update[k].in;
            a->lasting[op->in[op->update[k].in]] = false;
        }
    }
}

ebb_status ebb_plan_audit(ebb_env *env, const ebb_plan *plan) {
    ebb_auditor a = {.env = env, .plan = plan, .graph = plan->graph};
    ebb_arena_init(&a.arena, env);
    ebb_status status = make_tables(&a) ? EBB_OK : EBB_NO_MEMORY;
    if (status == EBB_OK) read_graph(&a);
    if (status == EBB_OK) status = ebb_audit_form(&a);
    if (status == EBB_OK) status = ebb_audit_schedule(&a);
    if (status == EBB_OK) status = ebb_audit_lives(&a);
    if (status == EBB_OK) status = ebb_audit_bytes(&a);
    if (status == EBB_OK) status = ebb_audit_figures(&a);
    if (status == EBB_OK) status = ebb_audit_bound(&a);
    ebb_arena_deinit(&a.arena);
    return status;
}
