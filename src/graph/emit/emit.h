/* graph/emit/emit.h: defines the rewriter into which passes and ops' rules (.grad, .lower) emit nodes: an
 * old graph, a builder of the new one, and a map from old to new values. It knows what an op is, but no
 * particular op.
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

    /* Ops that no rule names. The pass sets them, because this folder does not know the list of ops. */
    const ebb_op_info *reshape; /* grad, lower: gives a value another name */
    const ebb_op_info *add;     /* grad: sums the parts of a gradient */
    /* grad: sums a gradient over the places to which its operand, of type due, was broadcast */
    ebb_id (*sum_to)(struct ebb_rewriter *rw, ebb_id id, const ebb_type *due);

    /* grad */
    bool *wants;      /* [old values] depends on a param */
    ebb_id *gradient; /* [old values] sum so far, in the new graph, or EBB_NONE */
} ebb_rewriter;

/* n zeroed elements in scratch; latches when memory is out. */
void *ebb_rw_scratch(ebb_rewriter *rw, size_t n, size_t size);
static inline bool ebb_rw_failed(const ebb_rewriter *rw) {
    return ebb_builder_status(rw->builder) != EBB_OK;
}
/* Emits a view of the value under another name. */
ebb_id ebb_rw_alias(ebb_rewriter *rw, ebb_id value, const char *name);
/* Joins "%w" and ".grad" in scratch; NULL on a latched error. */
const char *ebb_rw_join(ebb_rewriter *rw, const char *name, const char *suffix);

/* ---- for rules ------------------------------------------------------------------------------------- */

/* Ids in node are those of the graph being rewritten; ebb_rw_value gives the new graph's. */
ebb_builder *ebb_rw_builder(ebb_rewriter *rw);
ebb_id ebb_rw_value(ebb_rewriter *rw, ebb_id old);
/* Emits one node in the rewriter's phase; attr NULL: defaults. seed_key is the source node's. Returns the
 * results. */
const ebb_id *ebb_rw_emit(ebb_rewriter *rw, const ebb_op_info *op, const ebb_id *in, uint32_t n_in,
                          const ebb_attr *attr);
/* grad: whether input i of the node depends on a param. Emit no gradient that is not wanted. */
bool ebb_grad_wants(const ebb_rewriter *rw, const ebb_node *node, uint32_t i);
/* grad: whether this op makes inputs i and i + 1 of the node from its input x alone. Also true if none of
 * the three depends on a param, when it does not matter. */
bool ebb_grad_made_from(const ebb_rewriter *rw, const ebb_node *node, uint32_t i, uint32_t x,
                        const ebb_op_info *op);
/* grad: adds id to the gradient of input i, or its sum over the places that the input was broadcast to. */
void ebb_grad_give(ebb_rewriter *rw, const ebb_node *node, uint32_t i, ebb_id id);
/* grad: the gradient of input i so far, in the new graph; EBB_NONE: none. */
ebb_id ebb_grad_so_far(const ebb_rewriter *rw, const ebb_node *node, uint32_t i);
/* grad: replaces the gradient of input i by id, which includes the gradient so far. */
void ebb_grad_give_sum(ebb_rewriter *rw, const ebb_node *node, uint32_t i, ebb_id id);
/* lower: result i of the node is now id (which may be one of its inputs). */
void ebb_lower_give(ebb_rewriter *rw, const ebb_node *node, uint32_t i, ebb_id id);

#endif
