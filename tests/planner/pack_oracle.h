/* Small sets of rows, and the height of their best packing by looking at all orders. */
#ifndef EBB_TESTS_PACK_ORACLE_H
#define EBB_TESTS_PACK_ORACLE_H

#include "pack/pack.h"

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

#endif
