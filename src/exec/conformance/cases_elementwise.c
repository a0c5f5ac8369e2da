/* Elementwise ops of one shape. */
#include "exec/conformance/cases.h"

EBB_CASES(rescale, "u", 2e-7,
          EBB_SMALL({"[]", "times=-1"}, {"[33]", "plus=0.5"}, {"[3,7]", "times=0.25 plus=-3"},
                    {"[2,3,7,33]", "times=3 plus=0.1"}),
          EBB_SHARED({"[7,33,9,9]", "times=3"}), EBB_BLOCKS({"[1026]", "times=3 plus=-2"}),
          EBB_VALUES({"[3]", "times=-2 plus=1", "1 2 -3", "-1 -3 7"}));

EBB_CASES(exp, "u", 2e-7,
          EBB_SMALL({"[]", ""}, {"[1]", ""}, {"[33]", ""}, {"[3,7]", ""}, {"[2,3,7,33]", ""},
                    {"[3,1,7]", ""}),
          EBB_SHARED({"[7,33,9,9]", ""}), EBB_BLOCKS({"[2]", ""}),
          EBB_VALUES({"[3]", "", "0 1.0986122886681098 -1000", "1 3 0"}));

EBB_CASES(fill, "", 0,
          EBB_SMALL({"", "value=1"}, {"", "shape=7 value=0"}, {"", "shape=2,3,7,33 value=-0.5"}),
          EBB_SHARED({"", "shape=7,33,13,11 value=-0.5"}),
          EBB_BLOCKS({"", "shape=4099 value=-0.1"}, {"", "shape=2,1024 value=3"}),
          EBB_VALUES({"", "shape=3 value=2.5", "", "2.5 2.5 2.5"}));

EBB_CASES(scale, "up", 0,
          EBB_SMALL({"[] []", ""}, {"[33] []", ""}, {"[3,7] []", ""}, {"[2,3,7,33] []", ""}),
          EBB_SHARED({"[7,33,9,9] []", ""}), EBB_BLOCKS({"[1027] []", ""}),
          EBB_VALUES({"[3] []", "", "1 2 -3 | 0.5", "0.5 1 -1.5"}));

EBB_CASES(iota, "", 0,
          EBB_SMALL({"", "shape=33"}, {"", "shape=3,7 axis=1"}, {"", "shape=2,3,5,7 axis=1"},
                    {"", "shape=2,3,5,7 axis=3"}),
          EBB_SHARED({"", "shape=7,33,13,11 axis=2"}),
          EBB_BLOCKS({"", "shape=1027"}, {"", "shape=300,5 axis=0"}),
          EBB_VALUES({"", "shape=2,3 axis=1", "", "0 1 2 0 1 2"},
                     {"", "shape=1,2,1,2 axis=1", "", "0 0 1 1"}));
