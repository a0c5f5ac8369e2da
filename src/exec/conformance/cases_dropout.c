/* dropout: the same mask everywhere; kept elements are scaled in float. */
#include "exec/conformance/cases.h"

static const ebb_op_case rows[] = {{"[]", ""},         {"[33]", "p=0.25"}, {"[3,7]", "p=0"},
                                   {"[3,7]", "p=0.9"}, {"[1,3,7,7]", ""},  {"[2,33,3,5]", "p=0.1"}};

EBB_CASES(dropout, "u", 2e-7, rows);
EBB_CASES(dropout_grad, "u", 2e-7, rows);
