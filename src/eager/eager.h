/* eager: ops that run when they are called.
 *
 *     pool.c       blocks of device memory, kept for later values
 *     calls.c      what is known of a call: types of its results, scratch, kernel, or what it is lowered to
 *     apply.c      one op on data: the only way an op runs here
 *     play.c       the nodes of a graph, one after the other: composite ops, and backward
 *     tensor.c     handles
 *     borrow.c     tensors on memory of others
 *     tape.c       what ran, as a graph, and its gradients; sweep.c: piece by piece
 *
 * A tensor is a handle on a datum; a datum is a type and bytes that never change while anybody else holds
 * it. Tapes watch what runs. A recorder (the room trace) may take an op over, so that it does not run now.
 *
 * It is not the place where anything is planned: it takes memory when an op needs it.
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
    uint32_t n_refs;            /* data that lie in it: views share one. 0: free */
    void (*release)(void *ctx); /* of memory that is borrowed; NULL: it is the pool's */
    void *ctx;
} ebb_pool_block;

enum { EBB_POOL_CLASSES = 8 * 58 }; /* eight for each power of two */
typedef struct ebb_pool {
    ebb_env *env;
    ebb_backend *backend;
    ebb_pool_block *free[EBB_POOL_CLASSES]; /* by size, each the latest freed first */
    int64_t bytes, free_bytes, live_bytes, peak_live_bytes;
    int64_t beside_bytes, peak_bytes; /* in use beside the pool (the arena); the most of live and beside */
} ebb_pool;

void ebb_pool_init(ebb_pool *pool, ebb_env *env, ebb_backend *backend);
void ebb_pool_trim(ebb_pool *pool);
/* Peaks that include what is in use now. */
void ebb_pool_note_peak(ebb_pool *pool);
/* A block of at least so many bytes and at most an eighth more, or a quarter where an old one is at hand;
 * n_refs is 1. EBB_NO_MEMORY. O(1) but for the device's own allocation. */
EBB_CHECKED ebb_status ebb_pool_take(ebb_pool *pool, int64_t bytes, ebb_pool_block **out);
/* A block on memory of another owner, which is read and never written to: at the end it is released. */
EBB_CHECKED ebb_status ebb_pool_borrow(ebb_pool *pool, void *at, int64_t bytes, void (*release)(void *ctx),
                                       void *ctx, ebb_pool_block **out);
/* May what lies in the block be overwritten by the only datum that lies there? */
static inline bool ebb_pool_alone(const ebb_pool_block *block) {
    return block->n_refs == 1 && !block->release;
}
/* One holder fewer; the last one frees it. NULL is allowed. */
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
    ebb_graph *lowered; /* of a composite op, and of dropout in evaluation: what it is; else NULL */
    /* What its gradient reads, as far as it is known: bit i of operand i, and of result i. */
    bool saves_known;
    uint64_t saves_in, saves_out;
} ebb_known_call;

enum { EBB_CALL_SLOTS = 1024, EBB_MAX_CALLS = 8192 }; /* all are forgotten when there are so many */
typedef struct ebb_calls {
    ebb_known_call *slots[EBB_CALL_SLOTS];
    uint32_t n;
} ebb_calls;

/* ---- data and handles ----------------------------------------------------------------------- */

/* Its memory is kept for later data, so that who remembers a datum without holding it can ask whether it is
 * still the same: by the serial. */
typedef struct ebb_datum {
    uint32_t n_refs;
    uint32_t number; /* the owner's own */
    uint64_t serial; /* of no other datum of the eager, ever; 0: it is no more */
    ebb_type type;
    ebb_pool_block *block;  /* NULL: it has no bytes (yet) */
    const void *owner;      /* the recorder's call that knows it, or NULL */
    struct ebb_datum *next; /* among those that are no more */
} ebb_datum;

struct ebb_tensor {
    ebb_eager *eager;
    ebb_datum *datum;
    uint32_t n_refs;         /* a recorder holds those that it assigns to */
    uint32_t n_recorded;     /* of them: holds of recordings */
    uint64_t serial;         /* among data and handles: the older, the smaller */
    struct ebb_tensor *next; /* among those that are no more */
};

/* A backward: the gradients of y[i], weighed by dy[i] (or NULL: ones), by of[i]. */
typedef struct ebb_backward {
    const ebb_tape *tape;
    ebb_datum *const *y, *const *dy, *const *of;
    uint32_t n_y, n_of;
    const ebb_id *grads; /* [n_of] EBB_NONE: none arrives there. Not for `compare` */
} ebb_backward;
typedef enum ebb_backward_way {
    EBB_BACKWARD_EACH,  /* its ops are called, and told, one by one */
    EBB_BACKWARD_QUIET, /* they are called, and not told; backward_done is */
    EBB_BACKWARD_TAKEN  /* out is filled */
} ebb_backward_way;

/* What watches and may take over. Each returns *took false where the caller goes on as if there were no
 * recorder. */
typedef struct ebb_recorder {
    /* An op that is no composite. When it takes it over it fills out with data of the types in `out`. */
    ebb_status (*apply)(void *ctx, const ebb_known_call *call, ebb_datum *const *in, uint64_t draw,
                        ebb_datum **out, bool *took);
    /* After an op that was not taken over. */
    ebb_status (*applied)(void *ctx, const ebb_known_call *call, ebb_datum *const *in, uint64_t draw,
                          ebb_datum *const *out);
    /* A tensor was made of host data. */
    ebb_status (*made)(void *ctx, ebb_datum *datum);
    /* A number is to be made: when it takes it over, *out has no bytes yet. */
    ebb_status (*number)(void *ctx, const ebb_type *type, double value, ebb_datum **out);
    ebb_status (*assign)(void *ctx, ebb_tensor *to, ebb_datum *from);
    /* A datum without bytes is to be read: gives it its bytes. */
    ebb_status (*need)(void *ctx, ebb_datum *datum);
    /* A datum was read by the host. */
    ebb_status (*read)(void *ctx, ebb_datum *datum);
    /* A backward is about to be played. `compare` comes first and may take it over, filling out; else
     * `backward` is told what it will be, and says how it goes on; else, NULL. */
    ebb_status (*compare)(void *ctx, const ebb_backward *backward, ebb_datum **out, bool *took);
    ebb_status (*backward)(void *ctx, const ebb_backward *backward, ebb_datum **out, ebb_backward_way *way);
    ebb_status (*backward_done)(void *ctx, const ebb_backward *backward, ebb_datum *const *out);
} ebb_recorder;

struct ebb_eager {
    ebb_env *env;
    ebb_backend *backend;
    uint64_t seed, draws;   /* how many ops have drawn */
    bool evaluate, running; /* running: a device's run has begun, and not ended */
    ebb_pool pool;
    ebb_calls calls;
    ebb_tape *tapes;   /* the newest first */
    ebb_tensor *spare; /* handles to be used again */
    uint64_t n_data, n_launches, serial;
    ebb_datum *spare_data;
    const ebb_recorder *recorder; /* NULL: none */
    void *recorder_ctx;
    /* The operands of the call of ebb_apply or ebb_tape_gradients that runs, for the recorder: by which
     * handles a datum came. */
    ebb_tensor *const *handles;
    uint32_t n_handles;
    /* The room above's, that lasts as long as this, and what destroys it; NULL: nothing. */
    void *above;
    void (*above_destroy)(void *above);
    /* The block that all programs share, one after the other: the pool's beside_bytes. */
    void *arena;
};

/* ---- tensor.c ------------------------------------------------------------------------------- */

/* Of a type, without bytes. The caller holds it. NULL: EBB_NO_MEMORY. */
ebb_datum *ebb_datum_create(ebb_eager *eager, const ebb_type *type);
/* The same with bytes of the pool. */
EBB_CHECKED ebb_status ebb_datum_create_full(ebb_eager *eager, const ebb_type *type, ebb_datum **out);
static inline ebb_datum *ebb_datum_hold(ebb_datum *datum) {
    datum->n_refs++;
    return datum;
}
void ebb_datum_drop(ebb_eager *eager, ebb_datum *datum); /* NULL is allowed */
/* A new handle, which takes over the caller's hold. NULL: EBB_NO_MEMORY, and the hold is dropped. */
ebb_tensor *ebb_tensor_of(ebb_eager *eager, ebb_datum *datum);
static inline ebb_tensor *ebb_tensor_hold(ebb_tensor *tensor) {
    tensor->n_refs++;
    return tensor;
}
/* The handle's datum becomes this one, whose hold it takes over. No recorder is asked. */
void ebb_tensor_set(ebb_tensor *tensor, ebb_datum *datum);
/* A type of the caller's. EBB_BAD_INPUT: there is none such. */
EBB_CHECKED ebb_status ebb_tensor_type_read(ebb_eager *eager, const ebb_tensor_type *from, ebb_type *out);
/* Another datum on the same bytes, which the caller holds; the same one while it has none. NULL: no memory.
 */
ebb_datum *ebb_datum_apart(ebb_eager *eager, ebb_datum *datum);
/* EBB_OK when it has bytes, after asking the recorder for them. EBB_USAGE: a call that failed was to make
 * them. */
EBB_CHECKED ebb_status ebb_datum_need(ebb_eager *eager, ebb_datum *datum);
/* A number's bytes, of the pool. */
EBB_CHECKED ebb_status ebb_datum_fill(ebb_eager *eager, ebb_datum *datum, double value);
/* The block for programs, of at least so many bytes: exactly so many when it must grow. What it held is
 * lost, and the pool's free blocks go first. EBB_NO_MEMORY: there is none then. */
EBB_CHECKED ebb_status ebb_eager_arena(ebb_eager *eager, int64_t bytes, void **out);

/* ---- calls.c -------------------------------------------------------------------------------- */

/* What is known of a call; made at its first time, by the backend's word. Borrowed, until the next call.
 * EBB_BAD_INPUT: the op's rule, or the backend, refuses it. */
EBB_CHECKED ebb_status ebb_call_know(ebb_eager *eager, const ebb_op_info *op, const ebb_type *const *in,
                                     uint32_t n_in, const ebb_attr *attr, ebb_known_call **out);
/* Its kernel, before its first launch. */
EBB_CHECKED ebb_status ebb_call_prepare(ebb_eager *eager, ebb_known_call *call);
void ebb_calls_forget(ebb_eager *eager);

/* ---- apply.c, play.c ------------------------------------------------------------------------ */

/* Waits for what was launched. Before the host reads, and before a program runs. */
EBB_CHECKED ebb_status ebb_eager_settle(ebb_eager *eager);

/* Any op, with the recorder and the tapes watching. draw: of SEEDED ops. */
EBB_CHECKED ebb_status ebb_apply_data(ebb_eager *eager, const ebb_op_info *op, ebb_datum *const *in,
                                      uint32_t n_in, const ebb_attr *attr, uint64_t draw, uint32_t alone,
                                      ebb_datum **out);

/* The nodes [first, n_nodes) of a graph. values [n_values]: what they read is there, and what they make
 * comes there; both held by the table. With `free`, each is dropped and NULL after its last reader, but for
 * those that kept[] says; given values, too. Draws are draw + the nodes' seed_key less EBB_DRAW_KEY(0). */
EBB_CHECKED ebb_status ebb_play(ebb_eager *eager, const ebb_graph *graph, ebb_id first, ebb_datum **values,
                                const bool *kept, uint64_t draw);

/* ---- tape.c --------------------------------------------------------------------------------- */

/* Each tape that is not paused records the op, if it has seen one of its operands. */
EBB_CHECKED ebb_status ebb_tapes_record(ebb_eager *eager, ebb_known_call *call, ebb_datum *const *in,
                                        uint64_t draw, ebb_datum *const *out);
void ebb_tape_clear(ebb_tape *tape);

#endif
