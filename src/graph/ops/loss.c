/* softmax_xent: the mean over rows of -log softmax(logits)[label], a scalar, and its gradient
 * dlogits = dloss / rows * (softmax(logits) - onehot(labels)). The softmax is computed again in backward:
 * it is as large as the logits, which are kept anyway.
 *
 * A row is an image, or a place of one: logits[n,k,h,w] are stored channels-last, so that in memory they
 * are the n*h*w rows that labels[n,h,w] number. */
#include "graph/ops/rule.h"

/* Maximum, subtraction, exponential (as one) and sum; in the gradient a division and a product more. */
EBB_DEFINE(
    softmax_xent,
    EBB_RULE(
        2, 1,
        "logits[n,k] labels:i32[n] -> loss:wide[] or logits[n,k,h,w] labels:i32[n,h,w] -> loss:wide[]"),
    EBB_FLOPS(4), EBB_GRAD(softmax_xent_grad, "x x1 dy"), EBB_RUNS(FOLLOWS));
EBB_DEFINE(softmax_xent_grad,
           EBB_RULE(3, 1,
                    "logits[n,k] labels:i32[n] dloss:wide[] -> [n,k] or "
                    "logits[n,k,h,w] labels:i32[n,h,w] dloss:wide[] -> [n,k,h,w]"),
           EBB_OVER({0, 0}), EBB_FLOPS(6));
