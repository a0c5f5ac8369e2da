/* concat and slice, along channels, and slice's gradient. */
#include "graph/ops/rule.h"

/* ---- concat ------------------------------------------------------------------------------------- */

static ebb_status concat_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    char a[EBB_TYPE_TEXT], b[EBB_TYPE_TEXT];
    const ebb_type *x = &call->in[0];
    if ((x->rank != 2 && x->rank != 4) || !ebb_dtype_real(x->dtype)) {
        return ebb_fail(env, EBB_BAD_INPUT, "%s: x0 %s must be f32 or f64 of rank 2 or 4", call->op->name,
                        ebb_type_text(x, a));
    }
    *out = *x;
    for (uint32_t i = 1; i < call->n_in; i++) {
        ebb_type like = call->in[i];
        like.dim[1] = x->dim[1];
        if (!ebb_type_equal(&like, x)) {
            return ebb_fail(env, EBB_BAD_INPUT, "%s: x0 %s and x%u %s may differ in channels only",
                            call->op->name, ebb_type_text(x, a), i, ebb_type_text(&call->in[i], b));
        }
        if (!ebb_add_i64(out->dim[1], call->in[i].dim[1], &out->dim[1])) out->dim[1] = INT64_MAX;
    }
    return ebb_rule_result(env, call, out);
}

static void concat_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    int64_t begin = 0;
    for (uint32_t i = 0; i < node->n_in; i++) {
        int64_t size = ebb_builder_type(ebb_rw_builder(rw), ebb_rw_value(rw, node->in[i]))->dim[1];
        if (ebb_grad_wants(rw, node, i)) {
            ebb_attr attr[] = {[EBB_SLICE_BEGIN] = {.i = {begin}}, [EBB_SLICE_SIZE] = {.i = {size}}};
            ebb_grad_give(rw, node, i, ebb_rw_emit(rw, &ebb_op_slice, dout, 1, attr)[0]);
        }
        begin += size;
    }
}

EBB_DEFINE(concat, EBB_INFER(1, EBB_MAX_OPERANDS, 1, concat_infer), EBB_FLOPS(0), .grad = concat_grad);

/* ---- slice -------------------------------------------------------------------------------------- */

/* [begin, begin + size) must lie within the channels of `whole`. */
static ebb_status range_check(ebb_env *env, const ebb_call *call, int64_t begin, int64_t size,
                              int64_t whole) {
    if (begin <= whole && size <= whole - begin) return EBB_OK;
    char x[EBB_TYPE_TEXT];
    return ebb_fail(env, EBB_BAD_INPUT, "%s: channels [%lld, %lld + %lld) of %s are not within [0, %lld)",
                    call->op->name, (long long)begin, (long long)begin, (long long)size,
                    ebb_type_text(&call->in[0], x), (long long)whole);
}

static ebb_status slice_bind(ebb_env *env, const ebb_call *call, ebb_rule *r) {
    return range_check(env, call, call->attr[EBB_SLICE_BEGIN].i[0], ebb_rule_size(r, 's'),
                       ebb_rule_size(r, 'c'));
}

static ebb_status slice_grad_bind(ebb_env *env, const ebb_call *call, ebb_rule *r) {
    return range_check(env, call, call->attr[EBB_SLICE_GRAD_BEGIN].i[0], ebb_rule_size(r, 's'),
                       ebb_rule_size(r, 'c'));
}

static void slice_cost(const ebb_call *call, ebb_cost *cost) {
    /* What is not sliced is not read. */
    *cost = (ebb_cost){.bytes = ebb_mul_saturated(ebb_type_bytes(&call->out[0]), 2)};
}

static void slice_grad_rule(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    const ebb_type *x = ebb_builder_type(ebb_rw_builder(rw), ebb_rw_value(rw, node->in[0]));
    ebb_attr attr[] = {
        [EBB_SLICE_GRAD_BEGIN] = node->attr[EBB_SLICE_BEGIN], [EBB_SLICE_GRAD_TOTAL] = {.i = {x->dim[1]}}};
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_slice_grad, dout, 1, attr)[0]);
}

static const ebb_attr_info slice_attrs[] = {
    [EBB_SLICE_BEGIN] = EBB_INTS("begin", 1, 0, 0, EBB_ATTR_SIZE_MAX),
    [EBB_SLICE_SIZE] = EBB_INTS_NEEDED("size", 1, 1, EBB_ATTR_SIZE_MAX)};
static const ebb_attr_info slice_grad_attrs[] = {
    [EBB_SLICE_GRAD_BEGIN] = EBB_INTS("begin", 1, 0, 0, EBB_ATTR_SIZE_MAX),
    [EBB_SLICE_GRAD_TOTAL] = EBB_INTS_NEEDED("total", 1, 1, EBB_ATTR_SIZE_MAX)};

EBB_DEFINE(slice, EBB_RULE(1, 1, "x[n,c,...] -> [n,s,...] where s=size"), EBB_LIST(attrs, slice_attrs),
           .bind = slice_bind, .cost = slice_cost, .grad = slice_grad_rule);
EBB_DEFINE(slice_grad, EBB_RULE(1, 1, "dy[n,s,...] -> [n,c,...] where c=total"),
           EBB_LIST(attrs, slice_grad_attrs), .bind = slice_grad_bind, EBB_FLOPS(0));
