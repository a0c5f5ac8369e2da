/* ebb/frontier.h: computes how much time it costs to save memory.
 *
 * Threads: as ebb/search.h. Ownership: results are the caller's, and own the plans in them.
 */
#ifndef EBB_FRONTIER_H
#define EBB_FRONTIER_H

#include "ebb/model.h"
#include "ebb/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ebb_frontier_budget {
    int64_t bytes; /* of total_bytes, > 0; or -1: by share */
    double share;  /* of the baseline's total_bytes, in (0, 10] */
} ebb_frontier_budget;
#define EBB_FRONTIER_MAX_BUDGETS 64
typedef struct ebb_frontier_request {
    const ebb_frontier_budget *budgets; /* NULL: n_points budgets, evenly spaced from the baseline's
                                         * total_bytes down to those of the smallest plan that the search
                                         * finds */
    uint32_t n_budgets;                 /* at most EBB_FRONTIER_MAX_BUDGETS */
    uint32_t n_points; /* in [2, EBB_FRONTIER_MAX_BUDGETS]; not read when there are budgets */
    double max_added;  /* the curve ends before the first budget that adds more than this share of the
                        * baseline's time; -1: no limit */
} ebb_frontier_request;

typedef struct ebb_frontier_row {
    int64_t budget_bytes;
    int64_t total_bytes, time_ns;
    int64_t bound_time_ns; /* the certificate: no plan within this budget is faster */
    ebb_plan *plan; /* owned by the result; NULL: none was found, and the three figures above are -1 */
} ebb_frontier_row;
typedef struct ebb_frontier_result {
    int64_t baseline_total_bytes, baseline_time_ns;  /* in place, no recomputation */
    int64_t smallest_bytes;                          /* total_bytes of the smallest plan that was found */
    ebb_frontier_row rows[EBB_FRONTIER_MAX_BUDGETS]; /* largest budget first; equal budgets are one row */
    uint32_t n_rows; /* fewer than requested when max_added or an interrupt ended the curve early */
} ebb_frontier_result;
/* Computes the curve from budget to time of the model at these dimensions. Budgets are searched from the
 * largest to the smallest and back, the first with the options' effort, the others with half of it and
 * starting from their neighbours' answers; each plan is the best found for its budget. A smaller budget
 * never takes less time, and every budget without a plan is below all that have one. options.memory and
 * budget_bytes are not read. On EBB_INTERRUPTED *out has the rows so far, in the same order. */
EBB_API EBB_CHECKED ebb_status ebb_frontier(ebb_env *env, const ebb_model *model,
                                            const ebb_dim_binding *dims, uint32_t n_dims,
                                            const ebb_options *options, const ebb_frontier_request *request,
                                            ebb_frontier_result **out);
EBB_API void ebb_frontier_result_destroy(ebb_env *env, ebb_frontier_result *result);

#ifdef __cplusplus
}
#endif
#endif
