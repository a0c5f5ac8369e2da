/* sublinear/chain/chain.h: models a training step as a chain of blocks, for the seed that solves it
 * (seeds/chain.c).
 *
 *     forward    [ block 0 ] x1 [ block 1 ] x2 .. [ block L-1 ]      turn
 *     backward   [ block L-1 ] .. [ block 1 ] [ block 0 ]
 *
 * Blocks end at joints: one forward value, x, crosses there. An *option* says which of its values a block
 * keeps or drops; options of different blocks are independent while the x between them are kept, so one
 * score of the whole graph measures an option of every block at once.
 */
#ifndef EBB_SUBLINEAR_CHAIN_CHAIN_H
#define EBB_SUBLINEAR_CHAIN_CHAIN_H

#include "sublinear/pool/pool.h"

enum {
    EBB_CHAIN_BLOCKS = 64, /* at most; neighbours are merged down to this number */
    EBB_CHAIN_SLOTS = 400, /* of memory */
    EBB_CHAIN_SHARES = 14, /* of a block's values: none, all, and even shares between */
    EBB_CHAIN_OPTIONS = EBB_CHAIN_SHARES * EBB_CHAIN_SHARES,
};

/* The states of the values that an option keeps, and of those that it drops. */
typedef enum ebb_chain_kind {
    EBB_CHAIN_KEPT,  /* KEEP; the others HOLD, but some of them RELEASE */
    EBB_CHAIN_AGAIN, /* the same, with none kept: the whole block runs again */
    EBB_CHAIN_HELD,  /* HOLD, since the block runs again anyway; the others RELEASE */
    EBB_CHAIN_KINDS,
} ebb_chain_kind;

/* The figures of one block under one option. Bytes exclude those held by earlier blocks, including their
 * x. */
typedef struct ebb_chain_figures {
    int64_t held_bytes;              /* at the turn: kept values, and its result x */
    int64_t forward_bytes;           /* most bytes live in one of its steps before the turn */
    int64_t early_bytes, late_bytes; /* after the turn: before its x is read, and from then on */
    int64_t time_ns;                 /* of all steps around its ops */
    uint32_t n_rounds, first_round;  /* ops after the turn for which its x is read, and the first of them */
} ebb_chain_figures;

static inline int64_t ebb_chain_most_bytes(const ebb_chain_figures *f) {
    return ebb_max_i64(f->forward_bytes, ebb_max_i64(f->early_bytes, f->late_bytes));
}

typedef struct ebb_chain_option {
    ebb_chain_kind kind;
    uint32_t n_dropped;   /* the first n in the order of drops */
    uint32_t n_released;  /* the first n of those in the order of releases */
    ebb_chain_figures is; /* time_ns: added to the base run */
    int64_t again_ns;     /* HELD: of the second run */
} ebb_chain_option;

typedef struct ebb_chain_block {
    uint32_t begin, end; /* base positions of its forward ops */
    ebb_id in;           /* x, which is dropped with its views; EBB_NONE before the first block */
    int64_t in_bytes;
    uint32_t first_value, n_values;  /* droppable values read after the turn, into the orders */
    uint32_t first_silent, n_silent; /* the others, into silent: only needed to make other values */
    int64_t gradient_bytes;          /* made since the turn and live when its backward ops begin */
    ebb_chain_option options[EBB_CHAIN_KINDS][EBB_CHAIN_OPTIONS];
    uint32_t n_options[EBB_CHAIN_KINDS];
    ebb_chain_figures released; /* HELD with no value held; valid if may_release */
    int64_t again_ns;           /* of a second run that holds nothing */
    bool may_release;
    int64_t swept_bytes; /* most bytes live in its forward ops when nothing is kept, not even x */
} ebb_chain_block;

typedef struct ebb_chain {
    const ebb_space *space;
    uint32_t turn;     /* base position of the first op that is not forward */
    uint8_t *block_of; /* [n_ops] the block of each op */
    uint8_t *home;     /* [n_values] block that makes it; EBB_CHAIN_BLOCKS: none */
    uint32_t *turning; /* [n_values] gene of the gap that spans the turn, or EBB_NONE */
    /* Per block, the order of values: KEPT: to drop; AGAIN: to release among those dropped; HELD: to
     * release. */
    ebb_id *order[EBB_CHAIN_KINDS];
    ebb_id *silent;
    double *gain; /* [n_values] bytes freed by dropping it per time cost; < 0: none */
    bool *needed; /* [n_values] room */
    ebb_chain_block *blocks;
    uint32_t n_blocks; /* 0: nothing to solve */
} ebb_chain;

/* The value whose gene decides about v: itself, or the value of which it is a free view. */
static inline ebb_id ebb_chain_leader(const ebb_space *space, ebb_id v) {
    return space->values[v].follows ? space->values[v].leader : v;
}

/* Finds the chain of a space. In arena; O(edges). EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_chain_find(ebb_arena *arena, const ebb_space *space, ebb_chain *out);
/* The time of a second run of a block to the next x, and to the values that stay held when the first
 * n_dropped in the order of HELD do not. O(edges of the block). */
int64_t ebb_chain_again_ns(const ebb_chain *chain, uint32_t block, uint32_t n_dropped);

/* Measures blocks by scoring. In arena. EBB_NO_MEMORY. */
typedef struct ebb_chain_meter ebb_chain_meter;
EBB_CHECKED ebb_status ebb_chain_meter_open(ebb_arena *arena, ebb_search *search, ebb_chain *chain,
                                            ebb_chain_meter **out);
/* Fills in the orders and gains. */
void ebb_chain_rank(ebb_chain_meter *meter);
/* Fills in the options. */
void ebb_chain_list(ebb_chain_meter *meter);
/* From now on always keeps the values that gain least when dropped, as many as fit in most_bytes. Returns
 * their bytes. */
int64_t ebb_chain_stay(ebb_chain_meter *meter, int64_t most_bytes);

/* Sets the value's gap over the turn to the state, and its last gap unless the state is KEEP. */
void ebb_chain_set(const ebb_chain *chain, ebb_id value, uint8_t state, uint8_t *genes);
/* Sets the block's values, except x, by the option. measured: HELD uses KEEP and RELEASE, as if the block
 * did not run again anyway. */
void ebb_chain_set_block(const ebb_chain *chain, const ebb_chain_block *block,
                         const ebb_chain_option *option, bool measured, uint8_t *genes);

typedef struct ebb_chain_solver ebb_chain_solver;
/* Solves for every limit of k / EBB_CHAIN_SLOTS x most_bytes at once; for none if the search must end
 * meanwhile. In arena; NULL: no memory. O(blocks^3 x slots). */
ebb_chain_solver *ebb_chain_solve(ebb_arena *arena, ebb_search *search, const ebb_chain *chain,
                                  int64_t most_bytes);
/* The time added by the best answer for this number of slots; < 0: there is none. */
double ebb_chain_added_ns(const ebb_chain_solver *solver, uint32_t slots);
/* Writes the genes of that answer. */
void ebb_chain_genes(const ebb_chain_solver *solver, uint32_t slots, uint8_t *genes);

#endif
