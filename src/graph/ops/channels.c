/* concat, slice and slice's gradient, along one axis (by default the channels); strided_slice along all
 * axes at once, and its gradient. */
#include "graph/ops/rule.h"

#define AXIS EBB_INTS("axis", 1, 1, 0, EBB_MAX_RANK - 1)

static ebb_status axis_check(ebb_env *env, const ebb_call *call, int64_t axis) {
    const ebb_type *x = &call->in[0];
    if (axis < x->rank) return EBB_OK;
    char text[EBB_TYPE_TEXT];
    return ebb_fail(env, EBB_BAD_INPUT, "%s: %s has no axis %lld", call->op->name, ebb_type_text(x, text),
                    (long long)axis);
}

/* ---- concat ------------------------------------------------------------------------------------- */

static ebb_status concat_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    char a[EBB_TYPE_TEXT], b[EBB_TYPE_TEXT];
    const ebb_type *x = &call->in[0];
    const int64_t axis = call->attr[EBB_CONCAT_AXIS].i[0];
    const ebb_status status = axis_check(env, call, axis);
    if (status) return status;
    *out = *x;
    for (uint32_t i = 1; i < call->n_in; i++) {
        ebb_type like = call->in[i];
        if (axis < like.rank) like.dim[axis] = x->dim[axis];
        if (!ebb_type_equal(&like, x)) {
            return ebb_fail(env, EBB_BAD_INPUT, "%s: x0 %s and x%u %s may differ along axis %lld only",
                            call->op->name, ebb_type_text(x, a), i, ebb_type_text(&call->in[i], b),
                            (long long)axis);
        }
        if (!ebb_add_i64(out->dim[axis], call->in[i].dim[axis], &out->dim[axis]))
            out->dim[axis] = INT64_MAX;
    }
    return ebb_rule_result(env, call, out);
}

static void concat_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    const int64_t axis = node->attr[EBB_CONCAT_AXIS].i[0];
    int64_t begin = 0;
    for (uint32_t i = 0; i < node->n_in; i++) {
        int64_t size = ebb_builder_type(ebb_rw_builder(rw), ebb_rw_value(rw, node->in[i]))->dim[axis];
        if (ebb_grad_wants(rw, node, i)) {
            ebb_attr attr[] = {[EBB_SLICE_BEGIN] = {.i = {begin}},
                               [EBB_SLICE_SIZE] = {.i = {size}},
                               [EBB_SLICE_AXIS] = {.i = {axis}}};
            ebb_grad_give(rw, node, i, ebb_rw_emit(rw, &ebb_op_slice, dout, 1, attr)[0]);
        }
        begin += size;
    }
}

static const ebb_attr_info concat_attrs[] = {[EBB_CONCAT_AXIS] = AXIS};
EBB_DEFINE(concat, EBB_INFER(1, EBB_MAX_OPERANDS, 1, concat_infer), EBB_LIST(attrs, concat_attrs),
           EBB_FLOPS(0), .grad = concat_grad, EBB_RUNS(FOLLOWS), .moves = true);

/* ---- slice -------------------------------------------------------------------------------------- */

/* [begin, begin + size) must lie within the places of `whole`. */
static ebb_status range_check(ebb_env *env, const ebb_call *call, int64_t axis, int64_t begin, int64_t size,
                              int64_t whole) {
    if (begin <= whole && size <= whole - begin) return EBB_OK;
    char x[EBB_TYPE_TEXT];
    return ebb_fail(env, EBB_BAD_INPUT,
                    "%s: [%lld, %lld + %lld) along axis %lld of %s is not within [0, %lld)", call->op->name,
                    (long long)begin, (long long)begin, (long long)size, (long long)axis,
                    ebb_type_text(&call->in[0], x), (long long)whole);
}

static ebb_status slice_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    const int64_t axis = call->attr[EBB_SLICE_AXIS].i[0], size = call->attr[EBB_SLICE_SIZE].i[0];
    const ebb_type *x = &call->in[0];
    const ebb_status status = axis_check(env, call, axis);
    if (status) return status;
    *out = *x;
    out->dim[axis] = size;
    return range_check(env, call, axis, call->attr[EBB_SLICE_BEGIN].i[0], size, x->dim[axis]);
}

static ebb_status slice_grad_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    const int64_t axis = call->attr[EBB_SLICE_GRAD_AXIS].i[0],
                  total = call->attr[EBB_SLICE_GRAD_TOTAL].i[0];
    const ebb_type *dy = &call->in[0];
    ebb_status status = axis_check(env, call, axis);
    if (!status)
        status = range_check(env, call, axis, call->attr[EBB_SLICE_GRAD_BEGIN].i[0], dy->dim[axis], total);
    if (status) return status;
    *out = *dy;
    out->dim[axis] = total;
    return ebb_rule_result(env, call, out);
}

static void slice_grad_rule(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    const ebb_type *x = ebb_builder_type(ebb_rw_builder(rw), ebb_rw_value(rw, node->in[0]));
    ebb_attr attr[] = {[EBB_SLICE_GRAD_BEGIN] = node->attr[EBB_SLICE_BEGIN],
                       [EBB_SLICE_GRAD_TOTAL] = {.i = {x->dim[node->attr[EBB_SLICE_AXIS].i[0]]}},
                       [EBB_SLICE_GRAD_AXIS] = node->attr[EBB_SLICE_AXIS]};
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_slice_grad, dout, 1, attr)[0]);
}

/* So that a gradient can be differentiated again. */
static void slice_grad_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    const ebb_type *dy = ebb_builder_type(ebb_rw_builder(rw), ebb_rw_value(rw, node->in[0]));
    ebb_attr attr[] = {[EBB_SLICE_BEGIN] = node->attr[EBB_SLICE_GRAD_BEGIN],
                       [EBB_SLICE_SIZE] = {.i = {dy->dim[node->attr[EBB_SLICE_GRAD_AXIS].i[0]]}},
                       [EBB_SLICE_AXIS] = node->attr[EBB_SLICE_GRAD_AXIS]};
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_slice, dout, 1, attr)[0]);
}

static const ebb_attr_info slice_attrs[] = {
    [EBB_SLICE_BEGIN] = EBB_INTS("begin", 1, 0, 0, EBB_ATTR_SIZE_MAX),
    [EBB_SLICE_SIZE] = EBB_INTS_NEEDED("size", 1, 1, EBB_ATTR_SIZE_MAX),
    [EBB_SLICE_AXIS] = AXIS};
static const ebb_attr_info slice_grad_attrs[] = {
    [EBB_SLICE_GRAD_BEGIN] = EBB_INTS("begin", 1, 0, 0, EBB_ATTR_SIZE_MAX),
    [EBB_SLICE_GRAD_TOTAL] = EBB_INTS_NEEDED("total", 1, 1, EBB_ATTR_SIZE_MAX),
    [EBB_SLICE_GRAD_AXIS] = AXIS};

EBB_DEFINE(slice, EBB_INFER(1, 1, 1, slice_infer), EBB_LIST(attrs, slice_attrs), .cost = ebb_cost_moved,
           .grad = slice_grad_rule, EBB_RUNS(FOLLOWS), .moves = true);
EBB_DEFINE(slice_grad, EBB_INFER(1, 1, 1, slice_grad_infer), EBB_LIST(attrs, slice_grad_attrs),
           EBB_FLOPS(0), .grad = slice_grad_grad, .moves = true);

/* ---- strided_slice ------------------------------------------------------------------------------ */

/* The lattice begin, begin + step, ... of `size` places must lie within `whole` along each axis; lists as
 * long as the rank. */
static ebb_status lattice_check(ebb_env *env, const ebb_call *call, const ebb_type *part,
                                const ebb_type *whole) {
    const ebb_attr *begin = &call->attr[EBB_STRIDED_BEGIN], *step = &call->attr[EBB_STRIDED_STEP];
    for (uint32_t d = 0; d < EBB_MAX_RANK; d++) {
        const bool in = d < whole->rank;
        if (in != (begin->i[d] >= 0) || in != (step->i[d] != 0))
            return ebb_fail(env, EBB_BAD_INPUT, "%s: begin and step must name each of the %u axes",
                            call->op->name, whole->rank);
        if (!in) continue;
        int64_t way, last;
        const bool counted =
            ebb_mul_i64(step->i[d], part->dim[d] - 1, &way) && ebb_add_i64(begin->i[d], way, &last);
        if (counted && begin->i[d] < whole->dim[d] && last >= 0 && last < whole->dim[d]) continue;
        return ebb_fail(env, EBB_BAD_INPUT,
                        "%s: %lld places from %lld on, %lld apart, leave axis %u, which has %lld",
                        call->op->name, (long long)part->dim[d], (long long)begin->i[d],
                        (long long)step->i[d], d, (long long)whole->dim[d]);
    }
    return EBB_OK;
}

static ebb_status sizes_read(ebb_env *env, const ebb_call *call, ebb_type *out) {
    const ebb_type *x = &call->in[0];
    char text[EBB_TYPE_TEXT];
    *out = *x;
    for (uint32_t d = 0; d < EBB_MAX_RANK; d++) {
        const int64_t size = call->attr[EBB_STRIDED_SIZE].i[d];
        if ((d < x->rank) != (size > 0))
            return ebb_fail(env, EBB_BAD_INPUT, "%s: size must name each of the %u axes of %s",
                            call->op->name, x->rank, ebb_type_text(x, text));
        out->dim[d] = size;
    }
    return ebb_rule_result(env, call, out);
}

static ebb_status strided_slice_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    const ebb_status status = sizes_read(env, call, out);
    return status ? status : lattice_check(env, call, out, &call->in[0]);
}

static ebb_status strided_slice_grad_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    const ebb_status status = sizes_read(env, call, out);
    return status ? status : lattice_check(env, call, &call->in[0], out);
}

/* The other one of the two, its size that of the operand. */
static void strided_back(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout,
                         const ebb_op_info *op) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    const ebb_type *x = ebb_builder_type(ebb_rw_builder(rw), ebb_rw_value(rw, node->in[0]));
    ebb_attr attr[] = {[EBB_STRIDED_BEGIN] = node->attr[EBB_STRIDED_BEGIN],
                       [EBB_STRIDED_SIZE] = {.i = {0}},
                       [EBB_STRIDED_STEP] = node->attr[EBB_STRIDED_STEP]};
    for (uint32_t d = 0; d < x->rank; d++) attr[EBB_STRIDED_SIZE].i[d] = x->dim[d];
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, op, dout, 1, attr)[0]);
}

static void strided_slice_rule(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    strided_back(rw, node, dout, &ebb_op_strided_slice_grad);
}

static void strided_slice_grad_rule(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    strided_back(rw, node, dout, &ebb_op_strided_slice);
}

static const ebb_attr_info strided_attrs[] = {
    [EBB_STRIDED_BEGIN] =
        {.name = "begin", .kind = EBB_ATTR_INT, .pad = -1, .required = true, .max = EBB_ATTR_SIZE_MAX},
    [EBB_STRIDED_SIZE] =
        {.name = "size", .kind = EBB_ATTR_INT, .required = true, .min = 1, .max = EBB_ATTR_SIZE_MAX},
    [EBB_STRIDED_STEP] = {.name = "step",
                          .kind = EBB_ATTR_INT,
                          .required = true,
                          .min = -EBB_ATTR_STEP_MAX,
                          .max = EBB_ATTR_STEP_MAX}};
EBB_DEFINE(strided_slice, EBB_INFER(1, 1, 1, strided_slice_infer), EBB_LIST(attrs, strided_attrs),
           .cost = ebb_cost_moved, .grad = strided_slice_rule, EBB_RUNS(FOLLOWS), .moves = true);
EBB_DEFINE(strided_slice_grad, EBB_INFER(1, 1, 1, strided_slice_grad_infer), EBB_LIST(attrs, strided_attrs),
           EBB_FLOPS(0), .grad = strided_slice_grad_rule, .moves = true);
