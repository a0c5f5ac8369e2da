/* softmax cross-entropy: exponentials and logarithms in float. */
#include "exec/conformance/cases.h"

static const ebb_op_case forward[] = {{"[1,1] [1]", ""},         {"[1,7] [1]", ""},
                                      {"[33,3] [33]", ""},       {"[7,1000] [7]", ""},
                                      {"[1,2,7,1] [1,7,1]", ""}, {"[3,7,5,3] [3,5,3]", ""}};
static const ebb_op_case backward[] = {{"[1,1] [1] []", ""},         {"[1,7] [1] []", ""},
                                       {"[33,3] [33] []", ""},       {"[7,1000] [7] []", ""},
                                       {"[1,2,7,1] [1,7,1] []", ""}, {"[3,7,5,3] [3,5,3] []", ""}};

EBB_CASES(softmax_xent, "ul", 1e-6, forward);
EBB_CASES(softmax_xent_grad, "ulp", 1e-6, backward);
