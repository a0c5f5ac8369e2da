/* reduce_sum and expand along one axis, each the other's gradient, and upsample, which repeats places, with
 * its own.
 *
 * The axis keeps one place, or goes with keep=false. Rank 4 is stored channels-last: a shape that becomes
 * or was of rank 4 only by the axis that goes would have its bytes in another order, and is refused. */
#include "graph/ops/rule.h"

#define AXIS EBB_INTS_NEEDED("axis", 1, 0, EBB_MAX_RANK - 1)
static const ebb_attr_info reduce_sum_attrs[] = {
    [EBB_REDUCE_AXIS] = AXIS, [EBB_REDUCE_KEEP] = EBB_FLAG("keep", 1)};
static const ebb_attr_info expand_attrs[] = {
    [EBB_EXPAND_AXIS] = AXIS, [EBB_EXPAND_SIZE] = EBB_INTS_NEEDED("size", 1, 1, EBB_ATTR_SIZE_MAX)};

/* x must be real and have the axis. */
static ebb_status axis_check(ebb_env *env, const ebb_call *call, int64_t axis) {
    const ebb_type *x = &call->in[0];
    if (ebb_dtype_real(x->dtype) && axis < x->rank) return EBB_OK;
    char text[EBB_TYPE_TEXT];
    return ebb_fail(env, EBB_BAD_INPUT, "%s: x %s must be f32 or f64 and have an axis %lld", call->op->name,
                    ebb_type_text(x, text), (long long)axis);
}

/* ---- reduce_sum, expand ------------------------------------------------------------------------- */

static ebb_status reduce_sum_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    const int64_t axis = call->attr[EBB_REDUCE_AXIS].i[0];
    const ebb_status status = axis_check(env, call, axis);
    if (status) return status;
    const ebb_type *x = &call->in[0];
    *out = *x;
    out->dim[axis] = 1;
    if (call->attr[EBB_REDUCE_KEEP].i[0]) return EBB_OK;
    if (x->rank == 4 || x->rank == 5) {
        char text[EBB_TYPE_TEXT];
        return ebb_fail(
            env, EBB_BAD_INPUT,
            "%s: x %s: without its axis the bytes would stand in another order, for rank 4 is stored "
            "channels-last: keep it",
            call->op->name, ebb_type_text(x, text));
    }
    out->rank--;
    for (uint32_t d = (uint32_t)axis; d < out->rank; d++) out->dim[d] = x->dim[d + 1];
    return EBB_OK;
}

static ebb_status expand_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    const int64_t axis = call->attr[EBB_EXPAND_AXIS].i[0];
    const ebb_status status = axis_check(env, call, axis);
    if (status) return status;
    const ebb_type *x = &call->in[0];
    if (x->dim[axis] != 1) {
        char text[EBB_TYPE_TEXT];
        return ebb_fail(env, EBB_BAD_INPUT, "%s: x %s has %lld places along axis %lld: it must have 1",
                        call->op->name, ebb_type_text(x, text), (long long)x->dim[axis], (long long)axis);
    }
    *out = *x;
    out->dim[axis] = call->attr[EBB_EXPAND_SIZE].i[0];
    return ebb_rule_result(env, call, out);
}

/* dy gets its axis back by a view, and is repeated along it. */
static void reduce_sum_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    const ebb_type *x = ebb_builder_type(ebb_rw_builder(rw), ebb_rw_value(rw, node->in[0]));
    const int64_t axis = node->attr[EBB_REDUCE_AXIS].i[0];
    ebb_attr expand[] = {[EBB_EXPAND_AXIS] = {.i = {axis}}, [EBB_EXPAND_SIZE] = {.i = {x->dim[axis]}}};
    ebb_attr shape[] = {[EBB_RESHAPE_SHAPE] = {.i = {0}}};
    ebb_id dy = dout[0];
    for (uint32_t d = 0; d < x->rank; d++)
        shape[EBB_RESHAPE_SHAPE].i[d] = d == (uint32_t)axis ? 1 : x->dim[d];
    if (!node->attr[EBB_REDUCE_KEEP].i[0]) dy = ebb_rw_emit(rw, &ebb_op_reshape, &dy, 1, shape)[0];
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_expand, &dy, 1, expand)[0]);
}

static void expand_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    const ebb_attr attr[] = {
        [EBB_REDUCE_AXIS] = node->attr[EBB_EXPAND_AXIS], [EBB_REDUCE_KEEP] = {.i = {1}}};
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_reduce_sum, dout, 1, attr)[0]);
}

EBB_DEFINE(reduce_sum, EBB_INFER(1, 1, 1, reduce_sum_infer), EBB_LIST(attrs, reduce_sum_attrs),
           EBB_FLOPS(1), .grad = reduce_sum_grad);
EBB_DEFINE(expand, EBB_INFER(1, 1, 1, expand_infer), EBB_LIST(attrs, expand_attrs), EBB_FLOPS(0),
           .grad = expand_grad);

/* ---- upsample ----------------------------------------------------------------------------------- */

static const ebb_attr_info upsample_attrs[] = {[EBB_UPSAMPLE_FACTOR] =
                                                   EBB_INTS_NEEDED("factor", 2, 1, EBB_ATTR_STEP_MAX)};

static ebb_status upsample_grad_bind(ebb_env *env, const ebb_call *call, ebb_rule *r) {
    const int64_t *factor = call->attr[EBB_UPSAMPLE_FACTOR].i;
    const int64_t y = ebb_rule_size(r, 'y'), z = ebb_rule_size(r, 'z');
    if (y % factor[0] != 0 || z % factor[1] != 0) {
        char text[EBB_TYPE_TEXT];
        return ebb_fail(env, EBB_BAD_INPUT, "%s: dy %s is no multiple of factor %lld,%lld", call->op->name,
                        ebb_type_text(&call->in[0], text), EBB_TWO(call->attr[EBB_UPSAMPLE_FACTOR]));
    }
    ebb_rule_set(r, 'h', y / factor[0]);
    ebb_rule_set(r, 'w', z / factor[1]);
    return EBB_OK;
}

EBB_DEFINE(upsample, EBB_RULE(1, 1, "x[n,c,h,w] -> [n,c,y,z] where y=h*factor.0 z=w*factor.1"),
           EBB_LIST(attrs, upsample_attrs), EBB_FLOPS(0), EBB_GRAD(upsample_grad, "dy"));
EBB_DEFINE(upsample_grad, EBB_RULE(1, 1, "dy[n,c,y,z] -> [n,c,h,w]"), EBB_LIST(attrs, upsample_attrs),
           .bind = upsample_grad_bind, EBB_FLOPS(1));
