/* graph/passes/passes.h: what every pass stands on: an old graph, a builder of the new one, and which new
 * value an old one became. Private to the folder; rules of ops see the part in op.h. */
#ifndef EBB_GRAPH_PASSES_PASSES_H
#define EBB_GRAPH_PASSES_PASSES_H

#include "graph/ir/ir.h"

struct ebb_rewriter {
    ebb_env *env;
    const ebb_graph *old;
    ebb_builder *builder; /* NULL once it is sealed */
    ebb_arena scratch;    /* ends with the pass */
    ebb_id *map;          /* [old values] in the new graph; EBB_NONE: not there (yet) */

    /* While a rule runs. */
    const ebb_node *node;
    ebb_phase phase;

    /* grad */
    bool *wants;      /* [old values] leads from a param */
    ebb_id *gradient; /* [old values] sum so far, in the new graph, or EBB_NONE */
};

/* Deinit in every case, also after a failure. */
EBB_CHECKED ebb_status ebb_rw_init(ebb_rewriter *rw, ebb_env *env, const ebb_graph *old);
void ebb_rw_deinit(ebb_rewriter *rw);
/* Scratch of n elements, all bytes 0; latches when memory is out. */
void *ebb_rw_scratch(ebb_rewriter *rw, size_t n, size_t size);
static inline bool ebb_rw_failed(const ebb_rewriter *rw) {
    return ebb_builder_status(rw->builder) != EBB_OK;
}

void ebb_rw_copy_given(ebb_rewriter *rw, ebb_id value);
/* The node with the names of its results; its operands through map. */
void ebb_rw_copy_node(ebb_rewriter *rw, const ebb_node *node);
/* Copies every given value and visits every node, in the order of ids. */
typedef void ebb_rw_visit(ebb_rewriter *rw, const ebb_node *node, void *ctx);
void ebb_rw_each(ebb_rewriter *rw, ebb_rw_visit *visit, void *ctx);
/* Makes the outputs and the loss what their old ones became, and seals. */
EBB_CHECKED ebb_status ebb_rw_seal(ebb_rewriter *rw, ebb_graph **out);

/* A value of the same bytes under a name of its own: a view. */
ebb_id ebb_rw_alias(ebb_rewriter *rw, ebb_id value, const char *name);
/* "%w" and ".grad" in scratch; NULL on a latched error. */
const char *ebb_rw_join(ebb_rewriter *rw, const char *name, const char *suffix);
/* The gradient that ebb_grad gave a param, by its name (%w.grad of %w), or EBB_NONE. names: of the old
 * graph. A model may use the name for a value of its own: that one is computed forward. */
ebb_id ebb_rw_gradient(ebb_rewriter *rw, const ebb_names *names, ebb_id param);

#endif
