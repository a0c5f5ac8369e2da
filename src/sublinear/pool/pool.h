/* sublinear/pool/pool.h: declares what the selectors share: a pool of candidates and the ways to make
 * better ones.
 *
 * Every selector (seeds, annealed local search, crossover) works on members of a pool. A round gives each
 * member its own random stream and a fixed number of candidates to score, so the result is the same for any
 * number of workers; members interact only between rounds.
 */
#ifndef EBB_SUBLINEAR_POOL_POOL_H
#define EBB_SUBLINEAR_POOL_POOL_H

#include "sublinear/order/order.h"
#include "sublinear/score/score.h"
#include "sublinear/sublinear.h"

/* A candidate's worth under a budget, smaller is better: by time first if it fits, else by its excess.
 */
typedef struct ebb_worth {
    int64_t excess_bytes; /* peak above the budget; 0 = fits; INT64_MAX = invalid */
    int64_t time_ns;
    int64_t peak_bytes;
} ebb_worth;

typedef struct ebb_member {
    uint8_t *genes, *best_genes;
    ebb_worth best; /* of best_genes and best_order */
    ebb_rng rng;
    ebb_ordering *ordering; /* its order, if that is searched too; NULL: the space's own */
    ebb_id *best_order;
} ebb_member;

/* Groups of similar ops: with the same phase, kind and time, and the same bytes and gaps of their results.
 * The group of op i: ops[first[i] .. first[i] + count[i]), ascending, itself among them; ops of a group
 * have the same first. */
typedef struct ebb_alike {
    const uint32_t *ops, *first, *count; /* [n_ops] each */
    const uint32_t *genes;               /* free genes at ops with a twin, ascending */
    uint32_t n_genes;
} ebb_alike;

#define EBB_MAX_ISLANDS 32 /* parallel tasks of a round; more workers would be idle */

typedef struct ebb_search {
    ebb_env *env;
    const ebb_space *space;
    int64_t budget_bytes; /* of the peak */
    int64_t most_time_ns; /* slower candidates rank after all others; 0: no limit */
    ebb_arena arena;
    ebb_scorer **scorers;     /* one per worker; the first from the start, the others when they are hired */
    ebb_rescorer **rescorers; /* one per hired worker; NULL: the space does not support them */
    uint32_t n_workers;
    ebb_member *members; /* the pool, best first */
    uint32_t n_members, max_members;
    uint8_t *scratch_genes, *pinned_genes;
    const uint32_t *free_genes; /* genes with more than one state */
    uint32_t n_free;
    ebb_alike alike;       /* no genes if nothing is copied */
    int64_t least_time_ns; /* no candidate takes less, so one that fits and takes no more is the answer */
    int64_t effort, n_scored;
    bool ends_when_idle;            /* before the effort is spent, once candidates no longer pay */
    bool proved;                    /* the best member is the best of the space */
    bool is_tight;                  /* LATE is worth trying (genetic.c) */
    int64_t n_before, whole_effort; /* for reports: candidates scored before this search, and to be scored
                                     * in total */
    uint64_t started_ns;            /* of the selection: its caller sets it */
    uint64_t time_limit_ns;         /* since started_ns; 0: none */
    uint64_t grace_ns;              /* as in the request */
    bool out_of_time;               /* the limit is reached; the clock is no longer read */
    bool stopped;                   /* by the stop flag, which set the limit to that moment */
    bool out_of_grace;              /* also, nothing fits, and the seeds' extra time is over */
    ebb_select_log *log;            /* or NULL */
} ebb_search;

/* Makes the tools of all workers; call it before ebb_anneal. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_search_hire(ebb_search *search);
/* Also makes scorers for the workers of n tasks that have their own order or are trimmed. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_search_hire_scorers(ebb_search *search, uint32_t n);
/* A hired worker's evaluator, loaded with genes; whole: every candidate is scored whole. */
ebb_evaluator ebb_search_evaluator(const ebb_search *search, uint32_t worker, uint8_t *genes, bool whole);
/* Whether a worker ran out of memory; its scores since then do not count. */
bool ebb_search_out_of_memory(const ebb_search *search);
ebb_worth ebb_search_worth(const ebb_search *search, const ebb_score *score);
/* Less excess, then less time, then a lower peak. < 0: a is better. */
int ebb_worth_compare(const ebb_worth *a, const ebb_worth *b);

/* ---- the log; these do nothing without one ---- */

void ebb_log_begin(ebb_search *search, ebb_method method);
void ebb_log_ran(ebb_search *search, ebb_log_how how);
void ebb_log_point_add(ebb_search *search, const ebb_worth *worth);
/* Adds a round with the best so far; nothing when no candidate was scored since the last round's end. */
void ebb_log_round_end(ebb_search *search);

/* The default number of candidates. */
int64_t ebb_search_default_effort(const ebb_space *space);
/* Opens a search with an empty pool for request->effort candidates. Close it also when this fails.
 * EBB_NO_MEMORY.
 */
EBB_CHECKED ebb_status ebb_search_open(ebb_search *search, ebb_env *env, const ebb_space *space,
                                       const ebb_select_request *request);
void ebb_search_close(ebb_search *search); /* a zeroed one is allowed */

/* A valid candidate joins the pool if it is better than the pool's worst and no member has the same worth,
 * which is nearly always a copy; the first one always joins. The pool is kept sorted, best first. */
void ebb_search_offer(ebb_search *search, const ebb_member *candidate);
/* Scores genes and offers them. Returns their worth. */
ebb_worth ebb_search_offer_genes(ebb_search *search, const uint8_t *genes);
int64_t ebb_search_base_peak(ebb_search *search);
/* Called between rounds: reports progress; *go_on is false when the search is over or the time limit ends
 * it (EBB_OK), or the stop flag does (EBB_INTERRUPTED). */
EBB_CHECKED ebb_status ebb_search_goes_on(ebb_search *search, const ebb_select_request *request,
                                          bool *go_on);
/* Whether the time limit is reached and something fits, or a third of it and the grace have passed since;
 * other seeds are then left out. */
bool ebb_search_may_end(ebb_search *search);
/* Whether the best fits and no candidate can take less time. */
bool ebb_search_is_over(const ebb_search *search);
/* Whether the best fits and is within EBB_CLOSE_PART of that. */
bool ebb_search_is_close(const ebb_search *search);
/* Whether the least peak is as low as requested. */
static inline bool ebb_search_is_low(const ebb_search *search, const ebb_select_request *request) {
    return request->method == EBB_METHOD_LEAST &&
           search->members[0].best.peak_bytes <= request->enough_peak_bytes;
}
/* The number of candidates after which a search should check the clock and the stop flag again; whole: all
 * are scored whole. */
uint32_t ebb_search_round(const ebb_search *search, bool whole);

/* Finds the groups. In arena. O(n log n) for n ops. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_alike_find(ebb_arena *arena, const ebb_space *space, const uint32_t *free_genes,
                                      uint32_t n_free, ebb_alike *out);

#endif
