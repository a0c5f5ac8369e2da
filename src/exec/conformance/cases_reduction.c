/* Reductions along axes, places repeated, pictures upsampled. Axes of the large rows: short and innermost,
 * long and innermost, short and long before others; tensors one after another whose sizes are no multiple
 * of 4. */
#include "exec/conformance/cases.h"

EBB_CASES(reduce_sum, "u", 2e-7,
          EBB_SMALL({"[1]", "axis=0"}, {"[33]", "axis=0 keep=0"}, {"[3,7]", "axis=0"},
                    {"[3,33]", "axis=1 keep=0"}, {"[3,7,65]", "axis=1 keep=0"},
                    {"[2,3,7,5]", "axis=1"}, /* channels are stored last */
                    {"[2,3,7,5]", "axis=2"}, {"[2,65,1,3]", "axis=3"}, {"[3,7,1,2]", "axis=0"},
                    {"[2,1,3,1,5,2]", "axis=4 keep=0"}, {"[]", ""}, {"[3,7]", ""}, {"[3,7]", "keep=0"},
                    {"[2,3,7,5]", "axis=0,2,3"}, {"[2,3,7,5]", "axis=0,2,3 keep=0"},
                    {"[2,3,7,5]", "axis=1 keep=0"}, {"[2,3,7,5]", "axis=0,1 keep=0"},
                    {"[2,3,7,2,3]", "axis=1 keep=0"}, {"[2,3,7,2,3]", "axis=0,2,4"},
                    {"[2,3,7,2,3,2]", "axis=1,3 keep=0"}, {"[2,3,2,3,2,3,2,3]", "axis=0,2,4,6 keep=0"},
                    {"i32[33]", ""}, {"i32[2,3,7,5]", "axis=1,3 keep=0"}),
          EBB_LARGE({"[9,2048]", "axis=1 keep=0"}, {"[3,2049]", "axis=1 keep=0"},
                    {"[1,20011]", "axis=1 keep=0"}, {"[3,70,3]", "axis=1 keep=0"},
                    {"[2,2701,3]", "axis=1 keep=0"}, {"[2,70,65]", "axis=1 keep=0"},
                    {"[2,70,132]", "axis=1 keep=0"}, {"[2,68,5]", "axis=1 keep=0"},
                    {"[150,132]", "axis=0 keep=0"}, {"[2,9,260]", "axis=1 keep=0"},
                    {"[2,9,261]", "axis=1 keep=0"}, {"[2,8,65,9]", "axis=2"}),
          EBB_SHARED({"[7,33,13,11]", "axis=1"}, /* one behind another, and side by side */
                     {"[7,33,13,11]", "axis=2"}, {"[7,33,13,11]", "axis=0,2,3"},
                     {"[7,33,13,11]", "axis=1,2 keep=0"}),
          EBB_BLOCKS({"[70,5,13]", "axis=0,2"}, {"[3,261,2,2]", "axis=0,2,3 keep=0"},
                     {"[3,70,9,9]", "axis=1 keep=0"}, {"i32[3,1027]", "axis=1"}, {"i32[300,3]", "axis=1"}),
          EBB_VALUES({"[2,3]", "axis=1 keep=0", "1 2 3 4 5 6", "6 15"},
                     {"[1,2,1,3]", "axis=1", "1 2 3 4 5 6", "5 7 9"},
                     {"[1,2,2,2]", "axis=1,3 keep=0", "1 2 3 4 5 6 7 8", "14 22"},
                     {"i32[2]", "keep=0", "2147483647 1", "-2147483648"}));

static const ebb_op_case reduced[] = {{"[]", ""},
                                      {"[1]", "axis=0"},
                                      {"[33]", "keep=0"},
                                      {"[3,33]", "axis=1 keep=0"},
                                      {"[3,7,65]", "axis=1"},
                                      {"[2,3,7,5]", "axis=1"},
                                      {"[2,3,7,5]", "axis=1 keep=0"},
                                      {"[2,3,7,5]", "axis=0,2,3"},
                                      {"[2,3,7,2,3]", "axis=0,2,4 keep=0"}};
#define REDUCED_SHARED \
    EBB_SHARED({"[7,33,13,11]", "axis=1"}, {"[7,33,13,11]", "axis=0,2,3 keep=0"}, {"[233,167]", "axis=1"})
#define REDUCED_BLOCKS                                                                              \
    EBB_BLOCKS({"[3,1027]", "axis=1"}, {"[300,3]", "axis=1 keep=0"}, {"[3,261,2,2]", "axis=0,2,3"}, \
               {"[3,70,9,9]", "axis=1 keep=0"})

EBB_CASES(reduce_mean, "u", 2e-7, EBB_SMALL_OF(reduced), REDUCED_SHARED, REDUCED_BLOCKS,
          EBB_VALUES({"[2,3]", "axis=1 keep=0", "1 2 3 4 5 9", "2 6"},
                     {"[1,2,1,2]", "", "1 2 3 4", "2.5"}));

static const ebb_op_case reduced_nans[] = {{"[33]", ""}, {"[3,7]", "axis=0"}, {"[3,300]", "axis=1"}};
#define EXTREME(name, ...)                                                                        \
    EBB_CASES(name, "d", 0, EBB_SMALL_OF(reduced), EBB_NAN_OF("n", reduced_nans), REDUCED_SHARED, \
              REDUCED_BLOCKS, EBB_VALUES(__VA_ARGS__))
EXTREME(reduce_max, {"[2,3]", "axis=1", "1 5 3 -4 -6 -5", "5 -4"}, {"[3]", "", "1 nan 3", "nan"},
        {"i32[2,2]", "axis=0 keep=0", "1 -2 -3 4", "1 4"});
EXTREME(reduce_min, {"[2,3]", "axis=1", "1 5 3 -4 -6 -5", "1 -6"}, {"[3]", "", "1 nan 3", "nan"},
        {"i32[2,2]", "axis=0 keep=0", "1 -2 -3 4", "-3 -2"});

EBB_CASES(reduce_prod, "z", 2e-7,
          EBB_SMALL({"[]", ""}, {"[1]", "axis=0"}, {"[33]", "keep=0"}, {"[3,7]", "axis=1 keep=0"},
                    {"[33,7]", "axis=0"}, {"[3,7,65]", "axis=1"}, {"[2,3,7,5]", "axis=1"},
                    {"[2,3,7,5]", "axis=1 keep=0"}, {"[2,3,7,5]", "axis=0,2"},
                    {"[2,3,7,2,3]", "axis=0,2,4 keep=0"}, {"i32[33,3]", "axis=1"},
                    {"i32[2,3,7,5]", "axis=1,3 keep=0"}),
          EBB_NAN_OF("n", reduced_nans),
          EBB_SHARED({"[7,33,13,11]", "axis=1"}, {"[7,33,13,11]", "axis=0,2 keep=0"},
                     {"[1667,21]", "axis=1"}),
          EBB_BLOCKS({"[1000,70]", "axis=1"}, {"[70,1000]", "axis=0 keep=0"},
                     {"[3,65,9,9]", "axis=1 keep=0"}, {"i32[300,3]", "axis=1"}, {"i32[70,300]", "axis=0"}),
          EBB_VALUES({"[2,3]", "axis=1", "1 2 3 -4 5 6", "6 -120"},
                     {"[2,2]", "axis=0 keep=0", "0 2 nan 3", "nan 6"},
                     {"i32[4]", "", "65536 32767 2 -3", "393216"}));

static const ebb_op_case best[] = {{"[1]", "axis=0"},         {"[33]", "axis=0"},
                                   {"[3,33]", "axis=1"},      {"[3,33]", "axis=0"},
                                   {"[2,3,7,5]", "axis=1"},   {"[2,3,7,5]", "axis=3"},
                                   {"[2,3,7,2,3]", "axis=2"}, {"i32[3,33]", "axis=1"}},
                         best_nans[] = {{"[33]", "axis=0"}, {"[3,70]", "axis=1"}, {"[70,3]", "axis=0"}};
#define BEST(name, ...)                                                                               \
    EBB_CASES(name, "d", 0, EBB_SMALL_OF(best), EBB_NAN_OF("n", best_nans),                           \
              EBB_SHARED({"[7,33,13,11]", "axis=1"}, {"[233,167]", "axis=1"}),                        \
              EBB_BLOCKS({"[3,1027]", "axis=1"}, {"[3,70,9,9]", "axis=1"}, {"i32[300,3]", "axis=0"}), \
              EBB_VALUES(__VA_ARGS__))
BEST(argmax, {"[2,3]", "axis=1", "1 5 3 -4 -6 -4", "1 0"}, {"[2,2]", "axis=0", "1 nan nan nan", "1 0"});
BEST(argmin, {"[2,3]", "axis=1", "3 1 1 -4 -6 -4", "1 1"}, {"[2,2]", "axis=0", "1 nan nan nan", "1 0"});

static const ebb_op_case scanned_nans[] = {
    {"[33]", "axis=0"}, {"[3,7]", "axis=0 reverse=1"}, {"[3,700]", "axis=1"}};
EBB_CASES(cumsum, "u", 2e-7,
          EBB_SMALL({"[1]", "axis=0"}, {"[33]", "axis=0"}, {"[3,7]", "axis=1 reverse=1"},
                    {"[3,7,65]", "axis=1"}, {"[2,3,7,5]", "axis=1"}, {"[2,3,7,5]", "axis=2 reverse=1"},
                    {"[2,3,7,2,3]", "axis=2"}, {"i32[33]", "axis=0"}, {"i32[2,3,7,5]", "axis=1 reverse=1"}),
          EBB_NAN_OF("n", scanned_nans),
          EBB_LARGE({"[2,1027]", "axis=1"}, {"[1,4099,3]", "axis=1 reverse=1"}),
          EBB_SHARED({"[7,33,13,11]", "axis=1"}, {"[7,33,13,11]", "axis=2 reverse=1"},
                     {"[233,167]", "axis=1"}),
          EBB_BLOCKS({"[3,511]", "axis=1"}, {"[3,512]", "axis=1 reverse=1"}, {"[300,3]", "axis=1"},
                     {"[2,600,3]", "axis=1"}, {"i32[3,700]", "axis=1"}),
          EBB_VALUES({"[2,3]", "axis=1", "1 2 3 4 5 6", "1 3 6 4 9 15"},
                     {"[1,2,1,2]", "axis=1 reverse=1", "1 2 3 4", "4 6 3 4"},
                     {"i32[3]", "axis=0", "2147483647 1 1", "2147483647 -2147483648 -2147483647"}));

EBB_CASES(broadcast_to, "u", 0,
          EBB_SMALL({"[]", "shape=1"}, {"[]", "shape=3,7"}, {"[7]", "shape=3,7"}, {"[3,1]", "shape=3,7"},
                    {"[3,1,1]", "shape=2,3,5,4"}, {"[3,5,4]", "shape=2,3,5,4"},
                    {"[2,5,4]", "shape=2,3,5,4 axis=1"}, {"[2,4]", "shape=2,3,5,4 axis=1,2"},
                    {"[2,3,5,4]", "shape=2,3,2,5,4 axis=2"}, {"[3]", "shape=2,3,4 axis=2"},
                    {"[3,2,1,3]", "shape=2,3,2,2,3,2,3,2 axis=0,2,4,7"}, {"i32[7]", "shape=3,7"},
                    {"bool[3,1]", "shape=3,7"}, {"u8[7]", "shape=3,7"}, {"i8[3,5,4]", "shape=2,3,5,4"},
                    {"i16[3,1,1]", "shape=2,3,5,4"}),
          EBB_SHARED({"[33,1,1]", "shape=7,33,13,11"}, {"[7,13,11]", "shape=7,33,13,11 axis=1"}),
          EBB_BLOCKS({"[1025]", "shape=3,1025"}, {"[3,1]", "shape=3,1025"}, {"bool[5]", "shape=300,5"}),
          EBB_VALUES({"[2]", "shape=2,2", "1 2", "1 2 1 2"}, {"[2]", "shape=2,2 axis=1", "1 2", "1 1 2 2"},
                     {"[1,2]", "shape=1,2,1,2 axis=1,2", "1 2", "1 2 1 2"}));

EBB_CASES(expand, "u", 0,
          EBB_SMALL({"[1]", "axis=0 size=33"}, {"[1,7]", "axis=0 size=3"}, {"[7,1]", "axis=1 size=33"},
                    {"[3,1,65]", "axis=1 size=1"}, {"[2,1,7,5]", "axis=1 size=3"},
                    {"[2,3,1,5]", "axis=2 size=7"}, {"[2,3,7,1]", "axis=3 size=2"},
                    {"[1,3,1,1]", "axis=0 size=3"}, {"i32[2,1,7,5]", "axis=1 size=3"},
                    {"bool[2,3,1,5]", "axis=2 size=7"}, {"u8[7,1]", "axis=1 size=33"},
                    {"i8[1,7]", "axis=0 size=3"}, {"i16[2,3,7,1]", "axis=3 size=2"}),
          EBB_SHARED({"[7,33,1,11]", "axis=2 size=13"}, {"[233,1]", "axis=1 size=167"}),
          EBB_BLOCKS({"[3,1,132]", "axis=1 size=5"}, {"[3,1,131]", "axis=1 size=5"},
                     {"[2,8,1,6]", "axis=2 size=31"}, {"[2,5,6,1]", "axis=3 size=31"},
                     {"[67,1]", "axis=1 size=33"}, {"[3,1,9,7]", "axis=1 size=6"},
                     {"bool[67,1]", "axis=1 size=33"}, {"i16[3,1,132]", "axis=1 size=5"}),
          EBB_VALUES({"[1,1,1,3]", "axis=1 size=2", "1 2 3", "1 2 3 1 2 3"},
                     {"[2,1]", "axis=1 size=2", "1 2", "1 1 2 2"}));

EBB_CASES(upsample, "u", 0,
          EBB_SMALL({"[1,1,1,1]", "factor=1"}, {"[1,3,7,5]", "factor=2"}, {"[2,33,3,1]", "factor=1,3"},
                    {"[3,7,1,2]", "factor=3,2"}, {"i32[1,3,7,5]", "factor=2"},
                    {"bool[3,7,1,2]", "factor=3,2"}, {"u8[2,33,3,1]", "factor=1,3"},
                    {"i8[1,3,2,5]", "factor=2,1"}, {"i16[3,7,1,2]", "factor=3,2"}),
          EBB_LARGE({"[2,12,7,5]", "factor=2"}, {"[2,33,7,5]", "factor=3,2"}),
          EBB_SHARED({"[7,33,6,5]", "factor=2,3"}),
          EBB_VALUES({"[1,1,2,2]", "factor=1,2", "1 2 3 4", "1 1 2 2 3 3 4 4"},
                     {"[1,2,1,1]", "factor=2,1", "1 2", "1 1 2 2"}));

EBB_CASES(upsample_grad, "u", 2e-7,
          EBB_SMALL({"[1,1,1,1]", "factor=1"}, {"[1,3,14,10]", "factor=2"}, {"[2,65,3,3]", "factor=1,3"},
                    {"[3,7,3,4]", "factor=3,2"}),
          EBB_LARGE({"[2,12,14,10]", "factor=2"}, {"[2,33,21,10]", "factor=3,2"}),
          EBB_SHARED({"[7,33,14,12]", "factor=2,3"}),
          EBB_VALUES({"[1,1,2,3]", "factor=2,3", "1 2 3 4 5 6", "21"},
                     {"[1,1,2,4]", "factor=1,2", "1 2 3 4 5 6 7 8", "3 7 11 15"}));

EBB_CASES(sum_squares, "u", 2e-7,
          EBB_SMALL({"[]", ""}, {"[33]", ""}, {"[3,7]", ""}, {"[2,3,7,33]", ""}, {"[3,4099]", ""}),
          EBB_NAN("n", {"[3]", ""}, {"[33]", ""}, {"[2,3,7,33]", ""}),
          EBB_LARGE({"[7,33,13,11]", ""}, {"[20011]", ""}, {"[8192]", ""}, {"[127]", ""}),
          EBB_SHARED({"[7,33,13,11]", ""}), EBB_VALUES({"[1,2,1,2]", "", "1 2 3 4", "30"}));
