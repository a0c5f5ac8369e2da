/* sublinear/score.h: the hot loop: exact peak and time of a candidate, without building a graph.
 *
 * peak equals max_live_bytes of rewrite + plan for the same genes: in-place merges, views, alignment and
 * scratch included (a property test holds it). A scorer owns all its scratch: scoring allocates nothing.
 *
 * Threads: one scorer per thread; the space is shared and read only.
 */
#ifndef EBB_SUBLINEAR_SCORE_H
#define EBB_SUBLINEAR_SCORE_H

#include "sublinear/space.h"

typedef struct ebb_score {
    bool valid;             /* false: too many steps, or an op must read what an update has replaced */
    int64_t peak_bytes;     /* most transient bytes live in a step */
    int64_t time_ns;        /* sum over steps */
    int64_t overflow_bytes; /* sum over steps of bytes above the limit given: a slope towards feasible */
    uint32_t n_steps;
    uint32_t peak_position; /* base op around which the peak is */
} ebb_score;

/* An op about to run, on the stack of those that wait for what it makes: its inputs before next_in are
 * there. */
typedef struct ebb_frame {
    ebb_id op;
    uint32_t next_in;
} ebb_frame;

typedef struct ebb_scorer ebb_scorer;
EBB_CHECKED ebb_status ebb_scorer_create(ebb_env *env, const ebb_space *space, ebb_scorer **out);
void ebb_scorer_destroy(ebb_scorer *scorer);

/* Base ops run in this order from now on, [n_ops], borrowed; NULL: in the space's own. The gene of a gap is
 * then that of whoever begins it, the maker or a reader, wherever it stands. It heeds what the graph asks
 * of an order (order.h), and the first op of it does not wait. */
void ebb_scorer_set_order(ebb_scorer *scorer, const ebb_id *order);
/* limit_bytes: of overflow_bytes. O(steps + edges). */
ebb_score ebb_score_genes(ebb_scorer *scorer, const uint8_t *genes, int64_t limit_bytes);

/* Steps instead of what genes would play: each run takes the latest life of what it reads; genes name the
 * ways. Invalid when a run finds nothing, or what an update has replaced. */
ebb_score ebb_score_steps(ebb_scorer *scorer, const uint8_t *genes, const ebb_id *steps, uint32_t n_steps,
                          int64_t limit_bytes);

/* About the candidate scored last, valid until the next: */
const ebb_id *ebb_scorer_steps(const ebb_scorer *scorer);       /* [n_steps] op of each step */
const int64_t *ebb_scorer_live(const ebb_scorer *scorer);       /* [n_steps] live bytes, scratch included */
const uint32_t *ebb_scorer_positions(const ebb_scorer *scorer); /* [n_steps] base op around which it runs */
/* Ways chosen by the genes: EBB_NONE = as listed. */
uint32_t ebb_space_way_of(const ebb_space *space, const uint8_t *genes, ebb_id op);

#endif
