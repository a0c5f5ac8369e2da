/* exec: runs a plan: turns it, with a backend, into a program of bound steps over one block of memory.
 *
 *     block:  | persistent region | transient region |     exactly persistent_bytes + arena_bytes
 *
 * It decides nothing: order, recomputation, offsets and scratch are the plan's. A program allocates nothing
 * while it runs.
 */
#ifndef EBB_EXEC_EXEC_H
#define EBB_EXEC_EXEC_H

#include "exec/backend.h"
#include "plan/plan.h"

/* ---- alternatives: the ways of an op, and a backend's choices for each ------------- */

/* The alternatives of a node, the op as listed first, are its ways in order (graph/op.h), and of each way
 * the backend's choices in order (exec/backend.h): way 0 choice 0, way 0 choice 1, ..., way 1 choice 0, ...
 */
typedef struct ebb_alternative_at {
    uint32_t way, choice;
} ebb_alternative_at;

/* One alternative: the call, whose tables are here, the values that it reads, and the backend's facts. Must
 * not be copied.
 */
typedef struct ebb_alternative_call {
    ebb_call call;
    ebb_alternative_at at;
    ebb_op_facts facts; /* of a view: none but n_choices */
    ebb_id ids[EBB_MAX_OPERANDS];
    ebb_type in[EBB_MAX_OPERANDS], out[EBB_MAX_RESULTS];
} ebb_alternative_call;

/* The op as listed, then its alternatives one after the other until *more is false, with one query of the
 * backend each. */
EBB_CHECKED ebb_status ebb_alternative_first(ebb_backend *backend, const ebb_graph *graph, ebb_id node,
                                             ebb_alternative_call *out);
EBB_CHECKED ebb_status ebb_alternative_next(ebb_backend *backend, const ebb_graph *graph, ebb_id node,
                                            ebb_alternative_call *call, bool *more);
/* Finds an alternative by its number in the planning graph; EBB_NONE: as listed. EBB_USAGE: no such
 * number. */
EBB_CHECKED ebb_status ebb_alternative_find(ebb_backend *backend, const ebb_graph *graph, ebb_id node,
                                            uint32_t alternative, ebb_alternative_call *out);
/* Writes and returns the name: "mask", "e67k3f02aa", "mask/e67k3f02aa"; "" if there is only one. */
#define EBB_ALTERNATIVE_TEXT 80
const char *ebb_alternative_name(const ebb_graph *graph, ebb_id node, const ebb_alternative_call *call,
                                 char name[EBB_ALTERNATIVE_TEXT]);

/* ---- programs ------------------------------------------------------------------------------------- */

typedef struct ebb_exec ebb_exec;

typedef struct ebb_exec_options {
    const ebb_graph *graph; /* the training graph: ids are those of plan->graph. Borrowed, must outlive.
                             * NULL for a planning graph: only backends that do not compute */
    const ebb_plan *plan;   /* borrowed, must outlive */
    ebb_backend *backend;   /* borrowed, must outlive */
    bool poison;            /* bytes are overwritten with 0xFF before a step and when their buffer dies */
    bool no_record;         /* every run is launched step by step, even if the backend can record */
} ebb_exec_options;

/* Prepares one kernel per op of the graph (not per step). EBB_USAGE when the plan's n_threads or alignment
 * is not the backend's; the backend's errors. */
EBB_CHECKED ebb_status ebb_exec_create(ebb_env *env, const ebb_exec_options *options, ebb_exec **out);
void ebb_exec_destroy(ebb_exec *exec);

/* Binds every step's addresses: persistent region first. NULLs unbind. Cheap; no allocation. The block must
 * hold persistent_bytes + arena_bytes of the plan (the transient region need not directly follow the
 * persistent one, because programs of several sizes share a block). */
void ebb_exec_bind(ebb_exec *exec, void *persistent, void *transient);

/* From the next bind on, places a given persistent value, its updates and its views at `at`, aligned as the
 * backend requires, instead of in the persistent region; NULL: in the region again. A caller that places
 * all of them binds NULL for the region. Addresses of other values do not change. O(1). */
void ebb_exec_place(ebb_exec *exec, ebb_id value, void *at);

/* The buffer that holds value (of the graph) before the first step (given values) or after the last one
 * (outputs, final params and states: an updated param's bytes are those of its first value). NULL address
 * when the value has no such buffer. */
void *ebb_exec_given(const ebb_exec *exec, ebb_id value, int64_t *bytes);
void *ebb_exec_final(const ebb_exec *exec, ebb_id value, int64_t *bytes);

typedef struct ebb_run_options {
    uint64_t seed, step;    /* of SEEDED ops */
    uint32_t n_run_threads; /* 0: the plan's width; more than that are not used */
    /* NULL, or [n_steps]: each step's measured nanoseconds are added. */
    uint64_t *step_ns;
    /* NULL, or called after each step that a kernel runs, while its inputs and outputs are intact; nothing
     * is then recorded or replayed. Its error ends the run. */
    ebb_status (*on_step)(void *ctx, uint32_t step);
    void *on_step_ctx;
} ebb_run_options;

/* For on_step: a buffer's address (NULL: not bound), and running the step once more. */
void *ebb_exec_buffer(const ebb_exec *exec, ebb_id buffer, int64_t *bytes);
EBB_CHECKED ebb_status ebb_exec_again(ebb_exec *exec, uint32_t step);
/* Whether a kernel runs this step; none does for views. */
bool ebb_exec_runs(const ebb_exec *exec, uint32_t step);

/* On a backend that can record, the first run of the program, and of each phase, after a bind is launched
 * step by step (what libraries do once is done then), the second one is recorded, and it and later ones are
 * replayed: the same launches at the same addresses, with the run's own seed and step. A run with step_ns
 * is always launched step by step. If recording fails, the env's log gets a warning, and this and later
 * runs are launched step by step until the next bind.
 *
 * Runs all steps. */
EBB_CHECKED ebb_status ebb_exec_run(ebb_exec *exec, const ebb_run_options *options);
/* Runs only the steps of one phase: they must be contiguous (a plan made with `phased`), else EBB_USAGE
 * names the step in the way. A recomputed step belongs to the phase of the steps around it. */
EBB_CHECKED ebb_status ebb_exec_run_phase(ebb_exec *exec, ebb_phase phase, const ebb_run_options *options);
/* Whether the last run has begun to write params or states. If it failed after that, they are undefined. */
bool ebb_exec_touched(const ebb_exec *exec);
/* The number of runs so far that were replays of a recording; each phase's counts separately. */
uint64_t ebb_exec_n_replayed(const ebb_exec *exec);

/* ---- profile: the time of each step ----------------------------------------------------------------- */

/* The last n_most runs of a program of n_steps. Between begin_run and end_run its row is passed as
 * ebb_run_options.step_ns, for one run or its three phases; after a failed run call begin_run again.
 * Measuring costs two clock readings per step and allocates nothing. */
typedef struct ebb_profile ebb_profile;
EBB_CHECKED ebb_status ebb_profile_create(ebb_env *env, uint32_t n_steps, uint32_t n_most,
                                          ebb_profile **out);
void ebb_profile_destroy(ebb_profile *profile); /* NULL is allowed */
void ebb_profile_begin_run(ebb_profile *profile);
uint64_t *ebb_profile_row(ebb_profile *profile); /* [n_steps] */
void ebb_profile_end_run(ebb_profile *profile);

/* The number of recorded runs, at most n_most. Only between runs. */
uint32_t ebb_profile_n_runs(const ebb_profile *profile);
typedef struct ebb_profile_time {
    int64_t median_ns, least_ns; /* of those runs; the upper of two middle ones. 0 without a run */
} ebb_profile_time;
void ebb_profile_step(const ebb_profile *profile, uint32_t step, ebb_profile_time *out);

/* ---- host tensors: logical row-major order outside, channels-last inside -------------------------- */

/* Copy all elements from `from` in logical order to `to` in storage order, and back. */
void ebb_tensor_to_storage(const ebb_type *type, const void *from, void *to);
void ebb_tensor_to_logical(const ebb_type *type, const void *from, void *to);

#endif
