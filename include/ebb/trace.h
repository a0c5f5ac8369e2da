/* ebb/trace.h: turns a function that calls ops into a plan, by recording a call of it.
 *
 *     ebb_trace_create(eager, &options, &trace);
 *     for (each step) {
 *         ebb_trace_begin(trace, NULL, 0, (ebb_tensor *const[]){x, labels}, 2);
 *         loss = step(x, labels);                      // ops, tapes, updates, as they are
 *         status = ebb_trace_end(trace, &loss, 1);     // on an error in between: ebb_trace_abort
 *     }
 *
 * The first call is recorded: while its ops run or, with `symbolic`, without running them. The recording is
 * compiled with the memory settings of the plan options, and run as one program. In later calls the ops
 * compute nothing: each is compared with its entry in the recording, and at the end the program runs.
 * Tensors made by such a call have types but no bytes until then. The bits are those of the ops run one by
 * one.
 *
 * There is one recording for each combination of key, argument types, pattern of equal arguments, and mode
 * (training or evaluation). Tensors that are used without being arguments (parameters, say) are captured:
 * the program uses their bytes where they are, and assignments to them take effect when the call has ended.
 * Reading a value inside a call ends a segment: the ops that it needs run then, and the rest later.
 *
 * With plan.xla, programs are compiled and run by XLA (docs/xla.md): results do not have the bits of our
 * kernels, and a call that cannot become a program is refused. Ops outside programs (the first call unless
 * `symbolic`, excluded regions, the ops of a call before it diverged) run on our kernels. Tensors are in
 * our memory before and after a run, which copies them.
 *
 * A call that diverges from its recording starts another one: the ops compared so far are run one by one,
 * and the call continues. With `strict` it fails instead, and the error has both ops and both places.
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
    /* Nothing runs: calls are recorded as symbolic ones are, their results have no values, and their
     * assignments are undone when they end. record_only: for ebb_trace_text. plan_only: plans are made as
     * well, for plan.device where that is the path of a device's description, else for the eager's
     * device. */
    bool record_only, plan_only;
    bool keep;    /* the last call's constants are kept, for ebb_trace_given_at */
    bool strict;  /* a call that differs from its recording is EBB_MISMATCH */
    bool algebra; /* y / y is 1, log(exp(x)) is x, log(exp(a) + exp(b)) does not overflow; changes bits */
    bool arguments_stay; /* programs read arguments where they are, without a copy in the block */
    uint32_t n_most;     /* recordings to keep, the most recently used; 0: 64 */
    uint32_t n_profiled; /* runs of each program whose steps' times are kept; 0: none is measured */
    ebb_options plan; /* how memory is saved: memory, budget_bytes, sublinear, effort, seed, cache, ... */
    /* Writes the caller's current place, "train.py:12", for errors and reports. NULL: unknown. */
    void (*where)(void *ctx, char text[EBB_TRACE_PLACE]);
    void *where_ctx;
} ebb_trace_options;
/* Every field at its default. */
EBB_API void ebb_trace_options_init(ebb_trace_options *options);

/* Copies the options, and the texts and lists of `plan`; costs and the contexts of callbacks are borrowed.
 * With plan.xla, EBB_UNAVAILABLE: there is no plugin, or traces of this eager have another one open;
 * EBB_USAGE: a profile is requested, or the device does not use host memory. */
EBB_API EBB_CHECKED ebb_status ebb_trace_create(ebb_eager *eager, const ebb_trace_options *options,
                                                ebb_trace **out);
EBB_API void ebb_trace_destroy(ebb_trace *trace); /* NULL is allowed */

/* Begins a call. key: n_key bytes of the caller's that the recording depends on, copied. EBB_USAGE: a call
 * is in progress. */
EBB_API EBB_CHECKED ebb_status ebb_trace_begin(ebb_trace *trace, const void *key, size_t n_key,
                                               ebb_tensor *const *arguments, uint32_t n_arguments);
/* Declares that in this call `tensor` belongs to `holder`, as its gradient, say. The tensor is older than
 * the call and not an argument. A recording captures it through its holder, so that each call may bring
 * another one. Must be called before the tensor is used; it has no effect the second time for a holder, or
 * for a tensor that the call has made. EBB_USAGE: no call is in progress. */
EBB_API EBB_CHECKED ebb_status ebb_trace_beside(ebb_trace *trace, ebb_tensor *holder, ebb_tensor *tensor);
/* Changes the key of the recording that this call makes, for facts that were not known when it began. No
 * effect if the call is only compared. EBB_USAGE: no call is in progress. */
EBB_API EBB_CHECKED ebb_status ebb_trace_rekey(ebb_trace *trace, const void *key, size_t n_key);
/* Ends the call, and runs the ops that have not run. Its results are the tensors in `returned` and every
 * other tensor that it made and that still has a handle. On a failure the call is aborted. EBB_OVER_BUDGET:
 * no plan fits; the error names the smallest budget that does. */
EBB_API EBB_CHECKED ebb_status ebb_trace_end(ebb_trace *trace, ebb_tensor *const *returned,
                                             uint32_t n_returned);
/* Ends a call that failed: its assignments are undone, and the recording is as it was before; so are the
 * draws, if no op has run. Tensors that it made and that have no bytes never get any: reading one is
 * EBB_USAGE. */
EBB_API void ebb_trace_abort(ebb_trace *trace);
/* Between these two, ops of the call run at once and are not recorded; their results are inputs of the ops
 * that follow. Nests. */
EBB_API EBB_CHECKED ebb_status ebb_trace_exclude_begin(ebb_trace *trace);
EBB_API EBB_CHECKED ebb_status ebb_trace_exclude_end(ebb_trace *trace);
/* While on, at most until the call ends, a difference starts another recording even under `strict`: for ops
 * that a front end adds by itself, as when it adds to gradients that were not cleared. Returns whether it
 * was on. */
EBB_API bool ebb_trace_may_differ(ebb_trace *trace, bool on);

/* Runs ebb_tape_gradients as a traced call, from begin to end, so that the backward pass is planned, and
 * compared in later calls. Best with `symbolic` and `arguments_stay`: the arguments are the values kept by
 * the tape, and dys. The bits are the same. On a failure the call is aborted. EBB_USAGE: a call is in
 * progress. */
EBB_API EBB_CHECKED ebb_status ebb_trace_gradients(ebb_trace *trace, ebb_tape *tape, ebb_tensor *const *ys,
                                                   ebb_tensor *const *dys, uint32_t n_y,
                                                   ebb_tensor *const *of, uint32_t n_of, bool keep,
                                                   ebb_tensor **out);

/* ---- the programs of the last call that ran one ---- */

/* The number of programs of its recording, one per segment; 0: none has been compiled yet. */
EBB_API uint32_t ebb_trace_n_programs(const ebb_trace *trace);
/* Borrowed; valid until the next call. NULL: there is no such program. */
EBB_API const ebb_plan *ebb_trace_plan(const ebb_trace *trace, uint32_t program);
/* Bytes of a program that XLA runs, as its compiler counts them (ebb_program_xla_memory). EBB_USAGE: no
 * such program, or it is not XLA's. */
EBB_API EBB_CHECKED ebb_status ebb_trace_xla_memory(const ebb_trace *trace, uint32_t program,
                                                    ebb_xla_memory *out);
/* The times of a step of that plan (ebb_program_step_times); needs the option n_profiled. EBB_USAGE: no
 * such program or step, or no run since. */
EBB_API EBB_CHECKED ebb_status ebb_trace_step_times(const ebb_trace *trace, uint32_t program, uint32_t step,
                                                    ebb_step_times *out);
/* The place in the caller's program where the op or value of this name in the last call's plans or texts
 * was made: "train.py:12", as `where` gave it; for a gradient, the place of its value. NULL: unknown.
 * Borrowed; valid until the next call.
 */
EBB_API const char *ebb_trace_place(const ebb_trace *trace, const char *name);
/* The training step's graph as text (docs/ir.md). Free with ebb_trace_text_free. EBB_USAGE: there is no
 * such program. */
EBB_API EBB_CHECKED ebb_status ebb_trace_text(ebb_trace *trace, uint32_t program, char **out);
/* The same text without the fusion of the plan's opt_level, for formats that do not have fused ops. */
EBB_API EBB_CHECKED ebb_status ebb_trace_text_unfused(ebb_trace *trace, uint32_t program, char **out);
EBB_API void ebb_trace_text_free(ebb_trace *trace, char *text);

/* ---- with the option `keep`: the values that a file of the text needs ---- */

typedef enum ebb_given_kind {
    EBB_GIVEN_ARGUMENT,
    EBB_GIVEN_TENSOR,   /* captured */
    EBB_GIVEN_CONSTANT, /* a number or an array of the body, as it was in the last call */
    EBB_GIVEN_IMPORT    /* made in an excluded region */
} ebb_given_kind;
#define EBB_TRACE_NAME 64
/* An input of the last call's recording. */
typedef struct ebb_trace_given {
    ebb_given_kind kind;
    uint32_t argument;         /* of an argument: its index */
    char name[EBB_TRACE_NAME]; /* in the text, which lacks it if nothing reads it */
    ebb_tensor *tensor;        /* the caller's, to be destroyed; NULL for arguments, imports and captured
                                * arguments */
} ebb_trace_given;
EBB_API uint32_t ebb_trace_n_given(const ebb_trace *trace);
/* EBB_USAGE: there is no input i, or nothing is kept. */
EBB_API EBB_CHECKED ebb_status ebb_trace_given_at(const ebb_trace *trace, uint32_t i, ebb_trace_given *out);
/* The name of the i-th tensor that the last call returned; "": it is not a value of the recording.
 * EBB_USAGE: as above. */
EBB_API EBB_CHECKED ebb_status ebb_trace_returned_at(const ebb_trace *trace, uint32_t i,
                                                     char name[EBB_TRACE_NAME]);

typedef struct ebb_trace_facts {
    uint32_t n_recordings;           /* kept now */
    uint64_t n_recorded, n_compared; /* calls so far that recorded, and that only compared */
    uint64_t n_runs;                 /* of programs */
    uint32_t n_entries;              /* of the last call's recording */
    const char *refused;             /* why it has no program and runs op by op; NULL: it may have one */
} ebb_trace_facts;
EBB_API void ebb_trace_facts_now(const ebb_trace *trace, ebb_trace_facts *out);

#ifdef __cplusplus
}
#endif
#endif
