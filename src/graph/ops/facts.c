/* Costs and gradients that ops share: what EBB_FLOPS and EBB_GRAD of an op's facts stand for. */
#include "graph/ops/rule.h"

#include <assert.h>

/* ---- costs -------------------------------------------------------------------------------------- */

int64_t ebb_mul_saturated(int64_t a, int64_t b) {
    int64_t product;
    return ebb_mul_i64(a, b, &product) ? product : INT64_MAX;
}

void ebb_cost_set(const ebb_call *call, ebb_cost *cost, int64_t items, int64_t each) {
    int64_t bytes = 0;
    for (uint32_t i = 0; i < call->n_in; i++) {
        if (!ebb_add_i64(bytes, ebb_type_bytes(&call->in[i]), &bytes)) bytes = INT64_MAX;
    }
    for (uint32_t i = 0; i < call->n_out; i++) {
        if (!ebb_add_i64(bytes, ebb_type_bytes(&call->out[i]), &bytes)) bytes = INT64_MAX;
    }
    *cost = (ebb_cost){.flops = ebb_mul_saturated(items, each), .bytes = bytes};
}

void ebb_cost_by_elements(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, call->n_in ? ebb_type_count(&call->in[0]) : 0, call->op->flops);
}

void ebb_cost_by_results(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, ebb_type_count(&call->out[0]), call->op->flops);
}

void ebb_cost_moved(const ebb_call *call, ebb_cost *cost) {
    *cost = (ebb_cost){.bytes = ebb_mul_saturated(ebb_type_bytes(&call->out[0]), 2)};
}

void ebb_cost_chosen(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_moved(call, cost);
    if (!ebb_add_i64(cost->bytes, ebb_type_bytes(&call->in[1]), &cost->bytes)) cost->bytes = INT64_MAX;
}

void ebb_cost_nothing(const ebb_call *call, ebb_cost *cost) {
    (void)call;
    *cost = (ebb_cost){0};
}

/* ---- gradients ---------------------------------------------------------------------------------- */

/* The value that a word of `reads` names: "x1", "y", "dy". Steps behind it and one space. */
static ebb_id read_find(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout, const char **at) {
    const char *word = *at;
    const size_t n = strcspn(word, " ");
    const uint32_t i = word[n - 1] >= '0' && word[n - 1] <= '9' ? (uint32_t)(word[n - 1] - '0') : 0;
    *at = word + n + (word[n] == ' ');
    if (*word == 'd') return dout[i];
    assert(*word == 'x' || *word == 'y');
    return ebb_rw_value(rw, *word == 'x' ? node->in[i] : node->out[i]);
}

void ebb_grad_by_op(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    const ebb_op_info *op = node->op->grad_op;
    ebb_id in[EBB_MAX_OPERANDS];
    uint32_t n = 0;
    for (const char *at = node->op->grad_reads; *at; n++) in[n] = read_find(rw, node, dout, &at);
    const ebb_attr *attr = op->attrs == node->op->attrs ? node->attr : NULL;
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, op, in, n, attr)[0]);
}

void ebb_grad_zero_to(ebb_rewriter *rw, const ebb_node *node, uint32_t i) {
    if (ebb_grad_wants(rw, node, i))
        ebb_grad_give(rw, node, i, ebb_emit_fill(rw, ebb_rw_value(rw, node->in[i]), 0));
}

void ebb_grad_zero(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    (void)dout;
    for (uint32_t i = 0; i < node->n_in; i++) ebb_grad_zero_to(rw, node, i);
}

void ebb_grad_same(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout, uint32_t i) {
    ebb_id in[EBB_MAX_OPERANDS];
    if (!ebb_grad_wants(rw, node, i)) return;
    for (uint32_t k = 0; k < node->n_in; k++) in[k] = k == i ? dout[0] : ebb_rw_value(rw, node->in[k]);
    ebb_grad_give(rw, node, i, ebb_rw_emit(rw, node->op, in, node->n_in, node->attr)[0]);
}

void ebb_grad_by_jumps(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    ebb_grad_zero_to(rw, node, 0);
    ebb_grad_same(rw, node, dout, 1);
}

ebb_id ebb_emit_1(ebb_rewriter *rw, const ebb_op_info *op, ebb_id x) {
    return ebb_rw_emit(rw, op, &x, 1, NULL)[0];
}

ebb_id ebb_emit_2(ebb_rewriter *rw, const ebb_op_info *op, ebb_id a, ebb_id b) {
    const ebb_id in[] = {a, b};
    return ebb_rw_emit(rw, op, in, 2, NULL)[0];
}

ebb_id ebb_emit_fill(ebb_rewriter *rw, ebb_id x, double number) {
    const ebb_type *type = ebb_builder_type(ebb_rw_builder(rw), x);
    ebb_attr attr[] = {[EBB_FILL_SHAPE] = {.i = {0}},
                       [EBB_FILL_VALUE] = {.f = number},
                       [EBB_FILL_DTYPE] = {.i = {type->dtype}}};
    for (uint32_t d = 0; d < type->rank; d++) attr[EBB_FILL_SHAPE].i[d] = type->dim[d];
    return ebb_rw_emit(rw, &ebb_op_fill, NULL, 0, attr)[0];
}

ebb_id ebb_emit_cast(ebb_rewriter *rw, ebb_id x, ebb_dtype dtype) {
    const ebb_attr attr[] = {[EBB_CAST_TO] = {.i = {dtype}}};
    if (ebb_builder_type(ebb_rw_builder(rw), x)->dtype == dtype) return x;
    return ebb_rw_emit(rw, &ebb_op_cast, &x, 1, attr)[0];
}

ebb_id ebb_emit_wide(ebb_rewriter *rw, ebb_id x) {
    return ebb_emit_cast(rw, x, ebb_dtype_wide(ebb_builder_type(ebb_rw_builder(rw), x)->dtype));
}

ebb_id ebb_emit_sum(ebb_rewriter *rw, ebb_id x, uint32_t axes, bool keep) {
    const ebb_attr attr[] = {[EBB_REDUCE_AXIS] = ebb_axes_list(axes), [EBB_REDUCE_KEEP] = {.i = {keep}}};
    return ebb_rw_emit(rw, &ebb_op_reduce_sum, &x, 1, attr)[0];
}

ebb_id ebb_emit_rescale(ebb_rewriter *rw, ebb_id x, double times, double plus) {
    const ebb_attr attr[] = {[EBB_RESCALE_TIMES] = {.f = times}, [EBB_RESCALE_PLUS] = {.f = plus}};
    return ebb_rw_emit(rw, &ebb_op_rescale, &x, 1, attr)[0];
}

ebb_id ebb_emit_number(ebb_rewriter *rw, ebb_id x, double number) {
    const ebb_attr attr[] = {
        [EBB_FILL_SHAPE] = {.i = {0}},
        [EBB_FILL_VALUE] = {.f = number},
        [EBB_FILL_DTYPE] = {.i = {ebb_builder_type(ebb_rw_builder(rw), x)->dtype}},
    };
    return ebb_rw_emit(rw, &ebb_op_fill, NULL, 0, attr)[0];
}
