/* conv2d (a cross-correlation, as everywhere in the field), its two gradients, and its transpose: the
 * gradient by the image as an op of models, so that a dgrad has a gradient too.
 *
 * Along each axis a kernel of k taps spans dilation * (k - 1) + 1 places, and
 *
 *     y = (x + 2 * pad - span) / stride + 1, rounded down, at least 1
 *
 * Rounding down loses x's size from dy, and the kernel's size too: the gradients carry it as an attribute.
 */
#include "graph/ops/rule.h"

#define STRIDE   EBB_INTS("stride", 2, 1, 1, EBB_ATTR_STEP_MAX)
#define PAD      EBB_INTS("pad", 2, 0, 0, EBB_ATTR_STEP_MAX)
#define DILATION EBB_INTS("dilation", 2, 1, 1, EBB_ATTR_STEP_MAX)
#define GROUPS   EBB_INTS("groups", 1, 1, 1, EBB_ATTR_SIZE_MAX)
#define COMMON                                                                        \
    [EBB_CONV_STRIDE] = STRIDE, [EBB_CONV_PAD] = PAD, [EBB_CONV_DILATION] = DILATION, \
    [EBB_CONV_GROUPS] = GROUPS

static const ebb_attr_info conv_attrs[] = {COMMON};
static const ebb_attr_info conv_grad_attrs[] = {
    COMMON, [EBB_CONV_SIZE] = EBB_INTS_NEEDED("size", 2, 1, EBB_ATTR_SIZE_MAX)};
static const ebb_attr_info conv_transpose_attrs[] = {
    COMMON, [EBB_CONV_OUT_PAD] = EBB_INTS("out_pad", 2, 0, 0, EBB_ATTR_STEP_MAX)};

/* What y must be along one axis (0 rows, 1 columns). */
static ebb_status extent(ebb_env *env, const ebb_call *call, uint32_t axis, int64_t x, int64_t k,
                         int64_t *y) {
    const ebb_attr *a = call->attr;
    int64_t span, padded, pad = a[EBB_CONV_PAD].i[axis];
    if (!ebb_mul_i64(a[EBB_CONV_DILATION].i[axis], k - 1, &span) || !ebb_add_i64(span, 1, &span))
        span = INT64_MAX;
    if (!ebb_add_i64(x, 2 * pad, &padded)) padded = INT64_MAX;
    if (span > padded) {
        return ebb_fail(env, EBB_BAD_INPUT,
                        "%s: the kernel's %lld %s at dilation %lld span %lld but x has %lld + 2 * pad %lld",
                        call->op->name, (long long)k, axis ? "columns" : "rows",
                        (long long)a[EBB_CONV_DILATION].i[axis], (long long)span, (long long)x,
                        (long long)pad);
    }
    *y = (padded - span) / a[EBB_CONV_STRIDE].i[axis] + 1;
    return EBB_OK;
}

/* x has c channels, each filter reads i of them, and there are o filters. */
static ebb_status groups_check(ebb_env *env, const ebb_call *call, int64_t c, int64_t i, int64_t o) {
    char x[EBB_TYPE_TEXT], w[EBB_TYPE_TEXT];
    int64_t wanted, groups = call->attr[EBB_CONV_GROUPS].i[0];
    if (!ebb_mul_i64(i, groups, &wanted)) wanted = INT64_MAX;
    if (c != wanted) {
        return ebb_fail(env, EBB_BAD_INPUT, "%s: x %s has %lld channels but w %s wants %lld (groups %lld)",
                        call->op->name, ebb_type_text(&call->in[0], x), (long long)c,
                        ebb_type_text(&call->in[1], w), (long long)wanted, (long long)groups);
    }
    if (o % groups != 0) {
        return ebb_fail(env, EBB_BAD_INPUT,
                        "%s: %lld output channels of %s and %s are not a multiple of groups %lld",
                        call->op->name, (long long)o, ebb_type_text(&call->in[0], x),
                        ebb_type_text(&call->in[1], w), (long long)groups);
    }
    return EBB_OK;
}

/* y and z, which are what conv2d gives for an x of h rows and w columns and a kernel of p by q. */
static ebb_status extents_set(ebb_env *env, const ebb_call *call, ebb_rule *r) {
    int64_t y = 0, z = 0;
    ebb_status status = extent(env, call, 0, ebb_rule_size(r, 'h'), ebb_rule_size(r, 'p'), &y);
    if (!status) status = extent(env, call, 1, ebb_rule_size(r, 'w'), ebb_rule_size(r, 'q'), &z);
    ebb_rule_set(r, 'y', y);
    ebb_rule_set(r, 'z', z);
    return status;
}

static ebb_status conv2d_bind(ebb_env *env, const ebb_call *call, ebb_rule *r) {
    const ebb_status status =
        groups_check(env, call, ebb_rule_size(r, 'c'), ebb_rule_size(r, 'i'), ebb_rule_size(r, 'o'));
    return status ? status : extents_set(env, call, r);
}

/* dy, whose y and z are bound, must be what conv2d gives. */
static ebb_status dy_check(ebb_env *env, const ebb_call *call, const ebb_rule *r) {
    ebb_rule due = *r;
    const ebb_status status = extents_set(env, call, &due);
    const int64_t y = ebb_rule_size(&due, 'y'), z = ebb_rule_size(&due, 'z');
    if (status || (y == ebb_rule_size(r, 'y') && z == ebb_rule_size(r, 'z'))) return status;
    char a[EBB_TYPE_TEXT], b[EBB_TYPE_TEXT];
    return ebb_fail(env, EBB_BAD_INPUT,
                    "%s: for %s and %s and size %lld,%lld dy must be %lld,%lld, not %lld,%lld",
                    call->op->name, ebb_type_text(&call->in[0], a), ebb_type_text(&call->in[1], b),
                    EBB_TWO(call->attr[EBB_CONV_SIZE]), (long long)y, (long long)z,
                    (long long)ebb_rule_size(r, 'y'), (long long)ebb_rule_size(r, 'z'));
}

static ebb_status conv2d_dgrad_bind(ebb_env *env, const ebb_call *call, ebb_rule *r) {
    int64_t c;
    if (!ebb_mul_i64(ebb_rule_size(r, 'i'), call->attr[EBB_CONV_GROUPS].i[0], &c)) {
        return ebb_fail(env, EBB_BAD_INPUT, "%s: groups %lld is too large", call->op->name,
                        (long long)call->attr[EBB_CONV_GROUPS].i[0]);
    }
    ebb_rule_set(r, 'c', c);
    const ebb_status status = groups_check(env, call, c, ebb_rule_size(r, 'i'), ebb_rule_size(r, 'o'));
    return status ? status : dy_check(env, call, r);
}

static ebb_status channels_fail(ebb_env *env, const ebb_call *call) {
    char x[EBB_TYPE_TEXT];
    return ebb_fail(env, EBB_BAD_INPUT, "%s: %lld channels of x %s are not a multiple of groups %lld",
                    call->op->name, (long long)call->in[0].dim[1], ebb_type_text(&call->in[0], x),
                    (long long)call->attr[EBB_CONV_GROUPS].i[0]);
}

static ebb_status conv2d_wgrad_bind(ebb_env *env, const ebb_call *call, ebb_rule *r) {
    const int64_t c = ebb_rule_size(r, 'c'), groups = call->attr[EBB_CONV_GROUPS].i[0];
    if (c % groups != 0) return channels_fail(env, call);
    ebb_rule_set(r, 'i', c / groups);
    const ebb_status status = groups_check(env, call, c, c / groups, ebb_rule_size(r, 'o'));
    return status ? status : dy_check(env, call, r);
}

/* A multiply and an add for each element of y and each tap of its filter. Padding counts: it is multiplied
 * too. */
static void cost_set(const ebb_call *call, ebb_cost *cost, const ebb_type *y, const ebb_type *w) {
    int64_t taps = ebb_mul_saturated(w->dim[1], ebb_mul_saturated(w->dim[2], w->dim[3]));
    ebb_cost_set(call, cost, ebb_mul_saturated(ebb_type_count(y), taps), 2);
}

static void conv2d_cost(const ebb_call *call, ebb_cost *cost) {
    cost_set(call, cost, &call->out[0], &call->in[1]);
}

static void conv2d_dgrad_cost(const ebb_call *call, ebb_cost *cost) {
    cost_set(call, cost, &call->in[0], &call->in[1]);
}

static void conv2d_wgrad_cost(const ebb_call *call, ebb_cost *cost) {
    cost_set(call, cost, &call->in[1], &call->out[0]);
}

/* The attributes of a gradient: the forward op's and the rows and columns of what is differentiated by. */
static void grad_attrs(ebb_rewriter *rw, const ebb_node *node, uint32_t i,
                       ebb_attr attr[EBB_CONV_SIZE + 1]) {
    const ebb_type *type = ebb_builder_type(ebb_rw_builder(rw), ebb_rw_value(rw, node->in[i]));
    memcpy(attr, node->attr, EBB_CONV_SIZE * sizeof *attr);
    attr[EBB_CONV_SIZE] = (ebb_attr){.i = {type->dim[2], type->dim[3]}};
}

/* The weight's gradient first: x may die before dx is made. */
static void conv2d_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    ebb_id x = ebb_rw_value(rw, node->in[0]), w = ebb_rw_value(rw, node->in[1]);
    ebb_attr attr[EBB_CONV_SIZE + 1];
    if (ebb_grad_wants(rw, node, 1)) {
        grad_attrs(rw, node, 1, attr);
        ebb_id in[] = {x, dout[0]};
        ebb_grad_give(rw, node, 1, ebb_rw_emit(rw, &ebb_op_conv2d_wgrad, in, 2, attr)[0]);
    }
    if (ebb_grad_wants(rw, node, 0)) {
        grad_attrs(rw, node, 0, attr);
        ebb_id in[] = {dout[0], w};
        ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_conv2d_dgrad, in, 2, attr)[0]);
    }
}

/* dx = dgrad(dy, w) is linear in both: by dy it is the convolution, by w the weight's gradient of a
 * convolution whose image is what arrives. */
static void conv2d_dgrad_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    ebb_id dy = ebb_rw_value(rw, node->in[0]), w = ebb_rw_value(rw, node->in[1]);
    ebb_attr attr[EBB_CONV_SIZE + 1];
    if (ebb_grad_wants(rw, node, 1)) {
        grad_attrs(rw, node, 1, attr);
        ebb_id in[] = {dout[0], dy};
        ebb_grad_give(rw, node, 1, ebb_rw_emit(rw, &ebb_op_conv2d_wgrad, in, 2, attr)[0]);
    }
    if (ebb_grad_wants(rw, node, 0)) {
        ebb_id in[] = {dout[0], w};
        ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_conv2d, in, 2, node->attr)[0]);
    }
}

/* dw = wgrad(x, dy) is linear in both, too: by x the gradient by the image of a convolution whose weight is
 * what arrives, by dy that convolution. */
static void conv2d_wgrad_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    ebb_id x = ebb_rw_value(rw, node->in[0]), dy = ebb_rw_value(rw, node->in[1]);
    ebb_attr attr[EBB_CONV_SIZE + 1];
    if (ebb_grad_wants(rw, node, 1)) {
        ebb_id in[] = {x, dout[0]};
        ebb_grad_give(rw, node, 1, ebb_rw_emit(rw, &ebb_op_conv2d, in, 2, node->attr)[0]);
    }
    if (ebb_grad_wants(rw, node, 0)) {
        grad_attrs(rw, node, 0, attr);
        ebb_id in[] = {dy, dout[0]};
        ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_conv2d_dgrad, in, 2, attr)[0]);
    }
}

/* ---- conv2d_transpose ----------------------------------------------------------------------------- */

/* Along one axis the result has (x - 1) * stride + span - 2 * pad + out_pad places: the smallest size that
 * a convolution takes to x, and out_pad of those that it rounds down. */
static ebb_status transpose_extent(ebb_env *env, const ebb_call *call, uint32_t axis, int64_t x, int64_t k,
                                   int64_t *y) {
    const ebb_attr *a = call->attr;
    const int64_t stride = a[EBB_CONV_STRIDE].i[axis], pad = a[EBB_CONV_PAD].i[axis];
    const int64_t out_pad = a[EBB_CONV_OUT_PAD].i[axis];
    if (out_pad >= stride) {
        return ebb_fail(env, EBB_BAD_INPUT, "%s: out_pad %lld must be less than the stride %lld",
                        call->op->name, (long long)out_pad, (long long)stride);
    }
    int64_t span, reach;
    bool fits = ebb_mul_i64(a[EBB_CONV_DILATION].i[axis], k - 1, &span) &&
                ebb_mul_i64(x - 1, stride, &reach) && ebb_add_i64(reach, span, &reach) &&
                ebb_add_i64(reach, out_pad + 1, &reach);
    if (fits && reach > 2 * pad) {
        *y = reach - 2 * pad;
        return EBB_OK;
    }
    return ebb_fail(
        env, EBB_BAD_INPUT,
        "%s: %lld %s, a kernel of %lld, stride %lld and pad %lld leave no result of 1 to 2^63 - 1",
        call->op->name, (long long)x, axis ? "columns" : "rows", (long long)k, (long long)stride,
        (long long)pad);
}

static ebb_status conv2d_transpose_bind(ebb_env *env, const ebb_call *call, ebb_rule *r) {
    const int64_t groups = call->attr[EBB_CONV_GROUPS].i[0];
    int64_t o, y = 0, z = 0;
    if (ebb_rule_size(r, 'c') % groups != 0 || !ebb_mul_i64(ebb_rule_size(r, 'i'), groups, &o))
        return channels_fail(env, call);
    ebb_status status = transpose_extent(env, call, 0, ebb_rule_size(r, 'h'), ebb_rule_size(r, 'p'), &y);
    if (!status) status = transpose_extent(env, call, 1, ebb_rule_size(r, 'w'), ebb_rule_size(r, 'q'), &z);
    ebb_rule_set(r, 'o', o);
    ebb_rule_set(r, 'y', y);
    ebb_rule_set(r, 'z', z);
    return status;
}

static void conv2d_transpose_lower(ebb_rewriter *rw, const ebb_node *node, ebb_mode mode) {
    (void)mode;
    ebb_id in[] = {ebb_rw_value(rw, node->in[0]), ebb_rw_value(rw, node->in[1])};
    const ebb_type *x = ebb_builder_type(ebb_rw_builder(rw), in[0]);
    const ebb_type *w = ebb_builder_type(ebb_rw_builder(rw), in[1]);
    const ebb_attr *a = node->attr;
    ebb_attr attr[EBB_CONV_SIZE + 1];
    memcpy(attr, a, EBB_CONV_SIZE * sizeof *attr);
    attr[EBB_CONV_SIZE] = (ebb_attr){.i = {0}};
    for (uint32_t axis = 0; axis < 2; axis++) { /* as infer found it: nothing overflows */
        attr[EBB_CONV_SIZE].i[axis] = (x->dim[2 + axis] - 1) * a[EBB_CONV_STRIDE].i[axis] +
                                      a[EBB_CONV_DILATION].i[axis] * (w->dim[2 + axis] - 1) + 1 -
                                      2 * a[EBB_CONV_PAD].i[axis] + a[EBB_CONV_OUT_PAD].i[axis];
    }
    ebb_lower_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_conv2d_dgrad, in, 2, attr)[0]);
}

/* ---- the ops -------------------------------------------------------------------------------------- */

EBB_DEFINE(conv2d, EBB_RULE(2, 1, "x[n,c,h,w] w[o,i,p,q] -> [n,o,y,z]"), EBB_LIST(attrs, conv_attrs),
           .bind = conv2d_bind, .cost = conv2d_cost, .grad = conv2d_grad, EBB_RUNS(LOW));
EBB_DEFINE(conv2d_dgrad, EBB_RULE(2, 1, "dy[n,o,y,z] w[o,i,p,q] -> [n,c,h,w] where h=size.0 w=size.1"),
           EBB_LIST(attrs, conv_grad_attrs), .bind = conv2d_dgrad_bind, .cost = conv2d_dgrad_cost,
           .grad = conv2d_dgrad_grad, EBB_RUNS(LOW));
EBB_DEFINE(conv2d_wgrad, EBB_RULE(2, 1, "x[n,c,h,w] dy[n,o,y,z] -> [o,i,p,q] where p=size.0 q=size.1"),
           EBB_LIST(attrs, conv_grad_attrs), .bind = conv2d_wgrad_bind, .cost = conv2d_wgrad_cost,
           .grad = conv2d_wgrad_grad);
EBB_DEFINE(conv2d_transpose, EBB_RULE(2, 1, "x[n,c,h,w] w[c,i,p,q] -> [n,o,y,z]"),
           EBB_LIST(attrs, conv_transpose_attrs), .bind = conv2d_transpose_bind, .cost = conv2d_dgrad_cost,
           .lower = conv2d_transpose_lower);
