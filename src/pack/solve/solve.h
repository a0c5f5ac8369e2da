/* pack/solve/solve.h: runs the stages of the portfolio on one job. Private to the portfolio.
 *
 *     solve.c  the stages, one after the other
 *     ask.c    the capacities that the complete search tries, and their order
 *     large.c  the large rows first
 *     judge.c  the bound before and the check after, from plain rows, sharing nothing with the packers
 *
 * Before them, jobs are turned into other jobs:
 *
 *     merge.c  chooses which rows are written over others, and merges the two into one row
 *     pools.c  assigns rows to pools, each of which is then a job of its own
 *     copy.c   the rows of such a job
 */
#ifndef EBB_PACK_SOLVE_SOLVE_H
#define EBB_PACK_SOLVE_SOLVE_H

#include "pack/fit/fit.h"

/* Runs the stages on one pool without merges. As ebb_pack_solve. */
EBB_CHECKED ebb_status ebb_pack_one(ebb_env *env, const ebb_pack_job *job, const ebb_pack_options *options,
                                    int64_t *offsets, ebb_pack_answer *answer);
/* The same of a part of a job's rows, which is not parted again. */
EBB_CHECKED ebb_status ebb_pack_apart(ebb_env *env, const ebb_pack_job *job,
                                      const ebb_pack_options *options, int64_t *offsets,
                                      ebb_pack_answer *answer);
/* job->pools is given, job->over_from is not. */
EBB_CHECKED ebb_status ebb_pack_pooled(ebb_env *env, const ebb_pack_job *job,
                                       const ebb_pack_options *options, int64_t *offsets,
                                       ebb_pack_answer *answer);
/* job->over_from is given; pools may be. */
EBB_CHECKED ebb_status ebb_pack_merged(ebb_env *env, const ebb_pack_job *job,
                                       const ebb_pack_options *options, int64_t *offsets,
                                       ebb_pack_answer *answer);

/* The bytes above the capacities; 0: it fits. */
int64_t ebb_pack_excess(const ebb_pack_job *job, const ebb_pack_options *options, int64_t height);
/* The options for the remaining work: this effort, and the rest of the time limit that began at
 * started_ns. */
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
    ebb_pack_job job; /* of the rows so far; set by ebb_pack_copy_job */
} ebb_pack_copy;

/* Makes room for `most` rows. EBB_NO_MEMORY; deinit is safe then too. */
EBB_CHECKED ebb_status ebb_pack_copy_init(ebb_pack_copy *copy, ebb_env *env, uint32_t most);
void ebb_pack_copy_deinit(ebb_pack_copy *copy);
/* Adds a row with these n lives, ascending and disjoint, which alone define its steps, size and gaps. */
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
    int64_t *offsets, *trial;         /* [n] of the best packing; of the current stage */
    ebb_pack_answer *answer;          /* for offsets; height 0: none yet */
    bool parted;                      /* these are a part of a job's rows */
    bool large_first;                 /* the large rows were packed by themselves */
} ebb_packing;

/* The height at which packing ends. */
int64_t ebb_packing_enough(const ebb_packing *p);
/* Whether that height is reached or time is over. */
bool ebb_packing_is_done(const ebb_packing *p);
/* trial becomes the best. */
void ebb_packing_keep(ebb_packing *p, int64_t height, const char *found_by);
/* Packs the large rows first, then the small ones around them. */
EBB_CHECKED ebb_status ebb_packing_large_first(ebb_packing *p);
/* Runs the complete search within the effort, or within twice the effort if a capacity is not met.
 */
EBB_CHECKED ebb_status ebb_packing_search(ebb_packing *p);
/* Sets answer->lower_bound from the most live bytes and the ends of fixed rows. EBB_BAD_INPUT: fixed rows
 * overlap.
 */
EBB_CHECKED ebb_status ebb_packing_bound(ebb_packing *p);
/* EBB_INTERNAL when offsets are not a packing of that height. */
EBB_CHECKED ebb_status ebb_packing_check(ebb_packing *p);

#endif
