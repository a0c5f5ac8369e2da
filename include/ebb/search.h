/* ebb/search.h: plans a model: searches for the plan, logs how it was found, and runs it on the shadow
 * backend.
 *
 * Threads: as ebb/base.h; the search starts sublinear.num_worker threads and ends them before it returns.
 * Ownership: `**out` is the caller's, to be destroyed.
 */
#ifndef EBB_SEARCH_H
#define EBB_SEARCH_H

#include "ebb/model.h"
#include "ebb/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Plans the model at these dimensions; needs no device memory. Within a budget the plan is the fastest of
 * all that were packed, and never slower than the baseline when that fits and nothing is to be dropped.
 * EBB_OVER_BUDGET: no plan fits; the error names the smallest budget found that does. On EBB_INTERRUPTED
 * *out may hold the best plan so far. */
EBB_API EBB_CHECKED ebb_status ebb_plan_model(ebb_env *env, const ebb_model *model,
                                              const ebb_dim_binding *dims, uint32_t n_dims,
                                              const ebb_options *options, ebb_plan **out);
/* The same; on EBB_OVER_BUDGET *smallest is the plan that the error names, for a budget of just its bytes,
 * so that a caller who can use it need not search for it again. It has no certificate. NULL where that is
 * the in-place plan, and with any other status. */
EBB_API EBB_CHECKED ebb_status ebb_plan_model_or_smallest(ebb_env *env, const ebb_model *model,
                                                          const ebb_dim_binding *dims, uint32_t n_dims,
                                                          const ebb_options *options, ebb_plan **out,
                                                          ebb_plan **smallest);
/* Runs the plan on the shadow backend, which computes nothing and tracks the owner of every byte.
 * EBB_VIOLATION with the first fault. */
EBB_API EBB_CHECKED ebb_status ebb_plan_shadow(ebb_env *env, const ebb_plan *plan);

/* ---- the log ---- */

/* How a plan was found: the request (dims, seed, effort, config) and what the searches tried. The plan
 * itself records none of it, because the same plan may be found in many ways. */
typedef struct ebb_search_log ebb_search_log;
EBB_API EBB_CHECKED ebb_status ebb_search_log_create(ebb_env *env, ebb_search_log **out);
EBB_API void ebb_search_log_destroy(ebb_search_log *log); /* NULL is allowed */
/* Writes ebb.search/1 (docs/formats.md), which ebb_report_make reads. The same bytes for any number of
 * workers, with "plan": null where the search found none. EBB_USAGE: nothing has been planned with it yet.
 * EBB_IO, EBB_NO_MEMORY. */
EBB_API EBB_CHECKED ebb_status ebb_search_log_write(ebb_env *env, const ebb_search_log *log,
                                                    const char *path);

#ifdef __cplusplus
}
#endif
#endif
