/* planner: decides *where* each byte lives: turns a scheduled planning graph into a plan.
 *
 *     live -> inplace -> rows -> pack -> check -> plan (-> audit)
 *
 * It drops and reorders nothing: the op order that it gets is the schedule. One value of that graph = one
 * life = one buffer.
 *
 * Storage: buffers that share bytes on purpose (a view and its base, an in-place output and the
 * input that it overwrites) are one *storage*: one row for the packer. The in-place rule is
 * deterministic and the search's score computes the same:
 *
 *   steps in order; for each output that is no view and no update, the op's in_place pairs in the
 *   listed order; the first input qualifies whose storage (a) is transient, (b) has no reader after
 *   this step and holds no role output, (c) is not read by any other operand of the step (a second
 *   operand with the same value counts), nor taken by another output of it, (d) has the same bytes
 *   rounded up to alignment as the output, and the input starts at the storage's offset 0.
 *
 * Example: p = w*x; y = p + b with five 8-byte variables, alignment 8: p and y are one storage, so
 * 32 bytes; without in-place reuse 40.
 */
#ifndef EBB_PLANNER_PLANNER_H
#define EBB_PLANNER_PLANNER_H

#include "plan/plan.h"

/* The reuse that the planner may make. */
typedef enum ebb_reuse {
    EBB_REUSE_NONE,    /* every buffer has its own bytes for the whole step: the naive baseline */
    EBB_REUSE_LIVE,    /* dead bytes are reused, nothing is overwritten in place */
    EBB_REUSE_IN_PLACE /* also, outputs overwrite dying inputs */
} ebb_reuse;

/* ---- live: find facts ---------------------------------------------------------------------------- */

typedef struct ebb_life {
    uint32_t lower, upper; /* the buffer's own: as ebb.plan/1 defines them */
    uint32_t storage;      /* index into ebb_lives.storages; EBB_NONE when it owns no bytes */
    int64_t offset_bytes;  /* within the storage: > 0 only for views */
} ebb_life;

typedef struct ebb_storage {
    uint32_t lower, upper; /* the union of its members' */
    int64_t bytes;         /* largest end of a member, not rounded */
    bool persistent;
    bool pinned; /* holds a role output or a final param/state: not to be overwritten */
} ebb_storage;

typedef struct ebb_lives {
    ebb_life *lives;       /* [graph->n_values] */
    ebb_storage *storages; /* in order of birth; values' roots for given ones first */
    uint32_t n_storages;
    uint32_t n_steps;
} ebb_lives;

/* Finds lifetimes, and joins views and updates to their storages. In arena. O(values + edges). */
EBB_CHECKED ebb_status ebb_live(ebb_arena *arena, const ebb_pgraph *scheduled, ebb_lives *out);
/* Joins storages by the in-place rule above; the result replaces *lives. O(values + edges). */
EBB_CHECKED ebb_status ebb_inplace(ebb_arena *arena, const ebb_pgraph *scheduled, int64_t alignment,
                                   ebb_lives *lives);
/* The most transient bytes live in one step, scratch included, everything rounded up to alignment. */
EBB_CHECKED ebb_status ebb_max_live(ebb_env *env, const ebb_pgraph *scheduled, const ebb_lives *lives,
                                    int64_t alignment, int64_t *out);

/* ---- plan -------------------------------------------------------------------------------------------- */

typedef struct ebb_plan_request {
    const ebb_pgraph *graph;     /* the requested graph, copied into the plan */
    const ebb_pgraph *scheduled; /* its rewrite: the schedule, each op under its chosen alternative */
    const uint32_t *alternative; /* [graph->n_ops] chosen alternative of each op, or NULL = as listed */
    const char *backend;
    uint32_t n_threads;
    int64_t alignment; /* power of two */
    ebb_reuse reuse;
    uint32_t n_workers;   /* for packing */
    int64_t budget_bytes; /* of the total; the packer gets what it leaves for the arena; -1: none */
    bool quick;           /* pack with little effort: the caller has another schedule to try */
    uint64_t deadline_ns; /* of packing, on the env's clock; 0: none. When it is reached, the offsets depend
                             on the machine */
} ebb_plan_request;

/* Runs live, inplace, and pack with its row check, and makes the table of steps and buffers. Baseline
 * figures are set equal to the plan's own and the certificate to {0, "none"}: the engine fills them with
 * ebb_plan_certify. Errors: EBB_NO_MEMORY, EBB_USAGE (alignment), EBB_BAD_INPUT (sums overflow),
 * EBB_INTERNAL (the row check found a fault, or scheduled is no rewrite of graph). */
EBB_CHECKED ebb_status ebb_plan_make(ebb_env *env, const ebb_plan_request *request, ebb_plan **out);
#endif
