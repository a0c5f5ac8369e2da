/* A config file (ebb.config/1): how to search, written by people and by ebb_tune. A key that is not known
 * is refused, unlike in the documents that programs exchange: it is a misspelt one. */
#include "engine/inputs/inputs.h"

#include <stdio.h>

#define MAX_CONFIG_BYTES ((size_t)1 << 20)
#define MIB              (INT64_C(1) << 20)

typedef struct field {
    const char *key;
    size_t offset;
    int64_t min, max;
} field;

#define AT(name) offsetof(ebb_config, name)
/* The ranges of the five are those of ebb_sublinear_config_check. */
static const field fields[] = {
    {"thresh_nr_try", AT(sublinear.thresh_nr_try), 0, INT64_MAX},
    {"genetic_nr_iter", AT(sublinear.genetic_nr_iter), 0, INT64_MAX},
    {"genetic_pool_size", AT(sublinear.genetic_pool_size), 0, INT64_MAX},
    {"lb_memory", AT(sublinear.lb_memory_bytes), 0, INT64_MAX},
    {"num_worker", AT(sublinear.num_worker), 0, INT64_MAX},
    {"seed", AT(seed), 0, INT64_MAX},
    {"search_seed", AT(search_seed), 0, INT64_MAX},
    {"effort", AT(effort), 0, INT64_MAX},
    {"time_limit_ms", AT(time_limit_ms), 1, INT64_C(1000000000000)},
};
static const char *const keys[] = {"schema",
                                   "method",
                                   "thresh_nr_try",
                                   "genetic_nr_iter",
                                   "genetic_pool_size",
                                   "lb_memory",
                                   "lb_memory_mb",
                                   "num_worker",
                                   "seed",
                                   "search_seed",
                                   "effort",
                                   "time_limit_ms"};

static const char *key_at(const void *ctx, size_t i) {
    (void)ctx;
    return i < EBB_COUNT(keys) ? keys[i] : NULL;
}

static ebb_status refuse_unknown(ebb_env *env, const ebb_json *json, const char *path) {
    const char *key = ebb_json_unknown_key(json, keys, EBB_COUNT(keys));
    if (!key) return EBB_OK;
    const char *nearest = ebb_word_nearest(key, strlen(key), key_at, NULL);
    if (nearest)
        return ebb_fail(env, EBB_BAD_INPUT, "%s: unknown key \"%.60s\": did you mean \"%s\"?", path, key,
                        nearest);
    return ebb_fail(env, EBB_BAD_INPUT,
                    "%s: unknown key \"%.60s\": docs/formats/config.md lists those of ebb.config/1", path,
                    key);
}

static ebb_status read_method(ebb_env *env, const ebb_json *json, const char *path, ebb_config *out) {
    const char *method = NULL;
    bool present;
    ebb_status status = ebb_json_text(env, json, path, "method", &present, &method);
    if (status != EBB_OK || !present) return status;
    if (strcmp(method, "budget") == 0)
        out->method = EBB_CONFIG_BUDGET;
    else if (strcmp(method, "megengine") == 0)
        out->method = EBB_CONFIG_MEGENGINE;
    else
        return ebb_fail(env, EBB_BAD_INPUT, "%s: \"method\" is \"%.60s\" and must be budget or megengine",
                        path, method);
    return EBB_OK;
}

static ebb_status read_numbers(ebb_env *env, const ebb_json *json, const char *path, ebb_config *out) {
    bool present, in_mib;
    int64_t mib = 0;
    ebb_status status = EBB_OK;
    for (size_t i = 0; i < EBB_COUNT(fields) && status == EBB_OK; i++)
        status = ebb_json_i64(env, json, path, fields[i].key, fields[i].min, fields[i].max, &present,
                              (int64_t *)((char *)out + fields[i].offset));
    if (status == EBB_OK)
        status = ebb_json_i64(env, json, path, "lb_memory_mb", 0, INT64_MAX / MIB, &in_mib, &mib);
    if (status != EBB_OK || !in_mib) return status;
    if (out->sublinear.lb_memory_bytes >= 0)
        return ebb_fail(env, EBB_BAD_INPUT,
                        "%s: \"lb_memory\" and \"lb_memory_mb\": leave out one of the two", path);
    out->sublinear.lb_memory_bytes = mib * MIB;
    return EBB_OK;
}

/* The five have one range check, which knows no file. */
static ebb_status check_five(ebb_env *env, const char *path, const ebb_sublinear_config *said) {
    ebb_sublinear_config config;
    ebb_sublinear_config_init(&config);
    ebb_config_apply(said, &config);
    if (ebb_sublinear_config_check(env, &config) == EBB_OK) return EBB_OK;
    char line[200];
    (void)snprintf(line, sizeof line, "%s", ebb_env_error(env));
    return ebb_fail(env, EBB_BAD_INPUT, "%s: %s", path, line);
}

void ebb_config_apply(const ebb_sublinear_config *said, ebb_sublinear_config *to) {
    if (said->thresh_nr_try >= 0) to->thresh_nr_try = said->thresh_nr_try;
    if (said->genetic_nr_iter >= 0) to->genetic_nr_iter = said->genetic_nr_iter;
    if (said->genetic_pool_size >= 0) to->genetic_pool_size = said->genetic_pool_size;
    if (said->lb_memory_bytes >= 0) to->lb_memory_bytes = said->lb_memory_bytes;
    if (said->num_worker >= 0) to->num_worker = said->num_worker;
}

static ebb_status read_document(ebb_env *env, const ebb_json *json, const char *path, ebb_config *out) {
    const char *schema;
    ebb_status status = ebb_json_text(env, json, path, "schema", NULL, &schema);
    if (status != EBB_OK) return status;
    if (strcmp(schema, "ebb.config/1") != 0)
        return ebb_fail(env, EBB_BAD_INPUT, "%s: schema is \"%.60s\" and must be \"ebb.config/1\"", path,
                        schema);
    status = refuse_unknown(env, json, path);
    if (status == EBB_OK) status = read_method(env, json, path, out);
    if (status == EBB_OK) status = read_numbers(env, json, path, out);
    return status == EBB_OK ? check_five(env, path, &out->sublinear) : status;
}

ebb_status ebb_config_read(ebb_env *env, const char *path, ebb_config *out) {
    *out = (ebb_config){.sublinear = {-1, -1, -1, -1, -1},
                        .seed = -1,
                        .search_seed = -1,
                        .effort = -1,
                        .time_limit_ms = -1};
    ebb_json *json;
    ebb_status status = ebb_json_read_file(env, path, MAX_CONFIG_BYTES, &json);
    if (status == EBB_OK) status = read_document(env, json, path, out);
    ebb_json_free(json);
    return status;
}
