/* pack/solve/solve.h: private to the portfolio: one job as its stages see it.
 *
 *     solve.c  the stages, one after the other
 *     ask.c    what the complete search is asked for, and in which order
 *     large.c  the large rows first
 *     judge.c  the bound before, the check after: by plain rows, with nothing that the packers use
 *
 * Before them, jobs made of jobs:
 *
 *     merge.c  rows that may be written over others: which are, and the two become one row
 *     pools.c  rows that may lie in several pools: which do, and each pool is a job of its own
 *     copy.c   the rows of such a job
 */
#ifndef EBB_PACK_SOLVE_SOLVE_H
#define EBB_PACK_SOLVE_SOLVE_H

#include "pack/fit/fit.h"

/* One pool, no merges: the stages. As ebb_pack_solve. */
EBB_CHECKED ebb_status ebb_pack_one(ebb_env *env, const ebb_pack_job *job, const ebb_pack_options *options,
                                    int64_t *offsets, ebb_pack_answer *answer);
/* job->pools is given, job->over_from is not. */
EBB_CHECKED ebb_status ebb_pack_pooled(ebb_env *env, const ebb_pack_job *job,
                                       const ebb_pack_options *options, int64_t *offsets,
                                       ebb_pack_answer *answer);
/* job->over_from is given; pools may be. */
EBB_CHECKED ebb_status ebb_pack_merged(ebb_env *env, const ebb_pack_job *job,
                                       const ebb_pack_options *options, int64_t *offsets,
                                       ebb_pack_answer *answer);

/* What lies above the capacities, in bytes; 0: it fits. */
int64_t ebb_pack_excess(const ebb_pack_job *job, const ebb_pack_options *options, int64_t height);
/* The options for what is left to do: less effort, and the time that is left since started_ns. */
ebb_pack_options ebb_pack_options_left(ebb_env *env, const ebb_pack_options *options, uint64_t started_ns,
                                       int64_t effort);

/* ---- jobs made of jobs ----------------------------------------------------------------------- */

typedef struct ebb_pack_copy {
    ebb_env *env;
    ebb_arena arena;
    ebb_row *rows;
    int64_t *fixed;
    uint32_t *wanted, *gaps_from, n;
    EBB_ARRAY(ebb_steps) gaps;
    EBB_ARRAY(ebb_window) windows;
    ebb_pack_job job; /* of the rows so far, once asked for */
} ebb_pack_copy;

/* Room for `most` rows. EBB_NO_MEMORY; deinit is safe then too. */
EBB_CHECKED ebb_status ebb_pack_copy_init(ebb_pack_copy *copy, ebb_env *env, uint32_t most);
void ebb_pack_copy_deinit(ebb_pack_copy *copy);
/* A row that lives as told: n lives, ascending, apart; of them and of nothing else its steps, its size and
 * its gaps are made. */
EBB_CHECKED ebb_status ebb_pack_copy_add(ebb_pack_copy *copy, const ebb_pack_life *lives, uint32_t n,
                                         int64_t alignment, int64_t fixed, uint32_t wanted);
/* Borrows the copy's rows, without pools. */
const ebb_pack_job *ebb_pack_copy_job(ebb_pack_copy *copy);

/* ---- one job --------------------------------------------------------------------------------- */

typedef struct ebb_packing {
    ebb_env *env;
    const ebb_pack_job *job;
    const ebb_pack_options *options;
    ebb_pack_problem problem;
    ebb_pack_workers workers;
    uint64_t started_ns, deadline_ns; /* 0: none */
    int64_t *offsets, *trial;         /* [n] the best; the stage's own */
    ebb_pack_answer *answer;          /* of offsets; height 0: none yet */
} ebb_packing;

/* The height that ends it. */
int64_t ebb_packing_enough(const ebb_packing *p);
/* It is reached, or time is over. */
bool ebb_packing_is_done(const ebb_packing *p);
/* trial becomes the best. */
void ebb_packing_keep(ebb_packing *p, int64_t height, const char *found_by);
/* The large rows by themselves, the small ones around them. */
EBB_CHECKED ebb_status ebb_packing_large_first(ebb_packing *p);
/* The complete search, within the effort; with a capacity that it does not meet, within twice the effort.
 */
EBB_CHECKED ebb_status ebb_packing_search(ebb_packing *p);
/* answer->lower_bound: the most live bytes and the ends of fixed rows. EBB_BAD_INPUT: fixed rows overlap.
 */
EBB_CHECKED ebb_status ebb_packing_bound(ebb_packing *p);
/* EBB_INTERNAL when offsets are no packing of that height. */
EBB_CHECKED ebb_status ebb_packing_check(ebb_packing *p);

#endif
