/* What scale_gradients.c and scale_held.c share. Private to the two. */
#ifndef EBB_GRAPH_PASSES_SCALE_GRADIENTS_H
#define EBB_GRAPH_PASSES_SCALE_GRADIENTS_H

#include "graph/passes/passes.h"

typedef struct scale_pass {
    ebb_rewriter rw;
    ebb_id
        *raw; /* [old values] of a param's gradient: the value that it is a cast of, or itself; EBB_NONE */
    uint32_t *n_reads; /* [old values] */
    bool *held;        /* [old nodes] made behind the backward */
    bool *late;        /* [old nodes] of the backward, made behind the rest of it (late.c) */
    uint32_t n_found;
    ebb_phase phase; /* of what stands behind: the update where gradients are sums over a step's parts */

    /* Of a step in parts, [old values]: the state in the new graph, whose copy stands in rw.map; the old
     * value that updates it last; of an update's result the old state that it is of. EBB_NONE. */
    ebb_id *whole, *last, *state;
} scale_pass;

/* Does the node update something of the model's own, which waits until it is known whether the step counts?
 * A sum over a step's parts does not: it means nothing in the next step. */
bool ebb_scale_holds(const ebb_graph *graph, const ebb_node *node);
/* Of a step in parts, behind the given values: a copy of each state that such a node updates. It begins as
 * the state in each step, and the parts read and update it. */
void ebb_scale_copy_states(scale_pass *s);
/* The model's own updates, if the step counts. */
void ebb_scale_update_held(scale_pass *s, ebb_id apply);

#endif
