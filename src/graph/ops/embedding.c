/* embedding: the rows of a table that ids name, and its gradient: dy's rows added to the rows that they
 * came from, zero elsewhere. Rows with the same id are added in the order in which they come, so that the
 * sum has the same bits whoever computes it.
 *
 * Where another gradient of the table is there already (a classifier's that shares it, another lookup's),
 * embedding_grad_onto adds such sums to it: each, rounded to the dtype as in embedding_grad, to base's row,
 * the rest of which is base as it is. So its bits are those of base + embedding_grad, but for a -0 in a row
 * that no id names, which stays one. Over base, it moves the rows that ids name and no table. */
#include "graph/ops/rule.h"

static const ebb_attr_info embedding_grad_attrs[] = {[EBB_EMBEDDING_ROWS] =
                                                         EBB_INTS_NEEDED("rows", 1, 1, EBB_ATTR_SIZE_MAX)};

static void embedding_grad_rule(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    const ebb_type *table = ebb_builder_type(ebb_rw_builder(rw), ebb_rw_value(rw, node->in[0]));
    ebb_attr attr[] = {[EBB_EMBEDDING_ROWS] = {.i = {table->dim[0]}}};
    ebb_id in[] = {dout[0], ebb_rw_value(rw, node->in[1]), ebb_grad_so_far(rw, node, 0)};
    if (in[2] == EBB_NONE)
        ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_embedding_grad, in, 2, attr)[0]);
    else
        ebb_grad_give_sum(rw, node, 0, ebb_rw_emit(rw, &ebb_op_embedding_grad_onto, in, 3, NULL)[0]);
}

static void embedding_grad_onto_rule(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    ebb_grad_by_op(rw, node, dout); /* by dy */
    ebb_grad_give(rw, node, 2, dout[0]);
}

/* Over base: dy and the rows that ids name are read, and these written. */
static void embedding_grad_onto_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, ebb_type_count(&call->in[0]), 1);
    cost->bytes = ebb_mul_saturated(ebb_type_bytes(&call->in[0]), 3);
    if (!ebb_add_i64(cost->bytes, ebb_type_bytes(&call->in[1]), &cost->bytes)) cost->bytes = INT64_MAX;
}

EBB_DEFINE(embedding, EBB_RULE(2, 1, "table[v,c] ids:i32[n] -> [n,c]"), .cost = ebb_cost_chosen,
           .grad = embedding_grad_rule, .places_on = 1);
EBB_DEFINE(embedding_grad, EBB_RULE(2, 1, "dy[n,c] ids:i32[n] -> [v,c] where v=rows"),
           EBB_LIST(attrs, embedding_grad_attrs), EBB_FLOPS(1), EBB_GRAD(embedding, "dy x1"));
EBB_DEFINE(embedding_grad_onto, EBB_RULE(3, 1, "dy[n,c] ids:i32[n] base[v,c] -> [v,c]"), EBB_OVER({0, 2}),
           .cost = embedding_grad_onto_cost, .grad = embedding_grad_onto_rule, .grad_op = &ebb_op_embedding,
           .grad_reads = "dy x1");
