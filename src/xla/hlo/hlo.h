/* hlo: the text of StableHLO for a planned step.
 *
 *     graph + plan -> func @main(givens, keys, step) -> (outputs, next params and states)
 *
 * Every step of the plan is emitted in the plan's order, each op by its row of hlo/table.c out of
 * operations that XLA has; ops without one are refused, all of them in one error. Nothing is run here, and
 * no plugin is known.
 *
 * Tensors have the shape of their bytes: rank 4 is n,h,w,c here too, so that what is fed needs no other
 * copy than for our own backends, and a view is a reshape.
 *
 * Order. XLA merges equal operations, so that a value computed a second time would be the first one, kept:
 * nothing gained. For a CPU it orders by data alone, and forgets optimization barriers before it does. So
 * every value that a run of repeated steps reads from outside of it is made to depend on the newest
 * gradient at the run's place in the plan; a weight's update on what backward has made of the weight, or
 * XLA copies all weights first; and the weights that backward turns round on what they are multiplied with
 * (order.c). For others a run waits behind one optimization barrier over these values and that gradient.
 *
 * Random ops draw our bits: the keys, one for each of them, and the step are arguments of the program.
 */
#ifndef EBB_XLA_HLO_HLO_H
#define EBB_XLA_HLO_HLO_H

#include "graph/op.h"
#include "plan/plan.h"

/* Where a logical axis of a tensor of this rank lies among its bytes. */
static inline uint32_t ebb_hlo_axis(uint32_t rank, int64_t axis) {
    static const uint32_t stored[] = {0, 3, 1, 2};
    return rank == 4 ? stored[axis] : (uint32_t)axis;
}

/* What a program takes and gives, by values of the graph. */
typedef struct ebb_hlo_signature {
    ebb_id *arguments; /* [n_arguments] given values; behind them, if n_keys is not 0, u64[n_keys] twice:
                        * the key of each random op's draws, and the step that it draws by */
    uint32_t n_arguments, n_keys;
    ebb_id *keyed; /* [n_keys] nodes */
    /* [n_results]: computed values of the role output; and params and states, by their given value, whose
     * next values they are: of these, updates[i] is the argument that is donated, else EBB_NONE. */
    ebb_id *results;
    uint32_t *updates;
    uint32_t n_results;
} ebb_hlo_signature;

typedef struct ebb_hlo_options {
    /* Every computed value is a result, no op is fused with another, and nothing is donated: to look at
     * them. */
    bool keep_all;
    bool by_barriers; /* repeated runs wait behind optimization barriers, and nothing else does */
    bool no_barriers; /* for comparison: order is XLA's, and what is repeated may be merged with what it
                       * repeats */
} ebb_hlo_options;

/* The program's text, and its signature in the arena. EBB_UNAVAILABLE: an op or a dtype that is not
 * emitted.
 */
EBB_CHECKED ebb_status ebb_hlo_emit(ebb_arena *arena, const ebb_graph *graph, const ebb_plan *plan,
                                    const ebb_hlo_options *options, ebb_text *text, ebb_hlo_signature *out);

#endif
