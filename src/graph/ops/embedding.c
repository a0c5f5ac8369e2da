/* embedding: the rows of a table that ids name, and its gradient: dy's rows added to the rows that they
 * came from, zero elsewhere. Rows with the same id are added in the order in which they stand, so that the
 * sum has the same bits whoever computes it. */
#include "graph/ops/rule.h"

static const ebb_attr_info embedding_grad_attrs[] = {
    [EBB_EMBEDDING_ROWS] = {.name = "rows",
                            .kind = EBB_ATTR_INT,
                            .count = 1,
                            .required = true,
                            .min = 1,
                            .max = EBB_ATTR_SIZE_MAX},
};

static ebb_status embedding_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return ebb_rule_infer(env, call, "table[v,c] ids:i32[n] -> [n,c]", out);
}

static ebb_status embedding_grad_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    ebb_rule r;
    ebb_status status = ebb_rule_match(env, call, "dy[n,c] ids:i32[n] -> [v,c]", &r);
    if (status) return status;
    ebb_rule_set(&r, 'v', call->attr[EBB_EMBEDDING_ROWS].i[0]);
    return ebb_rule_give(env, call, &r, out);
}

/* What is read of the table is as much as is written. */
static void embedding_cost(const ebb_call *call, ebb_cost *cost) {
    int64_t bytes = ebb_mul_saturated(ebb_type_bytes(&call->out[0]), 2);
    if (!ebb_add_i64(bytes, ebb_type_bytes(&call->in[1]), &bytes)) bytes = INT64_MAX;
    *cost = (ebb_cost){.bytes = bytes};
}

static void embedding_grad_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, ebb_type_count(&call->in[0]), 1);
}

static void embedding_grad_rule(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    const ebb_type *table = ebb_build_type(ebb_rw_builder(rw), ebb_rw_value(rw, node->in[0]));
    ebb_attr attr[] = {[EBB_EMBEDDING_ROWS] = {.i = {table->dim[0]}}};
    ebb_id in[] = {dout[0], ebb_rw_value(rw, node->in[1])};
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_embedding_grad, in, 2, attr)[0]);
}

const ebb_op_info ebb_op_embedding = {
    .name = "embedding",
    .code = EBB_OP_embedding,
    .family = EBB_FAMILY_OF(embedding),
    .min_in = 2,
    .max_in = 2,
    .n_out = 1,
    .effect = EBB_PURE,
    .infer = embedding_infer,
    .cost = embedding_cost,
    .grad = embedding_grad_rule,
};

const ebb_op_info ebb_op_embedding_grad = {
    .name = "embedding_grad",
    .code = EBB_OP_embedding_grad,
    .family = EBB_FAMILY_OF(embedding_grad),
    .min_in = 2,
    .max_in = 2,
    .n_out = 1,
    EBB_LIST(attrs, embedding_grad_attrs),
    .effect = EBB_PURE,
    .infer = embedding_grad_infer,
    .cost = embedding_grad_cost,
};
