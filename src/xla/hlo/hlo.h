/* hlo: writes a planned step as StableHLO text.
 *
 *     graph + plan -> func @main(givens, keys, step) -> (outputs, next params and states)
 *
 * Every step of the plan is emitted in the plan's order, each op by its row of hlo/table.c, from XLA's
 * operations; all ops without a row are refused in one error. Nothing is run here, and no plugin is used.
 *
 * Tensors have the shape of their bytes: rank 4 is n,h,w,c here too, so feeding needs no more copies than
 * for our own backends, and a view is a reshape.
 *
 * Order. XLA merges equal operations, so a recomputed value would be the first one, kept: nothing gained.
 * On a CPU it orders by data dependences only, after removing optimization barriers. So each value that a
 * run of repeated steps reads from outside is made to depend on the newest gradient at the run's place in
 * the plan; a weight's update depends on the results that backward computes from the weight, or XLA would
 * first copy all weights; and weights that backward transposes depend on the operands that they are
 * multiplied with (order.c). On other devices a run waits behind one optimization barrier over these values
 * and that gradient.
 *
 * Random ops draw the same bits as ours: the keys, one for each of them, and the step are arguments of the
 * program.
 */
#ifndef EBB_XLA_HLO_HLO_H
#define EBB_XLA_HLO_HLO_H

#include "graph/op.h"
#include "plan/plan.h"

/* The storage axis of a logical axis of a tensor of this rank. */
static inline uint32_t ebb_hlo_axis(uint32_t rank, int64_t axis) {
    static const uint32_t stored[] = {0, 3, 1, 2};
    return rank == 4 ? stored[axis] : (uint32_t)axis;
}

/* A program's arguments and results, as values of the graph. */
typedef struct ebb_hlo_signature {
    ebb_id *arguments; /* [n_arguments] given values; if n_keys is not 0, followed by u64[n_keys] twice: the
                        * key of each random op's draws, and its step */
    uint32_t n_arguments, n_keys;
    ebb_id *keyed; /* [n_keys] nodes */
    /* [n_results]: computed outputs; and next values of params and states, named by the given value, for
     * which updates[i] is the donated argument, else EBB_NONE. */
    ebb_id *results;
    uint32_t *updates;
    uint32_t n_results;
} ebb_hlo_signature;

typedef struct ebb_hlo_options {
    /* For inspection: every computed value is a result, no op is fused with another, and nothing is
     * donated. */
    bool keep_all;
    bool by_barriers; /* repeated runs wait behind optimization barriers, without data dependences */
    bool no_barriers; /* for comparison: XLA chooses the order, and may merge repeated ops with the
                       * originals */
} ebb_hlo_options;

/* Writes the program's text, and its signature in the arena. EBB_UNAVAILABLE: an op or a dtype cannot be
 * emitted.
 */
EBB_CHECKED ebb_status ebb_hlo_emit(ebb_arena *arena, const ebb_graph *graph, const ebb_plan *plan,
                                    const ebb_hlo_options *options, ebb_text *text, ebb_hlo_signature *out);

#endif
