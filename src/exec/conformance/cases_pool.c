/* Pooling. A maximum is one of its inputs: the same bits; its gradient sums at most a few terms. */
#include "exec/conformance/cases.h"

static const ebb_op_case max[] = {
    {"[1,1,1,1]", "kernel=1"},  {"[1,3,7,7]", "kernel=3 stride=2 pad=1"},
    {"[2,33,9,5]", "kernel=2"}, {"[3,7,8,11]", "kernel=3,2 stride=2,3 pad=1,0"},
    {"[1,3,7,7]", "kernel=7"},  {"[2,3,6,6]", "kernel=3 stride=1 pad=1"},
};
static const ebb_op_case max_grad[] = {
    {"[1,1,1,1] [1,1,1,1]", "kernel=1"},   {"[1,3,7,7] [1,3,4,4]", "kernel=3 stride=2 pad=1"},
    {"[2,33,9,5] [2,33,4,2]", "kernel=2"}, {"[3,7,8,11] [3,7,4,4]", "kernel=3,2 stride=2,3 pad=1,0"},
    {"[1,3,7,7] [1,3,1,1]", "kernel=7"},   {"[2,3,6,6] [2,3,6,6]", "kernel=3 stride=1 pad=1"},
};
static const ebb_op_case at_grad[] = {
    {"[1,1,1,1] [1,1,1,1]", "kernel=1 size=1"},
    {"[1,3,4,4] [1,3,4,4]", "kernel=3 stride=2 pad=1 size=7"},
    {"[2,33,4,2] [2,33,4,2]", "kernel=2 size=9,5"},
    {"[3,7,4,4] [3,7,4,4]", "kernel=3,2 stride=2,3 pad=1,0 size=8,11"},
    {"[1,3,1,1] [1,3,1,1]", "kernel=7 size=7"},
    {"[2,67,6,6] [2,67,6,6]", "kernel=3 stride=1 pad=1 size=6"},
};
static const ebb_op_case avg[] = {
    {"[1,1,1,1]", "kernel=1"},
    {"[1,3,7,7]", "kernel=3 stride=2 pad=1"},
    {"[1,3,7,7]", "kernel=3 stride=2 pad=1 count_pad=0"},
    {"[2,33,9,5]", "kernel=2"},
    {"[3,7,8,11]", "kernel=3,2 stride=2,3 pad=1,0 count_pad=0"},
};
static const ebb_op_case avg_grad[] = {
    {"[1,1,1,1]", "kernel=1 size=1"},
    {"[1,3,4,4]", "kernel=3 stride=2 pad=1 size=7"},
    {"[1,3,4,4]", "kernel=3 stride=2 pad=1 count_pad=0 size=7"},
    {"[2,33,4,2]", "kernel=2 size=9,5"},
    {"[3,7,4,4]", "kernel=3,2 stride=2,3 pad=1,0 count_pad=0 size=8,11"},
};
static const ebb_op_case gap[] = {
    {"[1,1,1,1]", ""}, {"[1,3,7,7]", ""}, {"[3,33,1,5]", ""}, {"[2,65,9,9]", ""}};
static const ebb_op_case gap_grad[] = {
    {"[1,1]", "size=1"}, {"[1,3]", "size=7"}, {"[3,33]", "size=1,5"}, {"[2,65]", "size=9"}};

EBB_CASES(max_pool, "d", 0, max);
EBB_CASES(max_pool_grad, "tu", 5e-7, max_grad);
EBB_CASES(max_pool_at, "d", 0, max);
EBB_CASES(max_pool_at_grad, "uw", 5e-7, at_grad);
EBB_CASES(avg_pool, "u", 1e-6, avg);
EBB_CASES(avg_pool_grad, "u", 1e-6, avg_grad);
EBB_CASES(global_avg_pool, "u", 1e-6, gap);
EBB_CASES(global_avg_pool_grad, "u", 1e-6, gap_grad);
