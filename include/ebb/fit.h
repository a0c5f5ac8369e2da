/* ebb/fit.h: finds what fits a budget: the largest size of a dimension, or whether a given size does.
 *
 * Threads: as ebb/search.h. Ownership: results are the caller's, and own the plans in them.
 */
#ifndef EBB_FIT_H
#define EBB_FIT_H

#include "ebb/model.h"
#include "ebb/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the largest ---- */

typedef struct ebb_fit_row {
    ebb_memory_mode mode;
    int64_t batch; /* largest size of the dimension that was found to fit; 0: none */
    int64_t total_bytes, time_ns, baseline_time_ns;
    int64_t next_total_bytes; /* of the smallest plan found for batch + 1; when it is within the budget,
                               * that plan takes too much time. -1: not known */
    ebb_plan *plan;           /* owned by the result, audited; NULL when batch is 0 */
} ebb_fit_row;
/* A plan made during the search, possibly for a size that does not fit: a point of the curve from sizes to
 * bytes. In the order of trial; a size recurs when it is searched for longer. */
typedef struct ebb_fit_point {
    ebb_memory_mode mode;
    int64_t batch, total_bytes, time_ns, baseline_time_ns;
} ebb_fit_point;
typedef struct ebb_fit_result {
    int64_t budget_bytes;
    ebb_fit_row rows[4]; /* one for each ebb_memory_mode */
    uint32_t n_rows;     /* fewer than 4 only when interrupted */
    ebb_fit_point *tried;
    uint32_t n_tried, max_tried; /* max_tried: room */
    char *graph, *backend;       /* of the plans; owned by the result. graph is NULL if no plan was made */
    uint32_t n_threads;
} ebb_fit_result;
/* For each mode, the largest batch (dimension `dim`, usually "N") for which a plan within budget_bytes is
 * found; in budget mode with at most max_added (0.30 = 30 %) more predicted time than without
 * recomputation. In modes without a search, the next larger batch was tried without success. In the others
 * there is no such proof: a plan for a larger batch may exist, the more so because, on graphs that are
 * expensive to search, budget mode spends only a part of the effort on each size and finds the batch to
 * within one part in 64. options.keep and drop apply to budget mode alone. On EBB_INTERRUPTED *out has the
 * rows so far, and the last row's batch may not be the largest. */
EBB_API EBB_CHECKED ebb_status ebb_fit(ebb_env *env, const ebb_model *model, const char *dim,
                                       const ebb_dim_binding *dims, uint32_t n_dims,
                                       const ebb_options *options, int64_t budget_bytes, double max_added,
                                       ebb_fit_result **out);
EBB_API void ebb_fit_result_destroy(ebb_env *env, ebb_fit_result *result);

/* ---- one batch ---- */

/* One way to run a batch. */
typedef struct ebb_fit_way {
    ebb_memory_mode mode;
    bool fits;                                      /* within the budget and, in budget mode, max_added */
    int64_t total_bytes, time_ns, baseline_time_ns; /* without a plan: total_bytes of the smallest found, or
                                                     * -1; times are -1 */
    ebb_plan *plan; /* owned, audited; NULL: none was found within the budget */
} ebb_fit_way;
/* The batch as micro-batches whose gradients are summed, with nothing recomputed. */
typedef struct ebb_fit_accumulation {
    int64_t n_micro, micro_batch; /* n_micro - 1 full micro-batches, and one with the rest of the batch; 0:
                                   * not even one item fits, or the batch is 1 */
    int64_t total_bytes;    /* of a micro-batch's in-place plan, and a sum for each parameter's gradient */
    int64_t time_ns;        /* of all micro-batches, each charged one update for adding its gradients */
    uint32_t n_batch_norms; /* layers whose statistics are those of a micro-batch instead of the batch */
} ebb_fit_accumulation;
typedef struct ebb_fit_batch_result {
    int64_t budget_bytes, batch;
    bool fits;           /* in at least one way */
    ebb_fit_way ways[4]; /* one for each ebb_memory_mode */
    uint32_t n_ways;     /* fewer than 4 only when interrupted */
    ebb_fit_accumulation accumulation;
    /* When it does not fit: the smallest budget and the largest batch found that do; 0: none. */
    int64_t smallest_budget_bytes, largest_batch;
} ebb_fit_batch_result;
/* Reports whether a batch fits and in which ways, what gradient accumulation would cost instead and, if the
 * batch does not fit, the smallest budget and the largest batch found that do. As ebb_fit, but each search
 * has the whole effort. EBB_USAGE: a batch below 1. */
EBB_API EBB_CHECKED ebb_status ebb_fit_batch(ebb_env *env, const ebb_model *model, const char *dim,
                                             const ebb_dim_binding *dims, uint32_t n_dims,
                                             const ebb_options *options, int64_t budget_bytes,
                                             double max_added, int64_t batch, ebb_fit_batch_result **out);
EBB_API void ebb_fit_batch_result_destroy(ebb_env *env, ebb_fit_batch_result *result);

#ifdef __cplusplus
}
#endif
#endif
