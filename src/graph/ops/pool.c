/* max_pool, avg_pool, global_avg_pool and their gradients.
 *
 * Along each axis y = (x + 2 * pad - kernel) / stride + 1, rounded down. pad < kernel, so that every window
 * has a real element in it. Padding never wins a maximum. avg_pool divides by the whole window, or, with
 * count_pad=false, by the real elements in it. */
#include "graph/ops/rule.h"

#define KERNEL                                                                          \
    {                                                                                   \
        .name = "kernel", .kind = EBB_ATTR_INT, .count = 2, .required = true, .min = 1, \
        .max = EBB_ATTR_STEP_MAX                                                        \
    }
#define STRIDE                                                                       \
    {                                                                                \
        .name = "stride", .kind = EBB_ATTR_INT, .count = 2, .fallback = 0, .min = 0, \
        .max = EBB_ATTR_STEP_MAX                                                     \
    }
#define PAD \
    { .name = "pad", .kind = EBB_ATTR_INT, .count = 2, .fallback = 0, .min = 0, .max = EBB_ATTR_STEP_MAX }
#define COUNT_PAD \
    { .name = "count_pad", .kind = EBB_ATTR_BOOL, .count = 1, .fallback = 1, .min = 0, .max = 1 }
#define SIZE                                                                          \
    {                                                                                 \
        .name = "size", .kind = EBB_ATTR_INT, .count = 2, .required = true, .min = 1, \
        .max = EBB_ATTR_SIZE_MAX                                                      \
    }

static const ebb_attr_info max_pool_attrs[] = {
    [EBB_POOL_KERNEL] = KERNEL, [EBB_POOL_STRIDE] = STRIDE, [EBB_POOL_PAD] = PAD};
static const ebb_attr_info max_pool_at_grad_attrs[] = {[EBB_POOL_KERNEL] = KERNEL,
                                                       [EBB_POOL_STRIDE] = STRIDE,
                                                       [EBB_POOL_PAD] = PAD,
                                                       [EBB_POOL_AT_SIZE] = SIZE};
static const ebb_attr_info avg_pool_attrs[] = {[EBB_POOL_KERNEL] = KERNEL,
                                               [EBB_POOL_STRIDE] = STRIDE,
                                               [EBB_POOL_PAD] = PAD,
                                               [EBB_POOL_COUNT_PAD] = COUNT_PAD};
static const ebb_attr_info avg_pool_grad_attrs[] = {[EBB_POOL_KERNEL] = KERNEL,
                                                    [EBB_POOL_STRIDE] = STRIDE,
                                                    [EBB_POOL_PAD] = PAD,
                                                    [EBB_POOL_COUNT_PAD] = COUNT_PAD,
                                                    [EBB_POOL_SIZE] = SIZE};
static const ebb_attr_info gap_grad_attrs[] = {[EBB_GAP_SIZE] = SIZE};

/* ---- windows ------------------------------------------------------------------------------------ */

/* What y must be along one axis (0 rows, 1 columns) for x. */
static ebb_status extent(ebb_env *env, const ebb_call *call, uint32_t axis, int64_t x, int64_t *y) {
    int64_t kernel = call->attr[EBB_POOL_KERNEL].i[axis], pad = call->attr[EBB_POOL_PAD].i[axis], padded;
    const char *name = axis ? "columns" : "rows";
    if (pad >= kernel) {
        return ebb_fail(env, EBB_BAD_INPUT, "%s: pad %lld must be less than the kernel's %lld %s",
                        call->op->name, (long long)pad, (long long)kernel, name);
    }
    if (!ebb_add_i64(x, 2 * pad, &padded)) padded = INT64_MAX;
    if (kernel > padded) {
        return ebb_fail(env, EBB_BAD_INPUT, "%s: the kernel has %lld %s but x has %lld + 2 * pad %lld",
                        call->op->name, (long long)kernel, name, (long long)x, (long long)pad);
    }
    *y = (padded - kernel) / ebb_pool_stride(call->attr, axis) + 1;
    return EBB_OK;
}

static ebb_status infer_by(ebb_env *env, const ebb_call *call, const char *text, ebb_type *out) {
    ebb_rule r;
    ebb_status status = ebb_rule_match(env, call, text, &r);
    int64_t y = 0, z = 0;
    if (!status) status = extent(env, call, 0, ebb_rule_size(&r, 'h'), &y);
    if (!status) status = extent(env, call, 1, ebb_rule_size(&r, 'w'), &z);
    if (status) return status;
    ebb_rule_set(&r, 'y', y);
    ebb_rule_set(&r, 'z', z);
    return ebb_rule_give(env, call, &r, out);
}

static ebb_status pool_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return infer_by(env, call, "x[n,c,h,w] -> [n,c,y,z]", out);
}

/* 8 bits tell the places of a window apart. */
static bool places_fit(const ebb_attr *attr) {
    return ebb_mul_saturated(attr[EBB_POOL_KERNEL].i[0], attr[EBB_POOL_KERNEL].i[1]) <=
           EBB_POOL_MOST_PLACES;
}

static ebb_status places_check(ebb_env *env, const ebb_call *call) {
    if (places_fit(call->attr)) return EBB_OK;
    return ebb_fail(env, EBB_BAD_INPUT, "%s: kernel %lld,%lld has more than %d places: use max_pool",
                    call->op->name, EBB_TWO(call->attr[EBB_POOL_KERNEL]), EBB_POOL_MOST_PLACES);
}

static ebb_status max_pool_at_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    const ebb_status status = places_check(env, call);
    return status ? status : infer_by(env, call, "x[n,c,h,w] -> [n,c,y,z] place:u8[n,c,y,z]", out);
}

/* dy, operand dy_at, must be what the pool gives for an x of h rows and w columns. */
static ebb_status dy_check(ebb_env *env, const ebb_call *call, const ebb_rule *r, uint32_t dy_at) {
    int64_t y = 0, z = 0, h = ebb_rule_size(r, 'h'), w = ebb_rule_size(r, 'w');
    ebb_status status = extent(env, call, 0, h, &y);
    if (!status) status = extent(env, call, 1, w, &z);
    if (status || (y == ebb_rule_size(r, 'y') && z == ebb_rule_size(r, 'z'))) return status;
    char dy[EBB_TYPE_TEXT];
    return ebb_fail(env, EBB_BAD_INPUT, "%s: an x of %lld,%lld gives %lld,%lld but dy is %s",
                    call->op->name, (long long)h, (long long)w, (long long)y, (long long)z,
                    ebb_type_text(&call->in[dy_at], dy));
}

static ebb_status max_pool_grad_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    ebb_rule r;
    ebb_status status = ebb_rule_match(env, call, "x[n,c,h,w] dy[n,c,y,z] -> [n,c,h,w]", &r);
    if (!status) status = dy_check(env, call, &r, 1);
    return status ? status : ebb_rule_give(env, call, &r, out);
}

/* Gradients that do not read x have its rows and columns as an attribute. */
static ebb_status sized_infer(ebb_env *env, const ebb_call *call, const char *text, uint32_t size,
                              ebb_type *out) {
    ebb_rule r;
    ebb_status status = ebb_rule_match(env, call, text, &r);
    if (status) return status;
    ebb_rule_set(&r, 'h', call->attr[size].i[0]);
    ebb_rule_set(&r, 'w', call->attr[size].i[1]);
    status = dy_check(env, call, &r, 0);
    return status ? status : ebb_rule_give(env, call, &r, out);
}

static ebb_status avg_pool_grad_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return sized_infer(env, call, "dy[n,c,y,z] -> [n,c,h,w]", EBB_POOL_SIZE, out);
}

static ebb_status max_pool_at_grad_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    const ebb_status status = places_check(env, call);
    if (status) return status;
    return sized_infer(env, call, "dy[n,c,y,z] place:u8[n,c,y,z] -> [n,c,h,w]", EBB_POOL_AT_SIZE, out);
}

/* A comparison or an addition for each element of each window. */
static void window_cost(const ebb_call *call, ebb_cost *cost, const ebb_type *y) {
    const int64_t *kernel = call->attr[EBB_POOL_KERNEL].i;
    ebb_cost_set(call, cost, ebb_type_count(y), ebb_mul_saturated(kernel[0], kernel[1]));
}

static void pool_cost(const ebb_call *call, ebb_cost *cost) {
    window_cost(call, cost, &call->out[0]);
}

static void pool_grad_cost(const ebb_call *call, ebb_cost *cost) {
    window_cost(call, cost, &call->in[call->n_in - 1]);
}

/* In training the places of the maxima are kept, a byte each, so that x need not be. */
static void max_pool_lower(ebb_rewriter *rw, const ebb_node *node, ebb_mode mode) {
    const bool keep = mode == EBB_TRAIN && places_fit(node->attr);
    const ebb_id x = ebb_rw_value(rw, node->in[0]);
    const ebb_op_info *op = keep ? &ebb_op_max_pool_at : &ebb_op_max_pool;
    ebb_lower_give(rw, node, 0, ebb_rw_emit(rw, op, &x, 1, node->attr)[0]);
}

/* Without places the maximum is looked for again in x. */
static void max_pool_grad_rule(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    ebb_id in[] = {ebb_rw_value(rw, node->in[0]), dout[0]};
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_max_pool_grad, in, 2, node->attr)[0]);
}

/* Rows and columns of the node's x, for a gradient that does not read x. */
static ebb_attr x_size(ebb_rewriter *rw, const ebb_node *node) {
    const ebb_type *x = ebb_build_type(ebb_rw_builder(rw), ebb_rw_value(rw, node->in[0]));
    return (ebb_attr){.i = {x->dim[2], x->dim[3]}};
}

static void max_pool_at_grad_rule(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    ebb_attr attr[EBB_POOL_AT_SIZE + 1];
    memcpy(attr, node->attr, EBB_POOL_AT_SIZE * sizeof *attr);
    attr[EBB_POOL_AT_SIZE] = x_size(rw, node);
    const ebb_id in[] = {dout[0], ebb_rw_value(rw, node->out[1])};
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_max_pool_at_grad, in, 2, attr)[0]);
}

static void avg_pool_grad_rule(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    ebb_attr attr[EBB_POOL_SIZE + 1];
    memcpy(attr, node->attr, EBB_POOL_SIZE * sizeof *attr);
    attr[EBB_POOL_SIZE] = x_size(rw, node);
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_avg_pool_grad, dout, 1, attr)[0]);
}

const ebb_op_info ebb_op_max_pool = {
    .name = "max_pool",
    .code = EBB_OP_max_pool,
    .family = EBB_FAMILY_OF(max_pool),
    .min_in = 1,
    .max_in = 1,
    .n_out = 1,
    EBB_LIST(attrs, max_pool_attrs),
    .effect = EBB_PURE,
    .infer = pool_infer,
    .cost = pool_cost,
    .grad = max_pool_grad_rule,
    .lower = max_pool_lower,
};

const ebb_op_info ebb_op_max_pool_at = {
    .name = "max_pool_at",
    .code = EBB_OP_max_pool_at,
    .family = EBB_FAMILY_OF(max_pool_at),
    .min_in = 1,
    .max_in = 1,
    .n_out = 2,
    EBB_LIST(attrs, max_pool_attrs),
    .effect = EBB_PURE,
    .infer = max_pool_at_infer,
    .cost = pool_cost,
    .grad = max_pool_at_grad_rule,
};

const ebb_op_info ebb_op_max_pool_at_grad = {
    .name = "max_pool_at_grad",
    .code = EBB_OP_max_pool_at_grad,
    .family = EBB_FAMILY_OF(max_pool_at_grad),
    .min_in = 2,
    .max_in = 2,
    .n_out = 1,
    EBB_LIST(attrs, max_pool_at_grad_attrs),
    .effect = EBB_PURE,
    .infer = max_pool_at_grad_infer,
    .cost = pool_grad_cost,
};

const ebb_op_info ebb_op_max_pool_grad = {
    .name = "max_pool_grad",
    .code = EBB_OP_max_pool_grad,
    .family = EBB_FAMILY_OF(max_pool_grad),
    .min_in = 2,
    .max_in = 2,
    .n_out = 1,
    EBB_LIST(attrs, max_pool_attrs),
    .effect = EBB_PURE,
    .infer = max_pool_grad_infer,
    .cost = pool_grad_cost,
};

const ebb_op_info ebb_op_avg_pool = {
    .name = "avg_pool",
    .code = EBB_OP_avg_pool,
    .family = EBB_FAMILY_OF(avg_pool),
    .min_in = 1,
    .max_in = 1,
    .n_out = 1,
    EBB_LIST(attrs, avg_pool_attrs),
    .effect = EBB_PURE,
    .infer = pool_infer,
    .cost = pool_cost,
    .grad = avg_pool_grad_rule,
};

const ebb_op_info ebb_op_avg_pool_grad = {
    .name = "avg_pool_grad",
    .code = EBB_OP_avg_pool_grad,
    .family = EBB_FAMILY_OF(avg_pool_grad),
    .min_in = 1,
    .max_in = 1,
    .n_out = 1,
    EBB_LIST(attrs, avg_pool_grad_attrs),
    .effect = EBB_PURE,
    .infer = avg_pool_grad_infer,
    .cost = pool_grad_cost,
};

/* ---- the whole plane ---------------------------------------------------------------------------- */

static ebb_status gap_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return ebb_rule_infer(env, call, "x[n,c,h,w] -> [n,c]", out);
}

static ebb_status gap_grad_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    ebb_rule r;
    ebb_status status = ebb_rule_match(env, call, "dy[n,c] -> [n,c,h,w]", &r);
    if (status) return status;
    ebb_rule_set(&r, 'h', call->attr[EBB_GAP_SIZE].i[0]);
    ebb_rule_set(&r, 'w', call->attr[EBB_GAP_SIZE].i[1]);
    return ebb_rule_give(env, call, &r, out);
}

static void gap_cost(const ebb_call *call, ebb_cost *cost) {
    ebb_cost_set(call, cost, ebb_type_count(&call->in[0]), 1);
}

static void gap_grad_rule(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    ebb_attr attr[] = {[EBB_GAP_SIZE] = x_size(rw, node)};
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_global_avg_pool_grad, dout, 1, attr)[0]);
}

const ebb_op_info ebb_op_global_avg_pool = {
    .name = "global_avg_pool",
    .code = EBB_OP_global_avg_pool,
    .family = EBB_FAMILY_OF(global_avg_pool),
    .min_in = 1,
    .max_in = 1,
    .n_out = 1,
    .effect = EBB_PURE,
    .infer = gap_infer,
    .cost = gap_cost,
    .grad = gap_grad_rule,
};

const ebb_op_info ebb_op_global_avg_pool_grad = {
    .name = "global_avg_pool_grad",
    .code = EBB_OP_global_avg_pool_grad,
    .family = EBB_FAMILY_OF(global_avg_pool_grad),
    .min_in = 1,
    .max_in = 1,
    .n_out = 1,
    EBB_LIST(attrs, gap_grad_attrs),
    .effect = EBB_PURE,
    .infer = gap_grad_infer,
    .cost = gap_cost,
};
