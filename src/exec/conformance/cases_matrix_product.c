/* Products of matrices, and bias. Sums in float and in another order. */
#include "exec/conformance/cases.h"

EBB_CASES(matmul, "u", 2e-6,
          EBB_SMALL({"[1,1,1] [1,1,1]", ""}, {"[3,7,5] [3,5,33]", ""},
                    {"[2,7,33] [2,3,33]", "transpose_b=1"}, {"[2,33,7] [2,33,3]", "transpose_a=1"},
                    {"[5,3,1] [5,7,3]", "transpose_a=1 transpose_b=1"}, {"[1,129,17] [1,17,16]", ""}),
          .rounds_factors = true, .alone = true);

EBB_CASES(bias, "u", 0,
          EBB_SMALL({"[1,1] [1]", ""}, {"[33,7] [7]", ""}, {"[1,3,7,7] [3]", ""}, {"[3,33,1,5] [33]", ""}),
          EBB_SHARED({"[7,33,9,9] [33]", ""}, /* its last row of lanes is cut */
                     {"[129,129] [129]", ""}),
          EBB_BLOCKS(/* Quads and single elements, several blocks of each. */ {"[5,64] [64]", ""},
                     {"[3,8,9,11] [8]", ""}, {"[67,33] [33]", ""}, {"[3,5,67,7] [5]", ""}));

EBB_CASES(
    bias_grad, "u", 2e-6,
    EBB_SMALL({"[1,1]", ""}, {"[33,7]", ""}, {"[1,3,7,7]", ""}, {"[3,33,1,5]", ""}, {"[7,16,9,9]", ""}),
    EBB_LARGE({"[43,3,11,11]", ""}, {"[2,65,31,18]", ""}, {"[150,132]", ""}, {"[2100,8]", ""},
              {"[5,132,1,1]", ""}, {"[5,64,3,3]", ""}),
    EBB_SHARED(
        /* Few channels: the chunks are shared out. Many: what adds the chunks up. */ {"[7,33,13,11]", ""},
        {"[2,16411]", ""}));

EBB_CASES(linear, "u", 2e-6,
          EBB_SMALL({"[1,1] [1,1]", ""}, {"[1,33] [7,33]", ""}, {"[33,7] [3,7]", ""},
                    {"[7,129] [33,129]", ""}, {"[3,1] [5,1]", ""}),
          .rounds_factors = true, .alone = true);

EBB_CASES(linear_dgrad, "u", 2e-6,
          EBB_SMALL({"[1,1] [1,1]", ""}, {"[1,7] [7,33]", ""}, {"[33,3] [3,7]", ""},
                    {"[7,33] [33,129]", ""}),
          .rounds_factors = true, .alone = true);

EBB_CASES(linear_wgrad, "u", 2e-6,
          EBB_SMALL({"[1,1] [1,1]", ""}, {"[1,33] [1,7]", ""}, {"[33,7] [33,3]", ""},
                    {"[129,33] [129,7]", ""}),
          .rounds_factors = true, .alone = true);
