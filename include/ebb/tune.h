/* ebb/tune.h: measures what each parameter of the search buys, and recommends values.
 *
 * Threads: as ebb/search.h. Ownership: results are the caller's.
 */
#ifndef EBB_TUNE_H
#define EBB_TUNE_H

#include "ebb/model.h"

#ifdef __cplusplus
extern "C" {
#endif

#define EBB_TUNE_MAX_ROWS 24
typedef struct ebb_tune_row {
    char what[64];     /* "default, genetic search off", "genetic_pool_size 40" */
    ebb_config config; /* complete: planning with it gives this row's plan; search_seed may be -1 */
    bool is_default;   /* one of the rows that the recommended one must not be worse than */
    bool found;        /* there was a plan; otherwise the figures are -1 */
    bool fits;         /* and it is within the budget, which MegEngine's search does not know */
    bool cut_short;    /* a default whose search the time limit ended: a longer search may find more */
    int64_t total_bytes, time_ns;
    int64_t n_candidates; /* scored by its searches; -1 when nothing was found */
    int64_t planning_ns;  /* by the env's clock; proving the bound is counted only in the first row within
                           * the budget.  The one figure that differs from run to run */
} ebb_tune_row;
typedef struct ebb_tune_result {
    int64_t budget_bytes;
    int64_t baseline_total_bytes, baseline_time_ns; /* in place, no recomputation */
    int64_t bound_time_ns; /* the certificate: no plan within the budget is faster */
    ebb_tune_row rows[EBB_TUNE_MAX_ROWS];
    uint32_t n_rows;
    int64_t num_worker;   /* the options', unless another number took a fifth less planning time */
    bool cut_short;       /* the time limit left rows out, or ended a default's search */
    uint32_t recommended; /* index of a row that fits; n_rows: none, only when interrupted */
} ebb_tune_result;
/* Plans the model at these dimensions within budget_bytes with one config after the other: the defaults
 * with the genetic search off and on; MegEngine's search with lb_memory at what the budget leaves; the
 * options' own config where it differs; each parameter changed alone, with a sixteenth of the candidates;
 * and the best values together, with half of them.
 *
 * The rows considered for recommendation are those that fit and are no slower than any default that fits
 * (and no larger when they are as fast). Of these, the one that takes the fewest candidates to come within
 * a thousandth of the best time is recommended.
 *
 * The time limit is for all rows together: rows for which no time is left are missing, and when it ends a
 * default's search, the best of the defaults is recommended. Without a limit the rows are the same on every
 * machine, except for planning_ns and, through it, num_worker. options.memory, budget_bytes and cache are
 * not read; with values to keep or drop there are no rows of MegEngine's search, which cannot respect them.
 * EBB_OVER_BUDGET: the defaults find no plan. On EBB_INTERRUPTED *out has the rows so far. */
EBB_API EBB_CHECKED ebb_status ebb_tune(ebb_env *env, const ebb_model *model, const ebb_dim_binding *dims,
                                        uint32_t n_dims, const ebb_options *options, int64_t budget_bytes,
                                        ebb_tune_result **out);
EBB_API void ebb_tune_result_destroy(ebb_env *env, ebb_tune_result *result);

#ifdef __cplusplus
}
#endif
#endif
