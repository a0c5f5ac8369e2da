/* Where a graph may be cut: the ops across which at most one forward value is still to be read. */
#include "sublinear/space/space.h"

uint32_t ebb_gene_position(const ebb_space *space, uint32_t gene) {
    const ebb_gene *g = &space->genes[gene];
    return g->kind == EBB_GENE_GAP ? space->values[g->subject].producer : g->subject;
}

const uint32_t *ebb_space_joints(ebb_arena *arena, const ebb_space *space, uint32_t *n_joints) {
    const ebb_pgraph *graph = space->graph;
    uint32_t n = space->n_ops, open = 0;
    uint32_t *last = EBB_NEW(arena, uint32_t, graph->n_values), *ends = EBB_NEW(arena, uint32_t, n + 1);
    uint32_t *joints = EBB_NEW(arena, uint32_t, n + 1);
    *n_joints = 0;
    if (!last || !ends || !joints) return NULL;
    /* 0: nobody, for the first op reads nothing that is made. */
    memset(last, 0, graph->n_values * sizeof *last);
    memset(ends, 0, (n + 1) * sizeof *ends);
    for (uint32_t p = 0; p < n; p++)
        for (uint32_t k = 0; graph->ops[p].phase == EBB_FORWARD && k < graph->ops[p].n_in; k++)
            last[graph->ops[p].in[k]] = p;
    for (uint32_t p = 0; p <= n; p++) {
        open -= ends[p];
        if (open <= 1) joints[(*n_joints)++] = p;
        for (uint32_t k = 0; p < n && graph->ops[p].phase == EBB_FORWARD && k < graph->ops[p].n_out; k++) {
            uint32_t end = last[graph->ops[p].out[k]];
            if (end <= p) continue;
            open++;
            ends[end + 1]++; /* end < n */
        }
    }
    return joints;
}
