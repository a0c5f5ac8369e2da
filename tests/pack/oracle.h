/* Small sets of rows, whether a packing of them is sound, and the height of the best one by looking at all
 * orders. */
#ifndef EBB_TESTS_PACK_ORACLE_H
#define EBB_TESTS_PACK_ORACLE_H

#include "pack/pack.h"
#include "support/env.h"

#define PACK_SMALL 8  /* rows */
#define PACK_STEPS 16 /* in which they live */

typedef struct pack_drawn {
    ebb_pack_job job;
    ebb_row rows[PACK_SMALL];
    int64_t fixed[PACK_SMALL];
    uint32_t gaps_from[PACK_SMALL + 1];
    ebb_steps gaps[2 * PACK_SMALL];
    ebb_window windows[2 * PACK_SMALL];
    bool exact; /* no window begins above its row's offset: then the search is complete */
} pack_drawn;

/* Rows with alignments, some with gaps and windows, some fixed: all arrays of the job are given. */
void pack_draw(pack_drawn *d, ebb_rng *rng);
/* The bytes that a row has in a step; lower == upper: none. */
ebb_window pack_bytes_in(const ebb_pack_job *job, uint32_t i, int64_t step);
/* Do two rows at these offsets share a byte in a step? */
bool pack_collide(const ebb_pack_job *job, uint32_t i, int64_t offset, uint32_t k, int64_t other);
/* Of a job with all arrays but pools and merges, of at most PACK_SMALL rows. */
int64_t pack_optimum(const ebb_pack_job *job);
/* Fails the test unless the offsets are sound, by plain loops over steps: what collides is a pair of rows
 * that may be written over one another, at one offset, or rows of two pools. Gives the top. c: of the case,
 * for messages. */
int64_t pack_check(const ebb_pack_job *job, const int64_t *offsets, uint32_t c);

/* One row for each chain of rows that are written over one another, with a window in each of its steps. */
typedef struct pack_joined {
    ebb_pack_job job;
    ebb_row rows[PACK_SMALL];
    int64_t fixed[PACK_SMALL];
    uint32_t gaps_from[PACK_SMALL + 1];
    ebb_steps gaps[PACK_SMALL * PACK_STEPS];
    ebb_window windows[PACK_SMALL * PACK_STEPS];
} pack_joined;

/* chain[i]: the number of row i's chain, of n. */
void pack_join(const ebb_pack_job *job, const uint32_t *chain, uint32_t n, pack_joined *out);

#endif
