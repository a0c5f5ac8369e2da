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

/* Maximum, subtraction, exponential (as one) and sum; in the gradient a division and a product more. */
EBB_DEFINE(
    softmax_xent,
    EBB_RULE(
        2, 1,
        "logits[n,k] labels:i32[n] -> loss:wide[] or logits[n,k,h,w] labels:i32[n,h,w] -> loss:wide[]"),
    EBB_LIST(attrs, xent_attrs), EBB_FLOPS(4), EBB_GRAD(softmax_xent_grad, "x x1 dy"), EBB_RUNS(FOLLOWS));
EBB_DEFINE(softmax_xent_grad,
           EBB_RULE(3, 1,
                    "logits[n,k] labels:i32[n] dloss:wide[] -> [n,k] or "
                    "logits[n,k,h,w] labels:i32[n,h,w] dloss:wide[] -> [n,k,h,w]"),
           EBB_LIST(attrs, xent_attrs), EBB_OVER({0, 0}), EBB_FLOPS(6));
