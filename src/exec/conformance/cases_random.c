/* dropout: the same mask everywhere; kept elements are scaled in float. */
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
