/* bn_add with a bit for each element of y, set where its gradient passes; and the gradient by those bits.
 *
 *     bn_add_bits            y, bits: bn_add's y; where the activation does not cut
 *     bn_add_bits_grad_sums  bn_add_grad_sums, with the bits in place of y
 *
 * The bits are 1/32 of y. By them y need not be there, and 4 bytes an element less are read; by the sum of
 * a gradient that comes in two parts, which is added over one of them before x has to be there, one tensor
 * less. So both are choices of the search: bits or y, the parts or their sum, and all give the same bits.
 * dy is the gradient's first operand because what is missing is made in the order of operands: a sum that
 * is made late is made before x is computed again. */
#include "graph/ops/norm.h"

/* Over x, over skip. */
NORM_ACT_DEFINE(
    bn_add_bits, 4,
    EBB_RULE(6, 2,
             "x[n,c,...] mean:wide[c] variance:wide[c] gamma:wide[c] beta:wide[c] skip[n,c,...] "
             "-> [n,c,...] bits:u8[b] where b=bits"),
    .bind = ebb_norm_act_bind, EBB_OVER({0, 0}, {0, 5}));
/* Over a part of dy. */
NORM_ACT_DEFINE(bn_add_bits_grad_sums, 8,
                EBB_RULE_OF(5, 6, 3,
                            "dy[n,c,...] x[n,c,...] mean:wide[c] variance:wide[c] bits:u8[b] more[n,c,...] "
                            "-> [n,c,...] dgamma:wide[c] dbeta:wide[c] where b=bits"),
                .bind = ebb_norm_act_bind, EBB_OVER({0, 0}, {0, 5}));

/* The fastest way is the first. */
static const ebb_op_way ways[] = {{"bits", &ebb_op_bn_add_bits_grad_sums, 5, {5, 0, 1, 2, 4}},
                                  {"y", &ebb_op_bn_add_grad_sums, 5, {0, 1, 2, 3, 5}}};
static const ebb_op_way parts_ways[] = {{"bits", &ebb_op_bn_add_bits_grad_sums, 6, {6, 0, 1, 2, 4, 7}},
                                        {"bits_sum", &ebb_op_bn_add_bits_grad_sums, 5, {5, 0, 1, 2, 4}},
                                        {"y", &ebb_op_bn_add_grad_sums, 6, {0, 1, 2, 3, 6, 7}},
                                        {"y_sum", &ebb_op_bn_add_grad_sums, 5, {0, 1, 2, 3, 5}}};

NORM_ACT_DEFINE(bn_add_grad_choice, 8,
                EBB_RULE(6, 3,
                         "x[n,c,...] mean:wide[c] variance:wide[c] y[n,c,...] bits:u8[b] dy[n,c,...] "
                         "-> [n,c,...] dgamma:wide[c] dbeta:wide[c] where b=bits"),
                .bind = ebb_norm_act_bind, EBB_LIST(ways, ways));
NORM_ACT_DEFINE(
    bn_add_grad_parts_choice, 8,
    EBB_RULE(8, 3,
             "x[n,c,...] mean:wide[c] variance:wide[c] y[n,c,...] bits:u8[b] sum[n,c,...] dy[n,c,...] "
             "more[n,c,...] -> [n,c,...] dgamma:wide[c] dbeta:wide[c] where b=bits"),
    .bind = ebb_norm_act_bind, EBB_LIST(ways, parts_ways));
