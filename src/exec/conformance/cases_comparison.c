/* Comparisons, truths, the choice between two values, and casts. */
#include "exec/conformance/cases.h"

#include <math.h>

#define PAIRS                                                                         \
    {"[] []", ""}, {"[33] [33]", ""}, {"[3,7] [7]", ""}, {"[2,3,5,4] [1,3,1,1]", ""}, \
        {"[3,5,4] [2,3,5,4]", ""}, {"i32[33] i32[33]", ""}, {                         \
        "i32[3,1] i32[1,7]", ""                                                       \
    }
static const ebb_op_case pairs[] = {PAIRS},
                         any_pairs[] = {PAIRS, {"bool[3,7] bool[7]", ""}, {"u8[2,33] u8[33]", ""}};
static const ebb_op_case truths[] = {{"bool[] bool[]", ""},
                                     {"bool[33] bool[33]", ""},
                                     {"bool[3,1] bool[1,7]", ""},
                                     {"bool[2,3,5,4] bool[3,1,1]", ""}};

#define COMPARES(name, rows, ...)                                                         \
    EBB_CASES(name, "n", 0, EBB_SMALL_OF(rows),                                           \
              EBB_SHARED({"[7,33,9,9] [7,33,9,9]", ""}, {"[7,33,13,11] [1,33,1,1]", ""}), \
              EBB_BLOCKS({"[1026] [1026]", ""}, {"[3,1025] [1025]", ""}), EBB_VALUES(__VA_ARGS__))
COMPARES(equal, any_pairs, {"[4] [4]", "", "1 2 nan 0 | 1 3 nan -0", "1 0 0 1"},
         {"bool[2] bool[]", "", "0 1 | 1", "0 1"}, {"u8[3] u8[]", "", "0 7 255 | 7", "0 1 0"});
COMPARES(less, pairs, {"[4] [4]", "", "1 2 nan 0 | 1 3 1 -0", "0 1 0 0"},
         {"i32[2] i32[]", "", "-7 1 | 1", "1 0"});
COMPARES(less_equal, pairs, {"[4] [4]", "", "1 4 nan 0 | 1 3 1 -0", "1 0 0 1"},
         {"i32[2] i32[]", "", "2 1 | 1", "0 1"});

#define LOGIC(name, ...)                                                                               \
    EBB_CASES(name, "u", 0, EBB_SMALL_OF(truths), EBB_SHARED({"bool[70,33,9,9] bool[70,33,9,9]", ""}), \
              EBB_BLOCKS({"bool[1026] bool[1026]", ""}, {"bool[3,1025] bool[1025]", ""}),              \
              EBB_VALUES(__VA_ARGS__))
LOGIC(logical_and, {"bool[2,1] bool[2]", "", "0 1 | 0 1", "0 0 0 1"});
LOGIC(logical_or, {"bool[2,1] bool[2]", "", "0 1 | 0 1", "0 1 1 1"});
LOGIC(logical_xor, {"bool[2,1] bool[2]", "", "0 1 | 0 1", "0 1 1 0"});

EBB_CASES(logical_not, "u", 0, EBB_SMALL({"bool[]", ""}, {"bool[33]", ""}, {"bool[2,3,5,4]", ""}),
          EBB_SHARED({"bool[70,33,9,9]", ""}), EBB_BLOCKS({"bool[1027]", ""}),
          EBB_VALUES({"bool[2]", "", "0 1", "1 0"}));

EBB_CASES(where, "u", 0,
          EBB_SMALL({"bool[] [] []", ""}, {"bool[33] [33] [33]", ""}, {"bool[33] [33] []", ""},
                    {"bool[33] [] [33]", ""}, {"bool[3,1] [7] [3,7]", ""},
                    {"bool[2,3,5,4] [2,3,5,4] [2,3,5,4]", ""}, {"bool[5,1] [2,3,1,1] [3,5,4]", ""},
                    {"bool[33] i32[33] i32[33]", ""}, {"bool[7] bool[3,7] bool[3,1]", ""},
                    {"bool[3,1] u8[7] u8[3,7]", ""},
                    {"bool[2,1,2,1,2,1,2,1] [1,3,1,3,1,3,1,3] [2,3,2,3,2,3,2,3]", ""}),
          EBB_NAN("n", {"bool[33] [33] [33]", ""}),
          EBB_SHARED({"bool[7,33,9,9] [7,33,9,9] [7,33,9,9]", ""}, {"bool[1,33,1,1] [7,33,13,11] []", ""}),
          EBB_BLOCKS({"bool[1026] [1026] [1026]", ""}, {"bool[3,1025] [1025] []", ""},
                     {"bool[1025] bool[1025] bool[]", ""}),
          EBB_VALUES({"bool[3] [3] []", "", "1 0 1 | 1 2 3 | 9", "1 9 3"}));

EBB_CASES(cast, "u", 0,
          EBB_SMALL({"[]", "to=f32"}, {"[33]", "to=i32"}, {"[2,3,5,4]", "to=bool"}, {"i32[33]", "to=f32"},
                    {"i32[3,7]", "to=bool"}, {"i32[7]", "to=i32"}, {"bool[33]", "to=f32"},
                    {"bool[2,3,5,4]", "to=i32"}, {"bool[7]", "to=bool"}, {"u8[33]", "to=f32"},
                    {"u8[2,3,5,4]", "to=i32"}, {"u8[7]", "to=bool"}, {"i32[33]", "to=u8"},
                    {"i32[2,3,5,4]", "to=i8"}, {"i32[3,7]", "to=i16"}, {"i8[33]", "to=i32"},
                    {"i8[2,3,5,4]", "to=i32"}, {"i16[33]", "to=i32"}, {"i16[7]", "to=i32"}),
          EBB_NAN("n", {"[33]", "to=i32"}, {"[33]", "to=bool"}),
          EBB_SHARED({"[7,33,9,9]", "to=i32"}, {"bool[70,33,9,9]", "to=f32"}),
          EBB_BLOCKS({"[1027]", "to=i32"}, {"i32[1027]", "to=f32"}, {"bool[1027]", "to=f32"}),
          EBB_VALUES({"[6]", "to=i32", "1.9 -1.9 1e30 -1e30 nan 0", "1 -1 2147483647 -2147483648 0 0"},
                     {"[3]", "to=bool", "0.5 0 nan", "1 0 1"}, {"i32[2]", "to=f32", "-7 3", "-7 3"},
                     {"bool[2]", "to=i32", "0 1", "0 1"}, {"u8[3]", "to=i32", "0 200 255", "0 200 255"},
                     {"u8[2]", "to=bool", "0 200", "0 1"},
                     {"i32[5]", "to=u8", "-1 255 256 300 -300", "255 255 0 44 212"},
                     {"i32[5]", "to=i8", "127 128 -128 -129 300", "127 -128 -128 127 44"},
                     {"i32[3]", "to=i16", "32768 -32769 2147483647", "-32768 32767 -1"},
                     {"i8[2]", "to=i32", "-128 127", "-128 127"},
                     {"i16[2]", "to=i32", "-32768 300", "-32768 300"}));

/* ---- order ------------------------------------------------------------------------------------------ */

static const ebb_op_case tied[] = {{"[33]", "axis=0"},
                                   {"[3,70]", "axis=1 descending=1"},
                                   {"[70,3]", "axis=0"},
                                   {"[2,1100]", "axis=1"},
                                   {"[1100,3]", "axis=0 descending=1"}};
EBB_CASES(sort, "d", 0,
          EBB_SMALL({"[1]", "axis=0"}, {"[33]", "axis=0"}, {"[3,7]", "axis=1 descending=1"},
                    {"[3,7,5]", "axis=1"}, {"[2,3,7,5]", "axis=1"}, {"[2,3,7,5]", "axis=3 descending=1"},
                    {"[2,3,7,2,3]", "axis=2"}, {"[3,1]", "axis=1"}, {"i32[33]", "axis=0"},
                    {"i32[2,3,7,5]", "axis=2 descending=1"}),
          EBB_NAN_OF("n", tied), EBB_LARGE({"[3,257]", "axis=1"}, {"[600]", "axis=0 descending=1"}),
          EBB_SHARED({"[233,37]", "axis=1"}, {"[7,33,9,9]", "axis=1 descending=1"}),
          EBB_BLOCKS({"[1030]", "axis=0"}, {"i32[3,700]", "axis=1"}, {"[2,1030,3]", "axis=1 descending=1"},
                     {"i32[1030,2]", "axis=0"}, {"i32[1030]", "axis=0 descending=1"}),
          EBB_VALUES({"[2,3]", "axis=1", "3 1 2 5 5 4", "1 2 3 4 5 5 | 1 2 0 2 0 1"},
                     {"[4]", "axis=0", "nan 2 nan 1", "1 2 nan nan | 3 1 0 2"},
                     {"[4]", "axis=0 descending=1", "1 nan 2 1", "nan 2 1 1 | 1 2 0 3"},
                     {"[1,3,1,1]", "axis=1", "3 1 2", "1 2 3 | 1 2 0"}));

EBB_CASES(sort_grad, "ua", 0,
          EBB_SMALL({"[7] [7]", "axis=0"}, {"[3,7] [3,7]", "axis=1"}, {"[2,3,7,5] [2,3,7,5]", "axis=1"},
                    {"[2,3,7,5] [2,3,7,5]", "axis=2"}, {"[2,3,7,2,3] [2,3,7,2,3]", "axis=2"},
                    {"[3,1] [3,1]", "axis=1"}),
          EBB_NAN("na", {"[3,7] [3,7]", "axis=1"}), EBB_SHARED({"[7,33,13,11] [7,33,13,11]", "axis=2"}),
          EBB_BLOCKS({"[3,1027] [3,1027]", "axis=1"}),
          EBB_VALUES({"[2,3] [2,3]", "axis=1", "1 2 3 4 5 6 | 2 0 1 0 -1 1", "3 1 2 4 6 5"}));
