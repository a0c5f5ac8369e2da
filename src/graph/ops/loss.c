/* softmax_xent: the mean over rows of -log softmax(logits)[label], a scalar, and its gradient
 * dlogits = dloss / rows * (softmax(logits) - onehot(labels)). The softmax is computed again in backward:
 * it is as large as the logits, which are kept anyway.
 *
 * A row is an image, or a place of one: logits[n,k,h,w] are stored channels-last, so that in memory they
 * are the n*h*w rows that labels[n,h,w] number.
 *
 * With smooth=s a row's target is 1 - s at its label, and s / k more at each of the k classes (Szegedy et
 * al., "Rethinking the Inception architecture for computer vision", CVPR 2016, section 7). With s = 0 every
 * bit is that of the loss without it. */
#include "graph/ops/rule.h"

static const ebb_attr_info xent_attrs[] = {[EBB_XENT_SMOOTH] = EBB_REAL("smooth", 0, 0, 1)};
static const ebb_attr_info both_attrs[] = {[EBB_XENT_SMOOTH] = EBB_REAL("smooth", 0, 0, 1),
                                           [EBB_XENT_DLOSS] = EBB_REAL("dloss", 1, -1e300, 1e300)};

/* By dloss: the sum of what arrives times the gradient of a loss of 1. By the logits: dloss / rows * p (g -
 * sum of p g), p the softmax and g what arrives; the targets are constants. In f32 where the logits are of
 * 16 bits. */
static void softmax_xent_grad_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    const ebb_id logits = ebb_rw_value(rw, node->in[0]), labels = ebb_rw_value(rw, node->in[1]);
    const ebb_id dloss = ebb_rw_value(rw, node->in[2]), wide = ebb_emit_wide(rw, logits);
    const ebb_id g = ebb_emit_wide(rw, dout[0]);
    const ebb_type type = *ebb_builder_type(ebb_rw_builder(rw), logits);
    if (ebb_grad_wants(rw, node, 2)) {
        const ebb_id in[] = {wide, labels, ebb_emit_number(rw, dloss, 1)};
        const ebb_id one = ebb_rw_emit(rw, &ebb_op_softmax_xent_grad, in, 3, node->attr)[0];
        const ebb_id product = ebb_emit_2(rw, &ebb_op_mul, one, g);
        ebb_grad_give(rw, node, 2, ebb_emit_sum(rw, product, (UINT32_C(1) << type.rank) - 1, false));
    }
    if (!ebb_grad_wants(rw, node, 0)) return;
    const uint32_t classes = UINT32_C(1) << 1;
    const ebb_attr max[] = {[EBB_REDUCE_AXIS] = ebb_axes_list(classes), [EBB_REDUCE_KEEP] = {.i = {1}}};
    const ebb_id top = ebb_rw_emit(rw, &ebb_op_reduce_max, &wide, 1, max)[0];
    const ebb_id e = ebb_emit_1(rw, &ebb_op_exp, ebb_emit_2(rw, &ebb_op_sub, wide, top));
    const ebb_id p = ebb_emit_2(rw, &ebb_op_div, e, ebb_emit_sum(rw, e, classes, true));
    const ebb_id part = ebb_emit_2(rw, &ebb_op_mul, p, g);
    const ebb_id rest = ebb_emit_2(rw, &ebb_op_mul, p, ebb_emit_sum(rw, part, classes, true));
    const double rows = (double)(ebb_type_count(&type) / type.dim[1]);
    const ebb_id of_one = ebb_emit_2(rw, &ebb_op_sub, part, rest);
    const ebb_id each = ebb_emit_2(rw, &ebb_op_mul, of_one, ebb_emit_rescale(rw, dloss, 1 / rows, 0));
    ebb_grad_give(rw, node, 0, ebb_emit_cast(rw, each, type.dtype));
}

/* Maximum, subtraction, exponential (as one) and sum; in the gradient a division and a product more. */
EBB_DEFINE(
    softmax_xent,
    EBB_RULE(
        2, 1,
        "logits[n,k] labels:i32[n] -> loss:wide[] or logits[n,k,h,w] labels:i32[n,h,w] -> loss:wide[]"),
    EBB_LIST(attrs, xent_attrs), EBB_FLOPS(4), EBB_GRAD(softmax_xent_grad, "x x1 dy"), EBB_RUNS(FOLLOWS),
    .places_on = 2);
EBB_DEFINE(softmax_xent_grad,
           EBB_RULE(3, 1,
                    "logits[n,k] labels:i32[n] dloss:wide[] -> [n,k] or "
                    "logits[n,k,h,w] labels:i32[n,h,w] dloss:wide[] -> [n,k,h,w]"),
           EBB_LIST(attrs, xent_attrs), EBB_OVER({0, 0}), EBB_FLOPS(6), .grad = softmax_xent_grad_grad,
           .places_on = 2);
/* What the gradient costs, which adds up the exponentials as the loss does, and a loss. Made by a pass
 * after grad: no gradient. */
EBB_DEFINE(softmax_xent_value_and_grad,
           EBB_RULE(2, 2,
                    "logits[n,k] labels:i32[n] -> loss:wide[] [n,k] or "
                    "logits[n,k,h,w] labels:i32[n,h,w] -> loss:wide[] [n,k,h,w]"),
           EBB_LIST(attrs, both_attrs), EBB_OVER({1, 0}), EBB_FLOPS(6), .places_on = 2);
