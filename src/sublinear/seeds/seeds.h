/* sublinear/seeds/seeds.h: makes the initial candidates. Each is cheap to find, and independent of the
 * others.
 *
 *     cuts      MegEngine's cut points: by a threshold, at equal distances, at joints
 *     greedy    most bytes x steps per time first
 *     online    values dropped by a rule that sees one op after the other
 *     bound     the splits that the certificate's minimum cuts make
 *     chain     dynamic programming over the blocks between joints
 */
#ifndef EBB_SUBLINEAR_SEEDS_SEEDS_H
#define EBB_SUBLINEAR_SEEDS_SEEDS_H

#include "sublinear/pool/pool.h"

/* Offers no recomputation, the warm genes and all seeds (or those that the request asks for).
 * EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_seed_pool(ebb_search *search, const ebb_select_request *request);

/* Keeps dropped values of a candidate again while the peak stays within limit_bytes and no time is lost:
 * those whose recomputation takes longest first, and gaps without readers last. A candidate above the limit
 * is unchanged. *go_on as ebb_search_goes_on. Hires the workers. EBB_NO_MEMORY. O(genes) candidates. */
EBB_CHECKED ebb_status ebb_keep_again(ebb_search *search, const ebb_select_request *request,
                                      int64_t limit_bytes, uint8_t *genes, bool *go_on);

/* ---- one by one: each writes genes, or offers candidates ---- */

/* Drops, in its longest gap, each value written between two cuts and read after the second; values written
 * by the op at a cut are kept. cuts: ascending base positions. MegEngine's cut points, with any depth of
 * recomputation. */
void ebb_seed_cuts(const ebb_space *space, const uint32_t *cuts, uint32_t n_cuts, uint8_t state,
                   uint8_t *genes);
/* Cuts where the bytes born since the last cut and still to be read reach the threshold. Returns their
 * number (<= n_ops). */
uint32_t ebb_seed_threshold_cuts(const ebb_space *space, int64_t threshold_bytes, uint32_t *cuts);
/* n cuts at equal distances over the forward ops (those before the first op of phase backward; all if there
 * is none). */
uint32_t ebb_seed_even_cuts(const ebb_space *space, uint32_t n, uint32_t *cuts);
/* Lists the genes of gaps in the order of a greedy choice: most bytes x gap length per time of the producer
 * first. Writes at most n_genes ids and returns their number; EBB_NONE: no memory. */
uint32_t ebb_seed_greedy_order(const ebb_space *space, uint32_t *order);

/* Cuts after blocks: at every n-th of the ops that write the value crossing a joint; merge: of joints one
 * op apart only the last counts. cuts: room for n_joints. Returns their number. */
uint32_t ebb_seed_block_cuts(const ebb_space *space, const uint32_t *joints, uint32_t n_joints,
                             uint32_t every, bool merge, uint32_t *cuts);

/* Offers the candidates of an online rule that sees one op after the other (online.c), at a sweep of
 * limits. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_seed_online(ebb_search *search);
/* Offers the certificate's splits into kept and recomputed values at a sweep of prices. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_seed_from_cut(ebb_search *search);

/* Offers the results of dynamic programming over the chain of blocks between joints (chain/chain.h), at a
 * sweep of limits. best_genes: the best of them, whose peak is *peak_bytes; INT64_MAX: none.
 * EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_seed_chain(ebb_search *search, uint8_t *best_genes, int64_t *peak_bytes);

#endif
