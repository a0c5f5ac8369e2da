/* pack/solve/pools.h: rows that may lie in several pools. Private to pools*.c; see pools.c for the whole.
 *
 *     pools.c        which of the two, the bound, and the verdict
 *     pools_few.c    all ways to give the rows to pools
 *     pools_lists.c  row by row, in several orders
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
/* Some pool has no capacity. */
bool ebb_pools_open(const ebb_pack_pools *pools);
/* Of all pools, by their heights. */
ebb_pool_score ebb_pools_score(const ebb_pack_pools *pools, const int64_t *height);
/* The rows of one pool, packed; answer and offsets are of them alone. */
EBB_CHECKED ebb_status ebb_pooling_pack(ebb_pooling *p, const uint32_t *way, uint32_t pool, int64_t effort,
                                        ebb_pack_answer *answer, int64_t *offsets);
/* A row that is fixed, in no pool that is named, lies in the first. */
uint32_t ebb_pooling_wanted(const ebb_pooling *p, uint32_t row);

/* Are there few enough ways to try all? */
bool ebb_pooling_few(const ebb_pooling *p);
/* Fills best, offsets and the pools' heights. *impossible: no way meets the capacities. */
EBB_CHECKED ebb_status ebb_pooling_try_all(ebb_pooling *p, ebb_pack_answer *answer, bool *impossible);
/* The same by the best of ten lists, then each pool with the whole portfolio. */
EBB_CHECKED ebb_status ebb_pooling_try_lists(ebb_pooling *p, ebb_pack_answer *answer, bool *impossible);

#endif
