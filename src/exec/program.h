/* exec/program.h: defines a program, a plan prepared for running. Private to exec.
 *
 * Everything that a step needs is a row of tables made once; binding writes addresses into them and
 * running only reads them.
 */
#ifndef EBB_EXEC_PROGRAM_H
#define EBB_EXEC_PROGRAM_H

#include "exec/exec.h"

typedef struct ebb_exec_step {
    ebb_kernel *kernel; /* NULL: nothing runs (a view), or a checker */
    void **in, **out;   /* the tables behind launch.in and launch.out */
    ebb_launch launch;
    ebb_launch_check check;
} ebb_exec_step;

/* The separate recordings: the whole program, and each of its phases. */
enum { EBB_REPLAY_WHOLE, EBB_REPLAY_PHASES, EBB_N_REPLAYS = EBB_REPLAY_PHASES + 3 };
typedef enum ebb_replay_state {
    EBB_REPLAY_COLD,
    EBB_REPLAY_WARM,
    EBB_REPLAY_RECORDED,
    EBB_REPLAY_REFUSED
} ebb_replay_state;
typedef struct ebb_replay {
    ebb_replay_state state;
    ebb_recording *recording; /* NULL unless recorded */
} ebb_replay;

struct ebb_exec {
    ebb_arena arena; /* owns every table below */
    ebb_env *env;
    const ebb_graph *graph; /* NULL for a planning graph */
    const ebb_plan *plan;
    ebb_backend *backend;
    bool poison, no_record;

    ebb_kernel **kernels; /* [plan->graph->n_ops]: shared by every run of an op */
    /* [n_steps + 1]: the last one is not a step: for checkers, it reads the values that must be intact at
     * the end. */
    ebb_exec_step *steps;
    const char **step_names, **buffer_names;
    ebb_id *given, *final; /* [n_values]: a buffer or EBB_NONE */
    /* Buffers by the step after which they die: dying[dying_first[s], dying_first[s + 1]). With poison
     * only. */
    ebb_id *dying;
    uint32_t *dying_first;

    ebb_replay replays[EBB_N_REPLAYS];
    uint64_t n_replayed; /* runs */
    uint64_t *mark_ns;   /* [n_steps + 1] of a run with step_ns, on backends with marks */

    ebb_id *base; /* [n_buffers] of a persistent one: the given one whose bytes contain it; else EBB_NONE */
    uintptr_t *place; /* [n_buffers] the address of a given one placed elsewhere; 0: in its region */
    uint32_t n_bases, n_placed;
    bool moved; /* a place has changed since the last bind */

    bool touched; /* the last run has begun to write params or states */
    bool bound;
    uintptr_t persistent, transient; /* numbers, because a checker's addresses are not memory */
};

/* Checks that the plan is for this graph and backend, and stays inside its regions. Takes an exec whose
 * first block of fields is set. Errors: EBB_USAGE (another graph, width or alignment), EBB_BAD_INPUT (ids
 * or bytes out of range). O(steps + buffers + values). */
EBB_CHECKED ebb_status ebb_program_check(const ebb_exec *exec);

/* Drops all recordings, when addresses change or the program ends. */
void ebb_replays_clear(ebb_exec *exec);

/* Finds base. EBB_NO_MEMORY. O(buffers log buffers). */
EBB_CHECKED ebb_status ebb_program_find_bases(ebb_exec *exec);

static inline void *ebb_program_address(const ebb_exec *exec, ebb_id buffer) {
    const ebb_buffer *b = &exec->plan->buffers[buffer];
    const ebb_id base = exec->base[buffer];
    if (base != EBB_NONE && exec->place[base])
        return (void *)(exec->place[base] + (uintptr_t)(b->offset - exec->plan->buffers[base].offset));
    return (void *)((b->persistent ? exec->persistent : exec->transient) + (uintptr_t)b->offset);
}

/* Fill dead bytes with 0xFF: the transient region before the first step; a step's scratch and the buffers
 * that it was the last to read. Bytes shared with a live buffer (a view's base, an in-place successor)
 * stay. */
EBB_CHECKED ebb_status ebb_poison_start(const ebb_exec *exec);
EBB_CHECKED ebb_status ebb_poison_step(const ebb_exec *exec, uint32_t step);

#endif
