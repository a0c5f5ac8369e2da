/* sublinear/exact/tree.h: defines the tree of the exact search: plays of the base order in which genes are
 * decided one by one, where they first make a difference.
 *
 * A play works as in score/play.c, but where it depends on an undecided gene it *asks*. A node of the tree
 * is such a question, with the play so far; its children are the answers. Genes that no play asks about
 * make no difference: HOLD, RELEASE and LATE of a value that is not recomputed in the gap, KEEP and HOLD of
 * one that is not there at the gap's start, the last gap of a value that is not needed again, the way of an
 * op that never runs.
 *
 * Threads: a tree belongs to one thread. It allocates nothing once it is open.
 */
#ifndef EBB_SUBLINEAR_EXACT_TREE_H
#define EBB_SUBLINEAR_EXACT_TREE_H

#include "sublinear/pool/pool.h"
#include "sublinear/score/play.h"

/* The states still possible for a gap, as bits. */
enum { EBB_MAY_KEEP = 1, EBB_MAY_HOLD = 2, EBB_MAY_RELEASE = 4, EBB_MAY_LATE = 8 };

/* The open question about a resident value, asked when a reader looks for it. */
typedef enum ebb_doubt {
    EBB_NO_DOUBT,
    EBB_DOUBT_KEPT, /* at the gap's start: KEEP, or else it is gone */
    EBB_DOUBT_HELD, /* made again in the gap: HOLD, or else it is gone */
    EBB_DOUBT_LATE, /* made again in the gap's late part: not RELEASE, or else it is gone */
} ebb_doubt;

/* The most questions of a path about one gene: each answer leaves fewer of its states, and at least one.
 * Other genes are asked about once. */
enum { EBB_TREE_QUESTIONS = EBB_LATE };

typedef struct ebb_question {
    uint8_t answer, n_answers;
} ebb_question;

typedef struct ebb_tree {
    ebb_search *search;
    const ebb_space *space;
    ebb_scorer *scorer; /* holds the play: steps, lives, resident values; its genes are these */
    uint8_t *genes;     /* of the play: decided states, and some possible one for open genes */
    /* per gene */
    uint8_t *known;   /* of gaps: EBB_MAY_ bits */
    uint8_t *certain; /* of gaps: the op at the end runs in its base position and reads the value */
    /* per value */
    uint8_t *doubt;
    uint8_t *sure;   /* it stays until its gap's end */
    uint8_t *single; /* while it is resident its op does not run again, so a reader finds this life */
    uint8_t *stable; /* single, and never dropped */
    uint8_t *owns;   /* it has its own bytes: not a view */
    uint32_t *last;  /* of stable ones: the last op that certainly reads it, plus 1; else 0 */
    uint32_t *until; /* if a bound knows that it is held now: the op that reads it then, plus 1; else 0 */
    /* per op */
    uint8_t *ran, *way_known, *must; /* must: it runs after the last step so far */
    uint8_t *in_place;               /* it runs in its base position, whatever the genes */
    int64_t *least_ns;               /* fastest way */
    int64_t *fresh_bytes;            /* outputs that cannot be written over inputs, and the least scratch */
    int64_t *ending_bytes;           /* [n_ops + 1] of values that a bound knows to be held until then */
    uint32_t *first_common; /* [n_ops + 1] into common: values that every way of the op reads, without
                             * repetition */
    ebb_id *common;
    /* Places with many live bytes when nothing is dropped: base ops, ascending, and the gaps with a choice
     * across each, cheapest to drop first (time of its op per byte). */
    uint32_t *place_op, *place_first; /* [EBB_TREE_PLACES], [EBB_TREE_PLACES + 1] into place_genes */
    uint32_t *place_genes, n_places;
    /* where the play is */
    uint32_t position, depth; /* ops on the scorer's stack, the base op at its bottom */
    /* the path from the root; the play answers from it up to next */
    ebb_question *path;
    uint32_t n_path, next;
    /* lives held for a bound, and the end of their reads so far */
    uint32_t *held, *held_last, n_held;
} ebb_tree;

/* In search->arena. EBB_NO_MEMORY; close it in any case. */
EBB_CHECKED ebb_status ebb_tree_open(ebb_tree *tree, ebb_search *search);
void ebb_tree_close(ebb_tree *tree);

/* Plays from the start along the path, and on: new questions get their first answer. true: to the end, with
 * genes that score to the same play. false: no candidate below the node is better than the current best, or
 * none is valid. */
bool ebb_tree_play(ebb_tree *tree);

/* Finds the places of a tree whose other tables are made. In search->arena. EBB_NO_MEMORY. */
#define EBB_TREE_PLACES 8
EBB_CHECKED ebb_status ebb_tree_find_places(ebb_tree *tree);
/* For candidates that play as this one so far and stay within limit_bytes: a lower bound of the time that
 * gaps not yet begun cost across a later place, beyond the ops that must run. live_bytes: bytes certainly
 * live there, without those gaps. */
int64_t ebb_tree_price(const ebb_tree *tree, uint32_t place, int64_t live_bytes, int64_t limit_bytes);

/* A lower bound of the worth of all candidates that play as this one so far and are no worse than the
 * current best. */
ebb_worth ebb_tree_bound(ebb_tree *tree);
/* Whether the bound is better than the current best. Counts as a candidate. */
bool ebb_tree_promises(ebb_tree *tree);

#endif
