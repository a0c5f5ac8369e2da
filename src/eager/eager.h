/* eager: runs ops when they are called, and records them for gradients.
 *
 *     pool.c       blocks of device memory, kept for later values
 *     calls.c      facts about a call: types of its results, scratch, kernel, or its lowered graph
 *     apply.c      one op on data: the only way an op runs here
 *     play.c       runs the nodes of a graph one after the other: composite ops, and backward
 *     tensor.c     handles
 *     borrow.c     tensors on the caller's memory
 *     tape.c       records ops as a graph, and makes gradients; sweep.c: in parts
 *
 * A tensor is a handle on a datum; a datum is a type and bytes that never change while anything else holds
 * it. Tapes watch the ops that run. A recorder (the room trace) may take an op over, so that it does not
 * run now.
 *
 * It plans nothing: it takes memory when an op needs it.
 */
#ifndef EBB_EAGER_EAGER_H
#define EBB_EAGER_EAGER_H

#include "ebb/eager.h"
#include "exec/dropout.h"
#include "exec/exec.h"
#include "graph/op.h"

/* ---- the pool ------------------------------------------------------------------------------- */

typedef struct ebb_pool_block {
    struct ebb_pool_block *next; /* among the free ones of its class */
    void *at;
    int64_t bytes;
    uint32_t n_refs;            /* data in it: views share one. 0: free */
    void (*release)(void *ctx); /* of borrowed memory; NULL: it is the pool's */
    void *ctx;
} ebb_pool_block;

enum { EBB_POOL_CLASSES = 8 * 58 }; /* eight for each power of two */
typedef struct ebb_pool {
    ebb_env *env;
    ebb_backend *backend;
    ebb_pool_block *free[EBB_POOL_CLASSES]; /* by size, each with the last freed first */
    int64_t bytes, free_bytes, live_bytes, peak_live_bytes;
    int64_t beside_bytes, peak_bytes; /* in use besides the pool (the arena); peak of live + beside */
} ebb_pool;

void ebb_pool_init(ebb_pool *pool, ebb_env *env, ebb_backend *backend);
void ebb_pool_trim(ebb_pool *pool);
/* Updates the peaks with the current use. */
void ebb_pool_note_peak(ebb_pool *pool);
/* Takes a block of at least this many bytes and at most an eighth more, or a quarter for a reused one;
 * n_refs is 1. EBB_NO_MEMORY. O(1) except for the device's own allocation. */
EBB_CHECKED ebb_status ebb_pool_take(ebb_pool *pool, int64_t bytes, ebb_pool_block **out);
/* Makes a block on another owner's memory, which is read and never written to, and released at the end. */
EBB_CHECKED ebb_status ebb_pool_borrow(ebb_pool *pool, void *at, int64_t bytes, void (*release)(void *ctx),
                                       void *ctx, ebb_pool_block **out);
/* Whether the only datum in the block may be overwritten. */
static inline bool ebb_pool_alone(const ebb_pool_block *block) {
    return block->n_refs == 1 && !block->release;
}
/* Drops one reference; the last one frees the block. NULL is allowed. */
void ebb_pool_drop(ebb_pool *pool, ebb_pool_block *block);

/* ---- calls ---------------------------------------------------------------------------------- */

typedef struct ebb_known_call {
    struct ebb_known_call *next; /* of the same slot */
    uint64_t hash;
    ebb_call call; /* its tables are here */
    ebb_type in[EBB_MAX_OPERANDS], out[EBB_MAX_RESULTS];
    ebb_attr attr[EBB_MAX_ATTRS];
    bool evaluate;
    int64_t scratch_bytes;
    ebb_kernel *kernel; /* NULL: a view, a composite op, or not prepared yet */
    ebb_graph *lowered; /* of a composite op, and of dropout in evaluation; else NULL */
    /* The operands and results that its gradient reads, if known: bit i stands for number i. */
    bool saves_known;
    uint64_t saves_in, saves_out;
} ebb_known_call;

enum { EBB_CALL_SLOTS = 1024, EBB_MAX_CALLS = 8192 }; /* all are dropped at this number */
typedef struct ebb_calls {
    ebb_known_call *slots[EBB_CALL_SLOTS];
    uint32_t n;
} ebb_calls;

/* ---- data and handles ----------------------------------------------------------------------- */

/* Its memory is kept for later data, so that code that remembers a datum without holding it can check by
 * the serial whether it is still the same. */
typedef struct ebb_datum {
    uint32_t n_refs;
    uint32_t number; /* the owner's own */
    uint64_t serial; /* unique among all data of the eager; 0: freed */
    ebb_type type;
    ebb_pool_block *block;  /* NULL: it has no bytes (yet) */
    const void *owner;      /* the recorder's call that uses it, or NULL */
    struct ebb_datum *next; /* in the list of freed ones */
} ebb_datum;

struct ebb_tensor {
    ebb_eager *eager;
    ebb_datum *datum;
    uint32_t n_refs;         /* a recorder holds those that it assigns to */
    uint32_t n_recorded;     /* of these, references from recordings */
    uint64_t serial;         /* among data and handles; older ones are smaller */
    struct ebb_tensor *next; /* in the list of freed ones */
};

/* A backward: the gradients of y[i], weighted by dy[i] (NULL: ones), with respect to of[i]. */
typedef struct ebb_backward {
    const ebb_tape *tape;
    ebb_datum *const *y, *const *dy, *const *of;
    uint32_t n_y, n_of;
    const ebb_id *grads; /* [n_of] EBB_NONE: no gradient. Not set for `compare` */
} ebb_backward;
typedef enum ebb_backward_way {
    EBB_BACKWARD_EACH,  /* its ops are called and reported one by one */
    EBB_BACKWARD_QUIET, /* they are called but not reported; backward_done is */
    EBB_BACKWARD_TAKEN  /* out is filled */
} ebb_backward_way;

/* Callbacks that watch ops and may take them over. With *took false the caller continues as without a
 * recorder. */
typedef struct ebb_recorder {
    /* Before an op that is not composite. To take it over, it fills out with data of the types in `out`. */
    ebb_status (*apply)(void *ctx, const ebb_known_call *call, ebb_datum *const *in, uint64_t draw,
                        ebb_datum **out, bool *took);
    /* After an op that was not taken over. */
    ebb_status (*applied)(void *ctx, const ebb_known_call *call, ebb_datum *const *in, uint64_t draw,
                          ebb_datum *const *out);
    /* A tensor was made of host data. */
    ebb_status (*made)(void *ctx, ebb_datum *datum);
    /* A number will be made: if it takes this over, *out has no bytes yet. */
    ebb_status (*number)(void *ctx, const ebb_type *type, double value, ebb_datum **out);
    ebb_status (*assign)(void *ctx, ebb_tensor *to, ebb_datum *from);
    /* A datum without bytes will be read: gives it its bytes. */
    ebb_status (*need)(void *ctx, ebb_datum *datum);
    /* A datum was read by the host. */
    ebb_status (*read)(void *ctx, ebb_datum *datum);
    /* A backward is about to run. `compare` comes first and may take it over, filling out; otherwise
     * `backward` gets the planned backward, and decides how it runs. */
    ebb_status (*compare)(void *ctx, const ebb_backward *backward, ebb_datum **out, bool *took);
    ebb_status (*backward)(void *ctx, const ebb_backward *backward, ebb_datum **out, ebb_backward_way *way);
    ebb_status (*backward_done)(void *ctx, const ebb_backward *backward, ebb_datum *const *out);
} ebb_recorder;

struct ebb_eager {
    ebb_env *env;
    ebb_backend *backend;
    uint64_t seed, draws;   /* number of draws so far */
    bool evaluate, running; /* running: a device's run has begun and not ended */
    ebb_pool pool;
    ebb_calls calls;
    ebb_tape *tapes;   /* the newest first */
    ebb_tensor *spare; /* handles for reuse */
    uint64_t n_data, n_launches, serial;
    ebb_datum *spare_data;
    const ebb_recorder *recorder; /* NULL: none */
    void *recorder_ctx;
    /* The operands' handles in the current ebb_apply or ebb_tape_gradients, for the recorder. */
    ebb_tensor *const *handles;
    uint32_t n_handles;
    /* An object of the room above with this lifetime, and its destructor; NULL: none. */
    void *above;
    void (*above_destroy)(void *above);
    /* The block that all programs share in turn: the pool's beside_bytes. */
    void *arena;
};

/* ---- tensor.c ------------------------------------------------------------------------------- */

/* Makes a datum of a type, without bytes. The caller holds it. NULL: EBB_NO_MEMORY. */
ebb_datum *ebb_datum_create(ebb_eager *eager, const ebb_type *type);
/* The same with bytes from the pool. */
EBB_CHECKED ebb_status ebb_datum_create_full(ebb_eager *eager, const ebb_type *type, ebb_datum **out);
static inline ebb_datum *ebb_datum_hold(ebb_datum *datum) {
    datum->n_refs++;
    return datum;
}
void ebb_datum_drop(ebb_eager *eager, ebb_datum *datum); /* NULL is allowed */
/* Makes a handle, which takes over the caller's reference. NULL: EBB_NO_MEMORY, and the reference is
 * dropped. */
ebb_tensor *ebb_tensor_of(ebb_eager *eager, ebb_datum *datum);
static inline ebb_tensor *ebb_tensor_hold(ebb_tensor *tensor) {
    tensor->n_refs++;
    return tensor;
}
/* Sets the handle's datum, whose reference it takes over, without the recorder. */
void ebb_tensor_set(ebb_tensor *tensor, ebb_datum *datum);
/* Converts a caller's type. EBB_BAD_INPUT: it is invalid. */
EBB_CHECKED ebb_status ebb_tensor_type_read(ebb_eager *eager, const ebb_tensor_type *from, ebb_type *out);
/* Makes another datum on the same bytes, which the caller holds; returns the same one if it has no bytes.
 * NULL: no memory.
 */
ebb_datum *ebb_datum_apart(ebb_eager *eager, ebb_datum *datum);
/* Makes sure that a datum has bytes, through the recorder. EBB_USAGE: they were to come from a call that
 * failed. */
EBB_CHECKED ebb_status ebb_datum_need(ebb_eager *eager, ebb_datum *datum);
/* Gives a number its bytes, from the pool. */
EBB_CHECKED ebb_status ebb_datum_fill(ebb_eager *eager, ebb_datum *datum, double value);
/* Gets the block for programs, of at least this many bytes, and exactly this many when it must grow.
 * Growing loses its content and frees the pool's free blocks first. EBB_NO_MEMORY: there is then no
 * block. */
EBB_CHECKED ebb_status ebb_eager_arena(ebb_eager *eager, int64_t bytes, void **out);

/* ---- calls.c -------------------------------------------------------------------------------- */

/* Gets the facts about a call, found through the backend the first time. Borrowed until the next call.
 * EBB_BAD_INPUT: the op's rule, or the backend, refuses it. */
EBB_CHECKED ebb_status ebb_call_know(ebb_eager *eager, const ebb_op_info *op, const ebb_type *const *in,
                                     uint32_t n_in, const ebb_attr *attr, ebb_known_call **out);
/* Makes its kernel, before its first launch. */
EBB_CHECKED ebb_status ebb_call_prepare(ebb_eager *eager, ebb_known_call *call);
void ebb_calls_forget(ebb_eager *eager);

/* ---- apply.c, play.c ------------------------------------------------------------------------ */

/* Waits for all launches, before the host reads and before a program runs. */
EBB_CHECKED ebb_status ebb_eager_settle(ebb_eager *eager);

/* Runs any op, with the recorder and the tapes. draw: for SEEDED ops. */
EBB_CHECKED ebb_status ebb_apply_data(ebb_eager *eager, const ebb_op_info *op, ebb_datum *const *in,
                                      uint32_t n_in, const ebb_attr *attr, uint64_t draw, uint32_t alone,
                                      ebb_datum **out);

/* Runs the nodes [first, n_nodes) of a graph. values [n_values] has their operands and receives their
 * results, and holds both. Each value, given ones too, is dropped and set to NULL after its last reader,
 * except those in kept[]. Draws are draw + the nodes' seed_key less EBB_DRAW_KEY(0). */
EBB_CHECKED ebb_status ebb_play(ebb_eager *eager, const ebb_graph *graph, ebb_id first, ebb_datum **values,
                                const bool *kept, uint64_t draw);

/* ---- tape.c --------------------------------------------------------------------------------- */

/* Records the op on each tape that is not paused and has seen one of its operands. */
EBB_CHECKED ebb_status ebb_tapes_record(ebb_eager *eager, ebb_known_call *call, ebb_datum *const *in,
                                        uint64_t draw, ebb_datum *const *out);
void ebb_tape_clear(ebb_tape *tape);

#endif
