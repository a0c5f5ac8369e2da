/* The five parameters: defaults, environment variables, ranges. */
#include "ebb/config.h"
#include "base/base.h"

#define MIB (INT64_C(1) << 20)

typedef struct field {
    const char *name, *variable;
    size_t offset;
    int64_t min, max, scale; /* of the variable; scale: variable's unit in the field's */
} field;

#define AT(name) offsetof(ebb_sublinear_config, name)
static const field fields[] = {
    {"thresh_nr_try", "MGB_SUBLINEAR_MEMORY_THRESH_NR_TRY", AT(thresh_nr_try), 0, 1000000, 1},
    {"genetic_nr_iter", "MGB_SUBLINEAR_MEMORY_GENETIC_NR_ITER", AT(genetic_nr_iter), 0, 100000000, 1},
    {"genetic_pool_size", "MGB_SUBLINEAR_MEMORY_GENETIC_POOL_SIZE", AT(genetic_pool_size), 1, 100000, 1},
    {"lb_memory", "MGB_SUBLINEAR_MEMORY_LOWER_BOUND_MB", AT(lb_memory_bytes), 0, INT64_MAX / MIB, MIB},
    {"num_worker", "MGB_SUBLINEAR_MEMORY_WORKERS", AT(num_worker), 1, 4096, 1},
};

static int64_t *at(ebb_sublinear_config *config, const field *f) {
    return (int64_t *)((char *)config + f->offset);
}

void ebb_sublinear_config_init(ebb_sublinear_config *config) {
    /* MegEngine takes half of them; a plan is the same for any number, and somebody waits for it. */
    *config =
        (ebb_sublinear_config){.thresh_nr_try = 10, .genetic_pool_size = 20, .num_worker = ebb_cpu_count()};
}

ebb_status ebb_sublinear_config_from_env(ebb_env *env, const char *(*get)(const char *name),
                                         ebb_sublinear_config *config) {
    for (size_t i = 0; i < EBB_COUNT(fields); i++) {
        const char *text = get(fields[i].variable);
        int64_t value;
        if (!text || !*text) continue;
        if (!ebb_parse_i64(text, fields[i].min, fields[i].max, &value))
            return ebb_fail(env, EBB_USAGE,
                            "environment variable %s: \"%.40s\" is not an integer in [%lld, %lld]",
                            fields[i].variable, text, (long long)fields[i].min, (long long)fields[i].max);
        *at(config, &fields[i]) = value * fields[i].scale;
    }
    return EBB_OK;
}

ebb_status ebb_sublinear_config_check(ebb_env *env, const ebb_sublinear_config *config) {
    ebb_sublinear_config copy = *config;
    for (size_t i = 0; i < EBB_COUNT(fields); i++) {
        int64_t value = *at(&copy, &fields[i]), max = fields[i].max * fields[i].scale;
        if (value < fields[i].min || value > max)
            return ebb_fail(env, EBB_USAGE, "%s is %lld; it must be in [%lld, %lld]", fields[i].name,
                            (long long)value, (long long)fields[i].min, (long long)max);
    }
    return EBB_OK;
}
