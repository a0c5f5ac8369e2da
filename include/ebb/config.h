/* ebb/config.h: the five parameters of sublinear memory, with MegEngine's names and defaults, and
 * the search's own.
 */
#ifndef EBB_CONFIG_H
#define EBB_CONFIG_H

#include "ebb/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* SublinearMemoryConfig. In Ebb's budget mode the first three scale the genetic search; in MegEngine's
 * mode they mean what they mean there. */
typedef struct ebb_sublinear_config {
    int64_t thresh_nr_try;     /* >= 0, default 10: points of each threshold sweep */
    int64_t genetic_nr_iter;   /* >= 0, default 0: generations. 0: none in MegEngine's mode; the default
                                * effort in budget mode */
    int64_t genetic_pool_size; /* >= 1, default 20: survivors of a generation */
    int64_t lb_memory_bytes;   /* >= 0, default 0: when the best plan is below, memory is given back to save
                                * compute; never an upper limit */
    int64_t num_worker;        /* >= 1, default max(1, cpus / 2): planner threads */
} ebb_sublinear_config;

EBB_API void ebb_sublinear_config_init(ebb_sublinear_config *config);
/* Overrides from MGB_SUBLINEAR_MEMORY_{THRESH_NR_TRY, GENETIC_NR_ITER, GENETIC_POOL_SIZE, LOWER_BOUND_MB,
 * WORKERS}; `get` is getenv or a test's. EBB_USAGE names the variable and its value. */
EBB_API EBB_CHECKED ebb_status ebb_sublinear_config_from_env(ebb_env *env,
                                                             const char *(*get)(const char *name),
                                                             ebb_sublinear_config *config);
/* EBB_USAGE: a field out of range, with its name, value and range. */
EBB_API EBB_CHECKED ebb_status ebb_sublinear_config_check(ebb_env *env, const ebb_sublinear_config *config);

#ifdef __cplusplus
}
#endif
#endif
