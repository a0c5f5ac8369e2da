/* pack/solve/pools.h: assigns rows to pools. Private to pools*.c; pools.c describes the method.
 *
 *     pools.c        chooses between the two below; the bound and the verdict
 *     pools_few.c    tries all assignments
 *     pools_lists.c  assigns row by row, in several orders
 */
#ifndef EBB_PACK_SOLVE_POOLS_H
#define EBB_PACK_SOLVE_POOLS_H

#include "pack/solve/solve.h"

typedef struct ebb_pooling {
    ebb_env *env;
    ebb_arena arena;
    const ebb_pack_job *job;
    const ebb_pack_options *options;
    const ebb_pack_pools *pools;
    uint64_t started_ns;
    uint32_t *way, *best; /* [n] pools */
    int64_t *offsets;     /* [n] */
    ebb_pack_life *lives;
    uint32_t *free_rows, n_free;
} ebb_pooling;

typedef struct ebb_pool_score {
    int64_t excess, height;
} ebb_pool_score;

bool ebb_pool_score_better(ebb_pool_score a, ebb_pool_score b);
/* Whether some pool has no capacity. */
bool ebb_pools_open(const ebb_pack_pools *pools);
/* The score of all pools together, from their heights. */
ebb_pool_score ebb_pools_score(const ebb_pack_pools *pools, const int64_t *height);
/* Packs the rows of one pool; answer and offsets are of these only. */
EBB_CHECKED ebb_status ebb_pooling_pack(ebb_pooling *p, const uint32_t *way, uint32_t pool, int64_t effort,
                                        ebb_pack_answer *answer, int64_t *offsets);
/* The pool that a row must be in, or EBB_PACK_ANY_POOL; a fixed row without a named pool is in the
 * first. */
uint32_t ebb_pooling_wanted(const ebb_pooling *p, uint32_t row);

/* Whether there are few enough assignments to try all. */
bool ebb_pooling_few(const ebb_pooling *p);
/* Fills best, offsets and the pools' heights. *impossible: no assignment meets the capacities. */
EBB_CHECKED ebb_status ebb_pooling_try_all(ebb_pooling *p, ebb_pack_answer *answer, bool *impossible);
/* The same for the best of ten list assignments, then packs each pool with the whole portfolio. */
EBB_CHECKED ebb_status ebb_pooling_try_lists(ebb_pooling *p, ebb_pack_answer *answer, bool *impossible);

#endif
