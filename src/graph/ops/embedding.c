/* embedding: the rows of a table that ids name, and its gradient: dy's rows added to the rows that they
 * came from, zero elsewhere. Rows with the same id are added in the order in which they come, so that the
 * sum has the same bits whoever computes it. */
#include "graph/ops/rule.h"

static const ebb_attr_info embedding_grad_attrs[] = {[EBB_EMBEDDING_ROWS] =
                                                         EBB_INTS_NEEDED("rows", 1, 1, EBB_ATTR_SIZE_MAX)};

static void embedding_grad_rule(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    const ebb_type *table = ebb_builder_type(ebb_rw_builder(rw), ebb_rw_value(rw, node->in[0]));
    ebb_attr attr[] = {[EBB_EMBEDDING_ROWS] = {.i = {table->dim[0]}}};
    ebb_id in[] = {dout[0], ebb_rw_value(rw, node->in[1])};
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_embedding_grad, in, 2, attr)[0]);
}

EBB_DEFINE(embedding, EBB_RULE(2, 1, "table[v,c] ids:i32[n] -> [n,c]"), .cost = ebb_cost_chosen,
           .grad = embedding_grad_rule, .places_on = 1);
EBB_DEFINE(embedding_grad, EBB_RULE(2, 1, "dy[n,c] ids:i32[n] -> [v,c] where v=rows"),
           EBB_LIST(attrs, embedding_grad_attrs), EBB_FLOPS(1), EBB_GRAD(embedding, "dy x1"));
