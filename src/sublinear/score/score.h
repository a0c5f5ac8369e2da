/* sublinear/score/score.h: the hot loop: exact peak and time of a candidate, without building a graph.
 *
 * peak equals max_live_bytes of rewrite + plan for the same genes: in-place merges, views, alignment and
 * scratch included (a property test holds it). A scorer owns all its scratch: scoring allocates nothing.
 *
 * Threads: one scorer per thread; the space is shared and read only.
 */
#ifndef EBB_SUBLINEAR_SCORE_SCORE_H
#define EBB_SUBLINEAR_SCORE_SCORE_H

#include "sublinear/space/space.h"

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
 * then that of whoever begins it, the maker or a reader, wherever it stands, and what is late is told by
 * the ops' positions in the space. It heeds what the graph asks of an order (order.h), and the first op of
 * it does not wait. */
void ebb_scorer_set_order(ebb_scorer *scorer, const ebb_id *order);
/* limit_bytes: of overflow_bytes. O(steps + edges). */
ebb_score ebb_score_genes(ebb_scorer *scorer, const uint8_t *genes, int64_t limit_bytes);
/* The same in two looks: valid, time_ns and n_steps; then, of the candidate that was looked at last and is
 * valid, the bytes. */
ebb_score ebb_score_time(ebb_scorer *scorer, const uint8_t *genes);
void ebb_score_bytes(ebb_scorer *scorer, int64_t limit_bytes, ebb_score *score);

/* Steps instead of what genes would play: each run takes the latest life of what it reads; genes name the
 * ways. Invalid when a run finds nothing, or what an update has replaced. Above limit_bytes the peak is
 * that of the first step there, and no more is known. */
ebb_score ebb_score_steps(ebb_scorer *scorer, const uint8_t *genes, const ebb_id *steps, uint32_t n_steps,
                          int64_t limit_bytes);

/* About the candidate scored last, valid until the next: */
const ebb_id *ebb_scorer_steps(const ebb_scorer *scorer);       /* [n_steps] op of each step */
const int64_t *ebb_scorer_live(const ebb_scorer *scorer);       /* [n_steps] live bytes, scratch included */
const uint32_t *ebb_scorer_positions(const ebb_scorer *scorer); /* [n_steps] base op around which it runs */
/* Ways chosen by the genes: EBB_NONE = as listed. */
uint32_t ebb_space_way_of(const ebb_space *space, const uint8_t *genes, ebb_id op);

/* ---- a candidate that differs from the last one in a few genes ----
 *
 * A scorer plays a whole candidate. Here the last candidate stands, as *rounds*: the round of base
 * position p is what runs for base op p, with the recomputations before it. A changed gene changes what a
 * few rounds find in memory; those are run again, and those that read what they make or no longer make, in
 * ascending order, until nothing changes any more. Bytes follow the same way: each storage spans from the
 * round that makes it to the last one that touches it, and only rounds at the ends of changed spans are
 * swept again.
 *
 *     genes -> rounds to look at -> steps and reads -> spans of storages -> bytes per position
 *
 * The result is that of ebb_score_genes, to the byte and the nanosecond (a property test holds it), but for
 * overflow_bytes, which here is summed over positions and not over steps. A change costs what it
 * touches, plus a look at each block of positions for the peak.
 *
 * Threads: one rescorer per thread; the space is shared and read only.
 */

typedef struct ebb_rescorer ebb_rescorer;

/* A few kinds of graphs are left to ebb_score_genes: those where an update replaces a computed value, the
 * first op may be lazy, or bytes or times are so large that sums of lives might overflow. */
bool ebb_rescore_applies(const ebb_space *space);
/* For spaces that it applies to. Memory: linear in ops, edges and steps. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_rescorer_create(ebb_env *env, const ebb_space *space, ebb_rescorer **out);
void ebb_rescorer_destroy(ebb_rescorer *rescorer);

/* All genes at once. O(steps + edges). */
void ebb_rescorer_load(ebb_rescorer *rescorer, const uint8_t *genes);
/* One gene; its cost falls due at the next score. */
void ebb_rescorer_set(ebb_rescorer *rescorer, uint32_t gene, uint8_t state);
const uint8_t *ebb_rescorer_genes(const ebb_rescorer *rescorer);
ebb_score ebb_rescorer_score(ebb_rescorer *rescorer, int64_t limit_bytes);
/* valid, time_ns and n_steps alone, for about half of the cost: what bytes cost falls due at the next
 * score, and is saved when the genes are set back before it. */
ebb_score ebb_rescorer_time(ebb_rescorer *rescorer);
/* The candidate stands: what is set from here on can be taken back together, for less than another score.
 */
void ebb_rescorer_mark(ebb_rescorer *rescorer);
/* Back to the candidate at the mark; genes: its genes, [n_genes]. It stays marked. */
void ebb_rescorer_back(ebb_rescorer *rescorer, const uint8_t *genes);
/* Memory ran out, now or earlier: scores are invalid from then on. */
bool ebb_rescorer_failed(const ebb_rescorer *rescorer);

/* ---- the one evaluator of a candidate under change ---- */

/* Scores by what changed where there is a rescorer, else whole. Borrows all three. */
typedef struct ebb_evaluator {
    ebb_scorer *scorer;
    ebb_rescorer *rescorer; /* NULL: the space is not for it, or the order of ops changes, too */
    uint8_t *genes;         /* of the candidate; once loaded, only ebb_evaluator_set changes them */
} ebb_evaluator;

/* Takes the genes as they are now. O(steps + edges). */
void ebb_evaluator_load(ebb_evaluator *evaluator);
void ebb_evaluator_set(ebb_evaluator *evaluator, uint32_t gene, uint8_t state);
/* The candidate stands, scored. */
void ebb_evaluator_mark(ebb_evaluator *evaluator);
/* The caller has put the genes back as they were at the mark, which stays. */
void ebb_evaluator_back(ebb_evaluator *evaluator);
ebb_score ebb_evaluator_score(ebb_evaluator *evaluator, int64_t limit_bytes);
/* The same in two looks: what takes too long need not be looked at again. No gene changes in between. */
ebb_score ebb_evaluator_time(ebb_evaluator *evaluator);
void ebb_evaluator_bytes(ebb_evaluator *evaluator, int64_t limit_bytes, ebb_score *score);

#endif
