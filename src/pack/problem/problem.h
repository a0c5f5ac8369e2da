/* pack/problem/problem.h: defines the internal form of a packing problem.
 *
 * Time is cut at every row's lower and upper into *spans* that no row splits; a row covers a *part* of
 * them, the spans [first, end), or several with its gaps between them. Space is counted in *granules*, the
 * smallest alignment of any row: every offset is a multiple of it, so bytes between a row's end and the
 * next multiple are lost anyway.
 */
#ifndef EBB_PACK_PROBLEM_PROBLEM_H
#define EBB_PACK_PROBLEM_PROBLEM_H

#include <pthread.h>

#include "pack/pack.h"

typedef struct ebb_pack_part {
    uint32_t first, end; /* spans, first < end */
    ebb_window bytes;    /* the row's bytes that live in them; empty only if the row is */
} ebb_pack_part;

/* The same in steps. */
typedef struct ebb_pack_life {
    ebb_steps steps;
    ebb_window bytes;
} ebb_pack_life;

typedef struct ebb_pack_problem {
    ebb_arena arena;
    const ebb_row *rows;  /* borrowed */
    const int64_t *fixed; /* borrowed, or NULL */
    uint32_t n, n_spans;
    const uint32_t *part_at;    /* [n + 1] */
    const ebb_pack_part *parts; /* parts[part_at[i]] on are row i's, ascending, disjoint */
    const int64_t *load;        /* [n_spans] bytes live, rounded up to granules */
    int64_t granule;            /* bytes */
    int64_t smallest; /* least bytes of a part, above 0, in whole granules: smaller holes are useless */
} ebb_pack_problem;

#define EBB_PACK_MAX_ROWS  (UINT32_C(1) << 28)
#define EBB_PACK_MAX_BYTES (INT64_MAX / 8)

/* EBB_BAD_INPUT: a row, a gap or a fixed offset is malformed, fixed rows overlap, or the sizes, alignments
 * and the highest fixed offset sum to more than 2^60 bytes. O(n log n). deinit is safe after a failure. */
EBB_CHECKED ebb_status ebb_pack_problem_init(ebb_pack_problem *problem, ebb_env *env,
                                             const ebb_pack_job *job);
void ebb_pack_problem_deinit(ebb_pack_problem *problem);
/* Writes when row i lives, and with which bytes, into parts, which has room for twice its gaps plus one.
 * EBB_BAD_INPUT: a gap is malformed. */
EBB_CHECKED ebb_status ebb_pack_row_parts(ebb_env *env, const ebb_pack_job *job, uint32_t i,
                                          ebb_pack_life *parts, uint32_t *n);
uint32_t ebb_pack_job_most_parts(const ebb_pack_job *job);

/* ---- workers --------------------------------------------------------------------------------- */

#define EBB_PACK_MAX_WORKERS 64 /* there is never more parallel work */

typedef struct ebb_pack_workers {
    ebb_env *env; /* the caller's */
    ebb_env *envs[EBB_PACK_MAX_WORKERS];
    uint32_t n;
    pthread_mutex_t lock;
} ebb_pack_workers;

/* Must not be moved afterwards. EBB_NO_MEMORY; deinit is safe then too. */
EBB_CHECKED ebb_status ebb_pack_workers_init(ebb_pack_workers *workers, ebb_env *env, uint32_t n);
void ebb_pack_workers_deinit(ebb_pack_workers *workers);

#endif
