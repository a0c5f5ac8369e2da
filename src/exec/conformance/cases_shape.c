/* Ops that move elements: the same bits. */
#include "exec/conformance/cases.h"

EBB_CASES(to_planes, "u", 0,
          EBB_SMALL({"[1,1,1,1]", ""}, {"[1,3,7,5]", ""}, {"[3,33,2,1]", ""}, {"[2,7,3,3]", ""}),
          EBB_SHARED({"[7,33,9,9]", ""}),
          EBB_BLOCKS({"[2,70,9,9]", ""}, {"[2,32,8,4]", ""}, {"[3,1,40,1]", ""}));

EBB_CASES(from_planes, "u", 0,
          EBB_SMALL({"[1,1]", "size=1"}, {"[1,105]", "size=3,7,5"}, {"[3,66]", "size=33,2,1"},
                    {"[2,63]", "size=7,3,3"}),
          EBB_SHARED({"[7,2673]", "size=33,9,9"}),
          EBB_BLOCKS({"[2,5670]", "size=70,9,9"}, {"[2,1024]", "size=32,8,4"}, {"[3,33]", "size=33,1,1"}));

EBB_CASES(concat, "u", 0,
          EBB_SMALL({"[1,1]", ""}, {"[3,7] [3,1]", ""}, {"[1,3,7,7] [1,33,7,7] [1,1,7,7]", ""},
                    {"[2,1,3,1] [2,1,3,1] [2,1,3,1] [2,1,3,1] [2,1,3,1]", ""}),
          EBB_SHARED({"[7,19,9,9] [7,1,9,9] [7,13,9,9]", ""}),
          EBB_BLOCKS({"[3,8,9,7] [3,4,9,7] [3,16,9,7]", ""}, {"[3,8,9,7] [3,3,9,7] [3,16,9,7]", ""},
                     {"[129,12] [129,4]", ""}));

EBB_CASES(slice, "u", 0,
          EBB_SMALL({"[1,1]", "size=1"}, {"[3,7]", "begin=2 size=5"}, {"[1,33,7,7]", "begin=3 size=7"},
                    {"[2,3,3,1]", "size=1"}),
          EBB_SHARED({"[7,33,9,9]", "begin=3 size=17"}),
          EBB_BLOCKS({"[3,24,9,7]", "begin=8 size=12"}, {"[3,24,9,7]", "begin=6 size=12"},
                     {"[129,28]", "begin=8 size=12"}, {"[129,28]", "begin=8 size=11"}));

EBB_CASES(slice_grad, "u", 0,
          EBB_SMALL({"[1,1]", "total=1"}, {"[3,5]", "begin=2 total=7"}, {"[1,7,7,7]", "begin=3 total=33"},
                    {"[2,1,3,1]", "total=3"}),
          EBB_SHARED({"[7,17,9,9]", "begin=3 total=33"}),
          EBB_BLOCKS({"[3,12,9,7]", "begin=8 total=24"}, {"[3,12,9,7]", "begin=7 total=24"},
                     {"[129,12]", "begin=0 total=12"}, {"[129,12]", "begin=4 total=19"}));
