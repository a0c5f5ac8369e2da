/* ebb/pack.h: packs rows: assigns offsets to rows that live in steps, without graphs or plans.
 *
 * A row needs `size` bytes during the half-open steps [lower, upper). Two rows that share a step must not
 * share a byte of [offset, offset + size). The height is the largest offset + size.
 *
 *     address
 *       12 |     +--c--+          a [0,2) size 8 offset 0
 *        8 |--a--+     |          b [1,4) size 4 offset 8 ...
 *        0 +--+--+--+--+-> step
 *
 * Threads: as ebb/base.h says. docs/packing.md describes the method.
 */
#ifndef EBB_PACK_H
#define EBB_PACK_H

#include "ebb/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ebb_row {
    int64_t lower, upper; /* steps, lower < upper */
    int64_t size;         /* bytes, >= 0 */
    int64_t alignment;    /* power of two, >= 1 */
} ebb_row;

/* Steps [lower, upper). */
typedef struct ebb_steps {
    int64_t lower, upper;
} ebb_steps;

/* Bytes [lower, upper), counted from a row's offset. */
typedef struct ebb_window {
    int64_t lower, upper;
} ebb_window;

/* Several address spaces for the rows: on-chip and external memory, say. */
#define EBB_PACK_MAX_POOLS 16
#define EBB_PACK_ANY_POOL  UINT32_MAX
typedef struct ebb_pack_pools {
    uint32_t n;              /* 1 to EBB_PACK_MAX_POOLS */
    const int64_t *capacity; /* [n] bytes; -1: none, the pool is made as low as possible */
    const uint32_t *wanted;  /* [rows] the pool that a row must be in, or EBB_PACK_ANY_POOL */
    uint32_t *given;         /* [rows] out: the pool that it is in */
    int64_t *height;         /* [n] out */
} ebb_pack_pools;

/* Rows, and constraints on them beyond their own fields. All borrowed. */
typedef struct ebb_pack_job {
    const ebb_row *rows;
    uint32_t n;
    const int64_t *fixed;      /* [n] the offset that a row must have; -1: any. NULL: any for all */
    const uint32_t *gaps_from; /* [n + 1] row i has gaps[gaps_from[i]] to gaps[gaps_from[i + 1] - 1]; NULL:
                                  no row has any */
    const ebb_steps *gaps;     /* steps in which a row is idle and others may use its bytes: within the row,
                                  ascending, not overlapping, not all of its steps */
    const ebb_window *windows; /* for each gap, the bytes that the row keeps during it, within its size;
                                  lower == upper: none. NULL: none in any gap */
    const uint32_t *over_from; /* [n + 1] row i may be written over any of the rows over[over_from[i]] to
                                  over[over_from[i + 1] - 1]. NULL: no row may */
    const uint32_t *over; /* each ends one step after i begins. The two may then have the same offset and
                             share bytes in that step; at most one row is written over each */
    const ebb_pack_pools *pools; /* NULL: one, with the capacity of the options */
} ebb_pack_job;

typedef struct ebb_pack_options {
    int64_t capacity; /* bytes: stops at the first packing within it; -1: as low as possible */
    int64_t effort;   /* thousands of rows that the search visits, about a microsecond per thousand, and
                         up to one and a half times as many for the large rows alone; 0: list placements only.
                         A count, so that the answer is the same on any machine */
    uint64_t seed;    /* of the search's random numbers */
    uint64_t time_limit_ns; /* 0: none. When it ends the search, the answer depends on the machine */
    uint32_t n_workers;     /* never changes the answer; 0 is 1 */
    uint32_t enough_part;   /* > 0: without a capacity, or with one below the lower bound, stops at a height
                               of at most lower_bound + lower_bound / enough_part, which is then not proven,
                               for a job without pools and over; 0: at the bound */
} ebb_pack_options;
#define EBB_PACK_EFFORT 10000000 /* the default, about ten seconds */

typedef enum ebb_pack_verdict {
    EBB_PACK_FITS,       /* within each capacity that was given */
    EBB_PACK_IMPOSSIBLE, /* no packing fits */
    EBB_PACK_UNKNOWN     /* none was found, and none was ruled out */
} ebb_pack_verdict;

typedef struct ebb_pack_answer {
    ebb_pack_verdict verdict;
    int64_t height;      /* of the offsets: the lowest found. With several pools: the sum over those without
                            a capacity, or over all if each has one */
    int64_t lower_bound; /* bytes: no packing is lower */
    bool proven;         /* no better answer exists: height == lower_bound, or IMPOSSIBLE */
    uint64_t time_ns;
    const char *found_by; /* the stage that found the offsets: "skyline", "join", "list", "large",
                            "search" or "order" */
} ebb_pack_answer;

/* Packs the rows. First it settles which rows are written over others and which pools the free rows go to:
 * it tries all ways where they are few, else some of those that save most. Then, for each pool, it runs
 * list placements, a complete search and local search on the order, each starting from what the earlier
 * ones have reached. It stops when the height meets the lower bound (or is near enough: enough_part), when
 * the capacity is met or ruled out, at the effort, at the time limit, or when the env's stop flag is
 * raised; the answer is valid in each case, and the status EBB_OK. offsets has room for n and is checked by
 * code that shares nothing with the packers. Errors: EBB_BAD_INPUT (a row, gap, fixed offset, pool or row
 * to write over is malformed; fixed rows overlap; sums overflow), EBB_NO_MEMORY, EBB_INTERNAL (a packing
 * failed its check). Threads: n_workers, all ended on return. */
EBB_API EBB_CHECKED ebb_status ebb_pack_solve(ebb_env *env, const ebb_pack_job *job,
                                              const ebb_pack_options *options, int64_t *offsets,
                                              ebb_pack_answer *answer);

/* ---- tables of rows: CSV in MiniMalloc's columns (docs/formats.md) --------------------------- */

#define EBB_ROWS_MAX (UINT32_C(1) << 22) /* rows of a file */

typedef struct ebb_rows ebb_rows;

/* path "-" reads standard input. EBB_BAD_INPUT: one line with the row's line number; EBB_IO, EBB_NO_MEMORY.
 */
EBB_API EBB_CHECKED ebb_status ebb_rows_read(ebb_env *env, const char *path, ebb_rows **out);
EBB_API void ebb_rows_destroy(ebb_rows *rows);
EBB_API uint32_t ebb_rows_count(const ebb_rows *rows);
/* Runs ebb_pack_solve and stores the offsets in the rows. A cell of the offset column fixes its row.
 * EBB_BAD_INPUT also when a row is larger than the capacity, or names an unknown pool. */
EBB_API EBB_CHECKED ebb_status ebb_rows_pack(ebb_env *env, ebb_rows *rows, const ebb_pack_options *options,
                                             ebb_pack_answer *answer);
/* Adds a pool before the rows are packed. A row goes to the pool named in its pool column, or, without a
 * name, where it is best. If no pool is added, the column's names become pools without a capacity. capacity
 * -1: none. EBB_BAD_INPUT: the name is taken, or there are too many pools. */
EBB_API EBB_CHECKED ebb_status ebb_rows_add_pool(ebb_env *env, ebb_rows *rows, const char *name,
                                                 int64_t capacity);
typedef struct ebb_rows_pool {
    const char *name;
    int64_t capacity, height; /* -1: no capacity; height: of the rows packed into it */
} ebb_rows_pool;
/* Borrows the pools and returns their number; 0: there is one nameless pool. */
EBB_API uint32_t ebb_rows_pools(const ebb_rows *rows, const ebb_rows_pool **pools);
/* Write the rows with the offsets from ebb_rows_pack: as CSV, or as a drawing (SVG) of address over time.
 * "-" writes standard output. Whole or not at all. EBB_IO, EBB_NO_MEMORY. */
EBB_API EBB_CHECKED ebb_status ebb_rows_write(ebb_env *env, const ebb_rows *rows, const char *path);
EBB_API EBB_CHECKED ebb_status ebb_rows_draw(ebb_env *env, const ebb_rows *rows, const char *path);

#ifdef __cplusplus
}
#endif

#endif
