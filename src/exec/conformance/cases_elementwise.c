/* Elementwise ops: one rounding, the same everywhere. */
#include "exec/conformance/cases.h"

static const ebb_op_case one[] = {{"[]", ""},    {"[1]", ""},        {"[33]", ""},
                                  {"[3,7]", ""}, {"[2,3,7,33]", ""}, {"[3,1,7]", ""}};
static const ebb_op_case two[] = {{"[] []", ""},
                                  {"[1] [1]", ""},
                                  {"[33] [33]", ""},
                                  {"[3,7] [3,7]", ""},
                                  {"[2,3,7,33] [2,3,7,33]", ""},
                                  {"[33,33,3,3] [33,33,3,3]", ""}};
static const ebb_op_case rescale[] = {{"[]", "times=-1"},
                                      {"[33]", "plus=0.5"},
                                      {"[3,7]", "times=0.25 plus=-3"},
                                      {"[2,3,7,33]", "times=3 plus=0.1"}};
static const ebb_op_case with_bias[] = {
    {"[1,1] [1]", ""}, {"[33,7] [7]", ""}, {"[1,3,7,7] [3]", ""}, {"[3,33,1,5] [33]", ""}};
static const ebb_op_case of_bias[] = {
    {"[1,1]", ""}, {"[33,7]", ""}, {"[1,3,7,7]", ""}, {"[3,33,1,5]", ""}, {"[7,16,9,9]", ""}};

EBB_CASES(relu, "d", 0, one);
EBB_CASES(relu_grad, "du", 0, two);
EBB_CASES(add, "u", 0, two);
EBB_CASES(mul, "u", 0, two);
EBB_CASES(sub, "u", 0, two);
EBB_CASES(div, "up", 0, two);
EBB_CASES(rescale, "u", 2e-7, rescale);
EBB_CASES(exp, "u", 2e-7, one);
EBB_CASES(bias, "u", 0, with_bias);
EBB_CASES(bias_grad, "u", 2e-6, of_bias);

/* Bits of elements that are no multiple of 8. */
static const ebb_op_case mask[] = {
    {"[3]", ""}, {"[33,7]", ""}, {"[2,3,7,33]", ""}, {"[64]", ""}, {"[5,29]", ""}};
static const ebb_op_case mask_grad[] = {
    {"[3] [1]", ""}, {"[33,7] [29]", ""}, {"[2,3,7,33] [174]", ""}, {"[64] [8]", ""}, {"[5,29] [19]", ""}};
EBB_CASES(relu_mask, "n", 0, mask);
EBB_CASES(relu_mask_grad, "ub", 0, mask_grad);
