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

static const ebb_pair add_bits_over[] = {{0, 0}, {0, 5}}; /* over x, over skip */
static const ebb_pair grad_over[] = {{0, 0}, {0, 5}};     /* over a part of dy */

static ebb_status bn_add_bits_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    ebb_rule r;
    ebb_status status = ebb_norm_act_check(env, call, 1);
    if (status) return status;
    status = ebb_rule_match(
        env, call, "x[n,c,...] mean[c] variance[c] gamma[c] beta[c] skip[n,c,...] -> [n,c,...] bits:u8[b]",
        &r);
    if (status) return status;
    ebb_rule_set(&r, 'b', ebb_mask_bytes(ebb_type_count(&call->in[0])));
    return ebb_rule_give(env, call, &r, out);
}

static ebb_status infer_by_bits(ebb_env *env, const ebb_call *call, const char *rule, ebb_type *out) {
    ebb_rule r;
    ebb_status status = ebb_norm_act_check(env, call, 1);
    if (status) return status;
    status = ebb_rule_match(env, call, rule, &r);
    return status ? status : ebb_rule_give_bits(env, call, &r, 4, out);
}

static ebb_status bn_add_bits_grad_sums_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return infer_by_bits(env, call,
                         "dy[n,c,...] x[n,c,...] mean[c] variance[c] bits:u8[b] more[n,c,...] -> "
                         "[n,c,...] [c] [c]",
                         out);
}

static ebb_status bn_add_grad_choice_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return infer_by_bits(env, call,
                         "x[n,c,...] mean[c] variance[c] y[n,c,...] bits:u8[b] dy[n,c,...] -> "
                         "[n,c,...] [c] [c]",
                         out);
}

static ebb_status bn_add_grad_parts_choice_infer(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return infer_by_bits(env, call,
                         "x[n,c,...] mean[c] variance[c] y[n,c,...] bits:u8[b] sum[n,c,...] dy[n,c,...] "
                         "more[n,c,...] -> [n,c,...] [c] [c]",
                         out);
}

const ebb_op_info ebb_op_bn_add_bits = {
    .name = "bn_add_bits",
    .code = EBB_OP_bn_add_bits,
    .family = EBB_FAMILY_OF(bn_add_bits),
    .min_in = 6,
    .max_in = 6,
    .n_out = 2,
    EBB_LIST(attrs, ebb_norm_act_attrs),
    .effect = EBB_PURE,
    EBB_LIST(may_overwrite, add_bits_over),
    .infer = bn_add_bits_infer,
    .cost = ebb_norm_act_cost,
};

const ebb_op_info ebb_op_bn_add_bits_grad_sums = {
    .name = "bn_add_bits_grad_sums",
    .code = EBB_OP_bn_add_bits_grad_sums,
    .family = EBB_FAMILY_OF(bn_add_bits_grad_sums),
    .min_in = 5,
    .max_in = 6,
    .n_out = 3,
    EBB_LIST(attrs, ebb_norm_act_attrs),
    .effect = EBB_PURE,
    EBB_LIST(may_overwrite, grad_over),
    .infer = bn_add_bits_grad_sums_infer,
    .cost = ebb_norm_act_grad_cost,
};

/* The fastest way is the first. */
static const ebb_op_way ways[] = {{"bits", &ebb_op_bn_add_bits_grad_sums, 5, {5, 0, 1, 2, 4}},
                                  {"y", &ebb_op_bn_add_grad_sums, 5, {0, 1, 2, 3, 5}}};
static const ebb_op_way parts_ways[] = {{"bits", &ebb_op_bn_add_bits_grad_sums, 6, {6, 0, 1, 2, 4, 7}},
                                        {"bits_sum", &ebb_op_bn_add_bits_grad_sums, 5, {5, 0, 1, 2, 4}},
                                        {"y", &ebb_op_bn_add_grad_sums, 6, {0, 1, 2, 3, 6, 7}},
                                        {"y_sum", &ebb_op_bn_add_grad_sums, 5, {0, 1, 2, 3, 5}}};

const ebb_op_info ebb_op_bn_add_grad_choice = {
    .name = "bn_add_grad_choice",
    .code = EBB_OP_bn_add_grad_choice,
    .family = EBB_FAMILY_OF(bn_add_grad_choice),
    .min_in = 6,
    .max_in = 6,
    .n_out = 3,
    EBB_LIST(attrs, ebb_norm_act_attrs),
    .effect = EBB_PURE,
    EBB_LIST(ways, ways),
    .infer = bn_add_grad_choice_infer,
    .cost = ebb_norm_act_grad_cost,
};

const ebb_op_info ebb_op_bn_add_grad_parts_choice = {
    .name = "bn_add_grad_parts_choice",
    .code = EBB_OP_bn_add_grad_parts_choice,
    .family = EBB_FAMILY_OF(bn_add_grad_parts_choice),
    .min_in = 8,
    .max_in = 8,
    .n_out = 3,
    EBB_LIST(attrs, ebb_norm_act_attrs),
    .effect = EBB_PURE,
    EBB_LIST(ways, parts_ways),
    .infer = bn_add_grad_parts_choice_infer,
    .cost = ebb_norm_act_grad_cost,
};
