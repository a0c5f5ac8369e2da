/* Reductions along axes, repetition (broadcast_to; expand of one axis), and upsample, which repeats places,
 * with its own gradient. An axis that is reduced keeps one place, or goes with keep=false; kernels read
 * operands by walks (walk.h), so that it does not matter that rank 4 is stored channels-last. */
#include "graph/ops/rule.h"

static const ebb_attr_info reduce_attrs[] = {
    [EBB_REDUCE_AXIS] = EBB_AXES("axis"), [EBB_REDUCE_KEEP] = EBB_FLAG("keep", 1)};

/* ---- reductions ---------------------------------------------------------------------------------- */

static ebb_status reduce_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    const ebb_type *x = &call->in[0];
    char text[EBB_TYPE_TEXT];
    uint32_t axes;
    if (!ebb_dtype_real(x->dtype) && x->dtype != EBB_I32)
        return ebb_fail(env, EBB_BAD_INPUT, "%s: x %s must be f32, f64, f16, bf16 or i32", call->op->name,
                        ebb_type_text(x, text));
    if (x->dtype == EBB_I32 && call->op == &ebb_op_reduce_mean)
        return ebb_fail(env, EBB_BAD_INPUT, "%s: x %s must be f32, f64, f16 or bf16: cast it",
                        call->op->name, ebb_type_text(x, text));
    const ebb_status status = ebb_rule_axes(env, call, &call->attr[EBB_REDUCE_AXIS], x, &axes);
    if (status) return status;
    *out = (ebb_type){.dtype = x->dtype};
    if (axes == 0) axes = (UINT32_C(1) << x->rank) - 1;
    for (uint32_t d = 0; d < x->rank; d++) {
        const bool gone = axes >> d & 1;
        if (!gone || call->attr[EBB_REDUCE_KEEP].i[0]) out->dim[out->rank++] = gone ? 1 : x->dim[d];
    }
    return EBB_OK;
}

/* The places that were reduced to one. */
static int64_t reduced_places(const ebb_type *x, const ebb_node *node) {
    const uint32_t axes = ebb_reduce_axes(x, node->attr);
    int64_t n = 1;
    for (uint32_t d = 0; d < x->rank; d++) n *= axes >> d & 1 ? x->dim[d] : 1;
    return n;
}

/* y or its gradient with the axes that went, repeated along them or with one place each. */
static ebb_id with_axes(ebb_rewriter *rw, const ebb_node *node, ebb_id y, const ebb_type *x,
                        bool repeated) {
    const uint32_t axes = ebb_reduce_axes(x, node->attr);
    const bool kept = node->attr[EBB_REDUCE_KEEP].i[0] != 0;
    ebb_attr attr[] = {
        [EBB_BROADCAST_SHAPE] = {.i = {0}}, [EBB_BROADCAST_AXIS] = ebb_axes_list(kept ? 0 : axes)};
    if (x->rank == 0 || (kept && !repeated)) return y;
    for (uint32_t d = 0; d < x->rank; d++) {
        attr[EBB_BROADCAST_SHAPE].i[d] = axes >> d & 1 && !repeated ? 1 : x->dim[d];
    }
    return ebb_rw_emit(rw, &ebb_op_broadcast_to, &y, 1, attr)[0];
}

static const ebb_type *x_type(ebb_rewriter *rw, const ebb_node *node) {
    return ebb_builder_type(ebb_rw_builder(rw), ebb_rw_value(rw, node->in[0]));
}

static void reduce_sum_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    const ebb_type x = *x_type(rw, node);
    ebb_grad_give(rw, node, 0, with_axes(rw, node, dout[0], &x, true));
}

static void reduce_mean_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    const ebb_type x = *x_type(rw, node);
    const ebb_id part = ebb_emit_rescale(rw, dout[0], 1 / (double)reduced_places(&x, node), 0);
    ebb_grad_give(rw, node, 0, with_axes(rw, node, part, &x, true));
}

/* Places that are equal to the extreme share dy. */
static void extreme_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    const ebb_id x = ebb_rw_value(rw, node->in[0]);
    const ebb_type type = *x_type(rw, node);
    const ebb_id y = with_axes(rw, node, ebb_rw_value(rw, node->out[0]), &type, false);
    const ebb_id dy = with_axes(rw, node, dout[0], &type, false);
    const ebb_id is = ebb_emit_2(rw, &ebb_op_equal, x, y);
    const ebb_attr to[] = {[EBB_CAST_TO] = {.i = {type.dtype}}};
    const ebb_id ones = ebb_rw_emit(rw, &ebb_op_cast, &is, 1, to)[0];
    const ebb_attr kept[] = {[EBB_REDUCE_AXIS] = node->attr[EBB_REDUCE_AXIS],
                             [EBB_REDUCE_KEEP] = {.i = {y != ebb_rw_value(rw, node->out[0]) ||
                                                        node->attr[EBB_REDUCE_KEEP].i[0]}}};
    const ebb_id share =
        ebb_emit_2(rw, &ebb_op_div, dy, ebb_rw_emit(rw, &ebb_op_reduce_sum, &ones, 1, kept)[0]);
    const ebb_id in[] = {is, share, ebb_emit_number(rw, share, 0)};
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_where, in, 3, NULL)[0]);
}

/* Of the same axes, each of which keeps a place. */
static ebb_id reduced_kept(ebb_rewriter *rw, const ebb_node *node, const ebb_op_info *op, ebb_id x) {
    const ebb_attr kept[] = {
        [EBB_REDUCE_AXIS] = node->attr[EBB_REDUCE_AXIS], [EBB_REDUCE_KEEP] = {.i = {1}}};
    return ebb_rw_emit(rw, op, &x, 1, kept)[0];
}

/* dy times the product of the other places: 0 where one of them is, else that of all but zeros, by its own.
 */
static void reduce_prod_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    const ebb_id x = ebb_rw_value(rw, node->in[0]), none = ebb_emit_number(rw, x, 0);
    const ebb_type type = *x_type(rw, node);
    const ebb_id is_zero = ebb_emit_2(rw, &ebb_op_equal, x, none);
    const ebb_id safe_of[] = {is_zero, ebb_emit_number(rw, x, 1), x};
    const ebb_id safe = ebb_rw_emit(rw, &ebb_op_where, safe_of, 3, NULL)[0];
    const ebb_attr to[] = {[EBB_CAST_TO] = {.i = {type.dtype}}};
    const ebb_id zeros = ebb_rw_emit(rw, &ebb_op_cast, &is_zero, 1, to)[0];
    const ebb_id alone =
        ebb_emit_2(rw, &ebb_op_equal, zeros, reduced_kept(rw, node, &ebb_op_reduce_sum, zeros));
    const ebb_id others =
        ebb_emit_2(rw, &ebb_op_div, reduced_kept(rw, node, &ebb_op_reduce_prod, safe), safe);
    const ebb_id in[] = {alone, others, none};
    const ebb_id slope = ebb_rw_emit(rw, &ebb_op_where, in, 3, NULL)[0];
    ebb_grad_give(rw, node, 0,
                  ebb_emit_2(rw, &ebb_op_mul, with_axes(rw, node, dout[0], &type, false), slope));
}

#define REDUCTION(op, rule)                                                                       \
    EBB_DEFINE(op, EBB_INFER(1, 1, 1, reduce_infer), EBB_LIST(attrs, reduce_attrs), EBB_FLOPS(1), \
               .grad = rule)
REDUCTION(reduce_sum, reduce_sum_grad);
REDUCTION(reduce_mean, reduce_mean_grad);
REDUCTION(reduce_max, extreme_grad);
REDUCTION(reduce_min, extreme_grad);
REDUCTION(reduce_prod, reduce_prod_grad);

/* ---- broadcast_to -------------------------------------------------------------------------------- */

static ebb_status broadcast_to_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    const ebb_type *x = &call->in[0];
    uint32_t axes, along[EBB_MAX_RANK];
    *out = (ebb_type){.dtype = x->dtype};
    while (out->rank < EBB_MAX_RANK && call->attr[EBB_BROADCAST_SHAPE].i[out->rank] != 0) {
        out->dim[out->rank] = call->attr[EBB_BROADCAST_SHAPE].i[out->rank];
        if (out->dim[out->rank++] > 0) continue;
        return ebb_fail(env, EBB_BAD_INPUT, "%s: shape's sizes are 1 or more", call->op->name);
    }
    ebb_status status = ebb_rule_result(env, call, out);
    if (!status) status = ebb_rule_axes(env, call, &call->attr[EBB_BROADCAST_AXIS], out, &axes);
    if (status) return status;
    bool fits = ebb_broadcast_to_along(x, out, call->attr, along);
    for (uint32_t d = 0; fits && d < out->rank; d++)
        fits = along[d] == EBB_NONE || x->dim[along[d]] == out->dim[d] || x->dim[along[d]] == 1;
    if (fits) return EBB_OK;
    char is[EBB_TYPE_TEXT], due[EBB_TYPE_TEXT];
    return ebb_fail(
        env, EBB_BAD_INPUT,
        "%s: x %s cannot be repeated to %s: from the last axis on, those in axis apart, its sizes must be "
        "the same or 1",
        call->op->name, ebb_type_text(x, is), ebb_type_text(out, due));
}

/* The axes that it got go again; ebb_grad_give sums what is repeated beside that. */
static void broadcast_to_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    const ebb_attr attr[] = {
        [EBB_REDUCE_AXIS] = node->attr[EBB_BROADCAST_AXIS], [EBB_REDUCE_KEEP] = {.i = {0}}};
    const bool none = attr[EBB_REDUCE_AXIS].i[0] < 0;
    ebb_grad_give(rw, node, 0, none ? dout[0] : ebb_rw_emit(rw, &ebb_op_reduce_sum, dout, 1, attr)[0]);
}

static const ebb_attr_info broadcast_to_attrs[] = {
    [EBB_BROADCAST_SHAPE] = EBB_SIZES_NEEDED("shape"), [EBB_BROADCAST_AXIS] = EBB_AXES("axis")};
EBB_DEFINE(broadcast_to, EBB_INFER(1, 1, 1, broadcast_to_infer), EBB_LIST(attrs, broadcast_to_attrs),
           EBB_FLOPS(0), .grad = broadcast_to_grad, EBB_RUNS(FOLLOWS), .moves = true);

/* ---- expand -------------------------------------------------------------------------------------- */

static const ebb_attr_info expand_attrs[] = {
    [EBB_EXPAND_AXIS] = EBB_INTS_NEEDED("axis", 1, 0, EBB_MAX_RANK - 1),
    [EBB_EXPAND_SIZE] = EBB_INTS_NEEDED("size", 1, 1, EBB_ATTR_SIZE_MAX)};

static ebb_status expand_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    const int64_t axis = call->attr[EBB_EXPAND_AXIS].i[0];
    const ebb_type *x = &call->in[0];
    char text[EBB_TYPE_TEXT];
    if (axis >= x->rank)
        return ebb_fail(env, EBB_BAD_INPUT, "%s: x %s has no axis %lld", call->op->name,
                        ebb_type_text(x, text), (long long)axis);
    if (x->dim[axis] != 1)
        return ebb_fail(env, EBB_BAD_INPUT, "%s: x %s has %lld places along axis %lld: it must have 1",
                        call->op->name, ebb_type_text(x, text), (long long)x->dim[axis], (long long)axis);
    *out = *x;
    out->dim[axis] = call->attr[EBB_EXPAND_SIZE].i[0];
    return ebb_rule_result(env, call, out);
}

static void expand_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    const uint32_t axis = UINT32_C(1) << node->attr[EBB_EXPAND_AXIS].i[0];
    ebb_grad_give(rw, node, 0, ebb_emit_sum(rw, dout[0], axis, true));
}

EBB_DEFINE(expand, EBB_INFER(1, 1, 1, expand_infer), EBB_LIST(attrs, expand_attrs), EBB_FLOPS(0),
           .grad = expand_grad, EBB_RUNS(FOLLOWS), .moves = true);

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

EBB_DEFINE(upsample, EBB_RULE(1, 1, "x:all[n,c,h,w] -> [n,c,y,z] where y=h*factor.0 z=w*factor.1"),
           EBB_LIST(attrs, upsample_attrs), EBB_FLOPS(0), EBB_GRAD(upsample_grad, "dy"), EBB_RUNS(FOLLOWS),
           .moves = true);
EBB_DEFINE(upsample_grad, EBB_RULE(1, 1, "dy[n,c,y,z] -> [n,c,h,w]"), EBB_LIST(attrs, upsample_attrs),
           .bind = upsample_grad_bind, EBB_FLOPS(1), EBB_GRAD(upsample, "dy"));
