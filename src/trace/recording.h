/* trace/recording.h: defines a recording, the list of a call's actions. Private to the room.
 *
 * A recording is a list of entries on numbered values. Reads by the host cut it into segments, each with
 * its own program.
 *
 *     given values:  arguments | captured tensors | made inside from host data | from excluded regions
 *     made values:   the results of entries
 */
#ifndef EBB_TRACE_RECORDING_H
#define EBB_TRACE_RECORDING_H

#include "eager/tape.h"
#include "ebb/trace.h"
#include "engine/engine.h"
#include "xla/xla.h"

typedef enum ebb_entry_kind {
    EBB_ENTRY_OP,
    EBB_ENTRY_NUMBER,   /* a number is made: value out */
    EBB_ENTRY_FRESH,    /* a tensor of host data: value out */
    EBB_ENTRY_BACKWARD, /* operands: ys, their dys (or EBB_NONE), with respect to what; results: as many
                         * gradients */
    EBB_ENTRY_ASSIGN,   /* handle captured[captured] gets operand 0 */
    EBB_ENTRY_READ,     /* operand 0 is read by the host: a segment ends */
    EBB_ENTRY_EXCLUDE,  /* a region is excluded: a segment ends */
} ebb_entry_kind;

typedef struct ebb_entry {
    ebb_entry_kind kind;
    const ebb_op_info *op; /* of ops */
    const ebb_attr *attr;  /* [op->n_attrs], in the recording's arena */
    uint32_t in, n_in;     /* operands.at[in, in + n_in): values */
    uint32_t out, n_out;   /* values [out, out + n_out) */
    uint32_t n_y;          /* of a backward */
    uint32_t n_taped;      /* of a backward: nodes of its tape */
    uint32_t captured;     /* of an assignment */
    uint64_t draw;         /* of SEEDED ops: counted from the call's beginning */
    const char *place;     /* of the caller's program, or "" */
} ebb_entry;

typedef enum ebb_source {
    EBB_SOURCE_ARGUMENT,
    EBB_SOURCE_CAPTURED, /* a tensor that is not an argument */
    EBB_SOURCE_IMPORTED, /* made in an excluded region of the call */
    EBB_SOURCE_ENTRY     /* made by entry `at` */
} ebb_source;

typedef struct ebb_traced_value {
    ebb_type type;
    ebb_source source;
    uint32_t at;      /* argument, captured tensor, entry */
    uint32_t segment; /* of its entry */
    bool missing;     /* a gradient that does not exist */
    bool output;      /* used outside its segment */
} ebb_traced_value;

typedef struct ebb_captured {
    ebb_tensor *handle; /* held; NULL: an argument's, or unknown */
    uint32_t argument;  /* or EBB_NONE */
    uint32_t value;     /* its value at the call's beginning; EBB_NONE: only assigned to */
    bool beside;        /* not that tensor, but the one beside it in each call */
    ebb_tensor *now;    /* for these: the tensor in this call; NULL: not known yet */
} ebb_captured;

/* A value of the recording and its id in a program's graph. */
typedef struct ebb_traced_at {
    uint32_t value;
    ebb_id id,
        target; /* target: of an update's result, the given value whose bytes it takes; or EBB_NONE */
} ebb_traced_at;

typedef struct ebb_traced_program {
    ebb_compiled compiled;
    ebb_exec *exec;
    ebb_xla_program *xla; /* with the option xla, in place of exec */
    ebb_profile *profile; /* NULL: nothing is measured */
    ebb_arena arena;
    ebb_traced_at *inputs, *params, *outputs; /* in arena. params' target: themselves if they are updated */
    uint32_t n_inputs, n_params, n_outputs;
} ebb_traced_program;

typedef struct ebb_segment {
    uint32_t begin, end;         /* entries */
    ebb_traced_program *program; /* NULL: not made yet, or nothing to run */
    bool made;
} ebb_segment;

typedef struct ebb_recording_key {
    uint64_t hash;
    size_t n;
    uint8_t *bytes; /* owned */
} ebb_recording_key;

/* The data of a constant in the last call. */
typedef struct ebb_kept {
    uint32_t value;
    ebb_tensor *handle; /* held */
} ebb_kept;

typedef struct ebb_recorded {
    struct ebb_recorded *next; /* most recently used first */
    ebb_env *env;
    ebb_recording_key key;
    ebb_arena arena;
    EBB_ARRAY(ebb_entry) entries;
    EBB_ARRAY(uint32_t) operands;
    EBB_ARRAY(ebb_traced_value) values;
    EBB_ARRAY(ebb_captured) captured;
    EBB_ARRAY(ebb_segment) segments;
    EBB_ARRAY(ebb_kept) kept;     /* with the option `keep` */
    EBB_ARRAY(uint32_t) returned; /* likewise: values, or EBB_NONE */
    uint32_t n_arguments;
    bool arguments_stay;
    const char *refused; /* why no program can be made of it; NULL: no reason known */
} ebb_recorded;

/* ---- recording.c ---------------------------------------------------------------------------- */

EBB_CHECKED ebb_status ebb_recorded_create(ebb_trace *trace, ebb_recording_key *key, ebb_recorded **out);
void ebb_recorded_destroy(ebb_recorded *recorded); /* NULL is allowed */
/* Holds a handle for a recording that captures it. NULL is allowed. */
void ebb_captured_hold(ebb_tensor *handle);
/* Makes a separate recording of the first n entries, with the same values and captured tensors. */
EBB_CHECKED ebb_status ebb_recorded_fork(ebb_trace *trace, const ebb_recorded *from, uint32_t n,
                                         ebb_recorded **out);
/* The number of values that the first n entries make or read. */
uint32_t ebb_recorded_values(const ebb_recorded *from, uint32_t n_entries);
/* Whether the first n entries are the same, on the same values. */
bool ebb_recorded_same(const ebb_recorded *a, const ebb_recorded *b, uint32_t n);
EBB_CHECKED ebb_status ebb_key_make(ebb_trace *trace, const void *key, size_t n_key,
                                    ebb_tensor *const *arguments, uint32_t n, ebb_recording_key *out);
/* Replaces the caller's bytes in a key. After a failure it is unchanged. */
EBB_CHECKED ebb_status ebb_key_replace(ebb_env *env, ebb_recording_key *made, const void *key,
                                       size_t n_key);
void ebb_key_free(ebb_env *env, ebb_recording_key *key);
bool ebb_key_same(const ebb_recording_key *a, const ebb_recording_key *b);
/* Writes "mul f32[3] f32[3]", for errors. */
const char *ebb_entry_text(const ebb_recorded *recorded, const ebb_entry *entry, char text[256]);

static inline bool ebb_value_given(const ebb_recorded *recorded, uint32_t v) {
    const ebb_traced_value *value = &recorded->values.at[v];
    if (value->source != EBB_SOURCE_ENTRY) return true;
    const ebb_entry_kind kind = recorded->entries.at[value->at].kind;
    return kind == EBB_ENTRY_NUMBER || kind == EBB_ENTRY_FRESH;
}

#endif
