/* linear and its gradients. Sums in float and in another order. */
#include "exec/conformance/cases.h"

static const ebb_op_case forward[] = {{"[1,1] [1,1]", ""},
                                      {"[1,33] [7,33]", ""},
                                      {"[33,7] [3,7]", ""},
                                      {"[7,129] [33,129]", ""},
                                      {"[3,1] [5,1]", ""}};
static const ebb_op_case dgrad[] = {
    {"[1,1] [1,1]", ""}, {"[1,7] [7,33]", ""}, {"[33,3] [3,7]", ""}, {"[7,33] [33,129]", ""}};
static const ebb_op_case wgrad[] = {
    {"[1,1] [1,1]", ""}, {"[1,33] [1,7]", ""}, {"[33,7] [33,3]", ""}, {"[129,33] [129,7]", ""}};

EBB_CASES(linear, "u", 2e-6, forward);
EBB_CASES(linear_dgrad, "u", 2e-6, dgrad);
EBB_CASES(linear_wgrad, "u", 2e-6, wgrad);
