/* engine/sweep/frontier.h: sweeps over budgets, makes the answer and caches it. Private to these three
 * files. */
#ifndef EBB_ENGINE_SWEEP_FRONTIER_H
#define EBB_ENGINE_SWEEP_FRONTIER_H

#include "engine/compile/compile.h"

/* One budget and the best plan found for it. */
typedef struct ebb_point {
    int64_t budget_bytes;
    const ebb_selection *selection; /* one of the sweep's; NULL: none found */
    ebb_plan *plan;                 /* owned; its recorded budget is budget_bytes */
} ebb_point;

typedef struct ebb_sweep {
    ebb_study study;
    ebb_options options;         /* a copy: the budget changes */
    EBB_ARRAY(ebb_answer) found; /* owned, without plans: a selection may serve several budgets */
    ebb_point base, least;       /* their budget is -1: none */
    ebb_point points[EBB_FRONTIER_MAX_BUDGETS];
    uint32_t n_points, n_done; /* points[0, n_done) are planned */
    uint64_t deadline_ns;      /* of all searches together; 0: none */
    uint32_t n_searches;       /* remaining, roughly */
    double max_added;
    bool stopped; /* interrupted: no more searches */
} ebb_sweep;

/* Plans the baseline. Close it in any case. */
EBB_CHECKED ebb_status ebb_sweep_open(ebb_sweep *s, ebb_env *env, const ebb_pgraph *facts,
                                      const ebb_backend *backend, const ebb_options *options,
                                      double max_added);
/* Lists the requested budgets, largest first without repetition; least_bytes: of the smallest plan. */
void ebb_sweep_list(ebb_sweep *s, const ebb_frontier_request *request, int64_t least_bytes);
/* Finds the smallest plan, lists the budgets and plans them. EBB_OK also when it was stopped: s->stopped is
 * then set, and points[0, n_done) are planned, still in order. */
EBB_CHECKED ebb_status ebb_sweep_run(ebb_sweep *s, const ebb_frontier_request *request);
void ebb_sweep_close(ebb_sweep *s);
/* Sets the budget that later plans record and searches must keep to. -1: none. */
void ebb_sweep_set_budget(ebb_sweep *s, int64_t budget_bytes);
bool ebb_sweep_adds_too_much(const ebb_sweep *s, const ebb_plan *plan);

/* ---- the answer ----------------------------------------------------------------------------------- */

/* Initializes a result without rows. */
void ebb_frontier_begin(const ebb_sweep *s, const ebb_plan *least, ebb_frontier_result *result);
/* Adds a row and takes over *plan, which may be NULL. */
void ebb_frontier_add_row(ebb_frontier_result *result, int64_t budget_bytes, ebb_plan **plan);

/* ---- the answer in the cache ------------------------------------------------------------------------ */

/* As ebb_cache_open, for this request. */
EBB_CHECKED ebb_status ebb_frontier_cache_open(ebb_sweep *s, const ebb_frontier_request *request,
                                               ebb_cache *cache);
/* *found: the whole curve was cached, and is in *result. Else *result has no rows. */
EBB_CHECKED ebb_status ebb_frontier_cache_find(ebb_sweep *s, const ebb_cache *cache,
                                               const ebb_frontier_request *request,
                                               ebb_frontier_result *result, bool *found);
/* Stores the result of a sweep, unless another machine's answer may differ. */
EBB_CHECKED ebb_status ebb_frontier_cache_store(ebb_sweep *s, const ebb_cache *cache,
                                                const ebb_frontier_result *result);

#endif
