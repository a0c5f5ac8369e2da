/* ebb/plan.h: a plan: which ops run, when, how often, and where every byte lives.
 *
 * A plan is immutable. It prints as ebb.plan/1 (docs/formats.md) and can be audited from that file
 * alone.
 */
#ifndef EBB_PLAN_H
#define EBB_PLAN_H

#include "ebb/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ebb_phase { EBB_FORWARD, EBB_BACKWARD, EBB_UPDATE } ebb_phase;

typedef struct ebb_plan ebb_plan;

/* The figures of a plan, as in its file. Bytes and nanoseconds of the plan's cost model. */
typedef struct ebb_plan_summary {
    const char *graph_name;                             /* borrowed from the plan */
    const char *backend;                                /* "cpu", "none" for a planning graph */
    uint32_t n_threads;                                 /* width of parallel reductions */
    uint32_t n_steps, n_recomputed, n_buffers;          /* n_recomputed of n_steps run an op again */
    int64_t arena_bytes, persistent_bytes, total_bytes; /* total = both + the graph's fixed_bytes */
    int64_t max_live_bytes;                             /* no packing of this schedule is smaller */
    int64_t budget_bytes;                               /* -1: none */
    int64_t time_ns;                                    /* sum over steps */
    int64_t baseline_arena_bytes, baseline_total_bytes; /* no recomputation, in place */
    int64_t baseline_time_ns;
    int64_t bound_time_ns; /* certificate: no plan within this budget is faster */
    /* The costs file that the times are from (ebb/costs.h); NULL when they are from the backend's built-in
     * model, or the planning graph's own. Then the numbers of ops whose time was measured, comes from the
     * file's model, or comes from the built-in model. Borrowed from the plan. */
    const char *costs_machine, *costs_id;
    int64_t n_measured, n_calibrated, n_built_in;
} ebb_plan_summary;

EBB_API void ebb_plan_summarize(const ebb_plan *plan, ebb_plan_summary *out);

/* Writes ebb.plan/1; path "-" is standard output. Nothing is left half-written. */
EBB_API EBB_CHECKED ebb_status ebb_plan_write(ebb_env *env, const ebb_plan *plan, const char *path);
/* Passes the same document to `put` in one piece, valid until it returns. EBB_NO_MEMORY: also when `put`
 * returns false. */
EBB_API EBB_CHECKED ebb_status ebb_plan_print_to(ebb_env *env, const ebb_plan *plan,
                                                 bool (*put)(void *ctx, const char *text, size_t n),
                                                 void *ctx);
/* Reads ebb.plan/1 and checks only its form; ebb_plan_audit checks its content. */
EBB_API EBB_CHECKED ebb_status ebb_plan_read(ebb_env *env, const char *path, ebb_plan **out);
EBB_API void ebb_plan_destroy(ebb_plan *plan);

/* Proves from the plan alone that every read finds the bytes that the last write of that value left there,
 * that no two live buffers share a byte unless they may, and that every figure is right. Shares no code
 * with what made the plan. EBB_VIOLATION with the first fault, in one line. */
EBB_API EBB_CHECKED ebb_status ebb_plan_audit(ebb_env *env, const ebb_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
