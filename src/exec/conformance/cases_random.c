/* dropout: the same mask everywhere; kept elements are scaled in float. Draws: the same numbers. */
#include "exec/conformance/cases.h"

static const ebb_op_case dropout_rows[] = {{"[]", ""},         {"[33]", "p=0.25"}, {"[3,7]", "p=0"},
                                           {"[3,7]", "p=0.9"}, {"[1,3,7,7]", ""},  {"[2,33,3,5]", "p=0.1"}};
static const ebb_op_case dropout_shared_rows[] = {
    {"[7,33,7,7]", ""}, /* channels last: another loop than in other ranks */
    {"[333,35]", "p=0.1"}};

EBB_CASES(dropout, "u", 2e-7, EBB_SMALL_OF(dropout_rows), EBB_SHARED_OF(dropout_shared_rows),
          EBB_BLOCKS({"[4099]", "p=0.3"}, {"[2,300,3,3]", "p=0.3"}, {"[3,33,4,8]", "p=0.7"},
                     {"[3,34,5,6]", ""}),
          EBB_VALUES({"[3]", "p=0", "1 2 3", "1 2 3"}));

EBB_CASES(dropout_grad, "u", 2e-7, EBB_SMALL_OF(dropout_rows), EBB_SHARED_OF(dropout_shared_rows),
          EBB_BLOCKS({"[2,1,3,7]", "p=0.2"}), EBB_VALUES({"[3]", "p=0", "1 2 3", "1 2 3"}));

#define DRAWS(name, tolerance, odd, first)                                                            \
    EBB_CASES(name, "", tolerance,                                                                    \
              EBB_SMALL({"", ""}, {"", "shape=33"}, {"", "shape=3,7" odd}, {"", "shape=2,3,5,7" odd}, \
                        {"", "shape=1,2,3,1,2"}),                                                     \
              EBB_SHARED({"", "shape=7,33,9,9"}, {"", "shape=333,35" odd}),                           \
              EBB_BLOCKS({"", "shape=1027"}, {"", "shape=3,33,4,8"}),                                 \
              EBB_VALUES({"", "shape=3 " first, "", "2 2 2"}))
DRAWS(uniform, 2e-7, " low=-3 high=5", "low=2 high=2");
DRAWS(normal, 2e-6, " mean=3 std=0.1", "mean=2 std=0");
