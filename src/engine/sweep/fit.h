/* engine/sweep/fit.h: sizes tried one after the other. Private to the two files of fit. */
#ifndef EBB_ENGINE_SWEEP_FIT_H
#define EBB_ENGINE_SWEEP_FIT_H

#include "engine/compile/compile.h"

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
    uint64_t deadline_ns; /* of all searches together; 0: none */
    double max_added;
    ebb_compiled best; /* of the largest size that fits so far */
    int64_t best_size;
    int64_t failed_size,
        failed_bytes;    /* the smallest size that did not fit and is above the best, and what it takes
                          * (-1: not known); 0: none */
    int64_t search_work; /* candidates x ops that a whole search takes; 0: none was needed so far */
    EBB_ARRAY(ebb_fit_point) tried; /* the result takes it over */
    char *graph;                    /* the name of what was planned, likewise; NULL: nothing was yet */
} ebb_fitter;

/* Close it in any case. EBB_USAGE: a planning graph, a budget or a limit that is none. */
EBB_CHECKED ebb_status ebb_fitter_open(ebb_fitter *f, ebb_env *env, const ebb_model *model, const char *dim,
                                       const ebb_dim_binding *dims, uint32_t n_dims,
                                       const ebb_options *options, int64_t budget_bytes, double max_added);
void ebb_fitter_close(ebb_fitter *f);
/* Within the budget, and in budget mode within max_added. */
bool ebb_fit_acceptable(const ebb_fitter *f, const ebb_plan *plan, int64_t *total_bytes);
/* Compiles at this size; *fits tells, and then f->best is it. *total_bytes: of the plan, or of the smallest
 * one found; INT64_MAX: none was. EBB_INTERRUPTED: likewise, if there was a plan. */
EBB_CHECKED ebb_status ebb_fit_try(ebb_fitter *f, int64_t size, bool *fits, int64_t *total_bytes);
/* The largest size of this mode. start: a size that fits in place, for budget mode. */
EBB_CHECKED ebb_status ebb_fit_mode(ebb_fitter *f, ebb_memory_mode mode, int64_t start, ebb_fit_row *row);

#endif
