/* sublinear/search/search.h: makes better candidates from those in the pool: by annealing, crossing and
 * MegEngine's generations; and trims answers. */
#ifndef EBB_SUBLINEAR_SEARCH_SEARCH_H
#define EBB_SUBLINEAR_SEARCH_SEARCH_H

#include "sublinear/pool/pool.h"

/* ---- selectors: siblings with one signature ---- */

/* Leaves the answer in search->members[0].best_genes; the seeds are in the pool already, scored.
 * EBB_INTERRUPTED when stopped early (the best so far is kept). */
EBB_CHECKED ebb_status ebb_select_genetic(ebb_search *search, const ebb_select_request *request);
/* Crossing and mutation only: EBB_WITHOUT_ANNEALING. */
EBB_CHECKED ebb_status ebb_select_plain(ebb_search *search, const ebb_select_request *request);
EBB_CHECKED ebb_status ebb_select_megengine(ebb_search *search, const ebb_select_request *request);
/* ---- annealing ---- */

typedef struct ebb_anneal_plan {
    int64_t first;        /* first candidate within the whole annealing */
    uint32_t n, n_stage;  /* number of candidates from there; number per stage */
    double t, cooling;    /* initial temperature, in units, and its factor per stage */
    double unit;          /* of temperature, relative to the base time */
    bool time_first;      /* bytes are only computed if the time is not too long already */
    double excess_weight; /* of exceeding the limit: cost in steps' time at twice the limit */
    int64_t limit_bytes;  /* of the peak: the budget, or more while it closes in on it */
} ebb_anneal_plan;
/* Simulated annealing from member->genes, and its order if it has one; keeps the best seen under the
 * search's budget, if better than member->best, in best_genes (and best_order). */
void ebb_anneal(ebb_search *search, uint32_t worker, ebb_member *member, const ebb_anneal_plan *plan);
/* ---- members annealed side by side, one on each island ---- */

typedef struct ebb_generation {
    ebb_search *search;
    const ebb_select_request *request;
    ebb_member *islands;
    ebb_anneal_plan *plans; /* one for each island */
    bool *warm;             /* likewise: whether it starts from a medium temperature */
    uint32_t n_islands;
} ebb_generation;

/* In the search's arena. Each island gets its own random stream: of the request's seed, from first_stream
 * on. Workers are not hired. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_generation_open(ebb_generation *g, ebb_search *search,
                                           const ebb_select_request *request, uint32_t n_islands,
                                           uint64_t first_stream);
/* Anneals the islands' members from a high or medium temperature, n_stage candidates in each of EBB_STAGES
 * stages, in parts short enough to check the clock and the stop flag between them. Each island then has its
 * best. *go_on is false when the search is to end. EBB_NO_MEMORY, EBB_INTERRUPTED. */
enum { EBB_STAGES = 64 };
EBB_CHECKED ebb_status ebb_generation_run(ebb_generation *g, uint32_t n_stage, bool *go_on);

/* ---- crossing ---- */

/* child = a, with b's genes at base positions [begin, end). */
void ebb_crossover(const ebb_space *space, const uint8_t *a, const uint8_t *b, uint32_t begin, uint32_t end,
                   uint8_t *child);

/* Crosses members of the pool: the joints to cut at, and a random stream. */
typedef struct ebb_crossing {
    const uint32_t *joints;
    uint32_t n_joints;
    bool copies; /* children are copies of one parent: EBB_WITHOUT_CROSSOVER */
    ebb_rng rng;
} ebb_crossing;
/* Lives in the search's arena. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_crossing_open(ebb_crossing *crossing, ebb_search *search,
                                         const ebb_select_request *request);
/* Crosses two of the pool's best at two joints into child. The pool must not be empty and some gene must be
 * free. */
void ebb_cross_pool(ebb_crossing *crossing, const ebb_search *search, uint8_t *child);

/* ---- trimming: unnecessary runs ----
 *
 * A gap has one state, so a value that is recomputed at several places in it is held either from the first
 * of them on or nowhere. Between two of them there may still be room:
 *
 *     steps        f . f . . . f . .       the second run of f is removed if its first life can last that
 * long live bytes   ######____######        within the limit
 *
 * Runs that only such a run needed are removed with it. The result is never slower, or above the limit.
 */

typedef struct ebb_trimmed {
    ebb_id *steps; /* of the space's order */
    uint32_t n_steps;
    ebb_score score;
} ebb_trimmed;

#define EBB_TRIM_WORK INT64_C(40000000) /* half a second */

/* Scratch for trimming one candidate after another. One per thread. */
typedef struct ebb_trimmer ebb_trimmer;
/* In arena; NULL when memory is out. */
ebb_trimmer *ebb_trimmer_new(ebb_arena *arena, const ebb_space *space);
/* Plays the genes, which must be valid and within limit_bytes, and removes repeated runs, most expensive
 * first, while the peak stays within the limit. *work: remaining steps of trials; when it is used up no
 * more are tried. out->steps is owned by the trimmer, until its next candidate. Allocates nothing. */
void ebb_trim(ebb_trimmer *trimmer, ebb_scorer *scorer, const uint8_t *genes, int64_t limit_bytes,
              int64_t *work, ebb_trimmed *out);
/* Gives the steps without trimming, in arena. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_trim_nothing(ebb_arena *arena, ebb_scorer *scorer, const uint8_t *genes,
                                        int64_t limit_bytes, ebb_trimmed *out);

#endif
