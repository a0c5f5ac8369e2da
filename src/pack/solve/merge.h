/* pack/solve/merge.h: merges rows that may be written over others: lists the pairs, chooses sets of them,
 * and packs each set. Private to merge*.c; merge.c describes the method.
 *
 *     merge_pairs.c   the pairs, and sets of them
 *     merge_set.c     one set as rows, packed; the best is kept
 *     merge.c         which sets are tried, and the bound
 */
#ifndef EBB_PACK_SOLVE_MERGE_H
#define EBB_PACK_SOLVE_MERGE_H

#include "pack/solve/solve.h"

typedef struct ebb_merge_pair {
    uint32_t later, earlier;
    int64_t saved; /* bytes saved in the shared step */
    int64_t load;  /* bytes live in it without merges */
} ebb_merge_pair;

typedef struct ebb_merging {
    ebb_env *env;
    ebb_arena arena;
    const ebb_pack_job *job;
    const ebb_pack_options *options;
    uint64_t started_ns;
    ebb_merge_pair *pairs;
    uint32_t n_pairs;
    uint32_t *before, *after;           /* [n] neighbours in the current set; EBB_NONE: none */
    uint32_t *best_before, *best_after; /* of the best */
    int64_t excess, height;             /* of the best; height -1: none yet */
    int64_t bound;                      /* the least of the tried sets' bounds */
    uint32_t n_impossible;              /* tried sets without a packing */
    bool is_impossible;                 /* all sets are */
    ebb_pack_answer *answer;
    int64_t *offsets, *trial;
    uint32_t *given, *trial_given; /* pools; NULL: one */
    int64_t *pool_height;
    ebb_pack_life *lives, *parts; /* room for a chain; for one row */
} ebb_merging;

/* ---- merge_pairs.c --------------------------------------------------------------------------------- */

/* Fills pairs. EBB_BAD_INPUT: an impossible pair. */
EBB_CHECKED ebb_status ebb_merging_list(ebb_merging *m);
void ebb_merging_clear(ebb_merging *m); /* the empty set */
/* The fixed offset, and the pool, of the chain that begins with row first: of its row that has one. -1, or
 * EBB_PACK_ANY_POOL: none has. */
int64_t ebb_merging_fixed(const ebb_merging *m, uint32_t first);
uint32_t ebb_merging_pool(const ebb_merging *m, uint32_t first);
int64_t ebb_merging_alignment(const ebb_merging *m, uint32_t first); /* the largest */
/* Whether the pair may join the merges so far; making it; and undoing it. */
bool ebb_may_merge(const ebb_merging *m, const ebb_merge_pair *pair);
void ebb_merge(ebb_merging *m, const ebb_merge_pair *pair);
void ebb_unmerge(ebb_merging *m, const ebb_merge_pair *pair);
/* Compare pairs for qsort: most bytes saved first; most loaded steps first. */
int ebb_by_bytes(const void *a, const void *b);
int ebb_by_load(const void *a, const void *b);
/* Make sets: of all allowed pairs, in that order; and only of those in steps with more bytes than the
 * bound. */
void ebb_merge_greedily(ebb_merging *m, int (*order)(const void *, const void *));
void ebb_merge_peaks(ebb_merging *m, int64_t bound);

/* ---- merge_set.c ----------------------------------------------------------------------------------- */

/* Packs the set and keeps it when it is the best. *bound: no packing of this set is below it; INT64_MAX: it
 * has none. */
EBB_CHECKED ebb_status ebb_try_set(ebb_merging *m, int64_t effort, int64_t *bound);

#endif
