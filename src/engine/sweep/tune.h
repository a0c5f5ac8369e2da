/* engine/sweep/tune.h: makes the rows of ebb_tune and sweeps over configs. Private to its two files. */
#ifndef EBB_ENGINE_SWEEP_TUNE_H
#define EBB_ENGINE_SWEEP_TUNE_H

#include "engine/compile/compile.h"

typedef struct ebb_tuner {
    ebb_env *env;
    const ebb_pgraph *facts;
    ebb_backend *backend; /* NULL: a planning graph */
    ebb_options options;  /* a copy: mode and search change */
    ebb_tune_result *result;
    uint64_t deadline_ns; /* 0: none */
    ebb_config given;     /* the options' own */
    int64_t effort;       /* of the last default within the budget; the sweep uses parts of it */
    bool over;            /* the time limit is reached: no more rows */
} ebb_tuner;

/* Plans with this config and adds the row. EBB_OVER_BUDGET: a default found no plan; for other configs the
 * row says so. After the time limit only defaults are added, with the plan that is found at once. */
EBB_CHECKED ebb_status ebb_tune_add_row(ebb_tuner *t, const char *what, const ebb_config *config,
                                        bool is_default);
/* Whether needed_ns are left before the time limit; work that cannot end in time is not begun. */
bool ebb_tune_has_time(const ebb_tuner *t, int64_t needed_ns);
/* Whether both configs give the same search, ignoring workers. */
bool ebb_tune_same_plan(const ebb_config *a, const ebb_config *b);
/* Whether a fits and b does not, or a takes less time, or the same in fewer bytes. */
bool ebb_tune_faster(const ebb_tune_row *a, const ebb_tune_row *b);
/* Whether time_ns is so little slower than than_ns that fewer candidates are worth more. */
bool ebb_tune_near(const ebb_tune_result *r, int64_t time_ns, int64_t than_ns);
/* Returns ebb_tune_result.recommended. */
uint32_t ebb_tune_recommend(const ebb_tune_result *r);
/* Varies one parameter after the other around the last row, the base, then tries the best values
 * together. */
EBB_CHECKED ebb_status ebb_tune_sweep(ebb_tuner *t);

#endif
