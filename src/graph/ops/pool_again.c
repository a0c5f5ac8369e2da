/* Gradients of max_pool's gradients: what arrives at x, taken at each window's maximum. The place of that
 * is a number in its window; from it comes the number of an element in logical order, which `take` takes.
 * Places that lie in the padding, or in no window, put dy nowhere, and take 0. */
#include "graph/ops/pool.h"

typedef struct again {
    ebb_rewriter *rw;
    const ebb_attr *attr;
    ebb_type x, y;
    ebb_id inside; /* bool: which places are elements of x */
} again;

/* A whole number. Sizes of images are exact in f32. */
static ebb_id whole(const again *a, int64_t number) {
    ebb_builder *b = ebb_rw_builder(a->rw);
    if (number < -(INT64_C(1) << 24) || number > INT64_C(1) << 24)
        ebb_builder_fail(b, EBB_BAD_INPUT, "max_pool: a second gradient of %lld places along an axis",
                         (long long)number);
    const ebb_attr fill[] = {[EBB_FILL_SHAPE] = {.i = {0}},
                             [EBB_FILL_VALUE] = {.f = (double)number},
                             [EBB_FILL_DTYPE] = {.i = {EBB_F32}}};
    return ebb_emit_cast(a->rw, ebb_rw_emit(a->rw, &ebb_op_fill, NULL, 0, fill)[0], EBB_I32);
}

static ebb_id with(const again *a, const ebb_op_info *op, ebb_id x, int64_t number) {
    return ebb_emit_2(a->rw, op, x, whole(a, number));
}

/* Numbers along an axis of y. */
static ebb_id along(const again *a, int64_t axis) {
    ebb_attr attr[] = {[EBB_IOTA_SHAPE] = {.i = {1, 1, 1, 1}}, [EBB_IOTA_AXIS] = {.i = {axis}}};
    attr[EBB_IOTA_SHAPE].i[axis] = a->y.dim[axis];
    return ebb_rw_emit(a->rw, &ebb_op_iota, NULL, 0, attr)[0];
}

static void keep_inside(again *a, ebb_id holds) {
    a->inside = a->inside == EBB_NONE ? holds : ebb_emit_2(a->rw, &ebb_op_logical_and, a->inside, holds);
}

/* The row or column of x of one in a window. */
static ebb_id place_of(again *a, uint32_t axis, ebb_id in_window) {
    const int64_t stride = ebb_pool_stride(a->attr, axis), pad = a->attr[EBB_POOL_PAD].i[axis];
    const ebb_id first = with(a, &ebb_op_sub, with(a, &ebb_op_mul, along(a, 2 + axis), stride), pad);
    const ebb_id place = ebb_emit_2(a->rw, &ebb_op_add, first, in_window);
    keep_inside(a, ebb_emit_2(a->rw, &ebb_op_less_equal, whole(a, 0), place));
    keep_inside(a, with(a, &ebb_op_less, place, a->x.dim[2 + axis]));
    return place;
}

/* The number in logical order of the element of x that each place names. */
static ebb_id element_of(again *a, ebb_id place) {
    const int64_t *kernel = a->attr[EBB_POOL_KERNEL].i;
    const ebb_id p = ebb_emit_cast(a->rw, place, EBB_I32);
    keep_inside(a, with(a, &ebb_op_less, p, kernel[0] * kernel[1]));
    const ebb_id row = place_of(a, 0, with(a, &ebb_op_floor_div, p, kernel[1]));
    const ebb_id column = place_of(a, 1, with(a, &ebb_op_mod, p, kernel[1]));
    ebb_id at = with(a, &ebb_op_mul, along(a, 0), a->x.dim[1]);
    at = ebb_emit_2(a->rw, &ebb_op_add, at, along(a, 1));
    at = ebb_emit_2(a->rw, &ebb_op_add, with(a, &ebb_op_mul, at, a->x.dim[2]), row);
    at = ebb_emit_2(a->rw, &ebb_op_add, with(a, &ebb_op_mul, at, a->x.dim[3]), column);
    const ebb_id in[] = {a->inside, at, whole(a, 0)};
    return ebb_rw_emit(a->rw, &ebb_op_where, in, 3, NULL)[0];
}

/* g, of x's type, at the places; attr: of the pool. */
static ebb_id taken(ebb_rewriter *rw, const ebb_attr *attr, ebb_id g, ebb_id place) {
    again a = {.rw = rw, .attr = attr, .inside = EBB_NONE};
    a.x = *ebb_builder_type(ebb_rw_builder(rw), g);
    a.y = *ebb_builder_type(ebb_rw_builder(rw), place);
    const ebb_attr flat[] = {[EBB_RESHAPE_SHAPE] = {.i = {ebb_type_count(&a.x)}}},
                   axis[] = {[EBB_TAKE_AXIS] = {.i = {0}}};
    const ebb_id planes = ebb_emit_1(rw, &ebb_op_to_planes, g);
    const ebb_id line = ebb_rw_emit(rw, &ebb_op_reshape, &planes, 1, flat)[0];
    const ebb_id in[] = {line, element_of(&a, place)};
    const ebb_id there = ebb_rw_emit(rw, &ebb_op_take, in, 2, axis)[0];
    const ebb_id chosen[] = {a.inside, there, ebb_emit_number(rw, there, 0)};
    return ebb_rw_emit(rw, &ebb_op_where, chosen, 3, NULL)[0];
}

void ebb_max_pool_at_grad_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (ebb_grad_wants(rw, node, 0))
        ebb_grad_give(rw, node, 0, taken(rw, node->attr, dout[0], ebb_rw_value(rw, node->in[1])));
}

void ebb_max_pool_grad_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    const ebb_id x = ebb_rw_value(rw, node->in[0]);
    ebb_grad_zero_to(rw, node, 0);
    if (!ebb_grad_wants(rw, node, 1)) return;
    const int64_t *kernel = node->attr[EBB_POOL_KERNEL].i;
    if (ebb_mul_saturated(kernel[0], kernel[1]) > EBB_POOL_MOST_PLACES) {
        ebb_builder_fail(
            ebb_rw_builder(rw), EBB_BAD_INPUT,
            "max_pool_grad: kernel %lld,%lld: the gradient of its gradient is of windows of at most "
            "%d places",
            EBB_TWO(node->attr[EBB_POOL_KERNEL]), EBB_POOL_MOST_PLACES);
        return;
    }
    const ebb_id place = ebb_rw_emit(rw, &ebb_op_max_pool_at, &x, 1, node->attr)[1];
    ebb_grad_give(rw, node, 1, taken(rw, node->attr, dout[0], place));
}
