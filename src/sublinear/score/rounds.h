/* sublinear/score/rounds.h: what the parts of the rescorer share. Private to it. */
#ifndef EBB_SUBLINEAR_SCORE_ROUNDS_H
#define EBB_SUBLINEAR_SCORE_ROUNDS_H

#include "sublinear/score/score.h"

/* ---- lists of ids whose blocks are used again ------------------------------------------------------- */

typedef struct ebb_ids {
    uint32_t *at;
    uint32_t n, cap; /* cap: 0 or a power of two */
} ebb_ids;

typedef struct ebb_ids_pool {
    ebb_arena *arena;
    void *free[32]; /* blocks of 2^k ids, linked through their first bytes */
    bool failed;
} ebb_ids_pool;

bool ebb_ids_reserve(ebb_ids_pool *pool, ebb_ids *list, uint32_t n);
/* Sorted lists without repeats. */
void ebb_ids_insert(ebb_ids_pool *pool, ebb_ids *list, uint32_t id);
void ebb_ids_erase(ebb_ids *list, uint32_t id);
void ebb_ids_assign(ebb_ids_pool *pool, ebb_ids *list, const uint32_t *from, uint32_t n);

/* ---- lives and rounds ------------------------------------------------------------------------------- */

#define EBB_GIVEN_POS (-1) /* there before the first step */

/* One writing of a value, by the round at its life_pos. */
typedef struct ebb_rescore_life {
    ebb_id value;
    uint32_t root;   /* the life whose storage it lies in: itself, another, or EBB_NONE (no bytes) */
    int32_t end;     /* of a root: last position that touches it; n_ops: intact to the end */
    int32_t counted; /* of a root: the end up to which its bytes are in span; EBB_UNCOUNTED: not at all */
    uint32_t pins;   /* of a root: outputs that are views of it */
    bool at_start;   /* begins at its storage's first byte */
    bool dead;       /* no longer made; freed when all rounds have been looked at */
    bool dirty;      /* a root whose touches changed */
    ebb_ids touches; /* of a root: positions of rounds that read it or a view of it */
} ebb_rescore_life;
#define EBB_UNCOUNTED   INT32_MIN
#define EBB_EVERY_EPOCH UINT32_MAX

typedef struct ebb_round {
    ebb_ids steps;   /* ops, the base op last; empty when it is lazy */
    ebb_ids reads;   /* lives, step after step */
    ebb_ids made;    /* lives, step after step */
    ebb_ids touched; /* roots that its reads lie in, no repeats */
    int64_t time_ns;
    bool invalid; /* reads what an update has replaced */
} ebb_round;

/* EBB_BLOCK positions, so that a long span is changed, and the peak found, without a look at each. */
enum { EBB_BLOCK = 64 };
typedef struct ebb_block {
    int64_t common; /* bytes of spans over all of the block */
    int64_t most;   /* of its positions, without those */
    bool dirty;     /* most is to be found again */
} ebb_block;

/* Of all rounds. */
typedef struct ebb_rescore_sums {
    int64_t time_ns, n_steps, n_reads, n_made, n_invalid;
} ebb_rescore_sums;

/* ---- what was changed since the mark (journal.c) ------------------------------------------------------
 */

typedef enum ebb_note_kind {                     /* id; a, b: what it was before */
                             EBB_NOTE_GENE,      /* gene; state */
                             EBB_NOTE_ROUND,     /* position; in the journal's rounds */
                             EBB_NOTE_ASKED,     /* value; a: position of a round that reads it now, .. */
                             EBB_NOTE_NOT_ASKED, /* .. or no longer does */
                             EBB_NOTE_TOUCHED,   /* root; a: likewise */
                             EBB_NOTE_NOT_TOUCHED,
                             EBB_NOTE_MADE,      /* life */
                             EBB_NOTE_NOT_MADE,  /* life; dead, perhaps freed */
                             EBB_NOTE_VIEW,      /* life; root, at_start */
                             EBB_NOTE_FREED,     /* so many lives */
                             EBB_NOTE_STRETCHED, /* root; counted, end */
                             EBB_NOTE_SWEPT,     /* position; bytes: inner */
} ebb_note_kind;

typedef struct ebb_note {
    ebb_note_kind kind;
    uint32_t id;
    union {
        struct {
            int32_t a, b;
        };
        int64_t bytes;
    };
} ebb_note;

typedef struct ebb_journal {
    bool on;    /* there is a mark, and all since is noted */
    bool freed; /* lives have been freed since: what takes the place of one cannot be taken back */
    ebb_note *notes;
    uint32_t n, max;
    ebb_round *rounds; /* [n_ops], as they were; those from n_rounds on lend their lists */
    uint32_t n_rounds;
    ebb_block *blocks; /* at the mark */
    ebb_rescore_sums sums;
} ebb_journal;

struct ebb_rescorer {
    ebb_env *env;
    const ebb_space *space;
    ebb_arena arena;
    ebb_ids_pool pool;
    uint8_t *genes;
    uint32_t *begins;   /* per gene of a gap: where it begins, which is where the one before it ends */
    uint32_t *replaced; /* per value: base position of the update that replaces it; EBB_NONE */
    /* state of the candidate */
    ebb_round *rounds;       /* [n_ops] */
    ebb_ids *asks;           /* per value: positions of rounds that read it */
    ebb_ids *lives_of;       /* per value: its lives, by pos */
    ebb_rescore_life *lives; /* a pool; the first are those of given values, which stay */
    int32_t *life_pos;       /* of each: its round's position, or EBB_GIVEN_POS */
    uint32_t n_lives, max_lives, *free_lives, n_free_lives;
    int64_t
        *span; /* per position: bytes of storages made before it and touched after it, less its block's */
    ebb_block *blocks;
    int64_t *inner; /* per position: most bytes that its round has beside those; INT64_MIN / 2: no step */
    ebb_rescore_sums sums;
    bool broken; /* too many steps at once: load again */
    /* work */
    uint64_t *queue; /* bit per position: its round is to be looked at */
    uint32_t queue_first, queue_last;
    uint32_t *dirty_roots, n_dirty_roots, *dead, n_dead, *sweeps, n_sweeps;
    bool *to_sweep; /* per position */
    uint32_t epoch;
    uint32_t *value_epoch, *value_life; /* per value: life that a reader in the current round finds; that of
                                         * a given value is always there: EBB_EVERY_EPOCH */
    uint32_t *value_mark;               /* per value */
    uint32_t *life_mark, *life_made, *life_step, *life_taken; /* per life */
    ebb_frame *stack;
    ebb_ids steps, reads, made, touched; /* of the round being run */
    ebb_journal journal;
};

static inline const ebb_space_way *ebb_rescore_way(const ebb_rescorer *r, ebb_id op) {
    const ebb_space_op *o = &r->space->ops[op];
    return &r->space->ways[o->first_way + (o->way_gene == EBB_NONE ? 0 : r->genes[o->way_gene])];
}

/* The round at the position is to be looked at. */
void ebb_rescore_queue(ebb_rescorer *r, uint32_t position);
/* Rounds in (after, until] that read the value. */
void ebb_rescore_queue_readers(ebb_rescorer *r, ebb_id value, int64_t after, int64_t until);
/* Runs the round at a position again and settles what changed. */
void ebb_rescore_round(ebb_rescorer *r, uint32_t position);
/* Ends and spans of dirty roots; frees dead lives; sweeps rounds whose bytes changed. */
void ebb_rescore_bytes(ebb_rescorer *r);
/* peak_bytes, its position, and overflow_bytes; O(ops / EBB_BLOCK) and the blocks that changed or overflow.
 */
void ebb_rescore_peak(ebb_rescorer *r, int64_t limit_bytes, ebb_score *score);
void ebb_rescore_mark_sweep(ebb_rescorer *r, int64_t position);
uint32_t ebb_rescore_new_life(ebb_rescorer *r, ebb_id value, int32_t pos); /* EBB_NONE: no memory */
void ebb_rescore_mark_root(ebb_rescorer *r, uint32_t root);
/* Among the lives of its value, by position. Room for it is reserved. */
void ebb_rescore_enlist(ebb_rescorer *r, uint32_t life);
/* Takes the life out of its value's list. */
void ebb_rescore_delist(ebb_rescorer *r, uint32_t life);
/* Its bytes reach as far as before; blocks' own figures are put back apart from this. */
void ebb_rescore_unstretch(ebb_rescorer *r, uint32_t root, int32_t counted, int32_t end);
void ebb_rescore_note(ebb_rescorer *r, ebb_note_kind kind, uint32_t id, int32_t a, int32_t b);
/* The round at the position is about to be written anew, all of it. Returns it as it was. */
ebb_round *ebb_rescore_replace_round(ebb_rescorer *r, uint32_t position);

#endif
