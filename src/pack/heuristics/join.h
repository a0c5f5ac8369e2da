/* pack/heuristics/join.h: holds joins of rows while they are made. Private to join*.c; join.c describes the
 * method. */
#ifndef EBB_PACK_HEURISTICS_JOIN_H
#define EBB_PACK_HEURISTICS_JOIN_H

#include "pack/heuristics/heuristics.h"

#define EBB_JOIN_MOST_PARTS 12 /* of a stack that is split */

typedef struct ebb_join_entry {
    uint32_t x, other; /* the step compared; another one, or 0 */
    int64_t size;
    uint32_t node;
} ebb_join_entry;

typedef struct ebb_joiner {
    ebb_pack_join *join;
    uint32_t *alive, n_alive;
    ebb_join_entry *ends, *begins; /* [rows] */
    bool *gone;                    /* [most_nodes] nodes that are part of another */
    uint32_t most_nodes;
} ebb_joiner;

/* Joins two nodes: a below b, or a before b. */
uint32_t ebb_join_make(ebb_joiner *j, uint32_t a, uint32_t b, bool stack);
/* The node that a node has become part of within this round. */
static inline uint32_t ebb_join_newest(const uint32_t *heir, uint32_t node) {
    while (heir[node] != EBB_NONE) node = heir[node];
    return node;
}

/* Splits a stack that is the end, or the beginning, of several nodes, and joins each with its part. */
void ebb_join_try_split(ebb_joiner *j, uint32_t *heir, const ebb_join_entry *ends, uint32_t n_ends,
                        const ebb_join_entry *begins, uint32_t n_begins);

#endif
