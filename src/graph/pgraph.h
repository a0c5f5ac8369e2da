/* graph/pgraph.h: defines the planning graph, ebb.graph/1, the only view that the planner and the search
 * have.
 *
 * It says how many bytes each value has, what each op reads and writes, how long it takes, and what
 * it may do to memory. It knows no shapes and no kernels, so any framework's graph can be planned.
 * The engine makes one from a training graph by asking a backend ("query"); the reader makes one
 * from JSON. It is sealed: passes build a new one. Lists of pairs hold *positions* in the op's own
 * input and output lists, as the JSON does.
 *
 * After a rewrite (src/sublinear/rewrite) the same type holds the schedule: its ops are the steps in
 * execution order, a recomputed op is a second op, and `origin` names the op that it repeats.
 *
 *     ops[2] = relu  inputs {1}  outputs {2}  in_place {{0,0}}
 *     value 2 may be written over value 1 when this is value 1's last read.
 */
#ifndef EBB_GRAPH_PGRAPH_H
#define EBB_GRAPH_PGRAPH_H

#include "base/base.h"
#include "ebb/plan.h"

typedef enum ebb_role {
    EBB_ROLE_INPUT,    /* given before the step, transient region */
    EBB_ROLE_CONSTANT, /* given once, persistent region */
    EBB_ROLE_PARAM,    /* given once, persistent; may be replaced by an update */
    EBB_ROLE_STATE,    /* as param: momentum, running statistics */
    EBB_ROLE_ACTIVATION,
    EBB_ROLE_GRADIENT,
    EBB_ROLE_OUTPUT, /* must be intact after the last step */
} ebb_role;
#define EBB_N_ROLES 7

/* "input", ...; NULL when out of range. */
const char *ebb_role_name(ebb_role role);
const char *ebb_phase_name(ebb_phase phase);
static inline bool ebb_role_persistent(ebb_role r) {
    return r == EBB_ROLE_CONSTANT || r == EBB_ROLE_PARAM || r == EBB_ROLE_STATE;
}

typedef struct ebb_pvalue {
    const char *name;
    const char *shape; /* "f32[32,64,56,56]", for people only, never computed with. NULL: unknown */
    int64_t bytes;     /* >= 0; 0 is a control edge and owns nothing */
    ebb_role role;
    ebb_id producer; /* op, or EBB_NONE when given */
    uint32_t result; /* position in the producer's outputs */
} ebb_pvalue;

typedef struct ebb_pair {
    uint32_t out, in; /* positions */
} ebb_pair;

typedef struct ebb_view {
    uint32_t out, in;     /* positions */
    int64_t offset_bytes; /* >= 0; offset + out's bytes <= in's bytes */
} ebb_view;

/* Another implementation of an op; fields that the JSON leaves out are the op's own. */
typedef struct ebb_alternative {
    const char *name;
    const ebb_id *in; /* n_in of the op, if has_inputs; else NULL */
    uint32_t n_in;
    bool has_inputs, has_in_place;
    int64_t time_ns, scratch_bytes;
    const ebb_pair *in_place;
    uint32_t n_in_place;
} ebb_alternative;

typedef struct ebb_pop {
    const char *name, *kind;
    ebb_phase phase;
    const ebb_id *in, *out; /* value ids */
    uint32_t n_in, n_out;
    int64_t time_ns, scratch_bytes; /* >= 0 */
    bool recomputable, optional, ordered;
    const ebb_id *after; /* op ids that must have run first */
    uint32_t n_after;
    const ebb_pair *in_place; /* in order of preference */
    uint32_t n_in_place;
    const ebb_pair *update;
    uint32_t n_update;
    const ebb_view *views;
    uint32_t n_views;
    const char *listed; /* name of the listed implementation, for people only; NULL: none */
    const ebb_alternative *alternatives;
    uint32_t n_alternatives;
    ebb_id origin; /* the op in the planned graph; its own id before a rewrite */
} ebb_pop;

/* The source of the ops' times, unless it is a backend's built-in model or the file itself. */
typedef struct ebb_cost_origin {
    const char *machine; /* where they were measured; NULL: none of this is known */
    const char *id;      /* of the costs file */
    int64_t n_measured, n_calibrated, n_built_in; /* ops, without views; >= 0 */
} ebb_cost_origin;

typedef struct ebb_pgraph {
    ebb_arena arena; /* owns everything below */
    const char *name;
    int64_t fixed_bytes;
    ebb_cost_origin costs;
    const ebb_pvalue *values;
    uint32_t n_values;
    const ebb_pop *ops; /* in a valid execution order */
    uint32_t n_ops;
    const ebb_id *value_origin; /* [n_values]; after a rewrite: the value that this is a life of */
} ebb_pgraph;

/* ---- building ---------------------------------------------------------------------------- */

/* A draft is filled freely, then sealed. Arrays in it must live in draft->arena. */
typedef struct ebb_pdraft {
    ebb_arena arena;
    const char *name;
    int64_t fixed_bytes;
    ebb_cost_origin costs;        /* texts in arena */
    EBB_ARRAY(ebb_pvalue) values; /* producer and result are filled by the seal */
    EBB_ARRAY(ebb_pop) ops;
    EBB_ARRAY(ebb_id) value_origin; /* empty: the identity */
} ebb_pdraft;

void ebb_pdraft_init(ebb_pdraft *draft, ebb_env *env);
void ebb_pdraft_deinit(ebb_pdraft *draft);
/* Checks every rule of ebb.graph/1 and gives the sealed graph; the draft is empty afterwards, also on
 * failure. `where` prefixes error texts (a file name). Rules: ids in range; each value produced at most
 * once, and before its readers; given values are exactly the given roles, and no given role is produced
 * except by an `update` of a value of the same role and bytes; pairs and views within range, a view within
 * its base, at most one view/update per output; at most one update per param or state, after all its listed
 * readers (through views and under alternatives too), and no output a view of it; the target of a view or
 * update is the same under every alternative; `after` names an earlier op; alternatives' inputs available;
 * sums of bytes and times fit in int64. NULL names are filled in ("v3", "op3"). Errors: EBB_BAD_INPUT,
 * EBB_NO_MEMORY. O(values + edges). */
EBB_CHECKED ebb_status ebb_pdraft_seal(ebb_pdraft *draft, const char *where, ebb_pgraph **out);
void ebb_pgraph_destroy(ebb_pgraph *graph); /* NULL is allowed */

/* ---- seams: ebb.graph/1 -------------------------------------------------------------------- */

/* Reads a graph from a parsed object, for plan files, which contain one. */
EBB_CHECKED ebb_status ebb_pgraph_read(ebb_env *env, const char *where, const ebb_json *json,
                                       ebb_pgraph **out);
EBB_CHECKED ebb_status ebb_pgraph_parse(ebb_env *env, const char *where, const char *text, size_t n,
                                        ebb_pgraph **out);
/* Prints one value or op per line. key as in ebb_json_begin. Reading it back gives an equal graph. */
void ebb_pgraph_print(ebb_json_out *json, const char *key, const ebb_pgraph *graph);

/* ---- small facts ------------------------------------------------------------------------------ */

/* An op's fields under an alternative (EBB_NONE = as listed); the lists are borrowed. */
typedef struct ebb_pop_way {
    const ebb_id *in;
    uint32_t n_in;
    int64_t time_ns, scratch_bytes;
    const ebb_pair *in_place;
    uint32_t n_in_place;
} ebb_pop_way;
ebb_pop_way ebb_pop_under(const ebb_pop *op, uint32_t alternative);

/* Callbacks for the in-place rule, from the code that plays the steps. `step` is the caller's current step,
 * and a storage is a number of the caller's. */
typedef struct ebb_in_place {
    uint32_t (*storage)(const void *step, uint32_t in); /* EBB_NONE: no transient bytes */
    /* Nothing needs it after the step, and no output of the step is in it so far. */
    bool (*dies)(const void *step, uint32_t storage);
    /* The input begins at its first byte, and its rounded size is `bytes`. */
    bool (*fits)(const void *step, uint32_t in, uint32_t storage, int64_t bytes);
} ebb_in_place;

/* The in-place rule: the storage that output `out` of the step is written over, or EBB_NONE. It is the
 * storage of the first input, in the order of the pairs, that dies, fits, and has no other of the n_in
 * inputs in it, not even the same value read twice. Call it for each output that is no view and no update,
 * in order. n_in 0: `dies` also considers the other inputs. O(pairs + n_in for each that dies and fits).
 *
 * Inline because the search calls this most: with a constant `by` the callbacks are inlined too. */
static inline uint32_t ebb_in_place_find(const ebb_in_place *by, const void *step, uint32_t n_in,
                                         const ebb_pair *pairs, uint32_t n_pairs, uint32_t out,
                                         int64_t bytes) {
    for (uint32_t p = 0; p < n_pairs; p++) {
        if (pairs[p].out != out) continue;
        const uint32_t in = pairs[p].in, storage = by->storage(step, in);
        if (storage == EBB_NONE || !by->dies(step, storage) || !by->fits(step, in, storage, bytes))
            continue;
        uint32_t k = 0;
        while (k < n_in && (k == in || by->storage(step, k) != storage)) k++;
        if (k == n_in) return storage;
    }
    return EBB_NONE;
}

/* An ordered op or an update runs exactly once, whatever its flag says. */
static inline bool ebb_pop_repeatable(const ebb_pop *op) {
    return op->recomputable && !op->ordered && op->n_update == 0;
}

/* For each value, the value whose bytes it shares: through views, the last base; otherwise itself. In
 * arena; NULL when memory is out. O(values + views). */
ebb_id *ebb_pgraph_roots(ebb_arena *arena, const ebb_pgraph *graph);

/* Whether an op must run regardless of readers: it is not optional, or it makes an output or an update. */
bool ebb_pgraph_must_run(const ebb_pgraph *graph, const ebb_pop *op);

/* Whether no op comes after one of a later phase in the graph's order; a schedule then keeps this. */
bool ebb_pgraph_phases_apart(const ebb_pgraph *graph);

/* Sum of all ops' listed times. */
int64_t ebb_pgraph_time_ns(const ebb_pgraph *graph);
/* The time of each op once, as listed; optional ops only where their results are read. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_pgraph_once_ns(ebb_env *env, const ebb_pgraph *graph, int64_t *out);
/* A lower bound on any schedule's time: each op that must run, and the ops that it cannot do without, once,
 * by its fastest alternative. EBB_NO_MEMORY. O(values + edges). */
EBB_CHECKED ebb_status ebb_pgraph_least_time_ns(ebb_env *env, const ebb_pgraph *graph, int64_t *out);

/* A schedule: which ops run, in what order, how often, by which alternative. */
typedef struct ebb_step_choice {
    ebb_id op;
    uint32_t alternative; /* EBB_NONE = as listed; the same for every run of one op */
} ebb_step_choice;

#endif
