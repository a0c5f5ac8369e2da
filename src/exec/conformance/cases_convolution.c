/* conv2d and its gradients. Sums are taken in another order and in float: a few units of the last
 * place times the square root of the terms. */
#include "exec/conformance/cases.h"

EBB_CASES(conv2d, "u", 2e-6,
          EBB_SMALL({"[1,1,1,1] [1,1,1,1]", ""}, {"[1,3,7,7] [33,3,3,3]", "pad=1"},
                    {"[2,3,33,17] [7,3,7,7]", "stride=2 pad=3"}, {"[3,7,9,5] [3,7,1,1]", ""},
                    {"[3,7,9,5] [3,7,1,1]", "stride=2"}, {"[1,6,11,7] [9,2,3,3]", "groups=3 pad=1"},
                    {"[2,7,8,8] [7,1,3,3]", "groups=7 pad=1 stride=2"},
                    {"[2,3,13,9] [5,3,3,3]", "dilation=2 pad=2"},
                    {"[1,3,13,9] [4,3,3,2]", "dilation=3,1 stride=1,2 pad=0,1"},
                    {"[2,16,7,7] [32,16,3,3]", "pad=1"}, {"[1,33,3,3] [7,33,3,3]", ""},
                    {"[2,4,10,10] [6,2,5,3]", "groups=2 stride=3,2 pad=2,1"},
                    {"[1,33,7,9] [33,1,3,3]", "groups=33 pad=1"}, /* channels alone: as MobileNet's */
                    {"[3,33,9,7] [33,1,3,3]", "groups=33 pad=1 stride=2"},
                    {"[1,3,7,7] [6,1,5,5]", "groups=3 pad=2 stride=2"},
                    {"[2,16,3,1] [16,1,3,3]", "groups=16 pad=1"},
                    {"[2,16,9,5] [24,16,1,1]",
                     ""} /* products of matrices; so below, with rows that are spread */),
          .rounds_factors = true, .alone = true);

EBB_CASES(conv2d_dgrad, "u", 2e-6,
          EBB_SMALL({"[1,1,1,1] [1,1,1,1]", "size=1"}, {"[1,33,7,7] [33,3,3,3]", "pad=1 size=7"},
                    {"[2,7,17,9] [7,3,7,7]", "stride=2 pad=3 size=33,17"},
                    {"[2,7,17,9] [7,3,7,7]", "stride=2 pad=3 size=34,18"},
                    {"[3,3,9,5] [3,7,1,1]", "size=9,5"}, {"[3,3,5,3] [3,7,1,1]", "stride=2 size=9,5"},
                    {"[3,3,5,3] [3,7,1,1]", "stride=2 size=10,6"},
                    {"[1,9,11,7] [9,2,3,3]", "groups=3 pad=1 size=11,7"},
                    {"[2,7,4,4] [7,1,3,3]", "groups=7 pad=1 stride=2 size=8"},
                    {"[2,5,13,9] [5,3,3,3]", "dilation=2 pad=2 size=13,9"},
                    {"[1,4,7,5] [4,3,3,2]", "dilation=3,1 stride=1,2 pad=0,1 size=13,9"},
                    {"[2,32,7,7] [32,16,3,3]", "pad=1 size=7"},
                    {"[1,33,7,9] [33,1,3,3]", "groups=33 pad=1 size=7,9"},
                    {"[3,33,5,4] [33,1,3,3]", "groups=33 pad=1 stride=2 size=9,7"},
                    {"[1,6,4,4] [6,1,5,5]", "groups=3 pad=2 stride=2 size=7"},
                    {"[2,16,3,1] [16,1,3,3]", "groups=16 pad=1 size=3,1"},
                    {"[2,24,9,5] [24,16,1,1]", "size=9,5"}, {"[3,8,5,3] [8,16,1,1]", "stride=2 size=9,5"},
                    {"[3,8,5,3] [8,16,1,1]", "stride=2 size=10,6"},
                    {"[2,8,3,2] [8,4,1,1]", "stride=3,2 size=9,4"}),
          .rounds_factors = true, .alone = true);

EBB_CASES(
    conv2d_wgrad, "u", 5e-6,
    EBB_SMALL({"[1,1,1,1] [1,1,1,1]", "size=1"}, {"[1,3,7,7] [1,33,7,7]", "pad=1 size=3"},
              {"[2,3,33,17] [2,7,17,9]", "stride=2 pad=3 size=7"}, {"[3,7,9,5] [3,3,9,5]", "size=1"},
              {"[3,7,9,5] [3,3,5,3]", "stride=2 size=1"},
              {"[1,6,11,7] [1,9,11,7]", "groups=3 pad=1 size=3"},
              {"[2,7,8,8] [2,7,4,4]", "groups=7 pad=1 stride=2 size=3"},
              {"[2,3,13,9] [2,5,13,9]", "dilation=2 pad=2 size=3"},
              {"[1,3,13,9] [1,4,7,5]", "dilation=3,1 stride=1,2 pad=0,1 size=3,2"},
              {"[33,16,7,7] [33,32,7,7]", "pad=1 size=3"},
              {"[1,33,7,9] [1,33,7,9]", "groups=33 pad=1 size=3"},
              {"[3,33,9,7] [3,33,5,4]", "groups=33 pad=1 stride=2 size=3"},
              {"[1,3,7,7] [1,6,4,4]", "groups=3 pad=2 stride=2 size=5"},
              {"[2,16,3,1] [2,16,3,1]", "groups=16 pad=1 size=3"}, {"[2,16,9,5] [2,24,9,5]", "size=1"},
              {"[2,12,32,64] [2,8,32,64]", "size=1"}, /* long sums: cut in equal parts, and with a rest */
              {"[3,12,29,53] [3,8,29,53]", "size=1"}),
    .rounds_factors = true, .alone = true);
