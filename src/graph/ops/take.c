/* take: x's places along an axis by indices of any shape, which come in the place of that axis; pick: x's
 * one place along an axis for each of the others. Indices below 0 count from the end. Their gradients put
 * dy back where it came from, zero elsewhere; take's adds what one index took in the order of the indices'
 * bytes, so that the sum has the same bits whoever computes it. */
#include "graph/ops/rule.h"

#define AXIS EBB_INTS_NEEDED("axis", 1, 0, EBB_MAX_RANK - 1)

static ebb_status index_check(ebb_env *env, const ebb_call *call) {
    char text[EBB_TYPE_TEXT];
    if (call->in[1].dtype == EBB_I32) return EBB_OK;
    return ebb_fail(env, EBB_BAD_INPUT, "%s: i %s must be i32", call->op->name,
                    ebb_type_text(&call->in[1], text));
}

/* Of take and pick: x must have the axis, and not too many places along it. */
static ebb_status taken_check(ebb_env *env, const ebb_call *call) {
    const ebb_type *x = &call->in[0];
    const int64_t axis = call->attr[EBB_TAKE_AXIS].i[0];
    char text[EBB_TYPE_TEXT];
    if (axis < x->rank && x->dim[axis] <= INT32_MAX) return index_check(env, call);
    return ebb_fail(env, EBB_BAD_INPUT, "%s: x %s must have an axis %lld, of fewer than 2^31 places",
                    call->op->name, ebb_type_text(x, text), (long long)axis);
}

/* Of their gradients. */
static ebb_status given_check(ebb_env *env, const ebb_call *call) {
    char text[EBB_TYPE_TEXT];
    if (ebb_dtype_real(call->in[0].dtype)) return index_check(env, call);
    return ebb_fail(env, EBB_BAD_INPUT, "%s: dy %s must be f32, f64, f16 or bf16", call->op->name,
                    ebb_type_text(&call->in[0], text));
}

/* x's or dx's rank; EBB_BAD_INPUT when it is too large. */
static ebb_status rank_check(ebb_env *env, const ebb_call *call, uint32_t rank) {
    char a[EBB_TYPE_TEXT], b[EBB_TYPE_TEXT];
    if (rank <= EBB_MAX_RANK) return EBB_OK;
    return ebb_fail(env, EBB_BAD_INPUT, "%s: %s and i %s give rank %u, but at most %d is possible",
                    call->op->name, ebb_type_text(&call->in[0], a), ebb_type_text(&call->in[1], b), rank,
                    EBB_MAX_RANK);
}

/* ---- take --------------------------------------------------------------------------------------- */

static ebb_status take_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    const ebb_type *x = &call->in[0], *i = &call->in[1];
    const uint32_t axis = (uint32_t)call->attr[EBB_TAKE_AXIS].i[0];
    ebb_status status = taken_check(env, call);
    if (!status) status = rank_check(env, call, x->rank - 1 + i->rank);
    if (status) return status;
    uint32_t of_x[EBB_MAX_RANK], of_i[EBB_MAX_RANK];
    ebb_take_along(axis, i->rank, of_x, of_i);
    *out = (ebb_type){.dtype = x->dtype, .rank = x->rank - 1 + i->rank};
    for (uint32_t d = 0; d < out->rank; d++)
        out->dim[d] = of_i[d] == EBB_NONE ? x->dim[of_x[d]] : i->dim[of_i[d]];
    return ebb_rule_result(env, call, out);
}

static ebb_status take_grad_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    const ebb_type *dy = &call->in[0], *i = &call->in[1];
    const uint32_t axis = (uint32_t)call->attr[EBB_TAKE_AXIS].i[0];
    ebb_status status = given_check(env, call);
    if (status) return status;
    bool fits = axis + i->rank <= dy->rank;
    for (uint32_t d = 0; d < i->rank && fits; d++) fits = dy->dim[axis + d] == i->dim[d];
    if (!fits) {
        char a[EBB_TYPE_TEXT], b[EBB_TYPE_TEXT];
        return ebb_fail(env, EBB_BAD_INPUT, "%s: dy %s must have the sizes of i %s from axis %u on",
                        call->op->name, ebb_type_text(dy, a), ebb_type_text(i, b), axis);
    }
    status = rank_check(env, call, dy->rank - i->rank + 1);
    if (status) return status;
    uint32_t of_dy[EBB_MAX_RANK];
    ebb_taken_along(axis, i->rank, of_dy);
    *out = (ebb_type){.dtype = dy->dtype, .rank = dy->rank - i->rank + 1};
    for (uint32_t d = 0; d < out->rank; d++)
        out->dim[d] = d == axis ? call->attr[EBB_TAKE_SIZE].i[0] : dy->dim[of_dy[d]];
    return ebb_rule_result(env, call, out);
}

/* ---- pick --------------------------------------------------------------------------------------- */

static ebb_status pick_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    const ebb_type *x = &call->in[0], *i = &call->in[1];
    const uint32_t axis = (uint32_t)call->attr[EBB_TAKE_AXIS].i[0];
    const ebb_status status = taken_check(env, call);
    if (status) return status;
    *out = (ebb_type){.dtype = x->dtype};
    for (uint32_t d = 0; d < x->rank; d++) {
        if (d != axis) out->dim[out->rank++] = x->dim[d];
    }
    if (ebb_type_same_shape(out, i)) return EBB_OK;
    char a[EBB_TYPE_TEXT], b[EBB_TYPE_TEXT];
    return ebb_fail(env, EBB_BAD_INPUT, "%s: i %s must have the shape of x %s without axis %u",
                    call->op->name, ebb_type_text(i, a), ebb_type_text(x, b), axis);
}

static ebb_status pick_grad_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    const ebb_type *dy = &call->in[0];
    const uint32_t axis = (uint32_t)call->attr[EBB_TAKE_AXIS].i[0];
    ebb_status status = given_check(env, call);
    if (!status) status = rank_check(env, call, dy->rank + 1);
    if (status) return status;
    if (axis > dy->rank || !ebb_type_same_shape(dy, &call->in[1])) {
        char a[EBB_TYPE_TEXT], b[EBB_TYPE_TEXT];
        return ebb_fail(env, EBB_BAD_INPUT, "%s: dy %s and i %s must have one shape, of rank %u or more",
                        call->op->name, ebb_type_text(dy, a), ebb_type_text(&call->in[1], b), axis);
    }
    uint32_t of_dy[EBB_MAX_RANK];
    ebb_taken_along(axis, 0, of_dy);
    *out = (ebb_type){.dtype = dy->dtype, .rank = dy->rank + 1};
    for (uint32_t d = 0; d < out->rank; d++)
        out->dim[d] = d == axis ? call->attr[EBB_TAKE_SIZE].i[0] : dy->dim[of_dy[d]];
    return ebb_rule_result(env, call, out);
}

/* ---- gradients: each other's ---------------------------------------------------------------------- */

static void emit_back(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout, const ebb_op_info *op) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    const ebb_type *x = ebb_builder_type(ebb_rw_builder(rw), ebb_rw_value(rw, node->in[0]));
    const ebb_attr axis = node->attr[EBB_TAKE_AXIS];
    const int64_t size = axis.i[0] < x->rank ? x->dim[axis.i[0]] : 1; /* take and pick have none */
    const ebb_attr attr[] = {[EBB_TAKE_AXIS] = axis, [EBB_TAKE_SIZE] = {.i = {size}}};
    const ebb_id in[] = {dout[0], ebb_rw_value(rw, node->in[1])};
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, op, in, 2, attr)[0]);
}

#define TAKEN(name, other, rule, each_attrs, ...)                                                \
    static void name##_rule(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {        \
        emit_back(rw, node, dout, &ebb_op_##other);                                              \
    }                                                                                            \
    EBB_DEFINE(name, EBB_INFER(2, 2, 1, rule), EBB_LIST(attrs, each_attrs), .grad = name##_rule, \
               __VA_ARGS__)

static const ebb_attr_info take_attrs[] = {[EBB_TAKE_AXIS] = AXIS};
static const ebb_attr_info take_grad_attrs[] = {
    [EBB_TAKE_AXIS] = AXIS, [EBB_TAKE_SIZE] = EBB_INTS_NEEDED("size", 1, 1, INT32_MAX)};
TAKEN(take, take_grad, take_infer, take_attrs, .cost = ebb_cost_chosen, EBB_RUNS(FOLLOWS));
TAKEN(take_grad, take, take_grad_infer, take_grad_attrs, EBB_FLOPS(1));
TAKEN(pick, pick_grad, pick_infer, take_attrs, .cost = ebb_cost_chosen, EBB_RUNS(FOLLOWS));
TAKEN(pick_grad, pick, pick_grad_infer, take_grad_attrs, EBB_FLOPS_RESULT(1));
