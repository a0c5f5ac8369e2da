/* Ops that only move or make elements: reshape, flatten, to_planes, from_planes, concat, slice, fill.
 *
 * Rank 4 is stored channels-last, so the logical order of its elements is the order of its bytes only when
 * it has one channel or one place. Otherwise the order of the bytes depends on how many channels and how
 * many places there are: a reshape is a view just when these two stay as they are. */
#include "graph/ops/rule.h"

#define SHAPE_ATTR(is_required)                                                                  \
    {                                                                                            \
        .name = "shape", .kind = EBB_ATTR_INT, .count = 0, .required = (is_required), .min = -1, \
        .max = EBB_ATTR_SIZE_MAX                                                                 \
    }
#define CHANNELS_ATTR(field, is_required, least)                                                      \
    {                                                                                                 \
        .name = (field), .kind = EBB_ATTR_INT, .count = 1, .required = (is_required), .min = (least), \
        .max = EBB_ATTR_SIZE_MAX                                                                      \
    }

static void no_flops_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, 0, 0);
}

/* ---- reshape, flatten --------------------------------------------------------------------------- */

/* Channels and places that order the bytes: 1 and 1 where the bytes are in logical order. */
typedef struct byte_order {
    int64_t channels, places;
} byte_order;

static byte_order byte_order_of(const ebb_type *type) {
    byte_order logical = {1, 1};
    if (type->rank != 4) return logical;
    byte_order planes = {type->dim[1], type->dim[2] * type->dim[3]};
    return planes.channels == 1 || planes.places == 1 ? logical : planes;
}

static bool same_bytes(const ebb_type *a, const ebb_type *b) {
    byte_order p = byte_order_of(a), q = byte_order_of(b);
    return p.channels == q.channels && p.places == q.places;
}

/* The attribute's list as a shape, its -1 replaced by what is left over. */
static ebb_status shape_read(ebb_env *env, const ebb_call *call, const ebb_attr *list, ebb_type *out) {
    uint32_t n = EBB_MAX_RANK, open = EBB_NONE;
    int64_t count = 1;
    while (n > 0 && list->i[n - 1] == 0) n--;
    *out = (ebb_type){.dtype = call->n_in ? call->in[0].dtype : EBB_F32, .rank = n};
    for (uint32_t d = 0; d < n; d++) {
        out->dim[d] = list->i[d];
        if (list->i[d] == -1 && open == EBB_NONE && call->n_in) {
            open = d;
            continue;
        }
        if (list->i[d] < 1) {
            return ebb_fail(env, EBB_BAD_INPUT, "%s: shape's dimension %u is %lld: sizes are 1 or more%s",
                            call->op->name, d, (long long)list->i[d],
                            call->n_in ? ", and one may be -1" : "");
        }
        if (!ebb_mul_i64(count, list->i[d], &count)) {
            return ebb_fail(env, EBB_BAD_INPUT, "%s: shape has more than 2^63 - 1 elements",
                            call->op->name);
        }
    }
    if (open != EBB_NONE) {
        int64_t all = ebb_type_count(&call->in[0]);
        if (all % count != 0) {
            char x[EBB_TYPE_TEXT];
            return ebb_fail(
                env, EBB_BAD_INPUT, "%s: x %s has %lld elements, no multiple of the shape's other %lld",
                call->op->name, ebb_type_text(&call->in[0], x), (long long)all, (long long)count);
        }
        out->dim[open] = all / count;
    }
    return ebb_rule_result(env, call, out);
}

static ebb_status reshape_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    char a[EBB_TYPE_TEXT], b[EBB_TYPE_TEXT];
    const ebb_type *x = &call->in[0];
    ebb_status status = shape_read(env, call, &call->attr[EBB_RESHAPE_SHAPE], out);
    if (status) return status;
    if (ebb_type_count(x) != ebb_type_count(out)) {
        return ebb_fail(env, EBB_BAD_INPUT, "%s: x %s has %lld elements but the shape %s has %lld",
                        call->op->name, ebb_type_text(x, a), (long long)ebb_type_count(x),
                        ebb_type_text(out, b), (long long)ebb_type_count(out));
    }
    if (same_bytes(x, out)) return EBB_OK;
    return ebb_fail(
        env, EBB_BAD_INPUT,
        "%s: x %s as %s would change the order of its bytes, for rank 4 is stored channels-last: use "
        "flatten (or to_planes, from_planes)",
        call->op->name, ebb_type_text(x, a), ebb_type_text(out, b));
}

/* A view costs nothing. */
static void reshape_cost(const ebb_call *call, ebb_cost *cost) {
    (void)call;
    *cost = (ebb_cost){0};
}

static void reshape_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    const ebb_type *x = ebb_build_type(ebb_rw_builder(rw), ebb_rw_value(rw, node->in[0]));
    ebb_attr attr[] = {[EBB_RESHAPE_SHAPE] = {.i = {0}}};
    for (uint32_t d = 0; d < x->rank; d++) attr[EBB_RESHAPE_SHAPE].i[d] = x->dim[d];
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_reshape, dout, 1, attr)[0]);
}

static const ebb_attr_info reshape_attrs[] = {[EBB_RESHAPE_SHAPE] = SHAPE_ATTR(true)};

const ebb_op_info ebb_op_reshape = {
    .name = "reshape",
    .code = EBB_OP_reshape,
    .family = EBB_FAMILY_OF(reshape),
    .min_in = 1,
    .max_in = 1,
    .n_out = 1,
    EBB_LIST(attrs, reshape_attrs),
    .effect = EBB_PURE,
    .view = true,
    .infer = reshape_infer,
    .cost = reshape_cost,
    .grad = reshape_grad,
};

/* ---- stop_gradient ------------------------------------------------------------------------------ */

static ebb_status stop_gradient_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return ebb_rule_infer(env, call, "x[*] -> [*]", out);
}

/* What comes stays here; what it was made of goes when nothing else reads it. */
static void stop_gradient_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    (void)rw, (void)node, (void)dout;
}

const ebb_op_info ebb_op_stop_gradient = {
    .name = "stop_gradient",
    .code = EBB_OP_stop_gradient,
    .family = EBB_FAMILY_OF(stop_gradient),
    .min_in = 1,
    .max_in = 1,
    .n_out = 1,
    .effect = EBB_PURE,
    .view = true,
    .infer = stop_gradient_infer,
    .cost = reshape_cost,
    .grad = stop_gradient_grad,
};

static ebb_status flatten_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    const ebb_type *x = &call->in[0];
    if (x->rank == 0 || !ebb_dtype_real(x->dtype)) {
        char text[EBB_TYPE_TEXT];
        return ebb_fail(env, EBB_BAD_INPUT, "%s: x %s must be f32 or f64 of rank 1 or more", call->op->name,
                        ebb_type_text(x, text));
    }
    *out = (ebb_type){.dtype = x->dtype, .rank = 2, .dim = {x->dim[0], ebb_type_count(x) / x->dim[0]}};
    return EBB_OK;
}

static void flatten_lower(ebb_rewriter *rw, const ebb_node *node, ebb_mode mode) {
    (void)mode;
    ebb_id x = ebb_rw_value(rw, node->in[0]);
    const ebb_type *type = ebb_build_type(ebb_rw_builder(rw), x);
    ebb_type flat = {.rank = 2};
    if (type->rank != 2) {
        int64_t n = ebb_max_i64(type->dim[0], 1);
        ebb_attr attr[] = {[EBB_RESHAPE_SHAPE] = {.i = {n, ebb_type_count(type) / n}}};
        bool view = same_bytes(type, &flat);
        x = ebb_rw_emit(rw, view ? &ebb_op_reshape : &ebb_op_to_planes, &x, 1, view ? attr : NULL)[0];
    }
    ebb_lower_give(rw, node, 0, x);
}

const ebb_op_info ebb_op_flatten = {
    .name = "flatten",
    .code = EBB_OP_flatten,
    .family = EBB_FAMILY_OF(flatten),
    .min_in = 1,
    .max_in = 1,
    .n_out = 1,
    .effect = EBB_PURE,
    .composite = true,
    .infer = flatten_infer,
    .cost = no_flops_cost,
    .lower = flatten_lower,
};

/* ---- to_planes, from_planes: the copy that reshape cannot avoid --------------------------------- */

static ebb_status to_planes_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    ebb_rule r;
    ebb_status status = ebb_rule_match(env, call, "x[n,c,h,w] -> [n,f]", &r);
    if (status) return status;
    ebb_rule_set(&r, 'f', ebb_rule_size(&r, 'c') * ebb_rule_size(&r, 'h') * ebb_rule_size(&r, 'w'));
    return ebb_rule_give(env, call, &r, out);
}

static ebb_status from_planes_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    ebb_rule r;
    ebb_status status = ebb_rule_match(env, call, "x[n,f] -> [n,c,h,w]", &r);
    if (status) return status;
    const int64_t *size = call->attr[EBB_PLANES_SIZE].i;
    ebb_rule_set(&r, 'c', size[0]);
    ebb_rule_set(&r, 'h', size[1]);
    ebb_rule_set(&r, 'w', size[2]);
    if (ebb_mul_saturated(ebb_mul_saturated(size[0], size[1]), size[2]) != ebb_rule_size(&r, 'f')) {
        char x[EBB_TYPE_TEXT];
        return ebb_fail(env, EBB_BAD_INPUT,
                        "%s: x %s has %lld elements a row but size %lld,%lld,%lld wants others",
                        call->op->name, ebb_type_text(&call->in[0], x), (long long)ebb_rule_size(&r, 'f'),
                        (long long)size[0], (long long)size[1], (long long)size[2]);
    }
    return ebb_rule_give(env, call, &r, out);
}

static void to_planes_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    const ebb_type *x = ebb_build_type(ebb_rw_builder(rw), ebb_rw_value(rw, node->in[0]));
    ebb_attr attr[] = {[EBB_PLANES_SIZE] = {.i = {x->dim[1], x->dim[2], x->dim[3]}}};
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_from_planes, dout, 1, attr)[0]);
}

static void from_planes_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_to_planes, dout, 1, NULL)[0]);
}

const ebb_op_info ebb_op_to_planes = {
    .name = "to_planes",
    .code = EBB_OP_to_planes,
    .family = EBB_FAMILY_OF(to_planes),
    .min_in = 1,
    .max_in = 1,
    .n_out = 1,
    .effect = EBB_PURE,
    .infer = to_planes_infer,
    .cost = no_flops_cost,
    .grad = to_planes_grad,
};

static const ebb_attr_info from_planes_attrs[] = {
    [EBB_PLANES_SIZE] = {.name = "size",
                         .kind = EBB_ATTR_INT,
                         .count = 3,
                         .required = true,
                         .min = 1,
                         .max = EBB_ATTR_SIZE_MAX},
};

const ebb_op_info ebb_op_from_planes = {
    .name = "from_planes",
    .code = EBB_OP_from_planes,
    .family = EBB_FAMILY_OF(from_planes),
    .min_in = 1,
    .max_in = 1,
    .n_out = 1,
    EBB_LIST(attrs, from_planes_attrs),
    .effect = EBB_PURE,
    .infer = from_planes_infer,
    .cost = no_flops_cost,
    .grad = from_planes_grad,
};

/* ---- concat, slice: along channels -------------------------------------------------------------- */

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
        int64_t size = ebb_build_type(ebb_rw_builder(rw), ebb_rw_value(rw, node->in[i]))->dim[1];
        if (ebb_grad_wants(rw, node, i)) {
            ebb_attr attr[] = {[EBB_SLICE_BEGIN] = {.i = {begin}}, [EBB_SLICE_SIZE] = {.i = {size}}};
            ebb_grad_give(rw, node, i, ebb_rw_emit(rw, &ebb_op_slice, dout, 1, attr)[0]);
        }
        begin += size;
    }
}

const ebb_op_info ebb_op_concat = {
    .name = "concat",
    .code = EBB_OP_concat,
    .family = EBB_FAMILY_OF(concat),
    .min_in = 1,
    .max_in = EBB_MAX_OPERANDS,
    .n_out = 1,
    .effect = EBB_PURE,
    .infer = concat_infer,
    .cost = no_flops_cost,
    .grad = concat_grad,
};

/* [begin, begin + size) must lie within the channels of `whole`. */
static ebb_status range_check(ebb_env *env, const ebb_call *call, int64_t begin, int64_t size,
                              int64_t whole) {
    if (begin <= whole && size <= whole - begin) return EBB_OK;
    char x[EBB_TYPE_TEXT];
    return ebb_fail(env, EBB_BAD_INPUT, "%s: channels [%lld, %lld + %lld) of %s are not within [0, %lld)",
                    call->op->name, (long long)begin, (long long)begin, (long long)size,
                    ebb_type_text(&call->in[0], x), (long long)whole);
}

static ebb_status slice_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    ebb_rule r;
    ebb_status status = ebb_rule_match(env, call, "x[n,c,...] -> [n,s,...]", &r);
    int64_t size = call->attr[EBB_SLICE_SIZE].i[0];
    if (!status)
        status = range_check(env, call, call->attr[EBB_SLICE_BEGIN].i[0], size, ebb_rule_size(&r, 'c'));
    if (status) return status;
    ebb_rule_set(&r, 's', size);
    return ebb_rule_give(env, call, &r, out);
}

static ebb_status slice_grad_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    ebb_rule r;
    ebb_status status = ebb_rule_match(env, call, "dy[n,s,...] -> [n,c,...]", &r);
    int64_t total = call->attr[EBB_SLICE_GRAD_TOTAL].i[0];
    if (!status)
        status =
            range_check(env, call, call->attr[EBB_SLICE_GRAD_BEGIN].i[0], ebb_rule_size(&r, 's'), total);
    if (status) return status;
    ebb_rule_set(&r, 'c', total);
    return ebb_rule_give(env, call, &r, out);
}

static void slice_cost(const ebb_call *call, ebb_cost *cost) {
    /* What is not sliced is not read. */
    *cost = (ebb_cost){.bytes = ebb_mul_saturated(ebb_type_bytes(&call->out[0]), 2)};
}

static void slice_grad_rule(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    const ebb_type *x = ebb_build_type(ebb_rw_builder(rw), ebb_rw_value(rw, node->in[0]));
    ebb_attr attr[] = {
        [EBB_SLICE_GRAD_BEGIN] = node->attr[EBB_SLICE_BEGIN], [EBB_SLICE_GRAD_TOTAL] = {.i = {x->dim[1]}}};
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_slice_grad, dout, 1, attr)[0]);
}

static const ebb_attr_info slice_attrs[] = {
    [EBB_SLICE_BEGIN] = CHANNELS_ATTR("begin", false, 0),
    [EBB_SLICE_SIZE] = CHANNELS_ATTR("size", true, 1),
};
static const ebb_attr_info slice_grad_attrs[] = {
    [EBB_SLICE_GRAD_BEGIN] = CHANNELS_ATTR("begin", false, 0),
    [EBB_SLICE_GRAD_TOTAL] = CHANNELS_ATTR("total", true, 1),
};

const ebb_op_info ebb_op_slice = {
    .name = "slice",
    .code = EBB_OP_slice,
    .family = EBB_FAMILY_OF(slice),
    .min_in = 1,
    .max_in = 1,
    .n_out = 1,
    EBB_LIST(attrs, slice_attrs),
    .effect = EBB_PURE,
    .infer = slice_infer,
    .cost = slice_cost,
    .grad = slice_grad_rule,
};

const ebb_op_info ebb_op_slice_grad = {
    .name = "slice_grad",
    .code = EBB_OP_slice_grad,
    .family = EBB_FAMILY_OF(slice_grad),
    .min_in = 1,
    .max_in = 1,
    .n_out = 1,
    EBB_LIST(attrs, slice_grad_attrs),
    .effect = EBB_PURE,
    .infer = slice_grad_infer,
    .cost = no_flops_cost,
};

/* ---- fill --------------------------------------------------------------------------------------- */

static ebb_status fill_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    ebb_status status = shape_read(env, call, &call->attr[EBB_FILL_SHAPE], out);
    if (status) return status;
    if (call->attr[EBB_FILL_F64].i[0]) out->dtype = EBB_F64;
    return ebb_rule_result(env, call, out); /* again: f64 is twice as large */
}

static const ebb_attr_info fill_attrs[] = {
    [EBB_FILL_SHAPE] = SHAPE_ATTR(false),
    [EBB_FILL_VALUE] =
        {.name = "value", .kind = EBB_ATTR_REAL, .count = 1, .required = true, .min = -1e300, .max = 1e300},
    [EBB_FILL_F64] = {.name = "f64", .kind = EBB_ATTR_BOOL, .count = 1, .fallback = 0, .min = 0, .max = 1},
};

/* No gradient: it has no inputs, so none ever asks. */
const ebb_op_info ebb_op_fill = {
    .name = "fill",
    .code = EBB_OP_fill,
    .family = EBB_FAMILY_OF(fill),
    .min_in = 0,
    .max_in = 0,
    .n_out = 1,
    EBB_LIST(attrs, fill_attrs),
    .effect = EBB_PURE,
    .infer = fill_infer,
    .cost = no_flops_cost,
};
