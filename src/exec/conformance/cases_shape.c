/* Ops that move elements: the same bits. */
#include "exec/conformance/cases.h"

static const ebb_op_case to[] = {
    {"[1,1,1,1]", ""}, {"[1,3,7,5]", ""}, {"[3,33,2,1]", ""}, {"[2,7,3,3]", ""}};
static const ebb_op_case from[] = {
    {"[1,1]", "size=1"}, {"[1,105]", "size=3,7,5"}, {"[3,66]", "size=33,2,1"}, {"[2,63]", "size=7,3,3"}};
static const ebb_op_case concat[] = {{"[1,1]", ""},
                                     {"[3,7] [3,1]", ""},
                                     {"[1,3,7,7] [1,33,7,7] [1,1,7,7]", ""},
                                     {"[2,1,3,1] [2,1,3,1] [2,1,3,1] [2,1,3,1] [2,1,3,1]", ""}};
static const ebb_op_case slice[] = {{"[1,1]", "size=1"},
                                    {"[3,7]", "begin=2 size=5"},
                                    {"[1,33,7,7]", "begin=3 size=7"},
                                    {"[2,3,3,1]", "size=1"}};
static const ebb_op_case slice_grad[] = {{"[1,1]", "total=1"},
                                         {"[3,5]", "begin=2 total=7"},
                                         {"[1,7,7,7]", "begin=3 total=33"},
                                         {"[2,1,3,1]", "total=3"}};
static const ebb_op_case fill[] = {
    {"", "value=1"}, {"", "shape=7 value=0"}, {"", "shape=2,3,7,33 value=-0.5"}};

EBB_CASES(to_planes, "u", 0, to);
EBB_CASES(from_planes, "u", 0, from);
EBB_CASES(concat, "u", 0, concat);
EBB_CASES(slice, "u", 0, slice);
EBB_CASES(slice_grad, "u", 0, slice_grad);
EBB_CASES(fill, "", 0, fill);
