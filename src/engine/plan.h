/* engine/plan.h: what the files of the chapter "select, rewrite, plan, certify" share. Private to them. */
#ifndef EBB_ENGINE_PLAN_H
#define EBB_ENGINE_PLAN_H

#include "engine/engine.h"

/* A schedule and its packing. Owns both; all NULL: none. */
typedef struct ebb_answer {
    ebb_selection *selection;
    ebb_plan *plan;
} ebb_answer;

typedef struct ebb_planner {
    ebb_env *env;
    const ebb_pgraph *facts;
    const ebb_options *options;
    const char *backend;
    uint32_t n_threads;
    int64_t alignment;
    int64_t standing_bytes;                                   /* persistent + fixed: there in every plan */
    int64_t base_arena_bytes, base_total_bytes, base_time_ns; /* of the baseline */
    int64_t least_time_ns;                                    /* no plan takes less */
    ebb_arena proof;                                          /* owns the bound's text */
    ebb_bound bound;      /* of the options' budget when it was proved; kind NULL: not yet */
    int64_t proved_bytes; /* the budget that the bound is for, without what stands */
    uint64_t deadline_ns; /* of the env's clock, for all searches together; 0: none */
    uint32_t halvings;    /* of the effort, for the next search */
    uint8_t *pins;        /* [facts->n_values] ebb_pin, owned; NULL: none were asked for */
    bool any_drop;        /* among the pins: then the baseline is no answer */
    int64_t n_scored;     /* candidates of all searches that found something */
    bool hurried;         /* a time limit struck a search: another machine's answer may differ */
    ebb_hint hint;
} ebb_planner;

void ebb_answer_drop(ebb_answer *answer);

/* A planner of facts and its baseline. backend NULL: a planning graph. hint may be NULL. What it takes is
 * borrowed. */
EBB_CHECKED ebb_status ebb_planner_open(ebb_env *env, const ebb_pgraph *facts, const ebb_backend *backend,
                                        const ebb_options *options, const ebb_hint *hint, ebb_planner *p,
                                        ebb_answer *base);
void ebb_planner_close(ebb_planner *p); /* also after a failure to open */

/* The options' keep and drop as an ebb_pin for each of graph->n_values. EBB_USAGE. */
EBB_CHECKED ebb_status ebb_pins_resolve(ebb_env *env, const ebb_pgraph *graph, const ebb_options *options,
                                        uint8_t *pins);

/* *out is the selection, also when the status is EBB_INTERRUPTED and there is one so far; else NULL.
 * limit_bytes: EBB_METHOD_BUDGET only. genes: where to go on from, or NULL. */
EBB_CHECKED ebb_status ebb_planner_search(ebb_planner *p, ebb_method method, int64_t limit_bytes,
                                          const uint8_t *genes, uint32_t n_genes, ebb_selection **out);
/* The plan's budget is the options'. */
EBB_CHECKED ebb_status ebb_planner_pack(ebb_planner *p, const ebb_selection *selection, ebb_reuse reuse,
                                        ebb_plan **out);
/* Searches under a limit on live bytes that is tightened until the packed plan is within the options'
 * budget. EBB_OVER_BUDGET: none was. EBB_INTERRUPTED: *out may be the best so far. */
EBB_CHECKED ebb_status ebb_planner_within(ebb_planner *p, const uint8_t *genes, uint32_t n_genes,
                                          ebb_answer *out);
/* The plan of the least peak that is found, whatever the time: the same one for every budget.
 * EBB_INTERRUPTED: *out may be the best so far. */
EBB_CHECKED ebb_status ebb_planner_least(ebb_planner *p, ebb_answer *out);
/* Some other schedule may take less time. */
static inline bool ebb_planner_may_be_faster(const ebb_planner *p, const ebb_plan *plan) {
    return plan->time_ns > p->least_time_ns;
}
/* The bound on the time within the options' budget, as far as the hint wants one; what was proved before is
 * not proved again. */
EBB_CHECKED ebb_status ebb_planner_prove(ebb_planner *p);
int64_t ebb_planner_bound_ns(const ebb_planner *p); /* 0: it was not proved for this budget */
/* The baseline's figures and that bound go into the plan. */
EBB_CHECKED ebb_status ebb_planner_certify(ebb_planner *p, ebb_plan *plan);
/* Hands the plan's schedule to on_dump as ebb.graph/1 if the options ask for it. */
EBB_CHECKED ebb_status ebb_planner_dump(const ebb_planner *p, const ebb_plan *plan);

/* The fastest plan within the options' budget of all that were packed, base among them, which it may take
 * over. EBB_OVER_BUDGET names the smallest budget found that fits; on EBB_INTERRUPTED *out may be the best
 * so far. */
EBB_CHECKED ebb_status ebb_plan_budget(ebb_planner *p, ebb_answer *base, ebb_answer *out);

#endif
