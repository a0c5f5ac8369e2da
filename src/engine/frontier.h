/* engine/frontier.h: the sweep over budgets, for the answer made of it. Private to the two. */
#ifndef EBB_ENGINE_FRONTIER_H
#define EBB_ENGINE_FRONTIER_H

#include "engine/plan.h"

/* One budget and the best that was found for it. */
typedef struct ebb_point {
    int64_t budget_bytes;
    const ebb_selection *selection; /* one of the sweep's; NULL: none found */
    ebb_plan *plan;                 /* owned; its recorded budget is budget_bytes */
} ebb_point;

typedef struct ebb_sweep {
    ebb_planner p;
    ebb_options options;         /* a copy: the budget changes */
    EBB_ARRAY(ebb_answer) found; /* owned, without plans: a selection may serve several budgets */
    ebb_point base, least;       /* of no budget */
    ebb_point points[EBB_FRONTIER_MAX_BUDGETS];
    uint32_t n_points, n_done; /* points[0, n_done) were planned */
    uint64_t deadline_ns;      /* of all searches together; 0: none */
    uint32_t n_searches;       /* still to come, about */
    double max_added;
    bool stopped; /* interrupted: no more searches */
} ebb_sweep;

/* Finds the ends of the curve, lists the budgets and plans them. EBB_OK also when it was stopped: then
 * s->stopped is set and points[0, n_done) are what there is, in order all the same. Close it in either
 * case. */
EBB_CHECKED ebb_status ebb_sweep_run(ebb_sweep *s, ebb_env *env, const ebb_pgraph *facts,
                                     const ebb_backend *backend, const ebb_options *options,
                                     const ebb_frontier_request *request);
void ebb_sweep_close(ebb_sweep *s);
/* What is recorded in a plan that is packed or certified next, and what searches must keep to. -1: none. */
void ebb_sweep_set_budget(ebb_sweep *s, int64_t budget_bytes);
bool ebb_sweep_adds_too_much(const ebb_sweep *s, const ebb_plan *plan);

#endif
