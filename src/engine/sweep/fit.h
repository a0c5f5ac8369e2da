/* engine/sweep/fit.h: tries sizes one after the other. Private to the files of fit.
 *
 *     fit.c         one size, and the largest in modes whose bytes grow with it: none, in place,
 * MegEngine's fit_budget.c  the largest within a budget fit_batch.c   one batch, and the alternatives when
 * it does not fit
 */
#ifndef EBB_ENGINE_SWEEP_FIT_H
#define EBB_ENGINE_SWEEP_FIT_H

#include "engine/compile/compile.h"

/* The largest size tried: a bound for graphs that do not grow with the dimension. */
#define EBB_FIT_MAX_SIZE   (INT64_C(1) << 24)
/* Candidates x ops of a whole search that is cheap enough to be done for a dozen sizes. */
#define EBB_FIT_CHEAP_WORK INT64_C(20000000)

typedef struct ebb_fitter {
    ebb_env *env;
    ebb_arena arena; /* of dims */
    const ebb_model *model;
    ebb_dim_binding *dims; /* the last one is the current size */
    uint32_t n_dims;
    ebb_options options; /* a copy: the mode changes */
    ebb_backend *backend;
    int64_t budget_bytes;
    uint32_t effort_part;
    bool warm;               /* searches start from the best so far */
    bool no_search;          /* the smallest plan's own schedule, or none */
    bool fits_or_not;        /* the smallest plan of a size that does not fit is not needed */
    bool climbs;             /* for a larger size: any plan within max_added suffices */
    double last_added;       /* share of time added by the last plan tried */
    uint32_t n_fresh_failed; /* consecutive searches from scratch that also failed */
    uint64_t deadline_ns;    /* of all searches together; 0: none */
    double max_added;
    ebb_compiled least; /* the smallest plan found within max_added, .. */
    int64_t least_size; /* .. of this size */
    ebb_compiled best;  /* of the largest size that fits so far */
    int64_t best_size;
    ebb_compiled refused; /* of a size that does not fit: the smallest plan found, .. */
    int64_t refused_size; /* .. and the size; 0: the largest size is not sought with another size's plan */
    int64_t failed_size, failed_bytes; /* the smallest size above the best that did not fit, and its bytes
                                        * (-1: unknown); 0: none */
    int64_t search_work;            /* candidates x ops that a whole search for the smallest plan takes */
    EBB_ARRAY(ebb_fit_point) tried; /* the result takes it over */
    char *graph;                    /* the planned graph's name, likewise; NULL: nothing was planned yet */
} ebb_fitter;

/* Close it in any case. EBB_USAGE: a planning graph, or an invalid budget or limit. */
EBB_CHECKED ebb_status ebb_fitter_open(ebb_fitter *f, ebb_env *env, const ebb_model *model, const char *dim,
                                       const ebb_dim_binding *dims, uint32_t n_dims,
                                       const ebb_options *options, int64_t budget_bytes, double max_added);
void ebb_fitter_close(ebb_fitter *f);
/* Whether the time limit is reached: no further size is searched. */
bool ebb_fit_is_late(const ebb_fitter *f);
/* Whether the plan is within the budget and, in budget mode, within max_added. */
bool ebb_fit_acceptable(const ebb_fitter *f, const ebb_plan *plan, int64_t *total_bytes);
/* Compiles at this size; if it *fits, it becomes f->best. *total_bytes: of the plan, or of the smallest one
 * found; INT64_MAX: none was. EBB_INTERRUPTED: likewise, if there was a plan. */
EBB_CHECKED ebb_status ebb_fit_try(ebb_fitter *f, int64_t size, bool *fits, int64_t *total_bytes);
/* Sets f->least to the smallest plan within max_added found for this size. EBB_OVER_BUDGET: none.
 * EBB_INTERRUPTED: to the smallest so far, if any. */
EBB_CHECKED ebb_status ebb_fit_least(ebb_fitter *f, int64_t size);
/* Tries this size and moves one end of the bracket: *low fits (or is 0), *high does not. */
EBB_CHECKED ebb_status ebb_fit_probe(ebb_fitter *f, int64_t size, int64_t *low, int64_t *high,
                                     int64_t *total_bytes);
/* Halves the bracket until its ends are no further apart than resolution. */
EBB_CHECKED ebb_status ebb_fit_bisect(ebb_fitter *f, int64_t low, int64_t high, int64_t resolution);
/* Budget mode, from a size that fits in place (or 0) on: f->best is the answer. With a refused_size it is
 * made from the refused plan's own steps. */
EBB_CHECKED ebb_status ebb_fit_budget(ebb_fitter *f, int64_t start);
/* Finds the largest size of this mode. start: a size that fits in place, for budget mode. */
EBB_CHECKED ebb_status ebb_fit_mode(ebb_fitter *f, ebb_memory_mode mode, int64_t start, ebb_fit_row *row);

#endif
