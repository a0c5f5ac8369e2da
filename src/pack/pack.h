/* pack: assigns offsets in space to rows that live in time. It knows no graphs.
 *
 * A row needs `size` bytes during the half-open steps [lower, upper). Two rows that overlap in time
 * must not overlap in [offset, offset + size). The height is the largest offset + size.
 *
 *     address
 *       12 |     +--c--+          a [0,2) size 8 offset 0
 *        8 |--a--+     |          b [1,4) size 4 offset 8 ...
 *        0 +--+--+--+--+-> step
 *
 * The packers, the checker and the CSV seam include only this and base.
 */
#ifndef EBB_PACK_PACK_H
#define EBB_PACK_PACK_H

#include "base/base.h"
#include "ebb/pack.h"

/* A table of named rows, as in a CSV file. */
struct ebb_rows {
    ebb_arena arena;
    const char *where; /* the file's name */
    const char **ids;
    ebb_row *rows;
    uint32_t *lines;     /* of the file */
    int64_t *offsets;    /* -1: an empty cell. NULL when the file has no offset column */
    uint32_t *gaps_from; /* as in ebb_pack_job; NULL when no row has any */
    ebb_steps *gaps;
    ebb_window *windows;        /* of each gap; NULL when none has one */
    const char **over_text;     /* cells of may_overwrite; NULL: no such column */
    uint32_t *over_from, *over; /* as in ebb_pack_job, from those cells; NULL when all are empty */
    const char **pool_text;     /* cells of pool; NULL: no such column */
    ebb_rows_pool pools[EBB_PACK_MAX_POOLS];
    int64_t pool_bottom[EBB_PACK_MAX_POOLS]; /* for a drawing with the pools on top of one another */
    uint32_t n_pools;
    uint32_t *given; /* the packed rows' pools; NULL: one space */
    int64_t *packed; /* offsets from ebb_rows_pack; NULL before */
    int64_t height;  /* of a drawing */
    uint32_t n;
};

/* ---- packers: one algorithm per file ---- */

/* All of them return an offset for every row (a multiple of its alignment) and the height; offsets has room
 * for n. Deterministic. Errors: EBB_NO_MEMORY; EBB_BAD_INPUT (a row is malformed, or sizes and alignments
 * sum to more than 2^60). */

/* The order in which a list packer places the rows. */
typedef enum ebb_pack_order {
    EBB_ORDER_SIZE,     /* largest size first */
    EBB_ORDER_AREA,     /* largest size x duration first */
    EBB_ORDER_DURATION, /* longest first */
    EBB_ORDER_LOWER,    /* earliest first, larger first among equals */
    EBB_ORDER_CONFLICT, /* rows of the most loaded steps first */
} ebb_pack_order;
#define EBB_N_PACK_ORDERS 5

/* Places each row, in the order, at the lowest offset where it fits among the placed ones. */
EBB_CHECKED ebb_status ebb_pack_first_fit(ebb_env *env, const ebb_row *rows, uint32_t n,
                                          ebb_pack_order order, int64_t *offsets, int64_t *height);
/* Places each row, in the order, into the smallest hole between placed rows that holds it; on top if none
 * does. */
EBB_CHECKED ebb_status ebb_pack_best_fit(ebb_env *env, const ebb_row *rows, uint32_t n,
                                         ebb_pack_order order, int64_t *offsets, int64_t *height);

/* ---- the portfolio, besides ebb_pack_solve ---- */

/* Packs for the planner, with little effort and no time limit. */
EBB_CHECKED ebb_status ebb_pack(ebb_env *env, const ebb_row *rows, uint32_t n, uint32_t n_workers,
                                int64_t *offsets, int64_t *height);
/* As ebb_pack; if the height exceeds the capacity, it then searches for a packing within the capacity, with
 * an effort that grows with the rows, until the deadline on the env's clock (0: none): a second or two.
 * quick: it searches for the capacity at once and stops there, or near the bound if that is above it:
 * tenths of a second. height is the lowest found, within the capacity or not. */
EBB_CHECKED ebb_status ebb_pack_within(ebb_env *env, const ebb_row *rows, uint32_t n, uint32_t n_workers,
                                       int64_t capacity, bool quick, uint64_t deadline_ns, int64_t *offsets,
                                       int64_t *height);

/* ---- facts and checks -------------------------------------------------------------------------------- */

/* The most bytes that are live in one step: no packing is lower. It is the sum of the sizes if they are
 * multiples of their alignments; otherwise all but the topmost row's are rounded up to the smallest
 * alignment of any row. EBB_BAD_INPUT when a sum overflows. O(n log n). */
EBB_CHECKED ebb_status ebb_rows_max_live(ebb_env *env, const ebb_row *rows, uint32_t n, int64_t *out);
/* EBB_VIOLATION: two rows that share a step share a byte (named), an offset is negative or not
 * aligned, or the height is not the largest end. Shares no code with the packers. O(n log n + pairs
 * at neighbouring offsets). */
EBB_CHECKED ebb_status ebb_rows_check(ebb_env *env, const ebb_row *rows, uint32_t n, const int64_t *offsets,
                                      int64_t height);

/* ---- seam: CSV in MiniMalloc's columns ------------------------------------------------------- */

/* Columns by name in any order: id, lower, upper, size, optional alignment, offset, gaps ("3-5 7-9@0:4"),
 * may_overwrite, pool.
 * EBB_BAD_INPUT names the line. Bounded by n bytes of text. */
EBB_CHECKED ebb_status ebb_rows_parse(ebb_env *env, const char *where, const char *text, size_t n,
                                      ebb_rows **out);
/* Indexes the ids and resolves the cells that refer to them. EBB_BAD_INPUT names the line: of the first
 * repeated id, with the earlier line; of a row that refers to an unknown id, or to a row that does not end
 * where it begins. O(n). */
EBB_CHECKED ebb_status ebb_rows_link(ebb_env *env, ebb_rows *rows);
/* Fills wanted[n] with each row's pool, or EBB_PACK_ANY_POOL; if no pool was added, the names become pools.
 * EBB_BAD_INPUT names the line of a row whose pool is unknown, or too small for it. */
EBB_CHECKED ebb_status ebb_rows_find_pools(ebb_env *env, ebb_rows *rows, uint32_t *wanted);
/* Prints id,lower,upper,size[,alignment][,gaps][,may_overwrite][,pool][,offset] */
void ebb_rows_print(ebb_text *text, const ebb_rows *rows, const int64_t *offsets);
/* Draws rows->packed. */
void ebb_rows_svg(ebb_text *text, const ebb_rows *rows);

#endif
