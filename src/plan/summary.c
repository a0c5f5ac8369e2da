/* A plan's figures, and its end. */
#include "plan/plan.h"

void ebb_plan_summarize(const ebb_plan *plan, ebb_plan_summary *out) {
    *out = (ebb_plan_summary){.graph_name = plan->graph->name,
                              .backend = plan->backend,
                              .n_threads = plan->n_threads,
                              .n_steps = plan->n_steps,
                              .n_buffers = plan->n_buffers,
                              .arena_bytes = plan->arena_bytes,
                              .persistent_bytes = plan->persistent_bytes,
                              .total_bytes = plan->total_bytes,
                              .max_live_bytes = plan->max_live_bytes,
                              .budget_bytes = plan->budget_bytes,
                              .time_ns = plan->time_ns,
                              .baseline_arena_bytes = plan->baseline_arena_bytes,
                              .baseline_total_bytes = plan->baseline_total_bytes,
                              .baseline_time_ns = plan->baseline_time_ns,
                              .bound_time_ns = plan->bound_time_ns,
                              .costs_machine = plan->graph->costs.machine,
                              .costs_id = plan->graph->costs.id,
                              .n_measured = plan->graph->costs.n_measured,
                              .n_calibrated = plan->graph->costs.n_calibrated,
                              .n_built_in = plan->graph->costs.n_built_in};
    for (uint32_t s = 0; s < plan->n_steps; s++) out->n_recomputed += plan->steps[s].recompute;
}

void ebb_plan_destroy(ebb_plan *plan) {
    if (!plan) return;
    ebb_pgraph_destroy(plan->graph);
    ebb_arena arena = plan->arena; /* the plan itself lies in it */
    ebb_arena_deinit(&arena);
}
