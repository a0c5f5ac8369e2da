/* sublinear/pool/pool.h: what the selectors share: a pool of candidates and the ways to make better ones.
 *
 * Every selector (seeds, annealed local search, crossover) works on members of a pool. A round gives each
 * member its own random stream and a fixed number of candidates to score, so that the result is the same
 * for any number of workers; members meet only between rounds.
 */
#ifndef EBB_SUBLINEAR_POOL_POOL_H
#define EBB_SUBLINEAR_POOL_POOL_H

#include "sublinear/order/order.h"
#include "sublinear/score/score.h"
#include "sublinear/sublinear.h"

/* A candidate's worth under a budget, smaller is better: time first if it fits; else by how far it is off.
 */
typedef struct ebb_worth {
    int64_t excess_bytes; /* peak above the budget; 0 = fits; INT64_MAX = invalid */
    int64_t time_ns;
    int64_t peak_bytes;
} ebb_worth;

typedef struct ebb_member {
    uint8_t *genes, *best_genes;
    ebb_worth best; /* of best_genes, and of best_order */
    ebb_rng rng;
    ebb_ordering *ordering; /* the order is searched too; NULL: the space's own */
    ebb_id *best_order;
} ebb_member;

/* Ops that are alike: of one phase and kind, with the same time, and the same bytes and gaps of what they
 * make. Of op i: ops[first[i] .. first[i] + count[i]), ascending, itself among them; like ops have the same
 * first. */
typedef struct ebb_alike {
    const uint32_t *ops, *first, *count; /* [n_ops] each */
    const uint32_t *genes;               /* free genes that stand at ops with a twin, ascending */
    uint32_t n_genes;
} ebb_alike;

#define EBB_MAX_ISLANDS 32 /* what a round gives to workers: more of them would have nothing to do */

typedef struct ebb_search {
    ebb_env *env;
    const ebb_space *space;
    int64_t budget_bytes; /* of the peak */
    int64_t most_time_ns; /* what takes longer comes after all that does not; 0: any time will do */
    ebb_arena arena;
    ebb_scorer **scorers;     /* one per worker; the first at once, the others when they are hired */
    ebb_rescorer **rescorers; /* one per worker that is hired; NULL: the space is not for them */
    uint32_t n_workers;
    ebb_member *members; /* the pool, best first */
    uint32_t n_members, max_members;
    uint8_t *scratch_genes, *pinned_genes;
    const uint32_t *free_genes; /* genes with more than one state */
    uint32_t n_free;
    ebb_alike alike;       /* no genes where nothing is copied */
    int64_t least_time_ns; /* no candidate takes less: one that fits and takes no more is the answer */
    int64_t effort, n_scored;
    bool ends_when_idle;            /* before the effort is spent, when candidates have stopped to pay */
    bool proved;                    /* the best member is the best of the space */
    bool is_tight;                  /* LATE is worth a try (genetic.c) */
    int64_t n_before, whole_effort; /* for reports: scored before this search, to be scored in all */
    uint64_t started_ns;            /* of the selection: its caller sets it */
    uint64_t time_limit_ns;         /* since started_ns; 0: none */
    uint64_t grace_ns;              /* as in the request */
    bool out_of_time;               /* it has struck; nobody looks at the clock any more */
    bool stopped;                   /* by the stop flag, which set the limit to that moment */
    bool out_of_grace;              /* nor does anything fit, and seeds have had their time */
    ebb_select_log *log;            /* or NULL */
} ebb_search;

/* Tools for all workers; before ebb_anneal. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_search_hire(ebb_search *search);
/* And scorers for the workers of n tasks, which bring an order or are trimmed. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_search_hire_scorers(ebb_search *search, uint32_t n);
/* A hired worker's evaluator, loaded with genes; whole: every candidate is scored whole. */
ebb_evaluator ebb_search_evaluator(const ebb_search *search, uint32_t worker, uint8_t *genes, bool whole);
/* A worker ran out of memory: what it scored since does not count. */
bool ebb_search_out_of_memory(const ebb_search *search);
ebb_worth ebb_search_worth(const ebb_search *search, const ebb_score *score);
/* Less excess, then less time, then a lower peak. < 0: a is better. */
int ebb_worth_compare(const ebb_worth *a, const ebb_worth *b);

/* ---- the log: nothing without one ------------------------------------------------------------------- */

void ebb_log_begin(ebb_search *search, ebb_method method);
void ebb_log_ran(ebb_search *search, ebb_log_how how);
void ebb_log_point_add(ebb_search *search, const ebb_worth *worth);
/* The best so far; nothing when no candidate was scored since the last round's end. */
void ebb_log_round_end(ebb_search *search);

/* Candidates, when none are asked for. */
int64_t ebb_search_default_effort(const ebb_space *space);
/* A search with an empty pool for request->effort candidates. Close it also when this fails. EBB_NO_MEMORY.
 */
EBB_CHECKED ebb_status ebb_search_open(ebb_search *search, ebb_env *env, const ebb_space *space,
                                       const ebb_select_request *request);
void ebb_search_close(ebb_search *search); /* a zeroed one is allowed */

/* A valid candidate joins the pool if it is better than the pool's worst and no member is worth the same,
 * for that is nearly always a copy; the first one joins whatever it is. The pool is kept sorted, best
 * first. */
void ebb_search_offer(ebb_search *search, const ebb_member *candidate);
/* Scores genes and offers them. Returns their worth. */
ebb_worth ebb_search_offer_genes(ebb_search *search, const uint8_t *genes);
int64_t ebb_search_base_peak(ebb_search *search);
/* Between rounds: reports progress; *go_on is false when the search is over or the time limit
 * ends it (EBB_OK) or the
 * stop flag does (EBB_INTERRUPTED). */
EBB_CHECKED ebb_status ebb_search_goes_on(ebb_search *search, const ebb_select_request *request,
                                          bool *go_on);
/* The time limit has struck and something fits, or a third of it and the grace have gone since: other seeds
 * are left out. */
bool ebb_search_may_end(ebb_search *search);
/* Nothing is better than the best there is: it fits, and nothing takes less time. */
bool ebb_search_is_over(const ebb_search *search);
/* Or hardly anything is (EBB_CLOSE_PART): it fits, and no more can be gained. */
bool ebb_search_is_close(const ebb_search *search);
/* The least peak is as low as was asked for. */
static inline bool ebb_search_is_low(const ebb_search *search, const ebb_select_request *request) {
    return request->method == EBB_METHOD_LEAST &&
           search->members[0].best.peak_bytes <= request->enough_peak_bytes;
}
/* Candidates after which a search should look at the clock and the stop flag again; whole: they are scored
 * whole in any case. */
uint32_t ebb_search_round(const ebb_search *search, bool whole);

/* In arena. O(n log n) for n ops. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_alike_find(ebb_arena *arena, const ebb_space *space, const uint32_t *free_genes,
                                      uint32_t n_free, ebb_alike *out);

#endif
