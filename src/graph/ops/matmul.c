/* matmul: g products of matrices, c = a b, where either operand may be stored transposed. Its gradients are
 * matmuls of the same kind, so that nothing is ever transposed in memory. */
#include "graph/ops/rule.h"

static const ebb_attr_info matmul_attrs[] = {[EBB_MATMUL_TRANSPOSE_A] = EBB_FLAG("transpose_a", 0),
                                             [EBB_MATMUL_TRANSPOSE_B] = EBB_FLAG("transpose_b", 0)};

static ebb_status matmul_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    static const char *const rules[2][2] = {
        {"a[g,m,k] b[g,k,n] -> [g,m,n]", "a[g,m,k] b[g,n,k] -> [g,m,n]"},
        {"a[g,k,m] b[g,k,n] -> [g,m,n]", "a[g,k,m] b[g,n,k] -> [g,m,n]"}};
    const bool a = call->attr[EBB_MATMUL_TRANSPOSE_A].i[0] != 0,
               b = call->attr[EBB_MATMUL_TRANSPOSE_B].i[0] != 0;
    return ebb_rule_infer(env, call, rules[a][b], NULL, out);
}

/* A multiply and an add for each g, m, n and k. */
static void matmul_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, ebb_mul_saturated(ebb_type_count(&call->in[0]), call->out[0].dim[2]), 2);
}

static ebb_id emit(ebb_rewriter *rw, ebb_id a, ebb_id b, bool transpose_a, bool transpose_b) {
    const ebb_attr attr[] = {
        [EBB_MATMUL_TRANSPOSE_A] = {.i = {transpose_a}}, [EBB_MATMUL_TRANSPOSE_B] = {.i = {transpose_b}}};
    ebb_id in[] = {a, b};
    return ebb_rw_emit(rw, &ebb_op_matmul, in, 2, attr)[0];
}

/* With A and B the operands as they multiply: dA = dC BT and dB = AT dC; where an operand is stored
 * transposed, so is its gradient: dAT = B dCT, dBT = dCT A. */
static void matmul_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    const bool ta = node->attr[EBB_MATMUL_TRANSPOSE_A].i[0] != 0,
               tb = node->attr[EBB_MATMUL_TRANSPOSE_B].i[0] != 0;
    const ebb_id a = ebb_rw_value(rw, node->in[0]), b = ebb_rw_value(rw, node->in[1]), dc = dout[0];
    if (ebb_grad_wants(rw, node, 1))
        ebb_grad_give(rw, node, 1, tb ? emit(rw, dc, a, true, ta) : emit(rw, a, dc, !ta, false));
    if (ebb_grad_wants(rw, node, 0))
        ebb_grad_give(rw, node, 0, ta ? emit(rw, b, dc, tb, true) : emit(rw, dc, b, false, !tb));
}

EBB_DEFINE(matmul, EBB_INFER(2, 2, 1, matmul_infer), EBB_LIST(attrs, matmul_attrs), .cost = matmul_cost,
           .grad = matmul_grad, EBB_RUNS(LOW));
