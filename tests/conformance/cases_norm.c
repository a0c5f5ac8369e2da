/* Batch normalisation. Sums over all but channels, in float and in another order. */
#include "cases.h"

static const ebb_op_case stats[] = {
    {"[1,1,1,1]", ""},  {"[1,3,7,7]", ""},  {"[33,7]", ""},
    {"[3,33,5,1]", ""}, {"[7,16,9,9]", ""}, {"[2,65,3,3]", ""},
};
static const ebb_op_case apply[] = {
    {"[1,1,1,1] [1] [1] [1] [1]", ""},
    {"[1,3,7,7] [3] [3] [3] [3]", "eps=0.001"},
    {"[33,7] [7] [7] [7] [7]", ""},
    {"[3,33,5,1] [33] [33] [33] [33]", "batch=1"},
    {"[7,16,9,9] [16] [16] [16] [16]", "batch=1"},
};
static const ebb_op_case track[] = {
    {"[1] [1] [1] [1]", "count=1"},
    {"[3] [3] [3] [3]", "count=7 momentum=0.3"},
    {"[33] [33] [33] [33]", "count=3136"},
};
static const ebb_op_case sums[] = {
    {"[1,1,1,1] [1] [1] [1,1,1,1]", ""},     {"[1,3,7,7] [3] [3] [1,3,7,7]", "eps=0.001"},
    {"[33,7] [7] [7] [33,7]", ""},           {"[3,33,5,1] [33] [33] [3,33,5,1]", ""},
    {"[7,16,9,9] [16] [16] [7,16,9,9]", ""},
};
static const ebb_op_case grad[] = {
    {"[1,3,7,7] [3] [3] [3] [3] [3] [1,3,7,7]", "eps=0.001"},
    {"[33,7] [7] [7] [7] [7] [7] [33,7]", ""},
    {"[3,33,5,1] [33] [33] [33] [33] [33] [3,33,5,1]", ""},
    {"[7,16,9,9] [16] [16] [16] [16] [16] [7,16,9,9]", ""},
};

EBB_CASES(bn_stats, "u", 2e-6, stats);
EBB_CASES(bn_apply, "umvpu", 2e-6, apply);
EBB_CASES(bn_track, "upup", 1e-6, track);
EBB_CASES(bn_grad_sums, "umvu", 5e-6, sums);
EBB_CASES(bn_grad, "umvpuuu", 5e-6, grad);
