/* space: the placed rows, kept so that the holes in any time are found without looking at them all.
 *
 * A binary tree over the spans of time (a segment tree; Bentley, "Solutions to Klee's rectangle problems",
 * 1977). At one height its nodes are the *blocks*, some dozens. What is placed is kept as sets of byte
 * ranges, each the union of some rows: packed rows touch, so the union of a thousand rows is a few ranges.
 *
 *     any     of a block or a node above it: all rows that touch its time
 *     column  of a block: the rows that live through all of it
 *     any     of a node below the blocks: rows that begin or end in its block, and touch its time
 *     over    of a node below the blocks: rows that begin or end in its block, and have the node for their
 * own
 *
 * A row's own nodes are the O(log n) that exactly make up its time. Two rows share a span exactly when a
 * node of one is the same as a node of the other, or above it. So what stands in the way of a row is: any
 * of its own nodes, over of those above them, and the columns of the blocks in which it begins and ends.
 *
 *     blocks    |       A       |       B       |       C       |   a row from the middle of A to the end
 * of B meets row               +-----------------------+                   any[right half of A], any[B],
 * over[A], column[A], column[B]
 *
 * cost: a look and its holes O(log n) sets and the ranges walked; a take a set a block and O(log n) below
 * them, each a binary search and a move of its ranges. */
#include "pack/heuristics/heuristics.h"

#define MAX_BLOCKS 64 /* more make a long row dearer to take and every row cheaper to look at */

ebb_status ebb_pack_space_init(ebb_pack_space *space, ebb_env *env, const ebb_pack_problem *problem) {
    memset(space, 0, sizeof *space);
    ebb_arena_init(&space->arena, env);
    space->granule = problem->granule;
    space->useless = problem->smallest - 1;
    space->n_leaves = 1;
    while (space->n_leaves < problem->n_spans) space->n_leaves *= 2;
    space->block_leaves = space->n_leaves < MAX_BLOCKS ? 1 : space->n_leaves / MAX_BLOCKS;
    space->any = EBB_NEW(&space->arena, ebb_byte_range_set, 2 * (size_t)space->n_leaves);
    space->over = EBB_NEW(&space->arena, ebb_byte_range_set, space->n_leaves);
    space->column = EBB_NEW(&space->arena, ebb_byte_range_set, space->n_leaves / space->block_leaves);
    return !space->over || !space->any || !space->column ? EBB_NO_MEMORY : EBB_OK;
}

void ebb_pack_space_deinit(ebb_pack_space *space) {
    ebb_arena_deinit(&space->arena);
}

/* ---- looking --------------------------------------------------------------------------------- */

static void add_set(ebb_pack_space *space, const ebb_byte_range_set *set) {
    if (set->n > 0) space->sets[space->n_sets++] = (ebb_byte_range_cursor){set->at, set->at + set->n};
}

/* Nodes are numbered from the root down, the blocks' own height from n_leaves / block_leaves on. */
static bool below_blocks(const ebb_pack_space *space, uint32_t node) {
    return node >= 2 * (space->n_leaves / space->block_leaves);
}

static void find_nodes(ebb_pack_space *space, uint32_t first, uint32_t end) {
    uint64_t leaves = space->n_leaves, lo = first + leaves, hi = end + leaves;
    space->n_inside = space->n_above = 0;
    for (; lo < hi; lo /= 2, hi /= 2) {
        if (lo % 2 == 1) space->inside[space->n_inside++] = (uint32_t)lo++;
        if (hi % 2 == 1) space->inside[space->n_inside++] = (uint32_t)--hi;
    }
    /* the ancestors of those nodes are the ancestors of the two outermost leaves that stick out */
    uint64_t a = (first + leaves) / 2, b = (end - 1 + leaves) / 2;
    for (uint32_t height = 1; a >= 1; height++, a /= 2, b /= 2) {
        if ((a << height) < first + leaves || ((a + 1) << height) > end + leaves)
            space->above[space->n_above++] = (uint32_t)a;
        if (b != a && ((b << height) < first + leaves || ((b + 1) << height) > end + leaves))
            space->above[space->n_above++] = (uint32_t)b;
    }
}

/* A block that is touched but not lived through. */
static void add_column(ebb_pack_space *space, uint32_t block) {
    uint32_t first = block * space->block_leaves;
    if (first < space->first || first + space->block_leaves > space->end)
        add_set(space, &space->column[block]);
}

void ebb_pack_space_look(ebb_pack_space *space, uint32_t first, uint32_t end) {
    uint32_t first_block = first / space->block_leaves, last_block = (end - 1) / space->block_leaves;
    space->first = first;
    space->end = end;
    space->n_sets = 0;
    space->reach = 0;
    find_nodes(space, first, end);
    for (uint32_t i = 0; i < space->n_inside; i++) add_set(space, &space->any[space->inside[i]]);
    for (uint32_t i = 0; i < space->n_above && below_blocks(space, space->above[i]); i++)
        add_set(space, &space->over[space->above[i]]);
    add_column(space, first_block);
    if (last_block != first_block) add_column(space, last_block);
}

/* To the first range that ends above reach, by doubling steps. */
static void skip_below(ebb_byte_range_cursor *set, int64_t reach) {
    while (set->at < set->end && set->at->hi <= reach) {
        size_t step = 1;
        while (step < (size_t)(set->end - set->at) && set->at[step].hi <= reach) {
            set->at += step;
            step *= 2;
        }
        set->at++;
    }
}

/* The sets take turns: each moves reach up to its own next hole that is large enough, until all of them
 * agree on one place. */
bool ebb_pack_space_hole(ebb_pack_space *space, int64_t size, ebb_byte_range *hole) {
    int64_t reach = space->reach;
    for (uint32_t i = 0, agreed = 0; agreed < space->n_sets; i = i + 1 < space->n_sets ? i + 1 : 0) {
        ebb_byte_range_cursor *set = &space->sets[i];
        skip_below(set, reach);
        agreed++;
        if (set->at == set->end || set->at->lo - reach >= size) continue;
        while (set->at < set->end && set->at->lo - reach < size) reach = (set->at++)->hi;
        agreed = 1;
    }
    *hole = (ebb_byte_range){reach, INT64_MAX};
    space->reach = reach;
    for (uint32_t i = 0; i < space->n_sets; i++)
        if (space->sets[i].at < space->sets[i].end) hole->hi = ebb_min_i64(hole->hi, space->sets[i].at->lo);
    if (hole->hi == INT64_MAX) return false;
    space->reach = hole->hi;
    return true;
}

/* ---- taking ---------------------------------------------------------------------------------- */

static bool set_grow(ebb_arena *arena, ebb_byte_range_set *set) {
    uint32_t cap = set->cap == 0 ? 4 : set->cap * 2;
    ebb_byte_range *at = EBB_NEW(arena, ebb_byte_range, cap);
    if (!at) return false;
    if (set->n > 0) memcpy(at, set->at, set->n * sizeof *at);
    set->at = at;
    set->cap = cap;
    return true;
}

/* The union with new; ranges that leave only a useless hole between them become one. */
static bool set_add(ebb_pack_space *space, ebb_byte_range_set *set, ebb_byte_range new) {
    uint32_t lo = 0, hi = set->n;
    while (lo < hi) { /* the first range that is not wholly below */
        uint32_t middle = lo + (hi - lo) / 2;
        if (set->at[middle].hi + space->useless < new.lo)
            lo = middle + 1;
        else
            hi = middle;
    }
    uint32_t end = lo;
    for (; end < set->n && set->at[end].lo <= new.hi + space->useless; end++) {
        new.lo = ebb_min_i64(new.lo, set->at[end].lo);
        new.hi = ebb_max_i64(new.hi, set->at[end].hi);
    }
    if (end == lo) {
        if (set->n == set->cap && !set_grow(&space->arena, set)) return false;
        memmove(set->at + lo + 1, set->at + lo, (set->n - lo) * sizeof *set->at);
        set->n++;
    } else if (end - lo > 1) {
        memmove(set->at + lo + 1, set->at + end, (set->n - end) * sizeof *set->at);
        set->n -= end - lo - 1;
    }
    set->at[lo] = new;
    return true;
}

/* The nodes below the blocks: the row's own, and those above them. */
static bool take_below_blocks(ebb_pack_space *space, ebb_byte_range bytes) {
    for (uint32_t i = 0; i < space->n_inside; i++) {
        uint32_t node = space->inside[i];
        if (!below_blocks(space, node)) continue;
        if (!set_add(space, &space->any[node], bytes)) return false;
        if (node < space->n_leaves && !set_add(space, &space->over[node], bytes)) return false;
    }
    for (uint32_t i = 0; i < space->n_above && below_blocks(space, space->above[i]); i++)
        if (!set_add(space, &space->any[space->above[i]], bytes)) return false;
    return true;
}

/* The blocks that the row touches, all above them, and the columns that it goes through. */
static bool take_blocks(ebb_pack_space *space, ebb_byte_range bytes) {
    uint32_t leaves = space->block_leaves, n_blocks = space->n_leaves / leaves;
    uint32_t lo = space->first / leaves + n_blocks, hi = (space->end - 1) / leaves + n_blocks;
    for (; lo >= 1; lo /= 2, hi /= 2)
        for (uint32_t node = lo; node <= hi; node++)
            if (!set_add(space, &space->any[node], bytes)) return false;
    if (leaves == 1) return true; /* no row can touch a block in part */
    for (uint32_t b = (space->first + leaves - 1) / leaves; b < space->end / leaves; b++)
        if (!set_add(space, &space->column[b], bytes)) return false;
    return true;
}

ebb_status ebb_pack_space_take(ebb_pack_space *space, int64_t offset, int64_t size) {
    ebb_byte_range bytes = {offset / space->granule * space->granule,
                            ebb_align_up(offset + size, space->granule)};
    return take_below_blocks(space, bytes) && take_blocks(space, bytes) ? EBB_OK : EBB_NO_MEMORY;
}
