/* Sums along an axis, rows' softmax, pictures upsampled, products of matrices. */
#include "exec/conformance/cases.h"

static const ebb_op_case sums[] = {{"[1]", "axis=0"},
                                   {"[33]", "axis=0 keep=0"},
                                   {"[3,7]", "axis=0"},
                                   {"[3,33]", "axis=1 keep=0"},
                                   {"[3,7,65]", "axis=1 keep=0"},
                                   {"[2,3,7,5]", "axis=1"}, /* channels are stored last */
                                   {"[2,3,7,5]", "axis=2"},
                                   {"[2,65,1,3]", "axis=3"},
                                   {"[3,7,1,2]", "axis=0"},
                                   {"[2,1,3,1,5,2]", "axis=4 keep=0"}};
static const ebb_op_case expand[] = {{"[1]", "axis=0 size=33"},      {"[1,7]", "axis=0 size=3"},
                                     {"[7,1]", "axis=1 size=33"},    {"[3,1,65]", "axis=1 size=1"},
                                     {"[2,1,7,5]", "axis=1 size=3"}, {"[2,3,1,5]", "axis=2 size=7"},
                                     {"[2,3,7,1]", "axis=3 size=2"}, {"[1,3,1,1]", "axis=0 size=3"}};
static const ebb_op_case up[] = {{"[1,1,1,1]", "factor=1"},
                                 {"[1,3,7,5]", "factor=2"},
                                 {"[2,33,3,1]", "factor=1,3"},
                                 {"[3,7,1,2]", "factor=3,2"}};
static const ebb_op_case up_grad[] = {{"[1,1,1,1]", "factor=1"},
                                      {"[1,3,14,10]", "factor=2"},
                                      {"[2,65,3,3]", "factor=1,3"},
                                      {"[3,7,3,4]", "factor=3,2"}};
static const ebb_op_case softmax[] = {{"[1,1]", ""},           {"[7,33]", ""},
                                      {"[3,129]", ""},         {"[2,3,7]", ""},
                                      {"[2,1,1]", "causal=1"}, {"[2,33,33]", "causal=1"},
                                      {"[1,3,20]", "causal=1"}};
static const ebb_op_case softmax_grad[] = {
    {"[1,1] [1,1]", ""}, {"[7,33] [7,33]", ""}, {"[3,129] [3,129]", ""}, {"[2,3,7] [2,3,7]", ""}};
static const ebb_op_case matmul[] = {{"[1,1,1] [1,1,1]", ""},
                                     {"[3,7,5] [3,5,33]", ""},
                                     {"[2,7,33] [2,3,33]", "transpose_b=1"},
                                     {"[2,33,7] [2,33,3]", "transpose_a=1"},
                                     {"[5,3,1] [5,7,3]", "transpose_a=1 transpose_b=1"},
                                     {"[1,129,17] [1,17,16]", ""}};

EBB_CASES(reduce_sum, "u", 2e-7, sums);
EBB_CASES(expand, "u", 0, expand);
EBB_CASES(upsample, "u", 0, up);
EBB_CASES(upsample_grad, "u", 2e-7, up_grad);
EBB_CASES(softmax, "u", 5e-7, softmax);
EBB_CASES(softmax_grad, "u", 2e-6, softmax_grad);
EBB_CASES(matmul, "u", 2e-6, matmul);
