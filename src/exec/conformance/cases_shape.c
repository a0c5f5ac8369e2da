/* Ops that move elements: the same bits. */
#include "exec/conformance/cases.h"

EBB_CASES(to_planes, "u", 0,
          EBB_SMALL({"[1,1,1,1]", ""}, {"[1,3,7,5]", ""}, {"[3,33,2,1]", ""}, {"[2,7,3,3]", ""}),
          EBB_SHARED({"[7,33,9,9]", ""}),
          EBB_BLOCKS({"[2,70,9,9]", ""}, {"[2,32,8,4]", ""}, {"[3,1,40,1]", ""}),
          EBB_VALUES({"[1,3,1,2]", "", "1 2 3 4 5 6", "1 2 3 4 5 6"}));

EBB_CASES(from_planes, "u", 0,
          EBB_SMALL({"[1,1]", "size=1"}, {"[1,105]", "size=3,7,5"}, {"[3,66]", "size=33,2,1"},
                    {"[2,63]", "size=7,3,3"}),
          EBB_SHARED({"[7,2673]", "size=33,9,9"}),
          EBB_BLOCKS({"[2,5670]", "size=70,9,9"}, {"[2,1024]", "size=32,8,4"}, {"[3,33]", "size=33,1,1"}),
          EBB_VALUES({"[1,6]", "size=3,1,2", "1 2 3 4 5 6", "1 2 3 4 5 6"}));

EBB_CASES(concat, "u", 0,
          EBB_SMALL({"[1,1]", ""}, {"[3,7] [3,1]", ""}, {"[1,3,7,7] [1,33,7,7] [1,1,7,7]", ""},
                    {"[2,1,3,1] [2,1,3,1] [2,1,3,1] [2,1,3,1] [2,1,3,1]", ""}, {"[3] [4]", "axis=0"},
                    {"[2,3,5,4] [2,3,5,1]", "axis=3"}, {"[2,3,5,4] [2,3,1,4]", "axis=2"},
                    {"[2,3,5] [2,3,7]", "axis=2"}, {"i32[3,7] i32[1,7]", "axis=0"},
                    {"bool[2,3,5,4] bool[2,1,5,4]", ""}, {"u8[3,7] u8[3,5]", ""}),
          EBB_SHARED({"[7,19,9,9] [7,1,9,9] [7,13,9,9]", ""}),
          EBB_BLOCKS({"[3,8,9,7] [3,4,9,7] [3,16,9,7]", ""}, {"[3,8,9,7] [3,3,9,7] [3,16,9,7]", ""},
                     {"[129,12] [129,4]", ""}, {"[3,8,9,7] [3,8,9,2]", "axis=3"},
                     {"u8[129,12] u8[129,5]", ""}),
          EBB_VALUES({"[1,1,1,2] [1,2,1,2]", "", "1 2 | 3 4 5 6", "1 2 3 4 5 6"}));

EBB_CASES(slice, "u", 0,
          EBB_SMALL({"[1,1]", "size=1"}, {"[3,7]", "begin=2 size=5"}, {"[1,33,7,7]", "begin=3 size=7"},
                    {"[2,3,3,1]", "size=1"}, {"[7]", "axis=0 begin=2 size=3"},
                    {"[2,3,5,4]", "axis=2 begin=1 size=3"}, {"[2,3,5,4]", "axis=3 size=2"},
                    {"[2,3,5,2,4]", "axis=3 begin=1 size=1"}, {"i32[5,3]", "axis=0 begin=4 size=1"},
                    {"bool[2,3,5,4]", "begin=1 size=2"}, {"u8[3,7]", "begin=2 size=4"}),
          EBB_SHARED({"[7,33,9,9]", "begin=3 size=17"}),
          EBB_BLOCKS({"[3,24,9,7]", "begin=8 size=12"}, {"[3,24,9,7]", "begin=6 size=12"},
                     {"[129,28]", "begin=8 size=12"}, {"[129,28]", "begin=8 size=11"},
                     {"bool[129,28]", "begin=9 size=11"}),
          EBB_VALUES({"[1,3,1,2]", "begin=1 size=2", "1 2 3 4 5 6", "3 4 5 6"}));

EBB_CASES(slice_grad, "u", 0,
          EBB_SMALL({"[1,1]", "total=1"}, {"[3,5]", "begin=2 total=7"}, {"[1,7,7,7]", "begin=3 total=33"},
                    {"[2,1,3,1]", "total=3"}, {"[3]", "axis=0 begin=2 total=7"},
                    {"[2,3,3,4]", "axis=2 begin=1 total=5"}, {"[2,3,5,1,4]", "axis=3 begin=1 total=2"}),
          EBB_SHARED({"[7,17,9,9]", "begin=3 total=33"}),
          EBB_BLOCKS({"[3,12,9,7]", "begin=8 total=24"}, {"[3,12,9,7]", "begin=7 total=24"},
                     {"[129,12]", "begin=0 total=12"}, {"[129,12]", "begin=4 total=19"}),
          EBB_VALUES({"[1,1,1,2]", "begin=1 total=3", "3 4", "0 0 3 4 0 0"}));

EBB_CASES(permute, "u", 0,
          EBB_SMALL({"[]", ""}, {"[33]", "order=0"}, {"[3,7]", "order=1,0"}, {"[2,3,5]", "order=2,0,1"},
                    {"[2,3,5,4]", "order=0,2,3,1"}, {"[2,3,5,4]", "order=3,1,0,2"},
                    {"[2,3,5,2,4]", "order=1,0,4,2,3"}, {"i32[3,7]", "order=1,0"},
                    {"bool[2,3,5,4]", "order=0,3,1,2"}, {"u8[3,7]", "order=1,0"}),
          EBB_SHARED({"[7,33,13,11]", "order=1,0,3,2"}, {"[233,167]", "order=1,0"}),
          EBB_BLOCKS({"[33,67]", "order=1,0"}, {"[3,33,5,7]", "order=0,2,3,1"},
                     {"bool[33,67]", "order=1,0"}),
          EBB_VALUES({"[2,3]", "order=1,0", "1 2 3 4 5 6", "1 4 2 5 3 6"},
                     {"[1,2,1,2]", "order=0,3,2,1", "1 2 3 4", "1 3 2 4"}));

EBB_CASES(strided_slice, "u", 0,
          EBB_SMALL({"[7]", "begin=1 size=3 step=2"}, {"[7]", "begin=6 size=7 step=-1"},
                    {"[5,7]", "begin=4,1 size=2,3 step=-3,2"},
                    {"[2,5,7,4]", "begin=0,4,1,3 size=2,3,3,2 step=1,-2,2,-3"},
                    {"[2,3,5,2,4]", "begin=1,0,0,1,0 size=1,3,2,2,4 step=1,1,4,-1,1"},
                    {"i32[7]", "begin=0 size=4 step=2"}, {"bool[3,7]", "begin=2,0 size=3,4 step=-1,2"},
                    {"u8[7]", "begin=1 size=3 step=2"}),
          EBB_SHARED({"[7,33,26,22]", "begin=0,32,0,1 size=7,33,13,11 step=1,-1,2,2"}),
          EBB_BLOCKS({"[3,2051]", "begin=2,0 size=3,1026 step=-1,2"},
                     {"bool[2051]", "begin=2050 size=1026 step=-2"}),
          EBB_VALUES({"[1,2,1,4]", "begin=0,1,0,0 size=1,2,1,2 step=1,-1,1,3", "1 2 3 4 5 6 7 8",
                      "5 8 1 4"}));

EBB_CASES(strided_slice_grad, "u", 0,
          EBB_SMALL({"[3]", "begin=1 size=7 step=2"}, {"[7]", "begin=6 size=7 step=-1"},
                    {"[2,3]", "begin=4,1 size=5,7 step=-3,2"},
                    {"[2,3,3,2]", "begin=0,4,1,3 size=2,5,7,4 step=1,-2,2,-3"},
                    {"[1,3,2,2,4]", "begin=1,0,0,1,0 size=2,3,5,2,4 step=1,1,4,-1,1"}),
          EBB_SHARED({"[7,33,13,11]", "begin=0,32,0,1 size=7,33,26,22 step=1,-1,2,2"}),
          EBB_BLOCKS({"[3,1026]", "begin=2,0 size=3,2051 step=-1,2"},
                     {"i32[1026]", "begin=2050 size=2051 step=-2"}),
          EBB_VALUES({"[1,1,1,2]", "begin=0,1,0,2 size=1,2,1,3 step=1,1,1,-2", "5 6", "0 0 0 6 0 5"}));
