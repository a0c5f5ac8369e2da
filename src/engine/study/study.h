/* engine/study/study.h: plans of one planning graph: select, rewrite, pack, certify, again and again until
 * a budget holds. The page that tells when is compile/compile.c.
 *
 *     study.c   a baseline, and what a search and a packing need to know
 *     budget.c  the limit on live bytes is tightened until the packed plan fits
 *     least.c   fewer bytes first, where nothing fits
 *     bound.c   what no plan within the budget can be faster than, proved once
 *     cache.c   plans that were made before
 *     pins.c    values that the caller decides about
 */
#ifndef EBB_ENGINE_STUDY_STUDY_H
#define EBB_ENGINE_STUDY_STUDY_H

#include "engine/inputs/inputs.h"

/* What compile makes. Owns all of it. */
typedef struct ebb_compiled {
    ebb_graph *graph; /* NULL for a planning graph */
    ebb_pgraph
        *facts; /* the planning graph that was asked of the backend; NULL when borrowed from the model */
    ebb_plan *plan;
    uint8_t *genes; /* of the selection, for a warm start at other dims; n_genes 0: none */
    uint32_t n_genes;
    int64_t n_candidates; /* that the last search scored */
    int64_t n_scored;     /* that all searches which found something scored */
    int64_t effort;       /* of a whole search: the options', or the default for the size of the graph */
    bool hurried;         /* a time limit struck */
} ebb_compiled;
void ebb_compiled_deinit(ebb_env *env, ebb_compiled *compiled);

/* What a plan that has no answer when its own time limit strikes may take more. */
#define EBB_GRACE_NS UINT64_C(200000000)

/* What a search may start from and how much it should do, when sizes are tried one after the other. */
typedef struct ebb_hint {
    const ebb_compiled *warm; /* another size's answer, or NULL */
    uint32_t effort_part;     /* of the effort one part in so many; 0: all of it */
    bool least;               /* the smallest plan that is found, not the fastest within the budget */
    bool
        fits_or_not; /* a trial: nothing is packed at length, nor the smallest plan found where none fits */
    bool no_search;  /* what `warm` says is the answer, or there is none */
    uint32_t near_part;  /* what misses the budget by no more than one part of the arena in so many is drawn
                          * once more; 0: 8 */
    double enough_times; /* what takes no more than so many times as long needs no other order; 0: all do */
    double most_times; /* what takes more than so many times as long as without recomputation is no answer;
                        * 0: any time will do */
    int64_t
        *smallest_bytes; /* takes the total bytes of the smallest plan found where none fits; may be NULL */
    ebb_compiled *smallest; /* takes that plan and its genes, unless it is the baseline; may be NULL */
    uint64_t deadline_ns;   /* of the env's clock, for several plans together; 0: the options' limit */
    uint64_t grace_ns;     /* of searches after it (ebb_select_request); 0: a plan alone has EBB_GRACE_NS */
    ebb_select_log *log;   /* of its searches, or NULL; the cache is not asked then */
    int64_t bound_time_ns; /* what was proved before for this graph and budget: the search is told, and the
                            * plan's own bound is left 0, without a proof; 0: nothing was */
} ebb_hint;

/* A schedule and its packing. Owns both; all NULL: none. */
typedef struct ebb_answer {
    ebb_selection *selection;
    ebb_plan *plan;
} ebb_answer;

/* What no plan is faster than within a budget. */
typedef struct ebb_proof {
    int64_t arena_bytes; /* the budget, without what stands */
    ebb_bound bound;
} ebb_proof;

/* One planning graph and one set of options: the baseline, the bound, and the searches so far. */
typedef struct ebb_study {
    ebb_env *env;
    const ebb_pgraph *facts;
    const ebb_options *options;
    ebb_options resolved; /* its options, where the budget was a share */
    const char *backend;
    uint32_t n_threads;
    int64_t alignment;
    int64_t standing_bytes;                                   /* persistent + fixed: there in every plan */
    int64_t base_arena_bytes, base_total_bytes, base_time_ns; /* of the baseline */
    int64_t least_time_ns;                                    /* no plan takes less */
    ebb_arena proof;                                          /* owns the bounds' texts */
    EBB_ARRAY(ebb_proof) proofs;                              /* of the options' budgets so far */
    uint64_t deadline_ns; /* of the env's clock, for all searches together; 0: none */
    uint32_t halvings;    /* of the effort, for the searches to come */
    int64_t tight_bytes;  /* the highest limit under which a search of this draw found nothing; -1: none */
    uint32_t draw;        /* of the search: 0, or another that may find what that did not */
    bool answered; /* there is a plan within the budget already: few limits are tried for a better one */
    uint8_t *pins; /* [facts->n_values] ebb_pin, owned; NULL: none were asked for */
    bool any_drop; /* among the pins: then the baseline is no answer */
    ebb_compiled smallest; /* of the plans that are above the budget, without the baseline */
    int64_t n_scored;      /* candidates of all searches that found something */
    bool hurried;          /* a time limit struck a search: another machine's answer may differ */
    bool alone;            /* the deadline is this plan's own, and no search has begun behind it */
    const char *aim;       /* of the search that runs, for progress */
    ebb_hint hint;
} ebb_study;

void ebb_answer_drop(ebb_answer *answer);
/* The answer's plan, which is taken over, and its genes, which are copied. EBB_NO_MEMORY: nothing was. */
EBB_CHECKED ebb_status ebb_compiled_take(ebb_env *env, ebb_compiled *to, ebb_answer *answer);

/* A study of facts, and its baseline. backend NULL: a planning graph. hint may be NULL. What it takes is
 * borrowed. */
EBB_CHECKED ebb_status ebb_study_open(ebb_env *env, const ebb_pgraph *facts, const ebb_backend *backend,
                                      const ebb_options *options, const ebb_hint *hint, ebb_study *study,
                                      ebb_answer *base);
void ebb_study_close(ebb_study *study); /* also after a failure to open */

/* The options' keep and drop as an ebb_pin for each of graph->n_values. EBB_USAGE. */
EBB_CHECKED ebb_status ebb_pins_resolve(ebb_env *env, const ebb_pgraph *graph, const ebb_options *options,
                                        uint8_t *pins);

/* How long offsets within the budget are looked for. */
typedef enum ebb_pack_effort { EBB_PACK_AT_LENGTH, EBB_PACK_QUICKLY } ebb_pack_effort;

/* What one search is asked for. */
typedef struct ebb_ask {
    ebb_method method;
    int64_t limit_bytes;  /* on live bytes: of EBB_METHOD_BUDGET */
    int64_t enough_bytes; /* EBB_METHOD_LEAST ends at so few live bytes; 0: at the fewest that it finds */
    const uint8_t *genes; /* where to go on from; NULL: from nothing */
    uint32_t n_genes;
    ebb_pack_effort packing; /* of its answer */
} ebb_ask;

/* *out is the selection, also when the status is EBB_INTERRUPTED and there is one so far; else NULL. */
EBB_CHECKED ebb_status ebb_study_select(ebb_study *study, const ebb_ask *ask, ebb_selection **out);
/* rewrite, live, in place, pack. The plan's budget is the options'. */
EBB_CHECKED ebb_status ebb_study_pack(ebb_study *study, const ebb_selection *selection, ebb_reuse reuse,
                                      ebb_pack_effort packing, ebb_plan **out);
/* The smallest plan that is found and packed, of several schedules of nearly the least peak. */
EBB_CHECKED ebb_status ebb_study_smallest(ebb_study *study, ebb_answer *out);
/* The very steps of another size's answer, packed at this one's bytes. EBB_OVER_BUDGET: it has other ops.
 */
EBB_CHECKED ebb_status ebb_study_repeat(ebb_study *study, const ebb_compiled *other, ebb_answer *out);
/* Takes the next of the answers that one search gave (there is one) out of their list, and packs it
 * quickly. *out is to be dropped whatever the status. */
EBB_CHECKED ebb_status ebb_study_pack_next(ebb_study *study, ebb_answer *of, ebb_answer *out);
/* Searches, and packs what was found. EBB_INTERRUPTED: *out may be the best so far. */
EBB_CHECKED ebb_status ebb_study_answer(ebb_study *study, const ebb_ask *ask, ebb_answer *out);
/* Searches under a limit on live bytes that is tightened until the packed plan is within the options'
 * budget. EBB_OVER_BUDGET: none was. EBB_INTERRUPTED: *out may be the best so far. */
EBB_CHECKED ebb_status ebb_study_tighten(ebb_study *study, const uint8_t *genes, uint32_t n_genes,
                                         ebb_answer *out);
/* The plan of the least peak that is found, whatever the time, or of one of enough_bytes (0: the least): of
 * each draw the same one for every budget. EBB_INTERRUPTED: *out may be the best so far. */
EBB_CHECKED ebb_status ebb_study_least(ebb_study *study, int64_t enough_bytes, ebb_answer *out);
/* Bytes of the budget for what lives in one step. */
static inline int64_t ebb_study_room(const ebb_study *study) {
    return study->options->budget_bytes - study->standing_bytes;
}
static inline bool ebb_study_fits(const ebb_study *study, const ebb_plan *plan) {
    return plan && plan->total_bytes <= study->options->budget_bytes;
}
/* Takes over *next: the faster of the plans that fit stays in *best, *best itself among equals. */
void ebb_study_offer(const ebb_study *study, ebb_answer *best, ebb_answer *next);
/* Tightens from warm's genes (NULL: from none); where nothing fits, fewer bytes are looked for first. A
 * trial (hint.fits_or_not) does so in short. EBB_OVER_BUDGET, which names the smallest plan found;
 * EBB_INTERRUPTED: *out may be the best so far. */
EBB_CHECKED ebb_status ebb_study_descend(ebb_study *study, const ebb_answer *base, const ebb_compiled *warm,
                                         ebb_answer *out);
/* Some other schedule may take less time. */
static inline bool ebb_study_may_be_faster(const ebb_study *study, const ebb_plan *plan) {
    return plan->time_ns > study->least_time_ns;
}
/* The bound on the time within the options' budget, as far as the hint wants one; what was proved before is
 * not proved again, and after the deadline each op once is all that is proved. */
EBB_CHECKED ebb_status ebb_study_prove(ebb_study *study);
/* Proved: no plan fits the budget, in whatever time, for one op and what waits meanwhile need more. */
bool ebb_study_none_fits(const ebb_study *study);
int64_t ebb_study_bound_ns(const ebb_study *study); /* 0: it was not proved for this budget */
/* The baseline's figures and that bound go into the plan. */
EBB_CHECKED ebb_status ebb_study_certify(ebb_study *study, ebb_plan *plan);
/* Hands the plan's schedule to on_dump as ebb.graph/1 if the options ask for it. */
EBB_CHECKED ebb_status ebb_study_dump(const ebb_study *study, const ebb_plan *plan);

/* The time limit has struck: nothing is begun any more. */
static inline bool ebb_study_is_late(const ebb_study *study) {
    return study->deadline_ns > 0 && ebb_clock_ns(study->env) >= study->deadline_ns;
}

/* The fastest plan within the options' budget of all that were packed, base among them, which it may take
 * over. EBB_OVER_BUDGET names the smallest budget found that fits; on EBB_INTERRUPTED *out may be the best
 * so far. */
EBB_CHECKED ebb_status ebb_study_plan_budget(ebb_study *study, ebb_answer *base, ebb_answer *out);

/* ---- the cache: <hash>.plan.json in a folder, named by everything that the answer depends on ----
 *
 * A file of it is as good as any other input: it is read, held against the request and audited, and what
 * does not pass is passed over with a warning. What is stored are plans that any machine would make again.
 */

/* Raised when the same request may be answered by another plan than before: the search, the packing, the
 * certificate. It counts beside the program's version. */
#define EBB_CACHE_SEARCH_VERSION 10

typedef struct ebb_cache {
    const ebb_study *study; /* borrowed, with its baseline */
    const char *folder;     /* borrowed; NULL: off, and nothing is ever found or stored */
    ebb_hash key;           /* of all that every plan of this request depends on, budget aside */
    ebb_text graph;         /* as printed */
} ebb_cache;

/* Makes the folder of the options. EBB_IO. Close it in any case. */
EBB_CHECKED ebb_status ebb_cache_open(ebb_cache *cache, const ebb_study *study);
void ebb_cache_close(ebb_cache *cache);

/* `which` tells the request's plans from one another. *out is the caller's; NULL when there is none that
 * passes. budget_bytes: what the plan must say of it; -1: none. EBB_IO. */
EBB_CHECKED ebb_status ebb_cache_find(const ebb_cache *cache, const char *which, int64_t budget_bytes,
                                      ebb_plan **out);
/* EBB_IO when nothing can be stored: to be said before a search and not after it. */
EBB_CHECKED ebb_status ebb_cache_check_writable(const ebb_cache *cache);
/* EBB_IO. */
EBB_CHECKED ebb_status ebb_cache_store(const ebb_cache *cache, const char *which, const ebb_plan *plan);

/* The one plan of a study's options. *out NULL: there is none, and one can be stored; a study with a log is
 * always planned anew. EBB_IO. */
EBB_CHECKED ebb_status ebb_cache_find_plan(const ebb_cache *cache, ebb_plan **out);
/* Nothing when a time limit struck, for another machine's plan may differ. EBB_IO. */
EBB_CHECKED ebb_status ebb_cache_store_plan(const ebb_cache *cache, const ebb_plan *plan);

/* ---- the search's log ---- */

/* Forgets what it held. */
ebb_select_log *ebb_search_log_begin(ebb_search_log *log);
/* What was asked, and the plan that was found. */
void ebb_search_log_end(ebb_search_log *log, const ebb_dim_binding *dims, uint32_t n_dims,
                        const ebb_options *options, const ebb_plan *plan);

#endif
