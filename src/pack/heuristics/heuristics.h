/* pack/heuristics/heuristics.h: packs directly, without a search.
 *
 *     ebb_pack_space    the placed rows of one placement, and its holes
 *     ebb_pack_choose   which hole a row takes: the only difference between list packers
 *     race.c            the table of list packers: a new one has its own file and a row there
 */
#ifndef EBB_PACK_HEURISTICS_HEURISTICS_H
#define EBB_PACK_HEURISTICS_HEURISTICS_H

#include "pack/problem/problem.h"

/* Sorts the rows into the order in which a list packer takes them; ties go to the lower index. In arena. */
EBB_CHECKED ebb_status ebb_pack_sort(ebb_arena *arena, const ebb_pack_problem *problem,
                                     ebb_pack_order order, uint32_t **out);

/* ---- space ----------------------------------------------------------------------------------- */

typedef struct ebb_byte_range {
    int64_t lo, hi; /* bytes [lo, hi) */
} ebb_byte_range;

typedef struct ebb_byte_range_set {
    ebb_byte_range *at; /* ascending, apart */
    uint32_t n, cap;
} ebb_byte_range_set;

typedef struct ebb_byte_range_cursor {
    const ebb_byte_range *at, *end;
} ebb_byte_range_cursor;

#define EBB_PACK_SPACE_NODES                                                      \
    128 /* two per level of a tree of at most 2^29 leaves, twice, and two columns \
         */

/* A binary tree over the spans, cut at one height into equal blocks of time. See space.c. */
typedef struct ebb_pack_space {
    ebb_arena arena;
    uint32_t n_leaves;     /* a power of two */
    uint32_t block_leaves; /* a power of two */
    int64_t granule;
    int64_t useless;            /* bytes: holes up to this size are ignored */
    ebb_byte_range_set *any;    /* [2 * n_leaves] rows of the nodes at and below a node */
    ebb_byte_range_set *over;   /* [n_leaves] rows of an inner node below the blocks' height */
    ebb_byte_range_set *column; /* [n_leaves / block_leaves] rows that live through a whole block */
    /* the current row */
    uint32_t first, end;
    uint32_t inside[EBB_PACK_SPACE_NODES], n_inside;  /* nodes that make up its time */
    uint32_t above[EBB_PACK_SPACE_NODES], n_above;    /* nodes that it covers in part, lowest first */
    ebb_byte_range_cursor sets[EBB_PACK_SPACE_NODES]; /* what is placed in them */
    uint32_t n_sets;
    int64_t reach; /* everything below was scanned */
} ebb_pack_space;

EBB_CHECKED ebb_status ebb_pack_space_init(ebb_pack_space *space, ebb_env *env,
                                           const ebb_pack_problem *problem);
void ebb_pack_space_deinit(ebb_pack_space *space);
/* Starts a scan at the bottom of the spans [first, end). */
void ebb_pack_space_look(ebb_pack_space *space, uint32_t first, uint32_t end);
/* The next free range of at least size bytes; false when none is left; everything from space->reach on is
 * then free. */
bool ebb_pack_space_hole(ebb_pack_space *space, int64_t size, ebb_byte_range *hole);
/* Places bytes [offset, offset + size) in the scanned spans. */
EBB_CHECKED ebb_status ebb_pack_space_take(ebb_pack_space *space, int64_t offset, int64_t size);

/* ---- list packing ---------------------------------------------------------------------------- */

/* Returns the offset for the row whose spans are scanned. */
typedef int64_t (*ebb_pack_choose)(ebb_pack_space *space, const ebb_row *row);
int64_t ebb_choose_first(ebb_pack_space *space, const ebb_row *row);
int64_t ebb_choose_best(ebb_pack_space *space, const ebb_row *row);

/* The offset that row i, which has bytes, would get in space; and placing it there. */
int64_t ebb_pack_list_offset(ebb_pack_space *space, const ebb_pack_problem *problem, uint32_t i,
                             ebb_pack_choose choose);
EBB_CHECKED ebb_status ebb_pack_list_take(ebb_pack_space *space, const ebb_pack_problem *problem,
                                          uint32_t i, int64_t offset);

EBB_CHECKED ebb_status ebb_pack_list(ebb_env *env, const ebb_pack_problem *problem, ebb_pack_order order,
                                     ebb_pack_choose choose, int64_t *offsets, int64_t *height);
/* Packs the rows in a given order, which names each once. */
EBB_CHECKED ebb_status ebb_pack_in_order(ebb_env *env, const ebb_pack_problem *problem,
                                         const uint32_t *order, ebb_pack_choose choose, int64_t *offsets,
                                         int64_t *height);
/* The lowest packing of the first most_attempts (at least 1) of 10 attempts: both list packers over all
 * orders. Stops when one takes no more than `enough` bytes. */
EBB_CHECKED ebb_status ebb_pack_race(ebb_pack_workers *workers, const ebb_pack_problem *problem,
                                     uint32_t most_attempts, int64_t enough, int64_t *offsets,
                                     int64_t *height);
/* Packs by the skyline, forward or backward in time. Gaps stay unused. Not for fixed rows. */
EBB_CHECKED ebb_status ebb_pack_skyline(ebb_env *env, const ebb_pack_problem *problem, bool backward,
                                        int64_t *offsets, int64_t *height);
/* ---- joined rows ----------------------------------------------------------------------------- */

typedef struct ebb_join_node {
    uint32_t first, end; /* spans */
    int64_t size;        /* bytes */
    uint32_t a, b;       /* of a node that is not a row: b is on top of a, or after it in time */
    bool stack;
    bool undone; /* it was taken apart again */
} ebb_join_node;

typedef struct ebb_pack_join {
    ebb_arena arena;
    ebb_join_node *nodes;               /* the rows, then the nodes made from them */
    uint32_t *pieces;                   /* nodes that are part of no other */
    uint32_t n_rows, n_nodes, n_pieces; /* no pieces: nothing was joined */
} ebb_pack_join;

/* EBB_NO_MEMORY. deinit is safe after a failure. */
EBB_CHECKED ebb_status ebb_pack_join_init(ebb_pack_join *join, ebb_env *env,
                                          const ebb_pack_problem *problem);
void ebb_pack_join_deinit(ebb_pack_join *join);
/* Computes the rows' offsets from the pieces'. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_pack_join_spread(ebb_pack_join *join, const int64_t *of_pieces,
                                            int64_t *offsets);

/* Local search from a packing above the bound. offsets and height are replaced when it found a lower one.
 */
EBB_CHECKED ebb_status ebb_pack_improve(ebb_env *env, const ebb_pack_problem *problem, int64_t bound,
                                        int64_t *offsets, int64_t *height);
/* Makes a problem of the rows, packs it by a list, and frees it. */
EBB_CHECKED ebb_status ebb_pack_rows(ebb_env *env, const ebb_row *rows, uint32_t n, ebb_pack_order order,
                                     ebb_pack_choose choose, int64_t *offsets, int64_t *height);

#endif
