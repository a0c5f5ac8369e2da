/* Ops that only move or make elements: reshape, flatten, to_planes, from_planes, fill.
 *
 * Rank 4 is stored channels-last, so the logical order of its elements is the order of its bytes only when
 * it has one channel or one place. Otherwise the order of the bytes depends on how many channels and how
 * many places there are: a reshape is a view just when these two stay as they are. */
#include "graph/ops/rule.h"

/* A list as long as given. */
#define SHAPE_NEEDED EBB_INTS_NEEDED("shape", 0, -1, EBB_ATTR_SIZE_MAX)
#define SHAPE        EBB_INTS("shape", 0, 0, -1, EBB_ATTR_SIZE_MAX)

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

static void reshape_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    const ebb_type *x = ebb_builder_type(ebb_rw_builder(rw), ebb_rw_value(rw, node->in[0]));
    ebb_attr attr[] = {[EBB_RESHAPE_SHAPE] = {.i = {0}}};
    for (uint32_t d = 0; d < x->rank; d++) attr[EBB_RESHAPE_SHAPE].i[d] = x->dim[d];
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_reshape, dout, 1, attr)[0]);
}

static const ebb_attr_info reshape_attrs[] = {[EBB_RESHAPE_SHAPE] = SHAPE_NEEDED};
EBB_DEFINE(reshape, EBB_INFER(1, 1, 1, reshape_infer), EBB_LIST(attrs, reshape_attrs),
           .cost = ebb_cost_nothing, .grad = reshape_grad, EBB_RUNS(FOLLOWS), .moves = true);

/* ---- stop_gradient ------------------------------------------------------------------------------ */

/* What comes stays here; what it was made of goes when nothing else reads it. */
static void stop_gradient_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    (void)rw, (void)node, (void)dout;
}

EBB_DEFINE(stop_gradient, EBB_RULE(1, 1, "x[*] -> [*]"), .cost = ebb_cost_nothing,
           .grad = stop_gradient_grad, EBB_RUNS(FOLLOWS));

/* ---- flatten ------------------------------------------------------------------------------------ */

static ebb_status flatten_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    const ebb_type *x = &call->in[0];
    if (x->rank == 0) {
        char text[EBB_TYPE_TEXT];
        return ebb_fail(env, EBB_BAD_INPUT, "%s: x %s must have rank 1 or more", call->op->name,
                        ebb_type_text(x, text));
    }
    *out = (ebb_type){.dtype = x->dtype, .rank = 2, .dim = {x->dim[0], ebb_type_count(x) / x->dim[0]}};
    return EBB_OK;
}

static void flatten_lower(ebb_rewriter *rw, const ebb_node *node, ebb_mode mode) {
    (void)mode;
    ebb_id x = ebb_rw_value(rw, node->in[0]);
    const ebb_type *type = ebb_builder_type(ebb_rw_builder(rw), x);
    ebb_type flat = {.rank = 2};
    if (type->rank != 2) {
        int64_t n = ebb_max_i64(type->dim[0], 1);
        ebb_attr attr[] = {[EBB_RESHAPE_SHAPE] = {.i = {n, ebb_type_count(type) / n}}};
        bool view = same_bytes(type, &flat);
        x = ebb_rw_emit(rw, view ? &ebb_op_reshape : &ebb_op_to_planes, &x, 1, view ? attr : NULL)[0];
    }
    ebb_lower_give(rw, node, 0, x);
}

EBB_DEFINE(flatten, EBB_INFER(1, 1, 1, flatten_infer), EBB_FLOPS(0), .lower = flatten_lower);

/* ---- permute ------------------------------------------------------------------------------------- */

static ebb_status permute_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    const ebb_type *x = &call->in[0];
    const int64_t *order = call->attr[EBB_PERMUTE_ORDER].i;
    uint32_t n = 0, seen = 0;
    *out = *x;
    for (; n < EBB_MAX_RANK && order[n] >= 0; n++) {
        if (order[n] >= x->rank || seen >> order[n] & 1) break;
        seen |= UINT32_C(1) << order[n];
        out->dim[n] = x->dim[order[n]];
    }
    if (n == x->rank && (n == EBB_MAX_RANK || order[n] < 0)) return EBB_OK;
    char text[EBB_TYPE_TEXT];
    return ebb_fail(env, EBB_BAD_INPUT, "%s: order must name each of the %u axes of x %s once",
                    call->op->name, x->rank, ebb_type_text(x, text));
}

static void permute_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    ebb_attr back[] = {[EBB_PERMUTE_ORDER] = ebb_axes_list(0)};
    const int64_t *order = node->attr[EBB_PERMUTE_ORDER].i;
    for (uint32_t d = 0; d < EBB_MAX_RANK && order[d] >= 0; d++) back[EBB_PERMUTE_ORDER].i[order[d]] = d;
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_permute, dout, 1, back)[0]);
}

static const ebb_attr_info permute_attrs[] = {[EBB_PERMUTE_ORDER] = EBB_AXES("order")};
EBB_DEFINE(permute, EBB_INFER(1, 1, 1, permute_infer), EBB_LIST(attrs, permute_attrs), EBB_FLOPS(0),
           .grad = permute_grad, EBB_RUNS(FOLLOWS), .moves = true);

/* ---- to_planes, from_planes: the copy that reshape cannot avoid --------------------------------- */

static ebb_status from_planes_bind(ebb_env *env, const ebb_call *call, ebb_rule *r) {
    const int64_t *size = call->attr[EBB_PLANES_SIZE].i;
    if (ebb_mul_saturated(ebb_mul_saturated(size[0], size[1]), size[2]) == ebb_rule_size(r, 'f'))
        return EBB_OK;
    char x[EBB_TYPE_TEXT];
    return ebb_fail(env, EBB_BAD_INPUT,
                    "%s: x %s has %lld elements a row but size %lld,%lld,%lld wants others", call->op->name,
                    ebb_type_text(&call->in[0], x), (long long)ebb_rule_size(r, 'f'), (long long)size[0],
                    (long long)size[1], (long long)size[2]);
}

static void to_planes_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    const ebb_type *x = ebb_builder_type(ebb_rw_builder(rw), ebb_rw_value(rw, node->in[0]));
    ebb_attr attr[] = {[EBB_PLANES_SIZE] = {.i = {x->dim[1], x->dim[2], x->dim[3]}}};
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_from_planes, dout, 1, attr)[0]);
}

EBB_DEFINE(to_planes, EBB_RULE(1, 1, "x:all[n,c,h,w] -> [n,f] where f=c*h*w"), EBB_FLOPS(0),
           .grad = to_planes_grad, EBB_RUNS(FOLLOWS), .moves = true);

static const ebb_attr_info from_planes_attrs[] = {[EBB_PLANES_SIZE] =
                                                      EBB_INTS_NEEDED("size", 3, 1, EBB_ATTR_SIZE_MAX)};
EBB_DEFINE(from_planes, EBB_RULE(1, 1, "x:all[n,f] -> [n,c,h,w] where c=size.0 h=size.1 w=size.2"),
           EBB_LIST(attrs, from_planes_attrs), .bind = from_planes_bind, EBB_FLOPS(0),
           EBB_GRAD(to_planes, "dy"), .moves = true);

/* ---- fill --------------------------------------------------------------------------------------- */

static ebb_status fill_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    ebb_status status = shape_read(env, call, &call->attr[EBB_FILL_SHAPE], out);
    if (status) return status;
    status = ebb_rule_real(env, call, &call->attr[EBB_FILL_DTYPE], &out->dtype);
    return status ? status : ebb_rule_result(env, call, out); /* again: of other bytes an element */
}

static const ebb_attr_info fill_attrs[] = {
    [EBB_FILL_SHAPE] = SHAPE,
    [EBB_FILL_VALUE] = EBB_REAL_NEEDED("value", -1e300, 1e300),
    [EBB_FILL_DTYPE] = EBB_DTYPE_USUAL("dtype", EBB_F32),
};
/* No gradient: it has no inputs, so none ever asks. */
EBB_DEFINE(fill, EBB_INFER(0, 0, 1, fill_infer), EBB_LIST(attrs, fill_attrs), EBB_FLOPS(0));
