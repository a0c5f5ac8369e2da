/* sublinear/search.h: what the selectors share: a pool of candidates and the ways to make better ones.
 *
 * Every selector (seeds, annealed local search, crossover) works on members of a pool. A round gives each
 * member its own random stream and a fixed number of candidates to score, so that the result is the same
 * for any number of workers; members meet only between rounds.
 */
#ifndef EBB_SUBLINEAR_SEARCH_H
#define EBB_SUBLINEAR_SEARCH_H

#include "sublinear/order.h"
#include "sublinear/rescore.h"
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
    bool proved;                    /* the best member is the best of the space */
    int64_t n_before, whole_effort; /* for reports: scored before this search, to be scored in all */
    uint64_t started_ns;
    bool out_of_time;    /* the request's limit has struck */
    ebb_select_log *log; /* or NULL */
} ebb_search;

/* Tools for all workers; before ebb_anneal. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_search_hire(ebb_search *search);
/* And scorers for all of them, for members that bring an order. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_search_hire_scorers(ebb_search *search);
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

/* ---- seeds: each writes genes; all are cheap and none needs another ------------------------------------
 */

/* Drops, in its longest gap, each value that is written between two cuts and read after the second; values
 * that the op at a cut writes are kept. cuts: ascending base positions. MegEngine's cut points, with any
 * depth of recomputation. */
void ebb_seed_cuts(const ebb_space *space, const uint32_t *cuts, uint32_t n_cuts, uint8_t state,
                   uint8_t *genes);
/* Cuts where the bytes born since the last cut and still to be read reach the threshold. Returns how many
 * (<= n_ops). */
uint32_t ebb_seed_threshold_cuts(const ebb_space *space, int64_t threshold_bytes, uint32_t *cuts);
/* n cuts at equal distances over the forward ops (those before the first op of phase backward; all if there
 * is none). */
uint32_t ebb_seed_even_cuts(const ebb_space *space, uint32_t n, uint32_t *cuts);
/* Genes of gaps in the order in which a greedy would drop them: most bytes x gap length per time of the
 * producer first. Writes n_genes ids at most, returns how many; EBB_NONE: no memory. */
uint32_t ebb_seed_greedy_order(const ebb_space *space, uint32_t *order);

/* Cuts after blocks: at the ops that write what crosses a joint (below), every n-th of them; merge: of
 * joints one op apart only the last counts. cuts: room for n_joints. Returns how many. */
uint32_t ebb_seed_block_cuts(const ebb_space *space, const uint32_t *joints, uint32_t n_joints,
                             uint32_t every, bool merge, uint32_t *cuts);

/* Offers what an online rule drops that sees one op after the other (seeds_online.c), at a sweep of limits.
 * EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_seed_online(ebb_search *search);
/* Offers the certificate's splits into kept and recomputed values at a sweep of prices. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_seed_from_cut(ebb_search *search);

/* Offers what dynamic programming over the chain of blocks between joints finds (chain.h), at a sweep of
 * limits. best_genes: the best of them, whose peak is *peak_bytes; INT64_MAX: none. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_seed_chain(ebb_search *search, uint8_t *best_genes, int64_t *peak_bytes);

/* ---- improvement
 * ------------------------------------------------------------------------------------------- */

/* Metropolis' rule with exp(-x) replaced by 1 / (1 + x + x^2/2 + x^3/6), which has the same start and a
 * fatter tail: only + - * / on doubles, which give the same bits on every machine. */
static inline bool ebb_metropolis(ebb_rng *rng, double rise, double temperature) {
    if (rise <= 0) return true;
    double x = rise / temperature;
    if (x > 1000) return false;
    return ebb_rng_unit(rng) * (1 + x * (1 + x * (0.5 + x / 6))) < 1;
}

typedef struct ebb_anneal_plan {
    uint32_t n;           /* candidates */
    double t0, t1;        /* temperature from and to, relative to the base time */
    double excess_weight; /* of being over the limit: so many steps' time for twice the limit */
    int64_t limit_bytes;  /* of the peak: the budget, or more while it closes in on it */
} ebb_anneal_plan;
/* Simulated annealing from member->genes, and its order if it has one; keeps the best seen under the
 * search's budget, if better than member->best, in best_genes (and best_order). */
void ebb_anneal(ebb_search *search, uint32_t worker, ebb_member *member, const ebb_anneal_plan *plan);
/* In arena. O(n log n) for n ops. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_alike_find(ebb_arena *arena, const ebb_space *space, const uint32_t *free_genes,
                                      uint32_t n_free, ebb_alike *out);
/* Base position of what the gene decides: its op, or the op that makes its value. */
uint32_t ebb_gene_position(const ebb_space *space, uint32_t gene);
/* The base positions, ascending, before which at most one value crosses that forward ops have made and
 * forward ops still read: the articulation points of a chain of blocks. 0 is always one. In arena; NULL
 * when memory is out. O(edges). */
const uint32_t *ebb_space_joints(ebb_arena *arena, const ebb_space *space, uint32_t *n_joints);
/* child = a, but b's for genes that stand at base positions [begin, end). */
void ebb_crossover(const ebb_space *space, const uint8_t *a, const uint8_t *b, uint32_t begin, uint32_t end,
                   uint8_t *child);

/* ---- selectors: siblings with one signature
 * ---------------------------------------------------------------- */

/* Leaves the answer in search->members[0].best_genes; the seeds are in the pool already, scored.
 * EBB_INTERRUPTED when stopped early (the best so far stands). */
EBB_CHECKED ebb_status ebb_select_genetic(ebb_search *search, const ebb_select_request *request);
/* Crossing and mutation only: EBB_WITHOUT_ANNEALING. */
EBB_CHECKED ebb_status ebb_select_plain(ebb_search *search, const ebb_select_request *request);
EBB_CHECKED ebb_status ebb_select_megengine(ebb_search *search, const ebb_select_request *request);
/* Branch and bound over the whole space (exact.h), the graph's own order of ops given, when it is
 * small enough for a try. search->proved: the best in the pool is the best there is. *go_on: it is not, and
 * another selector has its turn, with the effort that is left. Nodes count as candidates. EBB_INTERRUPTED,
 * EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_select_exact(ebb_search *search, const ebb_select_request *request, bool *go_on);
/* There are no more candidates than the effort (all of it, whatever the part): the exact search is sure to
 * come to its end. */
bool ebb_select_exact_is_sure(const ebb_search *search, const ebb_select_request *request);

#endif
