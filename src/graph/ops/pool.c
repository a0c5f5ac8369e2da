/* max_pool, avg_pool, global_avg_pool and their gradients.
 *
 * Along each axis y = (x + 2 * pad - kernel) / stride + 1, rounded down. pad < kernel, so that every window
 * has a real element in it. Padding never wins a maximum. avg_pool divides by the whole window, or, with
 * count_pad=false, by the real elements in it. */
#include "graph/ops/pool.h"

#define KERNEL EBB_INTS_NEEDED("kernel", 2, 1, EBB_ATTR_STEP_MAX)
#define STRIDE EBB_INTS("stride", 2, 0, 0, EBB_ATTR_STEP_MAX)
#define PAD    EBB_INTS("pad", 2, 0, 0, EBB_ATTR_STEP_MAX)
#define SIZE   EBB_INTS_NEEDED("size", 2, 1, EBB_ATTR_SIZE_MAX)

static const ebb_attr_info max_pool_attrs[] = {
    [EBB_POOL_KERNEL] = KERNEL, [EBB_POOL_STRIDE] = STRIDE, [EBB_POOL_PAD] = PAD};
static const ebb_attr_info max_pool_at_grad_attrs[] = {[EBB_POOL_KERNEL] = KERNEL,
                                                       [EBB_POOL_STRIDE] = STRIDE,
                                                       [EBB_POOL_PAD] = PAD,
                                                       [EBB_POOL_AT_SIZE] = SIZE};
static const ebb_attr_info avg_pool_attrs[] = {[EBB_POOL_KERNEL] = KERNEL,
                                               [EBB_POOL_STRIDE] = STRIDE,
                                               [EBB_POOL_PAD] = PAD,
                                               [EBB_POOL_COUNT_PAD] = EBB_FLAG("count_pad", 1)};
static const ebb_attr_info avg_pool_grad_attrs[] = {[EBB_POOL_KERNEL] = KERNEL,
                                                    [EBB_POOL_STRIDE] = STRIDE,
                                                    [EBB_POOL_PAD] = PAD,
                                                    [EBB_POOL_COUNT_PAD] = EBB_FLAG("count_pad", 1),
                                                    [EBB_POOL_SIZE] = SIZE};

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

/* y and z, which are what the pool gives for an x of h rows and w columns. */
static ebb_status pool_bind(ebb_env *env, const ebb_call *call, ebb_rule *r) {
    int64_t y = 0, z = 0;
    ebb_status status = extent(env, call, 0, ebb_rule_size(r, 'h'), &y);
    if (!status) status = extent(env, call, 1, ebb_rule_size(r, 'w'), &z);
    ebb_rule_set(r, 'y', y);
    ebb_rule_set(r, 'z', z);
    return status;
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

static ebb_status max_pool_at_bind(ebb_env *env, const ebb_call *call, ebb_rule *r) {
    const ebb_status status = places_check(env, call);
    return status ? status : pool_bind(env, call, r);
}

/* dy, whose y and z are bound, must be what the pool gives. */
static ebb_status dy_check(ebb_env *env, const ebb_call *call, ebb_rule *r) {
    ebb_rule due = *r;
    const ebb_status status = pool_bind(env, call, &due);
    const int64_t y = ebb_rule_size(&due, 'y'), z = ebb_rule_size(&due, 'z');
    if (status || (y == ebb_rule_size(r, 'y') && z == ebb_rule_size(r, 'z'))) return status;
    char dy[EBB_TYPE_TEXT];
    return ebb_fail(env, EBB_BAD_INPUT, "%s: an x of %lld,%lld gives %lld,%lld but dy is %s",
                    call->op->name, (long long)ebb_rule_size(r, 'h'), (long long)ebb_rule_size(r, 'w'),
                    (long long)y, (long long)z, ebb_type_text(&call->in[r->owner['y' - 'a']], dy));
}

static ebb_status max_pool_at_grad_bind(ebb_env *env, const ebb_call *call, ebb_rule *r) {
    const ebb_status status = places_check(env, call);
    return status ? status : dy_check(env, call, r);
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

/* Rows and columns of the node's x, for a gradient that does not read x. */
static ebb_attr x_size(ebb_rewriter *rw, const ebb_node *node) {
    const ebb_type *x = ebb_builder_type(ebb_rw_builder(rw), ebb_rw_value(rw, node->in[0]));
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

static void avg_pool_grad_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (ebb_grad_wants(rw, node, 0))
        ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_avg_pool, dout, 1, node->attr)[0]);
}

/* Without places the maximum is looked for again in x. */
EBB_DEFINE(max_pool, EBB_RULE(1, 1, "x[n,c,h,w] -> [n,c,y,z]"), EBB_LIST(attrs, max_pool_attrs),
           .bind = pool_bind, .cost = pool_cost, EBB_GRAD(max_pool_grad, "x dy"), .lower = max_pool_lower,
           EBB_RUNS(FOLLOWS));
EBB_DEFINE(max_pool_grad, EBB_RULE(2, 1, "x[n,c,h,w] dy[n,c,y,z] -> [n,c,h,w]"),
           EBB_LIST(attrs, max_pool_attrs), .bind = dy_check, .cost = pool_grad_cost,
           .grad = ebb_max_pool_grad_grad);
EBB_DEFINE(max_pool_at, EBB_RULE(1, 2, "x[n,c,h,w] -> [n,c,y,z] place:u8[n,c,y,z]"),
           EBB_LIST(attrs, max_pool_attrs), .bind = max_pool_at_bind, .cost = pool_cost,
           .grad = max_pool_at_grad_rule, EBB_RUNS(FOLLOWS));
/* Gradients that do not read x have its rows and columns as an attribute. */
EBB_DEFINE(max_pool_at_grad,
           EBB_RULE(2, 1, "dy[n,c,y,z] place:u8[n,c,y,z] -> [n,c,h,w] where h=size.0 w=size.1"),
           EBB_LIST(attrs, max_pool_at_grad_attrs), .bind = max_pool_at_grad_bind, .cost = pool_grad_cost,
           .grad = ebb_max_pool_at_grad_grad);
EBB_DEFINE(avg_pool, EBB_RULE(1, 1, "x[n,c,h,w] -> [n,c,y,z]"), EBB_LIST(attrs, avg_pool_attrs),
           .bind = pool_bind, .cost = pool_cost, .grad = avg_pool_grad_rule, EBB_RUNS(FOLLOWS));
EBB_DEFINE(avg_pool_grad, EBB_RULE(1, 1, "dy[n,c,y,z] -> [n,c,h,w] where h=size.0 w=size.1"),
           EBB_LIST(attrs, avg_pool_grad_attrs), .bind = dy_check, .cost = pool_grad_cost,
           .grad = avg_pool_grad_grad);

/* ---- the whole plane ---------------------------------------------------------------------------- */

static void gap_grad_rule(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    ebb_attr attr[] = {[EBB_GAP_SIZE] = x_size(rw, node)};
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_global_avg_pool_grad, dout, 1, attr)[0]);
}

static const ebb_attr_info gap_grad_attrs[] = {[EBB_GAP_SIZE] = SIZE};
EBB_DEFINE(global_avg_pool, EBB_RULE(1, 1, "x[n,c,h,w] -> [n,c]"), EBB_FLOPS(1), .grad = gap_grad_rule,
           EBB_RUNS(FOLLOWS));
EBB_DEFINE(global_avg_pool_grad, EBB_RULE(1, 1, "dy[n,c] -> [n,c,h,w] where h=size.0 w=size.1"),
           EBB_LIST(attrs, gap_grad_attrs), EBB_FLOPS(1), EBB_GRAD(global_avg_pool, "dy"));
