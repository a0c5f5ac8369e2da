/* graph/passes/groups.h: what the pass pointwise knows: which nodes vanish into which, and what becomes of
 * them. Private to pointwise.c, which decides, and groups.c, which emits. */
#ifndef EBB_GRAPH_PASSES_GROUPS_H
#define EBB_GRAPH_PASSES_GROUPS_H

#include "graph/passes/passes.h"

/* A node that is pointwise, with those that vanished into it. */
typedef struct ebb_group {
    uint32_t n_members, n_in;
    ebb_id member[EBB_FUSED_STEPS]; /* nodes, ascending: itself is the last */
    ebb_id in[EBB_FUSED_OPERANDS];
    bool channel[EBB_FUSED_OPERANDS]; /* lies along the channels */
    ebb_id at;                        /* the node in whose place it runs */
} ebb_group;

typedef struct ebb_group_reader {
    ebb_id node;
    uint32_t next; /* EBB_NONE: the last */
} ebb_group_reader;

typedef struct ebb_grouper {
    ebb_rewriter rw;
    const ebb_graph *old;
    ebb_id *root;       /* [old values] whose bytes it is */
    ebb_id *updater;    /* [old values] of roots: the node that updates it, or EBB_NONE */
    ebb_group **groups; /* [old nodes] NULL: not pointwise */
    bool *gone;         /* [old nodes] vanished into its readers */
    uint32_t *seen;     /* [old nodes] as a reader of the node that is looked at: its number + 1 */
    ebb_id *emit;       /* [old nodes] the group that runs in its place, or EBB_NONE */
    ebb_id *sum;        /* [old nodes] the bias_grad that its group makes, too, or EBB_NONE */
    bool *is_summed;    /* [old nodes] is such a bias_grad */
    uint32_t *readers;  /* [old values] its first link; some are out of date: see reads */
    EBB_ARRAY(ebb_group_reader) links;
} ebb_grouper;

/* Is the value read by a node that has not vanished, or by its group? */
bool ebb_group_reads(const ebb_grouper *f, ebb_id node, ebb_id value);
/* Is operand i a number that is broadcast wherever the group reads it? It is made inside. */
bool ebb_group_is_number(const ebb_grouper *f, const ebb_group *g, uint32_t i);
/* Emits everything: groups of several as fused, with numbers that nobody else reads inside. */
void ebb_groups_emit(ebb_grouper *f);

#endif
