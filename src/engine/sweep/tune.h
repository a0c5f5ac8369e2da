/* engine/sweep/tune.h: rows of ebb_tune and their sweep. Private to the two files. */
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
    int64_t effort;       /* of the last default within the budget: what the sweep takes parts of */
    bool over;            /* the time limit struck: no more rows */
} ebb_tuner;

/* Plans by this config and adds the row. EBB_OVER_BUDGET: a default found no plan; of others the row says
 * so. When the time limit has struck only defaults are added, with what is found at once. */
EBB_CHECKED ebb_status ebb_tune_add_row(ebb_tuner *t, const char *what, const ebb_config *config,
                                        bool is_default);
/* Before the time limit strikes; what cannot end until then is not begun. */
bool ebb_tune_has_time(const ebb_tuner *t, int64_t needed_ns);
/* The same search, whatever its workers. */
bool ebb_tune_same_plan(const ebb_config *a, const ebb_config *b);
/* a fits and b does not, or a takes less time, or as much in fewer bytes. */
bool ebb_tune_faster(const ebb_tune_row *a, const ebb_tune_row *b);
/* So little slower that fewer candidates are worth more. */
bool ebb_tune_near(const ebb_tune_result *r, int64_t time_ns, int64_t than_ns);
/* As ebb_tune_result.recommended says it. */
uint32_t ebb_tune_recommend(const ebb_tune_result *r);
/* One parameter after the other around the last row, which is the base; the best values together. */
EBB_CHECKED ebb_status ebb_tune_sweep(ebb_tuner *t);

#endif
