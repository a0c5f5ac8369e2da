/* Activations. A relu or a clip is one of its inputs or a bound: the same bits. gelu and silu
 * have an exponential in float. */
#include "exec/conformance/cases.h"

static const ebb_op_case relu_rows[] = {{"[]", ""},    {"[1]", ""},        {"[33]", ""},
                                        {"[3,7]", ""}, {"[2,3,7,33]", ""}, {"[3,1,7]", ""}};
static const ebb_op_case relu_nan_rows[] = {{"[3]", ""}, {"[33]", ""}, {"[2,3,7,33]", ""}};
static const ebb_op_case relu_grad_nan_rows[] = {
    {"[3] [3]", ""}, {"[33] [33]", ""}, {"[2,3,7,33] [2,3,7,33]", ""}};

EBB_CASES(relu, "d", 0, EBB_SMALL_OF(relu_rows), EBB_NAN_OF("n", relu_nan_rows),
          EBB_SHARED({"[7,33,9,9]", ""}),
          EBB_BLOCKS(/* Whole blocks and tails of 0 to 3. */ {"[2048]", ""}),
          EBB_VALUES({"[3]", "", "-1 0 2", "0 0 2"}, {"[4]", "", "-1 nan -inf 2", "0 nan 0 2"}));

EBB_CASES(relu_grad, "du", 0,
          EBB_SMALL({"[] []", ""}, {"[1] [1]", ""}, {"[33] [33]", ""}, {"[3,7] [3,7]", ""},
                    {"[2,3,7,33] [2,3,7,33]", ""}, {"[33,33,3,3] [33,33,3,3]", ""}),
          EBB_NAN_OF("nu", relu_grad_nan_rows), EBB_SHARED({"[7,33,9,9] [7,33,9,9]", ""}),
          EBB_BLOCKS({"[2049] [2049]", ""}),
          EBB_VALUES({"[3] [3]", "", "0 1 0 | 5 6 7", "0 6 0"},
                     {"[3] [3]", "", "0 nan 1 | 5 6 7", "0 6 7"}));

EBB_CASES(relu_mask, "n", 0,
          EBB_SMALL({"[3]", ""}, {"[33,7]", ""}, {"[2,3,7,33]", ""}, {"[64]", ""}, {"[5,29]", ""}),
          EBB_SHARED({"[7,33,13,11]", ""}), EBB_BLOCKS({"[2048]", ""}, {"[4101]", ""}, {"[2053]", ""}),
          EBB_VALUES({"[3,3]", "", "-1 0 2 1 -3 nan 4 0 5", "108 1"}));

EBB_CASES(relu_mask_grad, "ub", 0,
          EBB_SMALL({"[3] [1]", ""}, {"[33,7] [29]", ""}, {"[2,3,7,33] [174]", ""}, {"[64] [8]", ""},
                    {"[5,29] [19]", ""}),
          EBB_SHARED({"[7,33,13,11] [4130]", ""}),
          EBB_BLOCKS({"[2048] [256]", ""}, {"[4101] [513]", ""}, {"[2055] [257]", ""}),
          EBB_VALUES({"[3,3] [2]", "", "1 2 3 4 5 6 7 8 9 | 108 1", "0 0 3 4 0 6 7 0 9"}));

EBB_CASES(clip, "d", 0,
          EBB_SMALL({"[]", "min=0 max=6"}, {"[1]", "min=-1 max=1"}, {"[33]", "min=-0.5 max=0.5"},
                    {"[3,7]", "min=0 max=6"}, {"[2,3,7,33]", "min=-0.5 max=0.5"},
                    {"[3,1,7]", "min=0.5 max=1"}),
          EBB_NAN("n", {"[3]", "min=0 max=6"}, {"[2,3,7,33]", "min=-1 max=1"}),
          EBB_SHARED({"[7,33,9,9]", "min=0 max=6"}), EBB_BLOCKS({"[1029]", "min=-0.5 max=0.5"}),
          EBB_VALUES({"[6]", "min=-1 max=6", "-2 -1 0.5 6 7 nan", "-1 -1 0.5 6 6 nan"}));

EBB_CASES(clip_grad, "du", 0,
          EBB_SMALL({"[] []", "min=0 max=6"}, {"[1] [1]", "min=-1 max=1"},
                    {"[33] [33]", "min=-0.5 max=0.5"}, {"[3,7] [3,7]", "min=0 max=6"},
                    {"[2,3,7,33] [2,3,7,33]", "min=-0.5 max=0.5"}),
          EBB_NAN("nu", {"[3] [3]", "min=0 max=6"}, {"[2,3,7,33] [2,3,7,33]", "min=-1 max=1"}),
          EBB_SHARED({"[7,33,9,9] [7,33,9,9]", "min=-0.5 max=0.5"}),
          EBB_BLOCKS({"[1030] [1030]", "min=-0.5 max=0.5"}),
          EBB_VALUES({"[5] [5]", "min=-1 max=6", "-1 0.5 6 nan 5.5 | 5 6 7 8 9", "0 6 0 8 9"},
                     /* A bound that f32 cannot hold: y is the rounded one. */ {
                         "[2] [2]", "min=0.1 max=0.7", "0.1 0.7 | 5 6", "0 0"}));

EBB_CASES(gelu, "d", 5e-7, EBB_SMALL_OF(relu_rows), EBB_NAN_OF("n", relu_nan_rows),
          EBB_SHARED({"[7,33,9,9]", ""}), EBB_BLOCKS({"[2051]", ""}),
          EBB_VALUES({"[4]", "", "0 1 -2 nan", "0 0.8411919906082768 -0.04540230591222494 nan"}));

EBB_CASES(gelu_grad, "du", 1e-6,
          EBB_SMALL({"[] []", ""}, {"[1] [1]", ""}, {"[33] [33]", ""}, {"[3,7] [3,7]", ""},
                    {"[2,3,7,33] [2,3,7,33]", ""}),
          EBB_NAN_OF("nu", relu_grad_nan_rows), EBB_SHARED({"[7,33,9,9] [7,33,9,9]", ""}),
          EBB_BLOCKS({"[2050] [2050]", ""}),
          EBB_VALUES({"[3] [3]", "", "0 1 -2 | 2 1 1", "1 1.0829640838457826 -0.08609925662361825"}));

EBB_CASES(gelu_erf, "d", 5e-7, EBB_SMALL_OF(relu_rows), EBB_NAN_OF("n", relu_nan_rows),
          EBB_SHARED({"[7,33,9,9]", ""}), EBB_BLOCKS({"[2051]", ""}),
          EBB_VALUES({"[5]", "", "0 1 -2 nan -60", "0 0.8413447460685429 -0.04550026389635842 nan 0"}));
EBB_CASES(gelu_erf_grad, "du", 1e-6,
          EBB_SMALL({"[] []", ""}, {"[1] [1]", ""}, {"[33] [33]", ""}, {"[3,7] [3,7]", ""},
                    {"[2,3,7,33] [2,3,7,33]", ""}),
          EBB_NAN_OF("nu", relu_grad_nan_rows), EBB_SHARED({"[7,33,9,9] [7,33,9,9]", ""}),
          EBB_BLOCKS({"[2050] [2050]", ""}),
          EBB_VALUES({"[4] [4]", "", "0 1 -2 1e30 | 2 1 1 3",
                      "1 1.0833154705876863 -0.08523180107819692 3"}));
EBB_CASES(silu, "d", 5e-7, EBB_SMALL_OF(relu_rows), EBB_NAN_OF("n", relu_nan_rows),
          EBB_SHARED({"[7,33,9,9]", ""}), EBB_BLOCKS({"[2051]", ""}),
          EBB_VALUES({"[4]", "", "0 1 -2 nan", "0 0.7310585786300049 -0.2384058440442351 nan"}));

EBB_CASES(silu_grad, "du", 1e-6,
          EBB_SMALL({"[] []", ""}, {"[1] [1]", ""}, {"[33] [33]", ""}, {"[3,7] [3,7]", ""},
                    {"[2,3,7,33] [2,3,7,33]", ""}),
          EBB_NAN_OF("nu", relu_grad_nan_rows), EBB_SHARED({"[7,33,9,9] [7,33,9,9]", ""}),
          EBB_BLOCKS({"[2050] [2050]", ""}),
          EBB_VALUES({"[3] [3]", "", "0 1 -2 | 2 1 1", "1 0.9276705118714869 -0.09078424878489547"}));
