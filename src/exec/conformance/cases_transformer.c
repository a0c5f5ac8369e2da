/* Layer-norm, embedding, attention: sums in another order, exponentials in float. */
#include "exec/conformance/cases.h"

static const ebb_op_case stats[] = {{"[1,1]", ""},  {"[1,33]", ""},  {"[33,7]", ""},
                                    {"[3,16]", ""}, {"[7,129]", ""}, {"[65,3]", ""}};
static const ebb_op_case apply[] = {{"[1,1] [1] [1] [1] [1]", ""},
                                    {"[1,33] [1] [1] [33] [33]", "eps=0.001"},
                                    {"[33,7] [33] [33] [7] [7]", ""},
                                    {"[3,16] [3] [3] [16] [16]", ""},
                                    {"[7,129] [7] [7] [129] [129]", ""}};
static const ebb_op_case sums[] = {{"[1,1] [1] [1] [1,1]", ""},
                                   {"[1,33] [1] [1] [1,33]", "eps=0.001"},
                                   {"[33,7] [33] [33] [33,7]", ""},
                                   {"[71,3] [71] [71] [71,3]", ""}, /* several rows in a row of lanes */
                                   {"[70,65] [70] [70] [70,65]", ""}};
static const ebb_op_case grad[] = {{"[1,33] [1] [1] [33] [1,33]", "eps=0.001"},
                                   {"[33,7] [33] [33] [7] [33,7]", ""},
                                   {"[3,16] [3] [3] [16] [3,16]", ""},
                                   {"[7,129] [7] [7] [129] [7,129]", ""}};
static const ebb_op_case gather[] = {
    {"[1,1] [1]", ""}, {"[7,33] [1]", ""}, {"[3,7] [33]", ""}, {"[33,129] [7]", ""}};
static const ebb_op_case scatter[] = {{"[1,1] [1]", "rows=1"},
                                      {"[1,33] [1]", "rows=7"},
                                      {"[33,7] [33]", "rows=3"},
                                      {"[7,129] [7]", "rows=33"},
                                      {"[129,65] [129]", "rows=2"}};
/* One row, less than a vector of rows, more than a tile of them, and whole tiles; heads of 1 to 33 numbers.
 */
static const ebb_op_case attention[] = {
    {"[1,1,3]", "heads=1"},           {"[1,1,3]", "heads=1 causal=1"},    {"[3,7,9]", "heads=3"},
    {"[2,7,42]", "heads=2 causal=1"}, {"[1,33,99]", "heads=1 causal=1"},  {"[1,64,48]", "heads=1 causal=1"},
    {"[1,65,24]", "heads=2"},         {"[1,129,12]", "heads=1 causal=1"}, {"[1,130,3]", "heads=1"}};
static const ebb_op_case attention_grad[] = {
    {"[1,1,3] [1,1,1] [1,1,1] [1,1,1]", "heads=1"},
    {"[3,7,9] [3,7,3] [3,3,7] [3,7,3]", "heads=3"},
    {"[2,7,42] [2,7,14] [2,2,7] [2,7,14]", "heads=2 causal=1"},
    {"[1,33,99] [1,33,33] [1,1,33] [1,33,33]", "heads=1 causal=1"},
    {"[1,64,48] [1,64,16] [1,1,64] [1,64,16]", "heads=1 causal=1"},
    {"[1,65,24] [1,65,8] [1,2,65] [1,65,8]", "heads=2"},
    {"[1,129,12] [1,129,4] [1,1,129] [1,129,4]", "heads=1 causal=1"}};

EBB_CASES(ln_stats, "u", 1e-6, stats);
EBB_CASES(ln_apply, "urspu", 2e-6, apply);
EBB_CASES(ln_grad_sums, "ursu", 2e-6, sums);
EBB_CASES(ln_grad, "urspu", 5e-6, grad);
EBB_CASES(embedding, "ui", 0, gather);
EBB_CASES(embedding_grad, "ui", 2e-7, scatter);
EBB_CASES(attention, "u", 2e-6, attention);
EBB_CASES(attention_grad, "u", 5e-6, attention_grad);
