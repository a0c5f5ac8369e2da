/* Embedding, attention: sums in another order, exponentials in float. */
#include "exec/conformance/cases.h"

EBB_CASES(embedding, "ui", 0,
          EBB_SMALL({"[1,1] [1]", ""}, {"[7,33] [1]", ""}, {"[3,7] [33]", ""}, {"[33,129] [7]", ""}),
          EBB_SHARED({"[33,257] [129]", ""}), EBB_BLOCKS({"[33,260] [19]", ""}, {"[33,259] [19]", ""}));

EBB_CASES(
    embedding_grad, "ui", 2e-7,
    EBB_SMALL({"[1,1] [1]", "rows=1"}, {"[1,33] [1]", "rows=7"}, {"[33,7] [33]", "rows=3"},
              {"[7,129] [7]", "rows=33"}, {"[129,65] [129]", "rows=2"}),
    EBB_SHARED({"[129,257] [129]", "rows=67"}),
    EBB_BLOCKS(/* Several digits, strips of several ids, slices of a row, long runs. */ {"[1500,4] [1500]",
                                                                                         "rows=5000"},
               {"[1030,3] [1030]", "rows=260"}, {"[600,260] [600]", "rows=15"},
               {"[77,515] [77]", "rows=16"}, {"[700,8] [700]", "rows=1"}, {"[1,1] [1]", "rows=65537"}));

EBB_CASES(attention, "u", 2e-6,
          EBB_SMALL({"[1,1,3]", "heads=1"}, {"[1,1,3]", "heads=1 causal=1"}, {"[3,7,9]", "heads=3"},
                    {"[2,7,42]", "heads=2 causal=1"}, {"[1,33,99]", "heads=1 causal=1"},
                    {"[1,64,48]", "heads=1 causal=1"}, {"[1,65,24]", "heads=2"},
                    {"[1,129,12]", "heads=1 causal=1"}, {"[1,130,3]", "heads=1"}),
          EBB_NAN("n", {"[2,7,6]", "heads=2"}, {"[1,7,6]", "heads=1"}),
          EBB_SHARED({"[1,65,60]", "heads=5 causal=1"}),
          EBB_BLOCKS({"[1,200,24]", "heads=1"}, {"[2,200,48]", "heads=2 causal=1"},
                     {"[1,128,192]", "heads=1 causal=1"}, {"[1,67,204]", "heads=1"},
                     {"[1,67,402]", "heads=2 causal=1"}));

EBB_CASES(attention_grad, "u", 5e-6,
          EBB_SMALL({"[1,1,3] [1,1,1] [1,1,1] [1,1,1]", "heads=1"},
                    {"[3,7,9] [3,7,3] [3,3,7] [3,7,3]", "heads=3"},
                    {"[2,7,42] [2,7,14] [2,2,7] [2,7,14]", "heads=2 causal=1"},
                    {"[1,33,99] [1,33,33] [1,1,33] [1,33,33]", "heads=1 causal=1"},
                    {"[1,64,48] [1,64,16] [1,1,64] [1,64,16]", "heads=1 causal=1"},
                    {"[1,65,24] [1,65,8] [1,2,65] [1,65,8]", "heads=2"},
                    {"[1,129,12] [1,129,4] [1,1,129] [1,129,4]", "heads=1 causal=1"}),
          EBB_SHARED({"[1,65,60] [1,65,20] [1,5,65] [1,65,20]", "heads=5 causal=1"}),
          EBB_BLOCKS({"[1,200,24] [1,200,8] [1,1,200] [1,200,8]", "heads=1"},
                     {"[2,200,48] [2,200,16] [2,2,200] [2,200,16]", "heads=2 causal=1"},
                     {"[1,128,192] [1,128,64] [1,1,128] [1,128,64]", "heads=1 causal=1"},
                     {"[1,67,204] [1,67,68] [1,1,67] [1,67,68]", "heads=1"},
                     {"[1,67,402] [1,67,134] [1,2,67] [1,67,134]", "heads=2 causal=1"}));
