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

/* Operands of one dtype but for bool and i32; biases, casts and the rest: tests/exec/test_fused.c. */
EBB_CASES(fused, "u", 2e-6,
          EBB_SMALL({"[] []", "body=add(i0,i1);neg(t0)->t1"},
                    {"[33] [33]", "body=mul(i0,i1);gelu(t0);sub(t1,i0)->t1,t2"},
                    {"[3,7] [7] [3,1]", "body=add(i0,i1);silu(t0);mul(t1,i2)->t2"},
                    {"[2,3,7,33] [3,1,1] [33] []",
                     "body=add(i0,i1);add(t0,i2);scale(t1,i3);relu(t2);less(t2,i0)->t3,t4"},
                    {"[3,5,2,3] [5,1,1] bool[2,1]",
                     "body=add(i0,i1);where(i2,t0,i1);clip(t1,min=-0.5,max=0.75)->t0,t2"},
                    {"[3,1] [1,7]", "body=add(i0,i1);sigmoid(t0)->t1"},
                    {"[7,33] [7,33]", "body=mul(i0,i1);cast(t0,to=f32)->t0,t1,sum(t1)"},
                    {"i32[3,7] i32[7]", "body=add(i0,i1);less(t0,i0);cast(t1,to=i32);mul(t0,t2)->t1,t3"},
                    {"[1033] [1033] [1033]",
                     "body=mul(i0,i1);add(t0,i2);abs(t1);sqrt(t2);tanh(t3);rescale(t4,times=2,plus=-1);"
                     "maximum(t5,i2)->t1,t4,t6"}),
          EBB_NAN("n", {"[33] [33]", "body=add(i0,i1);relu(t0)->t0,t1"},
                  {"[3,7] [7]", "body=maximum(i0,i1);exp(t0);less(t1,i0)->t1,t2"}),
          EBB_SHARED({"[7,33,9,9] [33,1,1]", "body=add(i0,i1);gelu(t0)->t1"},
                     {"[333,33] [333,33]", "body=add(i0,i1);cast(t0,to=f32)->t1,sum(t1)"},
                     {"[33,1029] [33,1] [1029]", "body=add(i0,i1);mul(t0,i2);sigmoid(t1)->t1,t2"}),
          EBB_BLOCKS({"[2]", "body=neg(i0)->t0"}),
          EBB_VALUES({"[3] [3]", "body=add(i0,i1);neg(t0)->t0,t1", "1 2 3 | 10 20 30",
                      "11 22 33 | -11 -22 -33"},
                     {"[1,2,1,2] [2]", "body=bias(i0,i1);rescale(t0,times=2)->t1", "1 2 3 4 | 10 20",
                      "22 24 46 48"},
                     {"i32[2] i32[]", "body=add(i0,i1);less(t0,i0);cast(t1,to=i32)->t0,t2",
                      "2147483647 -3 | 1", "-2147483648 -2 | 1 0"}));

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
