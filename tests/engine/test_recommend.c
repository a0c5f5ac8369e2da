/* tune: which row is recommended. */
#include <criterion/criterion.h>

#include "ebb/ebb.h"
#include "engine/sweep/tune.h"

/* Rows of (default, bytes, time, candidates); 1,000,000 ns without recomputation, 100 bytes in the budget.
 */
Test(tune, the_cheapest_of_the_nearly_best_that_no_default_beats_is_recommended) {
    enum { D = 1, CUT = 2 };
    static const struct {
        const char *why;
        struct {
            int is_default;
            int64_t bytes, time_ns, n;
        } rows[4];
        uint32_t n_rows, want;
    } cases[] = {
        {"the only one that fits", {{D, 120, 1000, 5}, {D, 100, 2000000, 50}}, 2, 1},
        {"a default that is faster by a hair beats the cheap one",
         {{D, 100, 1100000, 5000}, {0, 100, 1100001, 10}, {0, 100, 1100000, 4000}},
         3,
         2},
        {"nearly as fast as the best, cheaper, and no default in the way",
         {{D, 100, 1200000, 5000}, {0, 100, 1100000, 9000}, {0, 100, 1100900, 10}},
         3,
         2},
        {"a thousandth away is too far",
         {{D, 100, 1200000, 5000}, {0, 100, 1100000, 9000}, {0, 100, 1101001, 10}},
         3,
         1},
        {"as fast as the default in more bytes", {{D, 90, 1100000, 5000}, {0, 91, 1100000, 10}}, 2, 0},
        {"as fast in as many bytes, with more candidates",
         {{D, 90, 1100000, 5000}, {0, 90, 1100000, 5600}},
         2,
         0},
        {"as many candidates but for the seeds: the faster one",
         {{D, 100, 1200000, 5000}, {0, 100, 1100500, 1000}, {0, 100, 1100400, 1040}},
         3,
         2},
        {"two defaults: no worse than either",
         {{D, 100, 1200000, 5}, {D, 100, 1100000, 5000}, {0, 90, 1150000, 1}},
         3,
         1},
        {"nobody knows what a default that was cut short would have found",
         {{CUT, 100, 1200000, 5000}, {0, 100, 1100000, 10}, {D, 100, 1250000, 5}},
         3,
         0},
        {"nothing fits", {{D, 101, 1, 1}, {0, 101, 1, 1}}, 2, 2},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        static ebb_tune_result r;
        r = (ebb_tune_result){.budget_bytes = 100, .baseline_time_ns = 1000000, .n_rows = cases[i].n_rows};
        for (uint32_t k = 0; k < r.n_rows; k++)
            r.rows[k] = (ebb_tune_row){.is_default = cases[i].rows[k].is_default,
                                       .found = true,
                                       .config = {.method = EBB_CONFIG_BUDGET},
                                       .cut_short = cases[i].rows[k].is_default == CUT,
                                       .fits = cases[i].rows[k].bytes <= 100,
                                       .total_bytes = cases[i].rows[k].bytes,
                                       .time_ns = cases[i].rows[k].time_ns,
                                       .n_candidates = cases[i].rows[k].n};
        cr_assert_eq(ebb_tune_recommend(&r), cases[i].want, "%s: row %u", cases[i].why,
                     ebb_tune_recommend(&r));
    }
}
