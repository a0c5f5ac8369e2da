/* A lower bound on the time of every schedule within a budget. */
#include "sublinear/sublinear.h"

/* Every op that must run runs at least once, by its cheapest way: true whatever the budget. */
static int64_t unconditional_ns(const ebb_pgraph *graph) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < graph->n_ops; i++) {
        const ebb_pop *op = &graph->ops[i];
        int64_t least = op->time_ns;
        for (uint32_t k = 0; k < op->n_alternatives; k++)
            least = ebb_min_i64(least, op->alternatives[k].time_ns);
        if (!op->optional) sum += least;
    }
    return sum;
}

ebb_status ebb_certify(ebb_arena *arena, const ebb_pgraph *graph, int64_t budget_bytes, ebb_bound *out) {
    (void)arena;
    (void)budget_bytes;
    *out = (ebb_bound){unconditional_ns(graph), "each_op_once", NULL};
    return EBB_OK;
}
