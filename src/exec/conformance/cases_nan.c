/* What must not swallow a NaN: a loss that is no number has to show. Beside those of the plain tables. */
#include "exec/conformance/cases.h"

static const ebb_op_case one[] = {{"[3]", ""}, {"[33]", ""}, {"[2,3,7,33]", ""}};
static const ebb_op_case two[] = {{"[3] [3]", ""}, {"[33] [33]", ""}, {"[2,3,7,33] [2,3,7,33]", ""}};
static const ebb_op_case clip[] = {{"[3]", "min=0 max=6"}, {"[2,3,7,33]", "min=-1 max=1"}};
static const ebb_op_case clip_grad[] = {{"[3] [3]", "min=0 max=6"},
                                        {"[2,3,7,33] [2,3,7,33]", "min=-1 max=1"}};
static const ebb_op_case norm_act[] = {{"[3,7] [7] [7] [7] [7]", "relu=1"},
                                       {"[2,3,7,33] [3] [3] [3] [3]", "clip=1 min=-1 max=1"}};
static const ebb_op_case norm_add[] = {{"[3,7] [7] [7] [7] [7] [3,7]", "relu=1"},
                                       {"[2,3,7,33] [3] [3] [3] [3] [2,3,7,33]", "clip=1 min=-1 max=1"}};
static const ebb_op_case norm_act_grad[] = {
    {"[3,7] [7] [7] [7] [7] [7] [7] [3,7]", "relu=1"},
    {"[2,3,7,9] [3] [3] [3] [3] [3] [3] [2,3,7,9]", "clip=1 max=1"}};
static const ebb_op_case norm_add_sums[] = {{"[3,7] [7] [7] [3,7] [3,7]", "relu=1"},
                                            {"[2,3,7,9] [3] [3] [2,3,7,9] [2,3,7,9]", "clip=1 max=1"}};
static const ebb_op_case norm_bits_sums[] = {{"[3,7] [3,7] [7] [7] [3]", "relu=1"},
                                             {"[2,3,7,9] [2,3,7,9] [3] [3] [48]", "clip=1 max=1"}};
static const ebb_op_case attend[] = {{"[2,7,6]", "heads=2"}, {"[1,7,6]", "heads=1"}};
static const ebb_op_case rows[] = {{"[7,3]", ""}, {"[1,33]", ""}};
static const ebb_op_case max[] = {
    {"[1,3,7,7]", "kernel=3 stride=2 pad=1"}, {"[2,33,9,5]", "kernel=2"}, {"[1,3,7,7]", "kernel=7"}};
static const ebb_op_case max_grad[] = {{"[1,3,7,7] [1,3,4,4]", "kernel=3 stride=2 pad=1"},
                                       {"[2,33,9,5] [2,33,4,2]", "kernel=2"},
                                       {"[1,3,7,7] [1,3,1,1]", "kernel=7"}};
static const ebb_op_case loss[] = {{"[7,3] [7]", ""}};
static const ebb_op_case loss_grad[] = {{"[7,3] [7] []", ""}};

const ebb_op_cases ebb_nan_cases[] = {
    {&ebb_op_relu, "n", 0, one, EBB_COUNT(one)},
    {&ebb_op_relu_grad, "nu", 0, two, EBB_COUNT(two)},
    {&ebb_op_clip, "n", 0, clip, EBB_COUNT(clip)},
    {&ebb_op_clip_grad, "nu", 0, clip_grad, EBB_COUNT(clip_grad)},
    {&ebb_op_bn_act, "nuppu", 2e-6, norm_act, EBB_COUNT(norm_act)},
    {&ebb_op_bn_add, "nuppun", 2e-6, norm_add, EBB_COUNT(norm_add)},
    {&ebb_op_bn_add_bits, "nuppun", 2e-6, norm_add, EBB_COUNT(norm_add)},
    {&ebb_op_bn_add_bits_grad_sums, "nuupb", 5e-6, norm_bits_sums, EBB_COUNT(norm_bits_sums)},
    {&ebb_op_bn_act_grad, "nuppuuuu", 5e-6, norm_act_grad, EBB_COUNT(norm_act_grad)},
    {&ebb_op_bn_add_grad_sums, "uupnuu", 5e-6, norm_add_sums, EBB_COUNT(norm_add_sums)},
    {&ebb_op_softmax, "n", 5e-7, rows, EBB_COUNT(rows)},
    {&ebb_op_sum_squares, "n", 2e-7, one, EBB_COUNT(one)},
    {&ebb_op_gelu, "n", 5e-7, one, EBB_COUNT(one)},
    {&ebb_op_gelu_grad, "nu", 1e-6, two, EBB_COUNT(two)},
    {&ebb_op_attention, "n", 2e-6, attend, EBB_COUNT(attend)},
    {&ebb_op_max_pool, "n", 0, max, EBB_COUNT(max)},
    {&ebb_op_max_pool_at, "n", 0, max, EBB_COUNT(max)},
    {&ebb_op_max_pool_grad, "nu", 5e-7, max_grad, EBB_COUNT(max_grad)},
    {&ebb_op_softmax_xent, "nl", 1e-6, loss, EBB_COUNT(loss)},
    {&ebb_op_softmax_xent_grad, "nlp", 1e-6, loss_grad, EBB_COUNT(loss_grad)},
};
const uint32_t ebb_n_nan_cases = EBB_COUNT(ebb_nan_cases);
