/* ebb/config.h: the five parameters of sublinear memory, with MegEngine's names and defaults, and
 * the search's own.
 */
#ifndef EBB_CONFIG_H
#define EBB_CONFIG_H

#include "ebb/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* MegEngine's SublinearMemoryConfig. In MegEngine's mode the fields mean what they mean there; in budget
 * mode the first three scale the genetic search. */
typedef struct ebb_sublinear_config {
    int64_t thresh_nr_try;     /* >= 0, default 10: points of each threshold sweep */
    int64_t genetic_nr_iter;   /* >= 0, default 0: generations. 0: none in MegEngine's mode; the default
                                * effort in budget mode */
    int64_t genetic_pool_size; /* >= 1, default 20: survivors of a generation */
    int64_t lb_memory_bytes; /* >= 0, default 0: when the best plan needs less, memory is given back to save
                              * compute; never an upper limit */
    int64_t num_worker;      /* >= 1, default: all processors; never changes a plan */
} ebb_sublinear_config;

EBB_API void ebb_sublinear_config_init(ebb_sublinear_config *config);
/* Overrides from MGB_SUBLINEAR_MEMORY_{THRESH_NR_TRY, GENETIC_NR_ITER, GENETIC_POOL_SIZE, LOWER_BOUND_MB,
 * WORKERS}; `get` is getenv or a test's substitute. EBB_USAGE names the variable and its value. */
EBB_API EBB_CHECKED ebb_status ebb_sublinear_config_from_env(ebb_env *env,
                                                             const char *(*get)(const char *name),
                                                             ebb_sublinear_config *config);
/* EBB_USAGE: a field out of range, with its name, value and range. */
EBB_API EBB_CHECKED ebb_status ebb_sublinear_config_check(ebb_env *env, const ebb_sublinear_config *config);

/* ---- a config file: ebb.config/1 (docs/formats.md) ---- */

typedef enum ebb_config_method {
    EBB_CONFIG_NO_METHOD,
    EBB_CONFIG_BUDGET,
    EBB_CONFIG_MEGENGINE
} ebb_config_method;

/* The search settings of a file. A field is -1 when the file does not set it. */
typedef struct ebb_config {
    ebb_config_method method;
    ebb_sublinear_config sublinear;
    int64_t seed, search_seed; /* >= 0; search_seed: for the search alone */
    int64_t effort;            /* >= 0 candidates; 0: chosen by the size of the graph */
    int64_t time_limit_ms;     /* >= 1 */
} ebb_config;

/* EBB_IO; EBB_BAD_INPUT: not such a document, an unknown key (the error names the nearest), or a value of
 * another type or out of range. */
EBB_API EBB_CHECKED ebb_status ebb_config_read(ebb_env *env, const char *path, ebb_config *out);
/* Copies to *to the fields that *said sets: those of at least 0. */
EBB_API void ebb_config_apply(const ebb_sublinear_config *said, ebb_sublinear_config *to);

#ifdef __cplusplus
}
#endif
#endif
