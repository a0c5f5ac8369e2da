/* trace: turns a function into a plan by recording its calls.
 *
 *     recording.c   the entries and values of a recording; prefixes, keys
 *     recordings.c  finds, keeps and drops recordings
 *     call.c        a call from begin to end, and undoing a failed one (options.c: copies the options)
 *     values.c      the data of its values
 *     beside.c      gradients beside tensors, and the key that depends on them
 *     exclude.c     excluded regions
 *     record.c      the recorder of the room eager: entries are added, or compared
 *     compare.c     compares an op with its entry; diverging calls
 *     backward.c    a whole backward as one entry
 *     apart.c       updates whose old value is needed afterwards
 *     graph.c       a segment of a recording as a graph
 *     names.c       names of its values there
 *     make.c        the stages from that graph to a program
 *     run.c, xla.c  run a program on a call's data: by our kernels, or by XLA
 *     play.c        runs entries without a program
 *     gradients.c   a backward as a separate call
 *     given.c       the values that a program's file needs: constants, returned values
 *
 * A call holds the data of its recording's values (recording.h).
 */
#ifndef EBB_TRACE_TRACE_H
#define EBB_TRACE_TRACE_H

#include "trace/recording.h"

/* ---- calls ---------------------------------------------------------------------------------- */

typedef enum ebb_call_mode {
    EBB_CALL_EAGER,  /* ops run, and are recorded */
    EBB_CALL_LAZY,   /* ops are recorded */
    EBB_CALL_COMPARE /* ops are compared with the recording */
} ebb_call_mode;

/* The datum of a value in this call, remembered by its serial. */
typedef struct ebb_present {
    ebb_datum *datum;
    uint64_t serial;
    bool held;     /* to the call's end: it was given, or a later segment reads it */
    double number; /* of EBB_ENTRY_NUMBER, whose datum may have no bytes */
} ebb_present;

typedef struct ebb_restore {
    ebb_tensor *handle; /* held */
    ebb_datum *datum;   /* held: its old datum */
} ebb_restore;

/* A pair from ebb_trace_beside, both held. */
typedef struct ebb_beside {
    ebb_tensor *holder, *tensor;
} ebb_beside;

struct ebb_trace {
    ebb_eager *eager;
    ebb_env *env;
    ebb_backend *backend; /* the plans' backend: the eager's, or one for a description */
    ebb_trace_options options;
    bool runs;                /* else calls are only recorded, or planned */
    ebb_arena arena;          /* the options' texts */
    ebb_recorded *recordings; /* the latest used first */
    uint32_t n_recordings;
    ebb_recorded *last; /* of the last call that ended well */
    ebb_trace_facts facts;
    ebb_pjrt *plugin; /* with the option xla: the eager's */

    /* During a call. */
    bool calling;
    EBB_ARRAY(ebb_tensor *) arguments; /* held */
    uint32_t n_taped;                  /* nodes of the tape whose backward runs */
    uint32_t excluded;                 /* nesting depth */
    bool may_differ;                   /* whatever `strict` says */
    ebb_call_mode mode;
    ebb_recorded *now;
    bool is_new;      /* `now` is not among the recordings yet */
    bool ending;      /* the last segment is running */
    bool recorded;    /* else the call just runs: its recording is kept only for its text, or is refused */
    uint32_t at;      /* entries done */
    uint32_t segment; /* the current one */
    uint64_t draws, serial, seed;   /* the eager's when the call began; for a backward, its tape's draws */
    uint64_t drawn;                 /* the eager's draws when the call began */
    EBB_ARRAY(ebb_present) present; /* [now->values] */
    EBB_ARRAY(ebb_restore) restore;
    EBB_ARRAY(ebb_datum *) kept; /* held: data that ops of the call have updated */
    EBB_ARRAY(ebb_beside) beside;
    uint32_t beside_at; /* where the search among the captured tensors continues */
};

/* ---- options.c, call.c, values.c ------------------------------------------------------------ */

/* Copies the options, with their texts and lists. */
EBB_CHECKED ebb_status ebb_trace_options_take(ebb_trace *trace, const ebb_trace_options *options);
/* Whether ops run without being recorded; assignments are still noted. */
static inline bool ebb_call_silent(const ebb_trace *trace) {
    return trace->excluded > 0 || !trace->recorded;
}
static inline bool ebb_present_alive(const ebb_present *p) {
    return p->datum && p->datum->serial == p->serial;
}
/* Adds a value to the recording, with its datum in this call; given ones are held. EBB_NONE: no memory. */
uint32_t ebb_value_add(ebb_trace *trace, ebb_datum *datum, ebb_source source, uint32_t at);
/* Binds value v of the compared recording to the datum of this call. */
EBB_CHECKED ebb_status ebb_value_bind(ebb_trace *trace, uint32_t v, ebb_datum *datum);
/* The number of the datum in this call; a captured or imported one gets one. EBB_NONE: no memory. */
uint32_t ebb_value_of(ebb_trace *trace, ebb_datum *datum);
/* Notes that an entry reads value v: a result of an earlier segment is held until its program runs. */
void ebb_value_read(ebb_trace *trace, uint32_t v);
/* Adds an entry with its place and operands; *out is valid until the next one. */
EBB_CHECKED ebb_status ebb_entry_add(ebb_trace *trace, ebb_entry_kind kind, const uint32_t *in,
                                     uint32_t n_in, ebb_entry **out);
/* Ends the segment and runs its program, unless the ops have run. */
EBB_CHECKED ebb_status ebb_segment_end(ebb_trace *trace);
/* Notes that `to` is about to be assigned to, so that its old value is restored if the call fails. */
EBB_CHECKED ebb_status ebb_call_note(ebb_trace *trace, ebb_tensor *to);

extern const ebb_recorder ebb_trace_recorder; /* record.c */

static inline ebb_tensor *ebb_captured_handle(const ebb_trace *trace, uint32_t c) {
    const ebb_captured *captured = &trace->now->captured.at[c];
    if (captured->beside) return captured->now;
    return captured->argument == EBB_NONE ? captured->handle : trace->arguments.at[captured->argument];
}
/* Binds the captured tensors of `now` that are known and not yet bound. */
EBB_CHECKED ebb_status ebb_captured_bind(ebb_trace *trace);
EBB_CHECKED ebb_status ebb_captured_bind_one(ebb_trace *trace, uint32_t c);

/* ---- recordings.c --------------------------------------------------------------------------- */

/* Finds the recording to compare a call of this key with, and moves it to the front; NULL: none. */
ebb_recorded *ebb_recordings_find(ebb_trace *trace, const ebb_recording_key *key);
/* After a successful call: keeps `now` if it is new, and drops recordings that no call can reach, or that
 * are too many. */
void ebb_recordings_keep(ebb_trace *trace);

/* ---- beside.c ------------------------------------------------------------------------------- */

/* How the call's tensor is captured: by itself, as an argument, or beside a holder.
 */
ebb_captured ebb_captured_make(const ebb_trace *trace, ebb_tensor *handle);
/* Sets `now` of the tensors captured beside holders from this call's pairs. O(captured * pairs). */
void ebb_beside_find(ebb_trace *trace);
void ebb_beside_forget(ebb_trace *trace);

/* ---- compare.c ------------------------------------------------------------------------------ */

/* The next entry if it has this kind; else NULL. */
const ebb_entry *ebb_next_entry(const ebb_trace *trace, ebb_entry_kind kind);
/* Whether these data are the entry's operands. Captured and imported ones are bound at first use. */
bool ebb_operands_are(ebb_trace *trace, const ebb_entry *entry, ebb_datum *const *in, uint32_t n_in);
/* Makes data without bytes for the entry's results. */
EBB_CHECKED ebb_status ebb_results_promise(ebb_trace *trace, const ebb_entry *entry, ebb_datum **out);
/* Handles a call that diverges from its recording: another recording takes over, or it fails. name:
 * MegEngine's (NULL: "operator mismatch"); what: "mul f32[3] ...". The mode may change. */
EBB_CHECKED ebb_status ebb_call_turn(ebb_trace *trace, const char *name, const char *what, bool always);
/* Lets another recording take over whose next entry has this kind, if there is one. */
EBB_CHECKED ebb_status ebb_call_turn_to(ebb_trace *trace, ebb_entry_kind next, bool *turned);

/* ---- backward.c ----------------------------------------------------------------------------- */

EBB_CHECKED ebb_status ebb_backward_compare(void *ctx, const ebb_backward *backward, ebb_datum **out,
                                            bool *took);
EBB_CHECKED ebb_status ebb_backward_way_of(void *ctx, const ebb_backward *backward, ebb_datum **out,
                                           ebb_backward_way *way);
EBB_CHECKED ebb_status ebb_backward_record(void *ctx, const ebb_backward *backward, ebb_datum *const *out);

/* ---- graph.c, make.c, run.c ----------------------------------------------------------------- */

/* Finds, for each of the entries [begin, end), whether it is an update with its own bytes, and for each
 * value whether a view of it is an output. In arena. O(entries + values). */
EBB_CHECKED ebb_status ebb_updates_apart(ebb_arena *arena, const ebb_recorded *recorded, uint32_t begin,
                                         uint32_t end, bool **apart, bool **viewed);
/* The name of value v in graphs: "v12.relu". */
const char *ebb_traced_name(const ebb_recorded *recorded, uint32_t v, char name[EBB_TRACE_NAME]);
/* The value of that name, or EBB_NONE. */
uint32_t ebb_traced_find(const ebb_recorded *recorded, const char *name);
/* Passes for the part before the first backward: ebb_algebra, then ebb_lower and ebb_fuse. */
enum { EBB_SEGMENT_ALGEBRA = 1, EBB_SEGMENT_FUSED = 2 };
/* Makes a graph of the segment's entries, with the backwards generated. form: the bits above. constants:
 * host data of the body are params, not inputs. Values marked `output` are outputs; unread others may be
 * missing. EBB_BAD_INPUT: no graph can be made. */
EBB_CHECKED ebb_status ebb_segment_graph(ebb_env *env, const ebb_recorded *recorded,
                                         const ebb_segment *segment, uint32_t form, bool constants,
                                         ebb_graph **out);
/* Makes a segment's program; *out is NULL when there is nothing to run. */
EBB_CHECKED ebb_status ebb_program_make(ebb_trace *trace, ebb_recorded *recorded, uint32_t segment,
                                        ebb_traced_program **out);
void ebb_traced_program_destroy(ebb_env *env, ebb_traced_program *program);
/* Runs the segment's program, after making one if there is none with all needed outputs; the live data of
 * its values then have bytes. */
EBB_CHECKED ebb_status ebb_segment_run(ebb_trace *trace, uint32_t segment);
/* Gets a given value's datum in this call, with bytes. EBB_INTERNAL: it is gone. */
EBB_CHECKED ebb_status ebb_value_data(ebb_trace *trace, uint32_t v, ebb_datum **out);
/* Gives a number its bytes if it has none yet. EBB_USAGE: it is not a number, and has no value. */
EBB_CHECKED ebb_status ebb_number_fill(ebb_trace *trace, uint32_t v);
/* Marks the live results of entries [begin, end) as outputs. true: some were not marked before. */
bool ebb_outputs_find(const ebb_trace *trace, ebb_recorded *recorded, uint32_t begin, uint32_t end);
/* Runs entries [begin, end) op by op, into the live data. */
EBB_CHECKED ebb_status ebb_segment_play(ebb_trace *trace, uint32_t begin, uint32_t end);

/* ---- given.c -------------------------------------------------------------------------------- */

/* Keeps the constants of a successful call, and the values that it returned, in place of the previous
 * call's.
 */
EBB_CHECKED ebb_status ebb_kept_take(ebb_trace *trace, ebb_tensor *const *returned, uint32_t n);
void ebb_kept_free(ebb_recorded *recorded);

#endif
