/* trace: a function becomes a plan by being called.
 *
 *     recording.c   what a call did: its entries and values; prefixes, keys
 *     recordings.c  those that there are: found, kept, dropped
 *     call.c        a call from begin to end; what stays of it when it fails (options.c: what it copies)
 *     values.c      the data of its values
 *     beside.c      gradients that stand beside tensors, and the key that knows which are there
 *     exclude.c     regions that are left out
 *     record.c      the recorder of the room eager: entries are added, or compared
 *     compare.c     an op beside its entry; a call that goes another way
 *     backward.c    a whole backward as one entry
 *     apart.c       updates whose old value is wanted afterwards
 *     graph.c       a segment of a recording as a graph
 *     names.c       names of its values there
 *     make.c        the chapters from that graph to a program
 *     run.c, xla.c  a program on the data of a call: by our kernels, or by XLA
 *     play.c        entries without a program
 *     gradients.c   a backward as a call of its own
 *     given.c       what files of a program need: its constants, what was returned
 *
 * A call has the data of the values of its recording (recording.h).
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
    ebb_datum *datum;   /* held: what it was */
} ebb_restore;

/* What ebb_trace_beside was told: both held. */
typedef struct ebb_beside {
    ebb_tensor *holder, *tensor;
} ebb_beside;

struct ebb_trace {
    ebb_eager *eager;
    ebb_env *env;
    ebb_backend *backend; /* that plans are for: the eager's, or, of a description, its own */
    ebb_trace_options options;
    bool runs;                /* else calls are recorded, or planned, only */
    ebb_arena arena;          /* the options' texts */
    ebb_recorded *recordings; /* the latest used first */
    uint32_t n_recordings;
    ebb_recorded *last; /* of the last call that ended well */
    ebb_trace_facts facts;
    ebb_pjrt *plugin; /* with the option xla: the eager's */

    /* While a call goes on. */
    bool calling;
    EBB_ARRAY(ebb_tensor *) arguments; /* held */
    uint32_t n_taped;                  /* nodes of the tape whose backward runs */
    uint32_t excluded;                 /* how deep */
    bool may_differ;                   /* whatever `strict` says */
    ebb_call_mode mode;
    ebb_recorded *now;
    bool is_new;      /* `now` is not among the recordings yet */
    bool ending;      /* the last segment: what runs now is the call's end */
    bool recorded;    /* else the call just runs: its recording is kept for its text alone, or refused */
    uint32_t at;      /* entries done */
    uint32_t segment; /* the one at hand */
    uint64_t draws, serial, seed;   /* the eager's when the call began; of a backward, its tape's draws */
    uint64_t drawn;                 /* the eager's draws when the call began */
    EBB_ARRAY(ebb_present) present; /* [now->values] */
    EBB_ARRAY(ebb_restore) restore;
    EBB_ARRAY(ebb_datum *) kept; /* held: what ops of the call have updated */
    EBB_ARRAY(ebb_beside) beside;
    uint32_t beside_at; /* where among what is captured the next is looked for */
};

/* ---- options.c, call.c, values.c ------------------------------------------------------------ */

/* Copies the options, with their texts and lists. */
EBB_CHECKED ebb_status ebb_trace_options_take(ebb_trace *trace, const ebb_trace_options *options);
/* Ops run, and nothing is recorded: assignments are noted all the same. */
static inline bool ebb_call_silent(const ebb_trace *trace) {
    return trace->excluded > 0 || !trace->recorded;
}
static inline bool ebb_present_alive(const ebb_present *p) {
    return p->datum && p->datum->serial == p->serial;
}
/* A new value of the recording, and its datum in this call; given ones are held. EBB_NONE: no memory. */
uint32_t ebb_value_add(ebb_trace *trace, ebb_datum *datum, ebb_source source, uint32_t at);
/* Binds value v of a recording that is compared with to the datum of this call. */
EBB_CHECKED ebb_status ebb_value_bind(ebb_trace *trace, uint32_t v, ebb_datum *datum);
/* The number of the datum in this call; a captured or imported one gets one. EBB_NONE: no memory. */
uint32_t ebb_value_of(ebb_trace *trace, ebb_datum *datum);
/* An entry reads value v: what an earlier segment has made is held until its program runs. */
void ebb_value_read(ebb_trace *trace, uint32_t v);
/* Adds an entry, with its place and its operands; *out until the next one. */
EBB_CHECKED ebb_status ebb_entry_add(ebb_trace *trace, ebb_entry_kind kind, const uint32_t *in,
                                     uint32_t n_in, ebb_entry **out);
/* Ends the segment: its program runs, unless the ops have run. */
EBB_CHECKED ebb_status ebb_segment_end(ebb_trace *trace);
/* The tensor `to` is about to be assigned to: what it was comes back when the call fails. */
EBB_CHECKED ebb_status ebb_call_note(ebb_trace *trace, ebb_tensor *to);

extern const ebb_recorder ebb_trace_recorder; /* record.c */

static inline ebb_tensor *ebb_captured_handle(const ebb_trace *trace, uint32_t c) {
    const ebb_captured *captured = &trace->now->captured.at[c];
    if (captured->beside) return captured->now;
    return captured->argument == EBB_NONE ? captured->handle : trace->arguments.at[captured->argument];
}
/* Binds what was captured of `now`, as far as it is not, and is known. */
EBB_CHECKED ebb_status ebb_captured_bind(ebb_trace *trace);
EBB_CHECKED ebb_status ebb_captured_bind_one(ebb_trace *trace, uint32_t c);

/* ---- recordings.c --------------------------------------------------------------------------- */

/* The recording that a call of the key is compared with, which goes first; NULL: there is none. */
ebb_recorded *ebb_recordings_find(ebb_trace *trace, const ebb_recording_key *key);
/* The call has ended well: `now` is kept where it is new, and others go that no call can meet, or that are
 * too many. */
void ebb_recordings_keep(ebb_trace *trace);

/* ---- beside.c ------------------------------------------------------------------------------- */

/* What the call's tensor is captured as: by itself, by which argument it is, or by whom it stands beside.
 */
ebb_captured ebb_captured_make(const ebb_trace *trace, ebb_tensor *handle);
/* Sets `now` of what `now` has captured so, to what was told in this call. O(captured * told). */
void ebb_beside_find(ebb_trace *trace);
void ebb_beside_forget(ebb_trace *trace);

/* ---- compare.c ------------------------------------------------------------------------------ */

/* The entry that comes next, if it is of the kind; else NULL. */
const ebb_entry *ebb_next_entry(const ebb_trace *trace, ebb_entry_kind kind);
/* Are these the operands, as data? Captured and imported ones are bound when they are first met. */
bool ebb_operands_are(ebb_trace *trace, const ebb_entry *entry, ebb_datum *const *in, uint32_t n_in);
/* Makes data without bytes for the entry's results. */
EBB_CHECKED ebb_status ebb_results_promise(ebb_trace *trace, const ebb_entry *entry, ebb_datum **out);
/* The call does something else than its recording says: another recording takes over, or an error is told.
 * name: MegEngine's (NULL: "operator mismatch"); what: "mul f32[3] ...". Afterwards the mode may be any. */
EBB_CHECKED ebb_status ebb_call_turn(ebb_trace *trace, const char *name, const char *what, bool always);
/* Another recording takes over whose next entry is of the kind, where there is one. */
EBB_CHECKED ebb_status ebb_call_turn_to(ebb_trace *trace, ebb_entry_kind next, bool *turned);

/* ---- backward.c ----------------------------------------------------------------------------- */

EBB_CHECKED ebb_status ebb_backward_compare(void *ctx, const ebb_backward *backward, ebb_datum **out,
                                            bool *took);
EBB_CHECKED ebb_status ebb_backward_way_of(void *ctx, const ebb_backward *backward, ebb_datum **out,
                                           ebb_backward_way *way);
EBB_CHECKED ebb_status ebb_backward_record(void *ctx, const ebb_backward *backward, ebb_datum *const *out);

/* ---- graph.c, make.c, run.c ----------------------------------------------------------------- */

/* In arena: for each of the entries [begin, end) whether it is an update that has bytes of its own, and for
 * each value whether a view of it is an output. O(entries + values). */
EBB_CHECKED ebb_status ebb_updates_apart(ebb_arena *arena, const ebb_recorded *recorded, uint32_t begin,
                                         uint32_t end, bool **apart, bool **viewed);
/* The name of value v in graphs: "v12.relu". */
const char *ebb_traced_name(const ebb_recorded *recorded, uint32_t v, char name[EBB_TRACE_NAME]);
/* The value of that name, or EBB_NONE. */
uint32_t ebb_traced_find(const ebb_recorded *recorded, const char *name);
/* What is done to the part before the first backward: ebb_algebra, then ebb_lower and ebb_fuse. */
enum { EBB_SEGMENT_ALGEBRA = 1, EBB_SEGMENT_FUSED = 2 };
/* Entries [begin, end) as a graph, backwards played. form: of the bits above. constants: host data of the
 * body are params, not inputs. Values that say `output` are outputs, and others that are not read may be
 * gone. EBB_BAD_INPUT: no graph can be made. */
EBB_CHECKED ebb_status ebb_segment_graph(ebb_env *env, const ebb_recorded *recorded,
                                         const ebb_segment *segment, uint32_t form, bool constants,
                                         ebb_graph **out);
/* *out is NULL when there is nothing to run. */
EBB_CHECKED ebb_status ebb_program_make(ebb_trace *trace, ebb_recorded *recorded, uint32_t segment,
                                        ebb_traced_program **out);
void ebb_traced_program_destroy(ebb_env *env, ebb_traced_program *program);
/* Runs the segment's program, made first where there is none that gives all that is wanted: the data of its
 * values that are alive have bytes then. */
EBB_CHECKED ebb_status ebb_segment_run(ebb_trace *trace, uint32_t segment);
/* A given value's datum in this call, with bytes. EBB_INTERNAL: it is gone. */
EBB_CHECKED ebb_status ebb_value_data(ebb_trace *trace, uint32_t v, ebb_datum **out);
/* A number's bytes, where it has none yet. EBB_USAGE: it is no number, and has no value. */
EBB_CHECKED ebb_status ebb_number_fill(ebb_trace *trace, uint32_t v);
/* Marks what is alive of entries [begin, end)'s results as outputs. true: some were not before. */
bool ebb_outputs_find(const ebb_trace *trace, ebb_recorded *recorded, uint32_t begin, uint32_t end);
/* Runs entries [begin, end) op by op, into the data that are alive. */
EBB_CHECKED ebb_status ebb_segment_play(ebb_trace *trace, uint32_t begin, uint32_t end);

/* ---- given.c -------------------------------------------------------------------------------- */

/* Keeps the constants of the call that ends well, and which values it returned, in place of the last one's.
 */
EBB_CHECKED ebb_status ebb_kept_take(ebb_trace *trace, ebb_tensor *const *returned, uint32_t n);
void ebb_kept_free(ebb_recorded *recorded);

#endif
