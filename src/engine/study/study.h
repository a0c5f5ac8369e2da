/* engine/study/study.h: plans one planning graph: selects, rewrites, packs and certifies repeatedly until
 * the plan fits the budget. compile/compile.c decides when.
 *
 *     study.c   the baseline, and the requests for a search and a packing
 *     budget.c  the limit on live bytes is tightened until the packed plan fits
 *     least.c   the fewest bytes first, when nothing fits
 *     bound.c   the lower bound on the time within the budget, proved once
 *     cache.c   cached plans
 *     pins.c    the caller's keep and drop
 */
#ifndef EBB_ENGINE_STUDY_STUDY_H
#define EBB_ENGINE_STUDY_STUDY_H

#include "engine/inputs/inputs.h"

/* The result of compile. Owns everything in it. */
typedef struct ebb_compiled {
    ebb_graph *graph;  /* NULL for a planning graph */
    ebb_pgraph *facts; /* the planning graph from the backend; NULL when borrowed from the model */
    ebb_plan *plan;
    uint8_t *genes; /* of the selection, for a warm start at other dims; n_genes 0: none */
    uint32_t n_genes;
    int64_t n_candidates; /* scored by the last search */
    int64_t n_scored;     /* scored by all searches that found something */
    int64_t effort;       /* of a whole search: the options', or the default for the size of the graph */
    bool hurried;         /* a time limit was reached */
} ebb_compiled;
void ebb_compiled_deinit(ebb_env *env, ebb_compiled *compiled);

/* The extra time of a plan without an answer at its own time limit. */
#define EBB_GRACE_NS UINT64_C(200000000)

/* A search's starting point and effort, when sizes are tried one after the other. */
typedef struct ebb_hint {
    const ebb_compiled *warm; /* another size's answer, or NULL */
    uint32_t effort_part;     /* the effort is divided by this; 0: all of it */
    bool least;               /* the smallest plan that is found, not the fastest within the budget */
    bool fits_or_not;         /* a trial: no packing at length, and no smallest plan when none fits */
    bool no_search;           /* the answer is `warm`'s schedule, or there is none */
    uint32_t near_part;  /* a plan that misses the budget by at most 1/near_part of the arena gets another
                          * draw; 0: 8 */
    double enough_times; /* a plan that takes at most this many times as long needs no other order; 0: all
                          * do */
    double most_times; /* a plan that takes more than this many times as long as without recomputation is no
                        * answer; 0: any time is accepted */
    int64_t *smallest_bytes; /* receives the total bytes of the smallest plan found when none fits; may be
                              * NULL */
    ebb_compiled *smallest;  /* receives that plan and its genes, unless it is the baseline; may be NULL */
    uint64_t deadline_ns;    /* of the env's clock, for several plans together; 0: the options' limit */
    uint64_t grace_ns;       /* for searches after it (ebb_select_request); 0: EBB_GRACE_NS for a single
                              * plan */
    ebb_select_log *log;     /* of its searches, or NULL; if set, the cache is not used */
    int64_t bound_time_ns; /* the bound proved before for this graph and budget: the search gets it, and the
                            * plan's own bound stays 0, without a proof; 0: none */
} ebb_hint;

/* A schedule and its packing. Owns both; all NULL: none. */
typedef struct ebb_answer {
    ebb_selection *selection;
    ebb_plan *plan;
} ebb_answer;

/* The bound on the time within a budget. */
typedef struct ebb_proof {
    int64_t arena_bytes; /* the budget less the standing bytes */
    ebb_bound bound;
} ebb_proof;

/* One planning graph and one set of options: the baseline, the bound, and the searches so far. */
typedef struct ebb_study {
    ebb_env *env;
    const ebb_pgraph *facts;
    const ebb_options *options;
    ebb_options resolved; /* the options with the budget in bytes, if it was a share */
    const char *backend;
    uint32_t n_threads;
    int64_t alignment;
    int64_t standing_bytes;                                   /* persistent + fixed, in every plan */
    int64_t base_arena_bytes, base_total_bytes, base_time_ns; /* of the baseline */
    int64_t base_excess_bytes;                                /* of its arena over its live bytes */
    int64_t least_time_ns;                                    /* no plan takes less */
    ebb_arena proof;                                          /* owns the bounds' texts */
    EBB_ARRAY(ebb_proof) proofs;                              /* of the options' budgets so far */
    uint64_t deadline_ns; /* of the env's clock, for all searches together; 0: none */
    uint32_t halvings;    /* of the effort, for later searches */
    int64_t tight_bytes;  /* the highest limit under which a search of this draw found nothing; -1: none */
    uint32_t draw;        /* of the search: 0, or another, which may find what 0 did not */
    int64_t low_bytes;    /* the budget from which on the least live bytes of draw 0 fit */
    bool answered; /* there is a plan within the budget already: few limits are tried for a better one */
    uint8_t *pins; /* [facts->n_values] ebb_pin, owned; NULL: none were requested */
    bool any_drop; /* among the pins: then the baseline is no answer */
    ebb_compiled smallest; /* of the plans above the budget, except the baseline */
    int64_t n_scored;      /* candidates of all searches that found something */
    bool hurried;          /* a time limit ended a search: another machine's answer may differ */
    bool alone;            /* the deadline is this plan's own, and no search has begun after it */
    const char *aim;       /* of the current search, for progress */
    ebb_hint hint;
} ebb_study;

void ebb_answer_drop(ebb_answer *answer);
/* Moves the answer's plan and copies its genes into *to. EBB_NO_MEMORY: neither was. */
EBB_CHECKED ebb_status ebb_compiled_take(ebb_env *env, ebb_compiled *to, ebb_answer *answer);

/* Opens a study of facts and plans its baseline. backend NULL: a planning graph. hint may be NULL. The
 * arguments are borrowed. */
EBB_CHECKED ebb_status ebb_study_open(ebb_env *env, const ebb_pgraph *facts, const ebb_backend *backend,
                                      const ebb_options *options, const ebb_hint *hint, ebb_study *study,
                                      ebb_answer *base);
void ebb_study_close(ebb_study *study); /* also after a failure to open */

/* Resolves the options' keep and drop into an ebb_pin for each of graph->n_values. EBB_USAGE. */
EBB_CHECKED ebb_status ebb_pins_resolve(ebb_env *env, const ebb_pgraph *graph, const ebb_options *options,
                                        uint8_t *pins);

/* How much effort a packing spends on the budget. */
typedef enum ebb_pack_effort { EBB_PACK_AT_LENGTH, EBB_PACK_QUICKLY } ebb_pack_effort;

/* The arguments of one search. */
typedef struct ebb_ask {
    ebb_method method;
    int64_t limit_bytes;  /* on live bytes; EBB_METHOD_BUDGET only */
    int64_t enough_bytes; /* EBB_METHOD_LEAST stops at this many live bytes, with one answer; 0: as few as
                           * possible */
    const uint8_t *genes; /* the starting point, or NULL */
    uint32_t n_genes;
    ebb_pack_effort packing; /* of the answer */
} ebb_ask;

/* Searches for a schedule. *out is the selection, also the best so far on EBB_INTERRUPTED; else NULL. */
EBB_CHECKED ebb_status ebb_study_select(ebb_study *study, const ebb_ask *ask, ebb_selection **out);
/* Makes a plan of a selection: rewrite, live, in place, pack. The plan's budget is the options'. */
EBB_CHECKED ebb_status ebb_study_pack(ebb_study *study, const ebb_selection *selection, ebb_reuse reuse,
                                      ebb_pack_effort packing, ebb_plan **out);
/* Finds the smallest packed plan among several schedules with nearly the least peak. */
EBB_CHECKED ebb_status ebb_study_smallest(ebb_study *study, ebb_answer *out);
/* Packs exactly the steps of another size's answer with this size's bytes. EBB_OVER_BUDGET: it has other
 * ops.
 */
EBB_CHECKED ebb_status ebb_study_repeat(ebb_study *study, const ebb_compiled *other, ebb_answer *out);
/* Takes the next answer of a search (there must be one) out of their list, and packs it. Drop *out
 * whatever the status. */
EBB_CHECKED ebb_status ebb_study_pack_next(ebb_study *study, ebb_answer *of, ebb_pack_effort packing,
                                           ebb_answer *out);
/* Searches, and packs the selection. EBB_INTERRUPTED: *out may be the best so far. */
EBB_CHECKED ebb_status ebb_study_answer(ebb_study *study, const ebb_ask *ask, ebb_answer *out);
/* Searches under a limit on live bytes that is tightened until the packed plan is within the options'
 * budget. EBB_OVER_BUDGET: none was. EBB_INTERRUPTED: *out may be the best so far. */
EBB_CHECKED ebb_status ebb_study_tighten(ebb_study *study, const uint8_t *genes, uint32_t n_genes,
                                         ebb_answer *out);
/* Finds the plan with the least peak, or one of at most enough_bytes (0: the least), whatever its time: for
 * each draw the same one for every budget. EBB_INTERRUPTED: *out may be the best so far. */
EBB_CHECKED ebb_status ebb_study_least(ebb_study *study, int64_t enough_bytes, ebb_answer *out);
/* The budget's bytes for live values in one step. */
static inline int64_t ebb_study_room(const ebb_study *study) {
    return study->options->budget_bytes - study->standing_bytes;
}
/* What the budget counts of a plan. */
static inline int64_t ebb_study_needs(const ebb_study *study, const ebb_plan *plan) {
    const int64_t gaps = plan->arena_bytes - plan->max_live_bytes;
    return plan->total_bytes - (study->options->unpacked ? gaps : 0);
}
static inline bool ebb_study_fits(const ebb_study *study, const ebb_plan *plan) {
    return plan && ebb_study_needs(study, plan) <= study->options->budget_bytes;
}
/* Takes over *next: the faster of the plans that fit stays in *best, *best itself among equals. */
void ebb_study_offer(const ebb_study *study, ebb_answer *best, ebb_answer *next);
/* Tightens from warm's genes (NULL: from none); if nothing fits, searches for fewer bytes first. A trial
 * (hint.fits_or_not) shortens that. EBB_OVER_BUDGET: the error names the smallest plan found;
 * EBB_INTERRUPTED: *out may be the best so far. */
EBB_CHECKED ebb_status ebb_study_descend(ebb_study *study, const ebb_answer *base, const ebb_compiled *warm,
                                         ebb_answer *out);
/* Whether another schedule may take less time. */
static inline bool ebb_study_may_be_faster(const ebb_study *study, const ebb_plan *plan) {
    return plan->time_ns > study->least_time_ns;
}
/* Proves the bound on the time within the options' budget, if the hint wants one and it was not proved
 * before; after the deadline it proves only each op once. */
EBB_CHECKED ebb_status ebb_study_prove(ebb_study *study);
/* Whether it is proved that no plan fits the budget, whatever its time, because one op and the values
 * waiting meanwhile need more. */
bool ebb_study_none_fits(const ebb_study *study);
/* Of all plans, whatever their time: the same proof's bytes, with those outside the arena. 0: not proved.
 */
int64_t ebb_study_fewest_bytes(const ebb_study *study);
int64_t ebb_study_bound_ns(const ebb_study *study); /* 0: not proved for this budget */
/* Writes the baseline's figures and that bound into the plan, which loses its budget where it is packed
 * above it (ebb_options.unpacked). */
EBB_CHECKED ebb_status ebb_study_certify(ebb_study *study, ebb_plan *plan);
/* Passes the plan's schedule to on_dump as ebb.graph/1 if the options ask for it. */
EBB_CHECKED ebb_status ebb_study_dump(const ebb_study *study, const ebb_plan *plan);

/* Whether the time limit is reached: no more work is begun. */
static inline bool ebb_study_is_late(const ebb_study *study) {
    return study->deadline_ns > 0 && ebb_clock_ns(study->env) >= study->deadline_ns;
}

/* Finds the fastest of all packed plans within the options' budget, base included, which it may take over.
 * EBB_OVER_BUDGET names the smallest budget found that fits; on EBB_INTERRUPTED *out may be the best so
 * far. */
EBB_CHECKED ebb_status ebb_study_plan_budget(ebb_study *study, ebb_answer *base, ebb_answer *out);

/* ---- the cache: <hash>.plan.json in a folder, named by everything that the answer depends on ----
 *
 * A cached file is trusted no more than any other input: it is read, compared with the request and audited,
 * and skipped with a warning if it fails. Only reproducible plans are stored.
 */

/* Increase it when the same request may get another plan than before, after a change of the search, the
 * packing or the certificate. Part of the key, with the program's version. */
#define EBB_CACHE_SEARCH_VERSION 15

typedef struct ebb_cache {
    const ebb_study *study; /* borrowed, with its baseline */
    const char *folder;     /* borrowed; NULL: off: nothing is found or stored */
    ebb_hash key;           /* of everything that this request's plans depend on, except the budget */
    ebb_text graph;         /* as printed */
} ebb_cache;

/* Opens the cache and makes the options' folder. EBB_IO. Close it in any case. */
EBB_CHECKED ebb_status ebb_cache_open(ebb_cache *cache, const ebb_study *study);
void ebb_cache_close(ebb_cache *cache);

/* Finds a plan; `which` distinguishes the request's plans. *out is the caller's; NULL when there is no
 * valid one. budget_bytes: the budget that the plan must record; -1: none. EBB_IO. */
EBB_CHECKED ebb_status ebb_cache_find(const ebb_cache *cache, const char *which, int64_t budget_bytes,
                                      ebb_plan **out);
/* EBB_IO when nothing can be stored, so that the error comes before a search and not after it. */
EBB_CHECKED ebb_status ebb_cache_check_writable(const ebb_cache *cache);
/* EBB_IO. */
EBB_CHECKED ebb_status ebb_cache_store(const ebb_cache *cache, const char *which, const ebb_plan *plan);

/* Finds the one plan of a study's options. *out NULL: there is none, and one can be stored; a study with a
 * log is always planned anew. EBB_IO. */
EBB_CHECKED ebb_status ebb_cache_find_plan(const ebb_cache *cache, ebb_plan **out);
/* Stores the plan, unless a time limit was reached, since another machine's plan may then differ.
 * EBB_IO. */
EBB_CHECKED ebb_status ebb_cache_store_plan(const ebb_cache *cache, const ebb_plan *plan);

/* ---- the search's log ---- */

/* Clears the log and returns its select log. */
ebb_select_log *ebb_search_log_begin(ebb_search_log *log);
/* Records the request, and the plan that was found; NULL: none was. */
void ebb_search_log_end(ebb_search_log *log, const char *graph, const ebb_dim_binding *dims,
                        uint32_t n_dims, const ebb_options *options, const ebb_plan *plan);

#endif
