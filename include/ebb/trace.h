/* ebb/trace.h: a function that calls ops becomes a plan by being called.
 *
 *     ebb_trace_create(eager, &options, &trace);
 *     for (each step) {
 *         ebb_trace_begin(trace, NULL, 0, (ebb_tensor *const[]){x, labels}, 2);
 *         loss = step(x, labels);                      // ops, tapes, updates, as they are
 *         status = ebb_trace_end(trace, &loss, 1);     // on an error in between: ebb_trace_abort
 *     }
 *
 * The first call is recorded: while its ops run, or, with `symbolic`, without running them. What was
 * recorded is compiled, within the memory that the plan options say, and run as one program. In later calls
 * the ops compute nothing: each is compared with its entry in the recording, and at the end the program
 * runs. Tensors that such a call makes have types and no bytes until then. The bits are those of the ops
 * run one by one.
 *
 * There is a recording for each key, types of the arguments, pattern of equal arguments, and mode (training
 * or evaluation). Tensors that are used without being arguments (parameters, say) are captured: the program
 * uses their bytes where they are, and what was assigned to them is theirs when the call has ended. A value
 * that is read inside a call ends a segment: what it needs runs then, and the rest later.
 *
 * With plan.xla programs are compiled and run by XLA (docs/xla.md): results have no bits of ours, and a
 * call of which no program can be made is refused. What is not in programs (the first call unless
 * `symbolic`, excluded regions, what was compared before a call took another course) runs on our kernels.
 * Tensors are ours before and after a run, which copies them.
 *
 * A call that does something else than its recording starts another recording: what was compared is run op
 * by op, and the call goes on. With `strict` it fails instead, with both ops and both places.
 *
 * Threads: as ebb/eager.h. One call at a time; calls do not nest.
 */
#ifndef EBB_TRACE_H
#define EBB_TRACE_H

#include "ebb/eager.h"
#include "ebb/plan.h"
#include "ebb/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ebb_trace ebb_trace;

#define EBB_TRACE_PLACE 256
typedef struct ebb_trace_options {
    bool symbolic; /* the first call runs nothing until it ends */
    /* Nothing runs: calls are recorded as symbolic ones are. What they make has no values, and what they
     * assign is taken back when they end. record_only: for ebb_trace_text. plan_only: and plans are made,
     * for plan.device where that is the file of a device's description, else for the eager's device. */
    bool record_only, plan_only;
    bool keep;    /* the last call's constants are kept, for ebb_trace_given_at */
    bool strict;  /* a call that differs from its recording is EBB_MISMATCH */
    bool algebra; /* y / y is 1, log(exp(x)) is x, log(exp(a) + exp(b)) does not overflow: other bits */
    bool arguments_stay; /* programs read arguments where they lie, without a copy in the block */
    uint32_t n_most;     /* recordings that are kept, the latest used; 0: 64 */
    uint32_t n_profiled; /* runs of each program whose steps' times are kept; 0: none is measured */
    ebb_options plan; /* how memory is saved: memory, budget_bytes, sublinear, effort, seed, cache, ... */
    /* Where the caller's program is: "train.py:12", for errors and reports. NULL: not known. */
    void (*where)(void *ctx, char text[EBB_TRACE_PLACE]);
    void *where_ctx;
} ebb_trace_options;
/* Every field at its default. */
EBB_API void ebb_trace_options_init(ebb_trace_options *options);

/* Copies the options, and the texts and lists of `plan`; costs, and what functions are called with, are
 * borrowed. With plan.xla, EBB_UNAVAILABLE: no plugin is here, or traces of this eager have another one
 * open; EBB_USAGE: a profile is asked for, or the device's memory is not the host's. */
EBB_API EBB_CHECKED ebb_status ebb_trace_create(ebb_eager *eager, const ebb_trace_options *options,
                                                ebb_trace **out);
EBB_API void ebb_trace_destroy(ebb_trace *trace); /* NULL is allowed */

/* key: n_key bytes of the caller's own that the recording depends on, copied. EBB_USAGE: a call is going
 * on. */
EBB_API EBB_CHECKED ebb_status ebb_trace_begin(ebb_trace *trace, const void *key, size_t n_key,
                                               ebb_tensor *const *arguments, uint32_t n_arguments);
/* In this call `tensor` belongs to `holder`: it is its gradient, say. The tensor is older than the call and
 * no argument. A recording captures it by its holder, so that each call may bring another. To be called
 * before the tensor is used; later calls for the same holder, and tensors that the call has made, change
 * nothing. EBB_USAGE: no call is going on. */
EBB_API EBB_CHECKED ebb_status ebb_trace_beside(ebb_trace *trace, ebb_tensor *holder, ebb_tensor *tensor);
/* Gives the recording that this call makes another key, for what was not yet known when it began. Where the
 * call is only compared, nothing changes. EBB_USAGE: no call is going on. */
EBB_API EBB_CHECKED ebb_status ebb_trace_rekey(ebb_trace *trace, const void *key, size_t n_key);
/* Runs what has not run. The tensors in `returned` will be read, and so will every other that the call made
 * and that still has a handle. On a failure the call is aborted. EBB_OVER_BUDGET: no plan fits; the text
 * says the smallest budget that does. */
EBB_API EBB_CHECKED ebb_status ebb_trace_end(ebb_trace *trace, ebb_tensor *const *returned,
                                             uint32_t n_returned);
/* Ends a call that failed: what was assigned is taken back, and the recording is as it was before. Tensors
 * that it made and that have no bytes stay without: reading one is EBB_USAGE. */
EBB_API void ebb_trace_abort(ebb_trace *trace);
/* Between these two, ops of the call run at once and are not recorded; what they give is fed to what
 * follows. Nests. */
EBB_API EBB_CHECKED ebb_status ebb_trace_exclude_begin(ebb_trace *trace);
EBB_API EBB_CHECKED ebb_status ebb_trace_exclude_end(ebb_trace *trace);
/* While on, at most until the call ends, what differs is recorded anew under `strict`, too: for what a
 * front end does by itself, as it adds to gradients that were not cleared. Returns whether it was on. */
EBB_API bool ebb_trace_may_differ(ebb_trace *trace, bool on);

/* ebb_tape_gradients as a call of its own, from begin to end: a backward that is planned, and whose later
 * calls are compared. Best with `symbolic` and `arguments_stay`: the arguments are what the tape has kept,
 * and dys. The bits are the same. On a failure the call is aborted. EBB_USAGE: a call is going on. */
EBB_API EBB_CHECKED ebb_status ebb_trace_gradients(ebb_trace *trace, ebb_tape *tape, ebb_tensor *const *ys,
                                                   ebb_tensor *const *dys, uint32_t n_y,
                                                   ebb_tensor *const *of, uint32_t n_of, bool keep,
                                                   ebb_tensor **out);

/* ---- what was made of the last call that ran a program ---- */

/* Programs of its recording, one a segment; 0: none was compiled yet. */
EBB_API uint32_t ebb_trace_n_programs(const ebb_trace *trace);
/* Borrowed; valid until the next call. NULL: there is no such program. */
EBB_API const ebb_plan *ebb_trace_plan(const ebb_trace *trace, uint32_t program);
/* Bytes of a program that XLA runs, as its compiler counts them (ebb_program_xla_memory). EBB_USAGE: no
 * such program, or it is not XLA's. */
EBB_API EBB_CHECKED ebb_status ebb_trace_xla_memory(const ebb_trace *trace, uint32_t program,
                                                    ebb_xla_memory *out);
/* Of a step of that plan, with the option n_profiled (ebb_program_step_times). EBB_USAGE: no such program
 * or step, or no run since. */
EBB_API EBB_CHECKED ebb_status ebb_trace_step_times(const ebb_trace *trace, uint32_t program, uint32_t step,
                                                    ebb_step_times *out);
/* Where the caller's program made what the last call's plans or texts name so: "train.py:12", as `where`
 * said then; of a gradient, where its value was made. NULL: not known. Borrowed; valid until the next call.
 */
EBB_API const char *ebb_trace_place(const ebb_trace *trace, const char *name);
/* The training step's graph as text (docs/ir.md). Free with ebb_trace_text_free. EBB_USAGE: no such. */
EBB_API EBB_CHECKED ebb_status ebb_trace_text(ebb_trace *trace, uint32_t program, char **out);
/* The same with each op by itself, as other formats have them: what the level of the plan fuses is not. */
EBB_API EBB_CHECKED ebb_status ebb_trace_text_unfused(ebb_trace *trace, uint32_t program, char **out);
EBB_API void ebb_trace_text_free(ebb_trace *trace, char *text);

/* ---- with the option `keep`: what a file of the text needs besides ---- */

typedef enum ebb_given_kind {
    EBB_GIVEN_ARGUMENT,
    EBB_GIVEN_TENSOR,   /* captured */
    EBB_GIVEN_CONSTANT, /* a number or an array of the body, as it was in the last call */
    EBB_GIVEN_IMPORT    /* made in an excluded region */
} ebb_given_kind;
#define EBB_TRACE_NAME 64
/* A value that the last call's recording is given. */
typedef struct ebb_trace_given {
    ebb_given_kind kind;
    uint32_t argument;         /* of an argument: which */
    char name[EBB_TRACE_NAME]; /* in the text, where it may be missing: nothing reads it */
    ebb_tensor *tensor;        /* the caller's; NULL: of arguments, imports, and captured arguments */
} ebb_trace_given;
EBB_API uint32_t ebb_trace_n_given(const ebb_trace *trace);
/* EBB_USAGE: no such, or nothing is kept. */
EBB_API EBB_CHECKED ebb_status ebb_trace_given_at(const ebb_trace *trace, uint32_t i, ebb_trace_given *out);
/* The name of the i-th tensor that the last call returned; "": it is no value of the recording. EBB_USAGE:
 * as above. */
EBB_API EBB_CHECKED ebb_status ebb_trace_returned_at(const ebb_trace *trace, uint32_t i,
                                                     char name[EBB_TRACE_NAME]);

typedef struct ebb_trace_facts {
    uint32_t n_recordings;           /* that are kept */
    uint64_t n_recorded, n_compared; /* calls so far: that recorded, that only compared */
    uint64_t n_runs;                 /* of programs */
    uint32_t n_entries;              /* of the last call's recording */
    const char *refused;             /* why that has no program and runs op by op; NULL: it may have one */
} ebb_trace_facts;
EBB_API void ebb_trace_facts_now(const ebb_trace *trace, ebb_trace_facts *out);

#ifdef __cplusplus
}
#endif
#endif
