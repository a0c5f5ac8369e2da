/* planner/rows.h: packing seen by the packers: rows in time, offsets in space. No graphs here.
 *
 * A row needs `size` bytes during the half-open steps [lower, upper). Two rows that overlap in time
 * must not overlap in [offset, offset + size). The height is the largest offset + size.
 *
 *     address
 *       12 |     +--c--+          a [0,2) size 8 offset 0
 *        8 |--a--+     |          b [1,4) size 4 offset 8 ...
 *        0 +--+--+--+--+-> step
 *
 * The packers, the checker and the CSV seam include this and base only.
 */
#ifndef EBB_PLANNER_ROWS_H
#define EBB_PLANNER_ROWS_H

#include "base/base.h"

typedef struct ebb_row {
    int64_t lower, upper; /* steps, lower < upper */
    int64_t size;         /* bytes, >= 0 */
    int64_t alignment;    /* power of two, >= 1 */
} ebb_row;

/* A table of rows with names, as a CSV file has them. */
typedef struct ebb_rows {
    ebb_arena arena;
    const char **ids;
    ebb_row *rows;
    int64_t *offsets; /* NULL when the file has no offset column */
    uint32_t n;
} ebb_rows;

/* Steps [lower, upper). */
typedef struct ebb_steps {
    int64_t lower, upper;
} ebb_steps;

/* Rows and what is asked of them beyond their own fields. All borrowed. */
typedef struct ebb_pack_job {
    const ebb_row *rows;
    uint32_t n;
    const int64_t *fixed;      /* [n] the offset that a row must have; -1: any. NULL: any for all */
    const uint32_t *gaps_from; /* [n + 1] row i has gaps[gaps_from[i]] to gaps[gaps_from[i + 1] - 1]; NULL:
                                  no row has any */
    const ebb_steps *gaps; /* steps in which a row is idle and others may have its bytes: within the row,
                      ascending, not overlapping; at least a step is left */
} ebb_pack_job;

/* ---- packers: one algorithm a file ------------------------------------------- */

/* All of them give every row an offset (multiple of its alignment) and the height; offsets has room for n.
 * Deterministic. Errors: EBB_NO_MEMORY; EBB_BAD_INPUT (a row is malformed, or sizes and alignments sum to
 * more than 2^60). */

/* The order in which a list packer places the rows. */
typedef enum ebb_pack_order {
    EBB_ORDER_SIZE,     /* largest size first */
    EBB_ORDER_AREA,     /* largest size x duration first */
    EBB_ORDER_DURATION, /* longest first */
    EBB_ORDER_LOWER,    /* earliest first, larger first among equals */
    EBB_ORDER_CONFLICT, /* rows of the most loaded steps first */
} ebb_pack_order;
#define EBB_N_PACK_ORDERS 5

/* Each row, in the order, at the lowest offset where it fits among the placed ones. */
EBB_CHECKED ebb_status ebb_pack_first_fit(ebb_env *env, const ebb_row *rows, uint32_t n,
                                          ebb_pack_order order, int64_t *offsets, int64_t *height);
/* Each row, in the order, into the smallest hole between placed rows that holds it; on top if none. */
EBB_CHECKED ebb_status ebb_pack_best_fit(ebb_env *env, const ebb_row *rows, uint32_t n,
                                         ebb_pack_order order, int64_t *offsets, int64_t *height);
/* ---- the portfolio ------------------------------------------------------------------------------- */

typedef struct ebb_pack_options {
    int64_t capacity; /* bytes that are to do: stops at the first packing within; -1: as low as can be */
    int64_t effort;   /* thousands of rows that the search looks at, about a microsecond each; 0: list
                         placements only. Counted, so that the answer is the same on any machine */
    uint64_t seed;    /* of the search's random numbers */
    uint64_t time_limit_ns; /* 0: none. When it ends the search, the answer depends on the machine */
    uint32_t n_workers;     /* never changes the answer */
} ebb_pack_options;
#define EBB_PACK_EFFORT 10000000 /* default where nothing else is asked for */

typedef enum ebb_pack_verdict {
    EBB_PACK_FITS,       /* within the capacity, or none was given */
    EBB_PACK_IMPOSSIBLE, /* no packing is */
    EBB_PACK_UNKNOWN     /* none was found, and none was ruled out */
} ebb_pack_verdict;

typedef struct ebb_pack_answer {
    ebb_pack_verdict verdict;
    int64_t height;      /* of the offsets given: the lowest found */
    int64_t lower_bound; /* bytes: no packing is lower */
    bool proven;         /* height == lower_bound, or the capacity is below lower_bound */
    uint64_t time_ns;
    const char *found_by; /* the stage that found the offsets: "list", "order", "skyline" or "search" */
} ebb_pack_answer;

/* List placements, then local search on their order, then the complete search (pack_search.c), each from
 * what those before it have reached. Stops when the height meets the lower bound, when the capacity is met
 * or ruled out, at the effort, at the time limit, or when the env's stop flag is raised; the answer is good
 * in each case, and its status EBB_OK. offsets has room for n and has passed ebb_rows_check. Errors:
 * EBB_BAD_INPUT (a row, gap or fixed offset is malformed; fixed rows overlap; sums overflow),
 * EBB_NO_MEMORY, EBB_INTERNAL (a packing failed its check). Threads: n_workers, all ended on return. */
EBB_CHECKED ebb_status ebb_pack_solve(ebb_env *env, const ebb_pack_job *job,
                                      const ebb_pack_options *options, int64_t *offsets,
                                      ebb_pack_answer *answer);
/* The planner's stage: a small effort, no limit of time. */
EBB_CHECKED ebb_status ebb_pack(ebb_env *env, const ebb_row *rows, uint32_t n, uint32_t n_workers,
                                int64_t *offsets, int64_t *height);

/* ---- facts and checks -------------------------------------------------------------------------- */

/* The most bytes that are live in one step: no packing is lower. Where sizes are multiples of their
 * alignments, their sum; else sizes count rounded up to the smallest alignment of any row, but for the
 * topmost row. EBB_BAD_INPUT when a sum overflows. O(n log n). */
EBB_CHECKED ebb_status ebb_rows_max_live(ebb_env *env, const ebb_row *rows, uint32_t n, int64_t *out);
/* EBB_VIOLATION: two rows that share a step share a byte (named), an offset is negative or not
 * aligned, or the height is not the largest end. Shares no code with the packers. O(n log n + pairs
 * at neighbouring offsets). */
EBB_CHECKED ebb_status ebb_rows_check(ebb_env *env, const ebb_row *rows, uint32_t n, const int64_t *offsets,
                                      int64_t height);

/* ---- seam: CSV in MiniMalloc's columns ------------------------------------------------------------ */

/* Columns by name in any order: id, lower, upper, size, optional alignment, offset, gaps (refused
 * unless empty). EBB_BAD_INPUT names the line. Bounded by n bytes of text. */
EBB_CHECKED ebb_status ebb_rows_parse(ebb_env *env, const char *where, const char *text, size_t n,
                                      ebb_rows **out);
void ebb_rows_destroy(ebb_rows *rows);
/* id,lower,upper,size[,alignment],offset */
void ebb_rows_print(ebb_text *text, const ebb_rows *rows, const int64_t *offsets);

#endif
