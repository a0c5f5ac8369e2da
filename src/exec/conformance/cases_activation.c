/* A clip is one of its inputs or a bound: the same bits. gelu has an exponential in float. */
#include "exec/conformance/cases.h"

static const ebb_op_case clip[] = {{"[]", "min=0 max=6"},
                                   {"[1]", "min=-1 max=1"},
                                   {"[33]", "min=-0.5 max=0.5"},
                                   {"[3,7]", "min=0 max=6"},
                                   {"[2,3,7,33]", "min=-0.5 max=0.5"},
                                   {"[3,1,7]", "min=0.5 max=1"}};
static const ebb_op_case clip_grad[] = {{"[] []", "min=0 max=6"},
                                        {"[1] [1]", "min=-1 max=1"},
                                        {"[33] [33]", "min=-0.5 max=0.5"},
                                        {"[3,7] [3,7]", "min=0 max=6"},
                                        {"[2,3,7,33] [2,3,7,33]", "min=-0.5 max=0.5"}};
static const ebb_op_case one[] = {{"[]", ""},    {"[1]", ""},        {"[33]", ""},
                                  {"[3,7]", ""}, {"[2,3,7,33]", ""}, {"[3,1,7]", ""}};
static const ebb_op_case two[] = {
    {"[] []", ""}, {"[1] [1]", ""}, {"[33] [33]", ""}, {"[3,7] [3,7]", ""}, {"[2,3,7,33] [2,3,7,33]", ""}};

EBB_CASES(clip, "d", 0, clip);
EBB_CASES(clip_grad, "du", 0, clip_grad);
EBB_CASES(gelu, "d", 5e-7, one);
EBB_CASES(gelu_grad, "du", 1e-6, two);
