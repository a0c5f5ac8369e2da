/* Updates of parameters: a few roundings in float. */
#include "exec/conformance/cases.h"

static const ebb_op_case sgd[] = {
    {"[1] [1] []", ""}, {"[7,3] [7,3] []", "decay=0.01"}, {"[33,3,3,3] [33,3,3,3] []", "decay=0.0001"}};
static const ebb_op_case momentum[] = {{"[1] [1] [1] []", "momentum=0.9"},
                                       {"[7,3] [7,3] [7,3] []", "momentum=0.9 decay=0.01"},
                                       {"[33,3,3,3] [33,3,3,3] [33,3,3,3] []", "momentum=0.5 nesterov=1"},
                                       {"[33] [33] [33] []", "momentum=0.9 nesterov=1 decay=0.01"}};
static const ebb_op_case count[] = {{"[]", ""}};
static const ebb_op_case adamw[] = {
    {"[1] [1] [1] [1] [] []", ""},
    {"[7,3] [7,3] [7,3] [7,3] [] []", "decay=0.01"},
    {"[33,3,3,3] [33,3,3,3] [33,3,3,3] [33,3,3,3] [] []", "beta1=0.5 beta2=0.9 eps=0.001"},
    {"[33] [33] [33] [33] [] []", "beta1=0 beta2=0.99 decay=0.1"}};
static const ebb_op_case squares[] = {
    {"[]", ""}, {"[33]", ""}, {"[3,7]", ""}, {"[2,3,7,33]", ""}, {"[3,4099]", ""}};
static const ebb_op_case factor[] = {{"[]", "norm=0.25"}, {"[]", "norm=33"}};
static const ebb_op_case scale[] = {
    {"[] []", ""}, {"[33] []", ""}, {"[3,7] []", ""}, {"[2,3,7,33] []", ""}};

EBB_CASES(count_step, "u", 0, count);
EBB_CASES(adamw, "uuuppp", 1e-6, adamw);
EBB_CASES(sum_squares, "u", 2e-7, squares);
EBB_CASES(clip_factor, "p", 2e-7, factor);
EBB_CASES(scale, "up", 0, scale);
EBB_CASES(sgd, "uup", 5e-7, sgd);
EBB_CASES(sgd_momentum, "uuup", 5e-7, momentum);
