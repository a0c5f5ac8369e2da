/* graph/emit/emit.h: what a pass and the rules of ops (.grad, .lower) emit nodes into: an old graph, a
 * builder of the new one, and which new value an old one became. It knows what an op is, and none of them.
 */
#ifndef EBB_GRAPH_EMIT_EMIT_H
#define EBB_GRAPH_EMIT_EMIT_H

#include "graph/ir/ir.h"

typedef struct ebb_rewriter {
    ebb_env *env;
    const ebb_graph *old;
    ebb_builder *builder; /* NULL once it is sealed */
    ebb_arena scratch;    /* ends with the pass */
    ebb_id *map;          /* [old values] in the new graph; EBB_NONE: not there (yet) */

    /* While a rule runs. */
    const ebb_node *node;
    ebb_phase phase;

    /* Ops that no rule asks for. The pass sets them: which ops there are is not known down here. */
    const ebb_op_info *reshape; /* grad, lower: gives a value another name */
    const ebb_op_info *add;     /* grad: sums the parts of a gradient */
    /* grad: the sum of a gradient over the places to which its operand, of type due, was broadcast */
    ebb_id (*sum_to)(struct ebb_rewriter *rw, ebb_id id, const ebb_type *due);

    /* grad */
    bool *wants;      /* [old values] leads from a param */
    ebb_id *gradient; /* [old values] sum so far, in the new graph, or EBB_NONE */
} ebb_rewriter;

/* Scratch of n elements, all bytes 0; latches when memory is out. */
void *ebb_rw_scratch(ebb_rewriter *rw, size_t n, size_t size);
static inline bool ebb_rw_failed(const ebb_rewriter *rw) {
    return ebb_builder_status(rw->builder) != EBB_OK;
}
/* A value of the same bytes under a name of its own: a view. */
ebb_id ebb_rw_alias(ebb_rewriter *rw, ebb_id value, const char *name);
/* "%w" and ".grad" in scratch; NULL on a latched error. */
const char *ebb_rw_join(ebb_rewriter *rw, const char *name, const char *suffix);

/* ---- for rules ------------------------------------------------------------------------------------- */

/* Ids in node are those of the graph being rewritten; ebb_rw_value gives the new graph's. */
ebb_builder *ebb_rw_builder(ebb_rewriter *rw);
ebb_id ebb_rw_value(ebb_rewriter *rw, ebb_id old);
/* Emits one node in the rewriter's phase; attr NULL: defaults. seed_key is the source node's. Returns the
 * results. */
const ebb_id *ebb_rw_emit(ebb_rewriter *rw, const ebb_op_info *op, const ebb_id *in, uint32_t n_in,
                          const ebb_attr *attr);
/* grad: does input i of the node lead to a param? Do not compute what nobody wants. */
bool ebb_grad_wants(const ebb_rewriter *rw, const ebb_node *node, uint32_t i);
/* grad: does this op make inputs i and i + 1 of the node from its input x alone? Also true where none of
 * the three leads to a param: it does not matter then. */
bool ebb_grad_made_from(const ebb_rewriter *rw, const ebb_node *node, uint32_t i, uint32_t x,
                        const ebb_op_info *op);
/* grad: adds id to the gradient of input i, or its sum over the places that the input was broadcast to. */
void ebb_grad_give(ebb_rewriter *rw, const ebb_node *node, uint32_t i, ebb_id id);
/* lower: result i of the node is now id (which may be one of its inputs). */
void ebb_lower_give(ebb_rewriter *rw, const ebb_node *node, uint32_t i, ebb_id id);

#endif
