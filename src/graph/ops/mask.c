/* What relu_grad must know of y, as a bit for each element: set where the gradient passes, that is, not
 * where y <= 0. Bit i % 8 of byte i / 8 is that of element i in storage order; bits after the last element
 * are 0. */
#include "graph/ops/rule.h"

EBB_DEFINE(relu_mask, EBB_RULE(1, 1, "y[*] -> bits:u8[b] where b=bits"), EBB_FLOPS(1));
EBB_DEFINE(relu_mask_grad, EBB_RULE(2, 1, "dy[*] bits:u8[b] -> [*] where b=bits"), EBB_OVER({0, 0}),
           EBB_FLOPS(1), EBB_GRAD(relu_mask_grad, "dy x1"));

/* Where y is read elsewhere in backward too: bits let it go some steps earlier, or be made again once less.
 */
static const ebb_op_way relu_grad_ways[] = {{"y", &ebb_op_relu_grad, 2, {0, 2}},
                                            {"bits", &ebb_op_relu_mask_grad, 2, {2, 1}}};
EBB_DEFINE(relu_grad_choice, EBB_RULE(3, 1, "y[*] bits:u8[b] dy[*] -> [*] where b=bits"),
           EBB_LIST(ways, relu_grad_ways), EBB_FLOPS(1));
