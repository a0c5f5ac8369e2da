/* graph/passes/passes.h: what every pass does with its rewriter (emit/emit.h): makes it, copies what stays,
 * seals. Private to the folder. */
#ifndef EBB_GRAPH_PASSES_PASSES_H
#define EBB_GRAPH_PASSES_PASSES_H

#include "graph/emit/emit.h"
#include "graph/op.h"

/* Deinit in every case, also after a failure. */
EBB_CHECKED ebb_status ebb_rw_init(ebb_rewriter *rw, ebb_env *env, const ebb_graph *old);
void ebb_rw_deinit(ebb_rewriter *rw);

void ebb_rw_copy_given(ebb_rewriter *rw, ebb_id value);
/* The node with the names of its results; its operands through map. */
void ebb_rw_copy_node(ebb_rewriter *rw, const ebb_node *node);
/* Copies every given value and visits every node, in the order of ids. */
typedef void ebb_rw_visit(ebb_rewriter *rw, const ebb_node *node, void *ctx);
void ebb_rw_each(ebb_rewriter *rw, ebb_rw_visit *visit, void *ctx);
/* Makes the outputs and the loss what their old ones became, and seals. */
EBB_CHECKED ebb_status ebb_rw_seal(ebb_rewriter *rw, ebb_graph **out);

/* In scratch: how many operands each old value is. NULL on a latched error. */
uint32_t *ebb_rw_reads(ebb_rewriter *rw);
/* May the value be written over by the last of its `readers`, there being no others? Not if it is given or
 * an output, or its bytes are another value's, too, that somebody else reads. */
bool ebb_rw_dies(const ebb_graph *old, const uint32_t *reads, ebb_id value, uint32_t readers);

/* May this bias_grad be made by the op, of that phase, that makes what it sums? Only of large f32 values:
 * what the sums hold meanwhile is little beside those. */
bool ebb_rw_sums_along(const ebb_graph *old, const ebb_node *bias_grad, ebb_phase phase);

/* The gradient that ebb_grad gave a param, by its name (%w.grad of %w), or EBB_NONE. names: of the old
 * graph. A model may use the name for a value of its own: that one is computed forward. */
ebb_id ebb_rw_gradient(ebb_rewriter *rw, const ebb_names *names, ebb_id param);
/* In scratch, for each old value the param whose gradient it is, or EBB_NONE. EBB_BAD_INPUT: there is none.
 */
EBB_CHECKED ebb_status ebb_rw_gradients(ebb_rewriter *rw, ebb_id **param);
/* In scratch, for each old node: had it better stand behind the backward, since it makes only what waits
 * until then, of less? waits: [old values] gradients; held: [old nodes] are not of the backward any more.
 * In the order of nodes, those up to a gradient's own make it. NULL on a latched error. */
bool *ebb_rw_late(ebb_rewriter *rw, const bool *waits, const bool *held);
/* ebb_rw_copy_node, but gradients get a suffix, so that their names are free. */
void ebb_rw_copy_renamed(ebb_rewriter *rw, const ebb_node *node, const ebb_id *param, const char *suffix);

#endif
