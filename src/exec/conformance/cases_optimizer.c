/* Updates of parameters: a few roundings in float. */
#include "exec/conformance/cases.h"

EBB_CASES(assign, "u", 0,
          EBB_SMALL({"[] []", ""}, {"[33] [33]", ""}, {"[2,3,5,4] [2,3,5,4]", ""}, {"i32[7] i32[7]", ""},
                    {"bool[3,7] bool[3,7]", ""}, {"u8[33] u8[33]", ""}),
          EBB_NAN("n", {"[33] [33]", ""}),
          EBB_SHARED({"[301,67] [301,67]", ""}, {"u8[70,1000] u8[70,1000]", ""}),
          EBB_BLOCKS({"[1027] [1027]", ""}, {"u8[4099] u8[4099]", ""}),
          EBB_VALUES({"[2] [2]", "", "1 2 | 3 4", "3 4"}, {"u8[2] u8[2]", "", "1 2 | 0 255", "0 255"}));

EBB_CASES(sgd, "uup", 5e-7,
          EBB_SMALL({"[1] [1] []", ""}, {"[7,3] [7,3] []", "decay=0.01"},
                    {"[33,3,3,3] [33,3,3,3] []", "decay=0.0001"}),
          EBB_SHARED({"[101,67] [101,67] []", "decay=0.01"}),
          EBB_BLOCKS({"[4099] [4099] []", "decay=0.01"}),
          EBB_VALUES({"[1] [1] []", "decay=0.5", "1 | 2 | 0.5", "-0.25"}));

EBB_CASES(sgd_momentum, "uuup", 5e-7,
          EBB_SMALL({"[1] [1] [1] []", "momentum=0.9"}, {"[7,3] [7,3] [7,3] []", "momentum=0.9 decay=0.01"},
                    {"[33,3,3,3] [33,3,3,3] [33,3,3,3] []", "momentum=0.5 nesterov=1"},
                    {"[33] [33] [33] []", "momentum=0.9 nesterov=1 decay=0.01"}),
          EBB_SHARED({"[101,67] [101,67] [101,67] []", "momentum=0.9 decay=0.01"},
                     {"[101,67] [101,67] [101,67] []", "momentum=0.9 nesterov=1"}),
          EBB_BLOCKS({"[4098] [4098] [4098] []", "momentum=0.9 decay=0.01"}),
          EBB_VALUES({"[1] [1] [1] []", "momentum=0.5 decay=0.5", "1 | 2 | 4 | 0.5", "-1.25 | 4.5"},
                     {"[1] [1] [1] []", "momentum=0.5 decay=0.5 nesterov=1", "1 | 2 | 4 | 0.5",
                      "-1.375 | 4.5"}));

EBB_CASES(count_step, "u", 0, EBB_SMALL({"[]", ""}), EBB_BLOCKS({"[]", ""}), .alone = true,
          EBB_VALUES({"[]", "", "41", "42"}));

EBB_CASES(adamw, "uuuppp", 1e-6,
          EBB_SMALL({"[1] [1] [1] [1] [] []", ""}, {"[7,3] [7,3] [7,3] [7,3] [] []", "decay=0.01"},
                    {"[33,3,3,3] [33,3,3,3] [33,3,3,3] [33,3,3,3] [] []", "beta1=0.5 beta2=0.9 eps=0.001"},
                    {"[33] [33] [33] [33] [] []", "beta1=0 beta2=0.99 decay=0.1"}),
          EBB_SHARED({"[101,67] [101,67] [101,67] [101,67] [] []", "decay=0.01"}),
          EBB_BLOCKS({"[8192] [8192] [8192] [8192] [] []", "decay=0.01"},
                     {"[9001] [9001] [9001] [9001] [] []", ""}),
          EBB_VALUES(/* m' = 3, v' = 16; by n = 1: 6 and 64, so that the way is 6 / (8 + 4). */
                     {"[1] [1] [1] [1] [] []", "beta1=0.5 beta2=0.75 eps=4 decay=0.25",
                      "2 | 4 | 2 | 16 | 1 | 0.5", "1.5 | 3 | 16"},
                     /* The second step: unbiased by 1 - 1 / 4 and 1 - 9 / 16. */ {
                         "[1] [1] [1] [1] [] []", "beta1=0.5 beta2=0.75 eps=4", "2 | 4 | 2 | 12 | 2 | 0.5",
                         "1.7883839988192118 | 3 | 13"}));

EBB_CASES(clip_factor, "p", 2e-7, EBB_SMALL({"[]", "norm=0.25"}, {"[]", "norm=33"}),
          EBB_BLOCKS({"[]", "norm=0.25"}), .alone = true,
          EBB_VALUES({"[]", "norm=1", "4", "0.499999750000125"}, {"[]", "norm=3", "4", "1"},
                     {"[]", "norm=3", "nan", "nan"}));
