/* A plan's baseline and certificate, which are known after it is made. */
#include "plan/plan.h"

ebb_status ebb_plan_certify(ebb_plan *plan, int64_t baseline_arena_bytes, int64_t baseline_total_bytes,
                            int64_t baseline_time_ns, int64_t bound_time_ns, const char *kind,
                            const char *json) {
    const char *kind_copy = ebb_arena_text(&plan->arena, kind);
    const char *json_copy = json ? ebb_arena_text(&plan->arena, json) : NULL;
    if (!kind_copy || (json && !json_copy)) return EBB_NO_MEMORY;
    plan->baseline_arena_bytes = baseline_arena_bytes;
    plan->baseline_total_bytes = baseline_total_bytes;
    plan->baseline_time_ns = baseline_time_ns;
    plan->bound_time_ns = bound_time_ns;
    plan->bound_kind = kind_copy;
    plan->bound_json = json_copy;
    return EBB_OK;
}
