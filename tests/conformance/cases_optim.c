/* Updates of parameters: a few roundings in float. */
#include "cases.h"

static const ebb_op_case sgd[] = {
    {"[1] [1] []", ""}, {"[7,3] [7,3] []", "decay=0.01"}, {"[33,3,3,3] [33,3,3,3] []", "decay=0.0001"}};
static const ebb_op_case momentum[] = {{"[1] [1] [1] []", "momentum=0.9"},
                                       {"[7,3] [7,3] [7,3] []", "momentum=0.9 decay=0.01"},
                                       {"[33,3,3,3] [33,3,3,3] [33,3,3,3] []", "momentum=0.5 nesterov=1"},
                                       {"[33] [33] [33] []", "momentum=0.9 nesterov=1 decay=0.01"}};

EBB_CASES(sgd, "uup", 5e-7, sgd);
EBB_CASES(sgd_momentum, "uuup", 5e-7, momentum);
