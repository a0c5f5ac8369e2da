/* plan: defines the type of a plan and its file form, ebb.plan/1, but nothing that makes or checks one. The
 * planner makes it, audit checks it, exec runs it and report explains it; they share this room but do not
 * include one another.
 *
 *     step     0   1   2   3
 *     x       |===========|         a buffer: one life of one value, [lower, upper) = [0, 3)
 *     y           |===========|     written in step 1, read last in step 3: [1, 4)
 */
#ifndef EBB_PLAN_PLAN_H
#define EBB_PLAN_PLAN_H

#include "base/base.h"
#include "ebb/plan.h"
#include "graph/pgraph.h"

#define EBB_ALIGNMENT 64 /* default of offsets and sizes, bytes */

typedef struct ebb_buffer {
    ebb_id value; /* of plan->graph */
    bool persistent;
    int64_t offset, bytes;
    uint32_t lower, upper;
} ebb_buffer;

typedef struct ebb_plan_step {
    ebb_id op;
    uint32_t alternative; /* EBB_NONE = as listed */
    bool recompute;
    const ebb_id *reads, *writes; /* buffers, one per input and output */
    uint32_t n_reads, n_writes;
    int64_t scratch_offset, scratch_bytes;
} ebb_plan_step;

struct ebb_plan {
    ebb_arena arena; /* owns everything below, the graph too */
    ebb_pgraph *graph;
    const char *backend;
    uint32_t n_threads;
    int64_t alignment;
    const ebb_plan_step *steps;
    uint32_t n_steps;
    const ebb_buffer *buffers;
    uint32_t n_buffers;
    int64_t arena_bytes, persistent_bytes, total_bytes, max_live_bytes;
    int64_t budget_bytes; /* -1: none */
    int64_t time_ns;
    int64_t baseline_arena_bytes, baseline_total_bytes, baseline_time_ns;
    int64_t bound_time_ns;  /* certificate */
    const char *bound_kind; /* "cut", "cut_by_cases", "each_op_once" or "none" */
    const char *bound_json; /* further members of the certificate as a JSON object text, or NULL */
};

/* Makes a deep copy of a planning graph, so that a plan outlives its source. The caller owns it.
 * EBB_NO_MEMORY. O(values + edges). */
EBB_CHECKED ebb_status ebb_plan_copy_graph(ebb_env *env, const ebb_pgraph *graph, ebb_pgraph **out);
/* Makes a copy of the plan that records this budget (-1: none). The caller owns it. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_plan_copy(ebb_env *env, const ebb_plan *plan, int64_t budget_bytes,
                                     ebb_plan **out);
/* Sets baseline and certificate; texts are copied. */
EBB_CHECKED ebb_status ebb_plan_certify(ebb_plan *plan, int64_t baseline_arena_bytes,
                                        int64_t baseline_total_bytes, int64_t baseline_time_ns,
                                        int64_t bound_time_ns, const char *kind, const char *json);

/* Print and parse ebb.plan/1. */
void ebb_plan_print(ebb_json_out *json, const ebb_plan *plan);
EBB_CHECKED ebb_status ebb_plan_parse(ebb_env *env, const char *where, const char *text, size_t n,
                                      ebb_plan **out);

#endif
