/* Calls that are large enough for the cpu backend to share out: team.c leaves smaller ones to one thread.
 * Just above its threshold, with counts that no number of threads divides, so that trying them is cheap. */
#include "exec/conformance/cases.h"

#define TEAM(name, inputs, attrs) \
    {                             \
        &ebb_cases_##name, {      \
            inputs, attrs         \
        }                         \
    }

const ebb_team_case ebb_team_cases[] = {
    TEAM(relu, "[7,33,9,9]", ""),
    TEAM(relu_grad, "[7,33,9,9] [7,33,9,9]", ""),
    TEAM(clip, "[7,33,9,9]", "min=0 max=6"),
    TEAM(clip_grad, "[7,33,9,9] [7,33,9,9]", "min=-0.5 max=0.5"),
    TEAM(gelu, "[7,33,9,9]", ""),
    TEAM(gelu_grad, "[7,33,9,9] [7,33,9,9]", ""),
    TEAM(ln_stats, "[129,129]", ""),
    TEAM(ln_apply, "[129,129] [129] [129] [129] [129]", ""),
    TEAM(ln_grad_sums, "[233,129] [233] [233] [233,129]", ""),
    TEAM(ln_grad_sums, "[2,8209] [2] [2] [2,8209]", ""),
    TEAM(ln_grad, "[129,129] [129] [129] [129] [129,129]", ""),
    TEAM(embedding, "[33,257] [129]", ""),
    TEAM(embedding_grad, "[129,257] [129]", "rows=67"),
    TEAM(attention, "[1,65,60]", "heads=5 causal=1"),
    TEAM(attention_grad, "[1,65,60] [1,65,20] [1,5,65] [1,65,20]", "heads=5 causal=1"),
    TEAM(add, "[7,33,9,9] [7,33,9,9]", ""),
    TEAM(mul, "[7,33,9,9] [7,33,9,9]", ""),
    TEAM(sub, "[7,33,9,9] [7,33,9,9]", ""),
    TEAM(div, "[7,33,9,9] [7,33,9,9]", ""),
    TEAM(rescale, "[7,33,9,9]", "times=3"),
    TEAM(exp, "[7,33,9,9]", ""),
    TEAM(softmax, "[7,33,67]", "causal=1"),
    TEAM(softmax_grad, "[7,33,67] [7,33,67]", ""),
    TEAM(reduce_sum, "[7,33,13,11]", "axis=1"), /* one behind another, and side by side */
    TEAM(reduce_sum, "[7,33,13,11]", "axis=2"),
    TEAM(expand, "[7,33,1,11]", "axis=2 size=13"),
    TEAM(expand, "[233,1]", "axis=1 size=167"),
    TEAM(upsample, "[7,33,6,5]", "factor=2,3"),
    TEAM(upsample_grad, "[7,33,14,12]", "factor=2,3"),
    TEAM(bias, "[7,33,9,9] [33]", ""), /* its last row of lanes is cut */
    TEAM(bias, "[129,129] [129]", ""),
    /* Few channels: the chunks are shared out. Many: what adds the chunks up. */
    TEAM(bias_grad, "[7,33,13,11]", ""),
    TEAM(bias_grad, "[2,16411]", ""),
    TEAM(bn_stats, "[7,33,13,11]", ""),
    TEAM(bn_stats, "[2,8209]", ""),
    TEAM(bn_grad_sums, "[7,33,9,9] [33] [33] [7,33,9,9]", ""),
    TEAM(bn_grad_sums, "[2,8209] [8209] [8209] [2,8209]", ""),
    TEAM(bn_apply, "[7,33,9,9] [33] [33] [33] [33]", ""),
    TEAM(bn_grad, "[7,33,9,9] [33] [33] [33] [33] [33] [7,33,9,9]", ""),
    TEAM(bn_act, "[7,33,9,9] [33] [33] [33] [33]", "relu=1"),
    TEAM(bn_add, "[7,33,9,9] [33] [33] [33] [33] [7,33,9,9]", "relu=1"),
    TEAM(bn_act_grad, "[7,33,9,9] [33] [33] [33] [33] [33] [33] [7,33,9,9]", "clip=1 max=0.5"),
    TEAM(bn_act_grad_sums, "[7,33,9,9] [33] [33] [33] [33] [7,33,9,9]", "relu=1"),
    TEAM(bn_act_grad_sums, "[2,8209] [8209] [8209] [8209] [8209] [2,8209]", "relu=1"),
    TEAM(bn_add_grad_sums, "[7,33,9,9] [33] [33] [7,33,9,9] [7,33,9,9]", "relu=1"),
    TEAM(bn_add_grad_sums, "[7,33,9,9] [33] [33] [7,33,9,9] [7,33,9,9] [7,33,9,9]", "clip=1 max=0.5"),
    TEAM(relu_mask, "[7,33,13,11]", ""),
    TEAM(relu_mask_grad, "[7,33,13,11] [4130]", ""),
    TEAM(max_pool_at, "[7,33,13,11]", "kernel=3 stride=2 pad=1"),
    TEAM(max_pool_at_grad, "[7,33,9,6] [7,33,9,6]", "kernel=3 stride=2 pad=1 size=17,11"),
    TEAM(max_pool, "[7,33,13,11]", "kernel=3 stride=2 pad=1"),
    TEAM(max_pool_grad, "[3,33,17,11] [3,33,9,6]", "kernel=3 stride=2 pad=1"),
    TEAM(avg_pool, "[7,33,13,11]", "kernel=3 stride=2 pad=1"),
    TEAM(avg_pool_grad, "[7,33,7,6]", "kernel=3 stride=2 pad=1 size=13,11"),
    TEAM(global_avg_pool, "[7,67,9,9]", ""),
    TEAM(global_avg_pool_grad, "[7,67]", "size=9"),
    TEAM(to_planes, "[7,33,9,9]", ""),
    TEAM(from_planes, "[7,2673]", "size=33,9,9"),
    TEAM(concat, "[7,19,9,9] [7,1,9,9] [7,13,9,9]", ""),
    TEAM(slice, "[7,33,9,9]", "begin=3 size=17"),
    TEAM(slice_grad, "[7,17,9,9]", "begin=3 total=33"),
    TEAM(dropout, "[7,33,7,7]", ""), /* channels last: another loop than in other ranks */
    TEAM(dropout, "[333,35]", "p=0.1"),
    TEAM(dropout_grad, "[7,33,7,7]", ""),
    TEAM(dropout_grad, "[333,35]", "p=0.1"),
    TEAM(softmax_xent, "[33,65] [33]", ""),
    TEAM(softmax_xent_grad, "[33,65] [33] []", ""),
    TEAM(softmax_xent, "[1,7,19,17] [1,19,17]", ""),
    TEAM(softmax_xent_grad, "[1,7,19,17] [1,19,17] []", ""),
    TEAM(fill, "", "shape=7,33,13,11 value=-0.5"),
    TEAM(sgd, "[101,67] [101,67] []", "decay=0.01"),
    TEAM(sgd_momentum, "[101,67] [101,67] [101,67] []", "momentum=0.9 decay=0.01"),
    TEAM(sgd_momentum, "[101,67] [101,67] [101,67] []", "momentum=0.9 nesterov=1"),
    TEAM(adamw, "[101,67] [101,67] [101,67] [101,67] [] []", "decay=0.01"),
    TEAM(sum_squares, "[7,33,13,11]", ""),
    TEAM(scale, "[7,33,9,9] []", ""),
};
const uint32_t ebb_n_team_cases = EBB_COUNT(ebb_team_cases);
