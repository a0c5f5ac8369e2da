/* sublinear/rescore.h: the score of a candidate that differs from the last one in a few genes.
 *
 * `score.c` plays a whole candidate. Here the last candidate stands, as *rounds*: the round of base
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
#ifndef EBB_SUBLINEAR_RESCORE_H
#define EBB_SUBLINEAR_RESCORE_H

#include "sublinear/score.h"

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
/* Memory ran out, now or earlier: scores are invalid from then on. */
bool ebb_rescorer_failed(const ebb_rescorer *rescorer);

#endif
