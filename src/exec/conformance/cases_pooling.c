/* Pooling. A maximum is one of its inputs: the same bits; its gradient sums at most a few terms. */
#include "exec/conformance/cases.h"

static const ebb_op_case max_pool_rows[] = {
    {"[1,1,1,1]", "kernel=1"},  {"[1,3,7,7]", "kernel=3 stride=2 pad=1"},
    {"[2,33,9,5]", "kernel=2"}, {"[3,7,8,11]", "kernel=3,2 stride=2,3 pad=1,0"},
    {"[1,3,7,7]", "kernel=7"},  {"[2,3,6,6]", "kernel=3 stride=1 pad=1"}};
static const ebb_op_case max_pool_nan_rows[] = {
    {"[1,3,7,7]", "kernel=3 stride=2 pad=1"}, {"[2,33,9,5]", "kernel=2"}, {"[1,3,7,7]", "kernel=7"}};
static const ebb_op_case max_pool_nanl_rows[] = {{"[2,12,25,23]", "kernel=3 stride=2 pad=1"},
                                                 {"[2,4,9,5]", "kernel=2"},
                                                 {"[3,8,8,11]", "kernel=3,2 stride=2,3 pad=1,0"},
                                                 {"[2,33,13,11]", "kernel=3 stride=1 pad=1"}};
static const ebb_op_case max_pool_grad_nanl_rows[] = {
    {"[2,12,25,23] [2,12,13,12]", "kernel=3 stride=2 pad=1"},
    {"[2,4,9,5] [2,4,4,2]", "kernel=2"},
    {"[3,8,8,11] [3,8,4,4]", "kernel=3,2 stride=2,3 pad=1,0"}};

EBB_CASES(max_pool, "d", 0, EBB_SMALL_OF(max_pool_rows), EBB_NAN_OF("n", max_pool_nan_rows),
          EBB_NAN_LARGE_OF("n", max_pool_nanl_rows), EBB_LARGE_OF(max_pool_nanl_rows),
          EBB_SHARED({"[7,33,13,11]", "kernel=3 stride=2 pad=1"}),
          EBB_VALUES({"[1,1,3,3]", "kernel=2 stride=1", "1 2 3 4 5 6 7 8 9", "5 6 8 9"},
                     {"[1,1,1,1]", "kernel=3 stride=1 pad=1", "-3", "-3"},
                     {"[1,1,2,2]", "kernel=2", "1 nan 3 2", "nan"},
                     {"[1,1,1,3]", "kernel=1,2 stride=1", "nan 1 2", "nan 2"}));

EBB_CASES(max_pool_grad, "tu", 5e-7,
          EBB_SMALL({"[1,1,1,1] [1,1,1,1]", "kernel=1"}, {"[1,3,7,7] [1,3,4,4]", "kernel=3 stride=2 pad=1"},
                    {"[2,33,9,5] [2,33,4,2]", "kernel=2"},
                    {"[3,7,8,11] [3,7,4,4]", "kernel=3,2 stride=2,3 pad=1,0"},
                    {"[1,3,7,7] [1,3,1,1]", "kernel=7"},
                    {"[2,3,6,6] [2,3,6,6]", "kernel=3 stride=1 pad=1"}),
          EBB_NAN("nu", {"[1,3,7,7] [1,3,4,4]", "kernel=3 stride=2 pad=1"},
                  {"[2,33,9,5] [2,33,4,2]", "kernel=2"}, {"[1,3,7,7] [1,3,1,1]", "kernel=7"}),
          EBB_NAN_LARGE_OF("nu", max_pool_grad_nanl_rows), EBB_LARGE_OF(max_pool_grad_nanl_rows),
          EBB_SHARED({"[3,33,17,11] [3,33,9,6]", "kernel=3 stride=2 pad=1"}),
          EBB_VALUES({"[1,1,2,2] [1,1,1,1]", "kernel=2", "4 4 4 4 | 5", "5 0 0 0"},
                     {"[1,1,1,3] [1,1,1,2]", "kernel=1,2 stride=1", "1 3 2 | 5 7", "0 12 0"},
                     {"[1,1,2,2] [1,1,1,1]", "kernel=2", "9 nan nan 2 | 5", "0 5 0 0"}));

EBB_CASES(max_pool_at, "d", 0, EBB_SMALL_OF(max_pool_rows), EBB_NAN_OF("n", max_pool_nan_rows),
          EBB_NAN_LARGE_OF("n", max_pool_nanl_rows), EBB_LARGE_OF(max_pool_nanl_rows),
          EBB_SHARED({"[7,33,13,11]", "kernel=3 stride=2 pad=1"}),
          EBB_VALUES(/* Padding counts: the first window's are places 4, 5, 7 and 8 of its kernel. */ {
              "[1,1,3,3]", "kernel=3 stride=2 pad=1", "1 5 3 4 2 9 7 9 8", "5 9 9 9 | 5 7 5 1"}));

EBB_CASES(max_pool_at_grad, "uw", 5e-7,
          EBB_SMALL({"[1,1,1,1] [1,1,1,1]", "kernel=1 size=1"},
                    {"[1,3,4,4] [1,3,4,4]", "kernel=3 stride=2 pad=1 size=7"},
                    {"[2,33,4,2] [2,33,4,2]", "kernel=2 size=9,5"},
                    {"[3,7,4,4] [3,7,4,4]", "kernel=3,2 stride=2,3 pad=1,0 size=8,11"},
                    {"[1,3,1,1] [1,3,1,1]", "kernel=7 size=7"},
                    {"[2,67,6,6] [2,67,6,6]", "kernel=3 stride=1 pad=1 size=6"}),
          EBB_LARGE({"[2,12,13,12] [2,12,13,12]", "kernel=3 stride=2 pad=1 size=25,23"},
                    {"[2,4,4,2] [2,4,4,2]", "kernel=2 size=9,5"},
                    {"[3,8,4,4] [3,8,4,4]", "kernel=3,2 stride=2,3 pad=1,0 size=8,11"}),
          EBB_SHARED({"[7,33,9,6] [7,33,9,6]", "kernel=3 stride=2 pad=1 size=17,11"}),
          EBB_VALUES({"[1,1,2,2] [1,1,2,2]", "kernel=3 stride=2 pad=1 size=3", "1 10 100 1000 | 5 7 5 1",
                      "0 1 0 0 0 1010 0 100 0"}));

EBB_CASES(avg_pool, "u", 1e-6,
          EBB_SMALL({"[1,1,1,1]", "kernel=1"}, {"[1,3,7,7]", "kernel=3 stride=2 pad=1"},
                    {"[1,3,7,7]", "kernel=3 stride=2 pad=1 count_pad=0"}, {"[2,33,9,5]", "kernel=2"},
                    {"[3,7,8,11]", "kernel=3,2 stride=2,3 pad=1,0 count_pad=0"}),
          EBB_LARGE({"[2,12,25,23]", "kernel=3 stride=2 pad=1"},
                    {"[2,8,25,23]", "kernel=3 stride=2 pad=1 count_pad=0"},
                    {"[1,4,40,40]", "kernel=39 stride=1"}),
          EBB_SHARED({"[7,33,13,11]", "kernel=3 stride=2 pad=1"}),
          EBB_VALUES({"[1,1,2,2]", "kernel=2", "1 2 3 4", "2.5"},
                     {"[1,1,2,2]", "kernel=2 stride=2 pad=1", "1 2 3 4", "0.25 0.5 0.75 1"},
                     {"[1,1,2,2]", "kernel=2 stride=2 pad=1 count_pad=0", "1 2 3 4", "1 2 3 4"}));

EBB_CASES(avg_pool_grad, "u", 1e-6,
          EBB_SMALL({"[1,1,1,1]", "kernel=1 size=1"}, {"[1,3,4,4]", "kernel=3 stride=2 pad=1 size=7"},
                    {"[1,3,4,4]", "kernel=3 stride=2 pad=1 count_pad=0 size=7"},
                    {"[2,33,4,2]", "kernel=2 size=9,5"},
                    {"[3,7,4,4]", "kernel=3,2 stride=2,3 pad=1,0 count_pad=0 size=8,11"}),
          EBB_LARGE({"[2,12,13,12]", "kernel=3 stride=2 pad=1 size=25,23"},
                    {"[2,8,13,12]", "kernel=3 stride=2 pad=1 count_pad=0 size=25,23"}),
          EBB_SHARED({"[7,33,7,6]", "kernel=3 stride=2 pad=1 size=13,11"}),
          EBB_VALUES({"[1,1,1,1]", "kernel=2 size=2", "4", "1 1 1 1"},
                     {"[1,1,1,2]", "kernel=1,2 stride=1 size=1,3", "4 8", "2 6 4"}));

EBB_CASES(global_avg_pool, "u", 1e-6,
          EBB_SMALL({"[1,1,1,1]", ""}, {"[1,3,7,7]", ""}, {"[3,33,1,5]", ""}, {"[2,65,9,9]", ""}),
          EBB_LARGE({"[2,3,61,53]", ""}, {"[2,132,9,9]", ""}, {"[3,65,9,7]", ""}, {"[2,260,7,7]", ""},
                    {"[2,1,70,70]", ""}),
          EBB_SHARED({"[7,67,9,9]", ""}), EBB_VALUES({"[1,2,1,2]", "", "1 3 5 7", "2 6"}));

EBB_CASES(global_avg_pool_grad, "u", 1e-6,
          EBB_SMALL({"[1,1]", "size=1"}, {"[1,3]", "size=7"}, {"[3,33]", "size=1,5"}, {"[2,65]", "size=9"}),
          EBB_LARGE({"[2,132]", "size=9"}, {"[2,65]", "size=9"}), EBB_SHARED({"[7,67]", "size=9"}),
          EBB_VALUES({"[1,2]", "size=1,2", "2 6", "1 1 3 3"}));
