/* engine/sweep/fit.h: sizes tried one after the other. Private to the files of fit.
 *
 *     fit.c         one size, and the largest where bytes grow with it: none, in place, MegEngine's
 *     fit_budget.c  the largest within a budget
 *     fit_batch.c   one batch, and what could be done when it does not fit
 */
#ifndef EBB_ENGINE_SWEEP_FIT_H
#define EBB_ENGINE_SWEEP_FIT_H

#include "engine/compile/compile.h"

/* Sizes above are answered as this one: a bound for graphs that do not grow with the dimension. */
#define EBB_FIT_MAX_SIZE   (INT64_C(1) << 24)
/* Candidates x ops of a whole search that is cheap enough to be done for a dozen sizes. */
#define EBB_FIT_CHEAP_WORK INT64_C(20000000)

typedef struct ebb_fitter {
    ebb_env *env;
    ebb_arena arena; /* of dims */
    const ebb_model *model;
    ebb_dim_binding *dims; /* the last one is the size that is tried */
    uint32_t n_dims;
    ebb_options options; /* a copy: the mode changes */
    ebb_backend *backend;
    int64_t budget_bytes;
    uint32_t effort_part;
    bool warm;               /* searches go on from the best so far */
    bool no_search;          /* the smallest plan's own schedule, or none */
    bool fits_or_not;        /* nobody asks for the smallest plan of a size that does not fit */
    bool climbs;             /* for a larger size: any plan within max_added will do */
    double last_added;       /* by the plan that was tried last, of its time without recomputation */
    uint32_t n_fresh_failed; /* searches from nothing that failed, too, in a row */
    uint64_t deadline_ns;    /* of all searches together; 0: none */
    double max_added;
    ebb_compiled least; /* the smallest plan that was found within max_added, .. */
    int64_t least_size; /* .. of this size */
    ebb_compiled best;  /* of the largest size that fits so far */
    int64_t best_size;
    ebb_compiled refused; /* of a size that does not fit: the smallest plan that was found, .. */
    int64_t refused_size; /* .. and the size; 0: nobody looks for the largest by another size's plan */
    int64_t failed_size,
        failed_bytes;    /* the smallest size that did not fit and is above the best, and what it takes
                          * (-1: not known); 0: none */
    int64_t search_work; /* candidates x ops that a whole search for the smallest plan takes */
    EBB_ARRAY(ebb_fit_point) tried; /* the result takes it over */
    char *graph;                    /* the name of what was planned, likewise; NULL: nothing was yet */
} ebb_fitter;

/* Close it in any case. EBB_USAGE: a planning graph, a budget or a limit that is none. */
EBB_CHECKED ebb_status ebb_fitter_open(ebb_fitter *f, ebb_env *env, const ebb_model *model, const char *dim,
                                       const ebb_dim_binding *dims, uint32_t n_dims,
                                       const ebb_options *options, int64_t budget_bytes, double max_added);
void ebb_fitter_close(ebb_fitter *f);
/* The time limit has struck: no further size is searched. */
bool ebb_fit_is_late(const ebb_fitter *f);
/* Within the budget, and in budget mode within max_added. */
bool ebb_fit_acceptable(const ebb_fitter *f, const ebb_plan *plan, int64_t *total_bytes);
/* Compiles at this size; *fits tells, and then f->best is it. *total_bytes: of the plan, or of the smallest
 * one found; INT64_MAX: none was. EBB_INTERRUPTED: likewise, if there was a plan. */
EBB_CHECKED ebb_status ebb_fit_try(ebb_fitter *f, int64_t size, bool *fits, int64_t *total_bytes);
/* f->least becomes the smallest plan within max_added that is found for this size. EBB_OVER_BUDGET: none.
 * EBB_INTERRUPTED: what was found until then, if anything was. */
EBB_CHECKED ebb_status ebb_fit_least(ebb_fitter *f, int64_t size);
/* Tries this size and moves one end of the bracket: *low fits (or is 0), *high does not. */
EBB_CHECKED ebb_status ebb_fit_probe(ebb_fitter *f, int64_t size, int64_t *low, int64_t *high,
                                     int64_t *total_bytes);
/* Halves the bracket until its ends are no further apart. */
EBB_CHECKED ebb_status ebb_fit_bisect(ebb_fitter *f, int64_t low, int64_t high, int64_t resolution);
/* Budget mode, from a size that fits in place (or 0) on: f->best is the answer. With a refused_size it
 * comes from the refused plan's own steps. */
EBB_CHECKED ebb_status ebb_fit_budget(ebb_fitter *f, int64_t start);
/* The largest size of this mode. start: a size that fits in place, for budget mode. */
EBB_CHECKED ebb_status ebb_fit_mode(ebb_fitter *f, ebb_memory_mode mode, int64_t start, ebb_fit_row *row);

#endif
