/* Algebra: takes a graph; gives one in which what is an identity of real numbers is taken as one. It
 * changes bits, and values that are not finite: 0/0 is 1. All values stay, under their names. Requires
 * nothing; before ebb_fuse and ebb_grad, so that gradients are of what is there then. Cost: O(graph).
 *
 *     div(y, y)                 1
 *     log(exp(x))               x
 *     log(add(exp(a), exp(b)))  max(a, b) + log1p(exp(-|a - b|)), which does not overflow */
#include "graph/passes/passes.h"

/* The node that makes an old value, if it is of the op. */
static const ebb_node *made_by(const ebb_rewriter *rw, ebb_id value, const ebb_op_info *op) {
    const ebb_id producer = rw->old->values[value].producer;
    const ebb_node *node = producer == EBB_NONE ? NULL : &rw->old->nodes[producer];
    return node && node->op == op ? node : NULL;
}

static ebb_id emit_1(ebb_rewriter *rw, const ebb_op_info *op, ebb_id x) {
    return ebb_rw_emit(rw, op, &x, 1, NULL)[0];
}

static ebb_id emit_2(ebb_rewriter *rw, const ebb_op_info *op, ebb_id a, ebb_id b) {
    return ebb_rw_emit(rw, op, (const ebb_id[]){a, b}, 2, NULL)[0];
}

static ebb_id ones(ebb_rewriter *rw, const ebb_node *node) {
    const ebb_type *type = &rw->old->values[node->out[0]].type;
    ebb_attr attr[] = {[EBB_FILL_SHAPE] = {.i = {0}},
                       [EBB_FILL_VALUE] = {.f = 1},
                       [EBB_FILL_DTYPE] = {.i = {type->dtype}}};
    for (uint32_t i = 0; i < type->rank; i++) attr[EBB_FILL_SHAPE].i[i] = type->dim[i];
    return ebb_rw_emit(rw, &ebb_op_fill, NULL, 0, attr)[0];
}

/* x of log(exp(x)), and the sum's logarithm; EBB_NONE: it is neither. */
static ebb_id logarithm(ebb_rewriter *rw, const ebb_node *node) {
    const ebb_node *inner = made_by(rw, node->in[0], &ebb_op_exp);
    if (inner) return rw->map[inner->in[0]];
    const ebb_node *sum = made_by(rw, node->in[0], &ebb_op_add);
    const ebb_node *left = sum ? made_by(rw, sum->in[0], &ebb_op_exp) : NULL;
    const ebb_node *right = sum ? made_by(rw, sum->in[1], &ebb_op_exp) : NULL;
    if (!left || !right) return EBB_NONE;
    const ebb_id a = rw->map[left->in[0]], b = rw->map[right->in[0]];
    const ebb_id apart = emit_1(rw, &ebb_op_abs, emit_2(rw, &ebb_op_sub, a, b));
    const ebb_id rest = emit_1(rw, &ebb_op_log1p, emit_1(rw, &ebb_op_exp, emit_1(rw, &ebb_op_neg, apart)));
    return emit_2(rw, &ebb_op_add, emit_2(rw, &ebb_op_maximum, a, b), rest);
}

static void visit(ebb_rewriter *rw, const ebb_node *node, void *ctx) {
    ebb_id same = EBB_NONE;
    (void)ctx;
    rw->node = node;
    rw->phase = node->phase;
    if (node->op == &ebb_op_div && node->in[0] == node->in[1]) same = ones(rw, node);
    if (node->op == &ebb_op_log) same = logarithm(rw, node);
    if (same == EBB_NONE)
        ebb_rw_copy_node(rw, node);
    else if (!ebb_rw_failed(rw))
        rw->map[node->out[0]] = ebb_rw_alias(rw, same, rw->old->values[node->out[0]].name);
}

ebb_status ebb_algebra(ebb_env *env, const ebb_graph *graph, ebb_graph **out) {
    *out = NULL;
    ebb_rewriter rw;
    ebb_status status = ebb_rw_init(&rw, env, graph);
    if (!status) {
        rw.reshape = &ebb_op_reshape;
        ebb_rw_each(&rw, visit, NULL);
        status = ebb_rw_seal(&rw, out);
    }
    ebb_rw_deinit(&rw);
    return status;
}
