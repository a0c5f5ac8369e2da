/* The plan cache: the key, and files that are trusted as little as any. */
#include "engine/study/study.h"

#include <limits.h>
#include <stdio.h>

static void print_graph(ebb_text *text, const ebb_pgraph *graph) {
    ebb_json_out json;
    ebb_json_out_init(&json, text);
    ebb_pgraph_print(&json, NULL, graph);
}

/* Not in the key: the number of workers and a time limit that does not strike change no plan; the device,
 * dims, mode of the model and optimizer are in the graph and its costs. */
static void print_key(ebb_text *text, const ebb_study *study) {
    const ebb_options *o = study->options;
    ebb_text_add(text, "program %s\nsearch %d\nbackend %s\nn_threads %u\nalignment %lld\n", ebb_version(),
                 EBB_CACHE_SEARCH_VERSION, study->backend, study->n_threads, (long long)study->alignment);
    ebb_text_add(text, "thresh_nr_try %lld\ngenetic_nr_iter %lld\ngenetic_pool_size %lld\nlb_memory %lld\n",
                 (long long)o->sublinear.thresh_nr_try, (long long)o->sublinear.genetic_nr_iter,
                 (long long)o->sublinear.genetic_pool_size, (long long)o->sublinear.lb_memory_bytes);
    ebb_text_add(text, "pins ");
    for (uint32_t v = 0; study->pins && v < study->facts->n_values; v++)
        ebb_text_add(text, "%u", study->pins[v]);
    ebb_text_add(text, "\neffort %lld\nseed %llu\n", (long long)o->effort,
                 (unsigned long long)ebb_options_search_seed(o));
}

ebb_status ebb_cache_open(ebb_cache *cache, const ebb_study *study) {
    *cache = (ebb_cache){.study = study, .folder = study->options->unpacked ? NULL : study->options->cache};
    ebb_text_init(&cache->graph, study->env);
    if (!cache->folder) return EBB_OK;
    ebb_status status = ebb_folder_make(study->env, cache->folder);
    if (status != EBB_OK) return status;
    ebb_text key;
    ebb_text_init(&key, study->env);
    print_key(&key, study);
    print_graph(&cache->graph, study->facts);
    status = ebb_text_status(&key);
    if (status == EBB_OK) status = ebb_text_status(&cache->graph);
    if (status == EBB_OK) {
        ebb_hash_init(&cache->key);
        ebb_hash_add(&cache->key, key.at, key.n);
        ebb_hash_add(&cache->key, cache->graph.at, cache->graph.n);
    }
    ebb_text_deinit(&key);
    return status;
}

void ebb_cache_close(ebb_cache *cache) {
    ebb_text_deinit(&cache->graph);
}

static ebb_status name_file(const ebb_cache *cache, const char *which, char path[PATH_MAX]) {
    char text[EBB_HASH_TEXT];
    ebb_hash hash = cache->key;
    ebb_hash_add(&hash, which, strlen(which));
    int n = snprintf(path, PATH_MAX, "%s/%s.plan.json", cache->folder, ebb_hash_text(&hash, text));
    if (n > 0 && n < PATH_MAX) return EBB_OK;
    return ebb_fail(cache->study->env, EBB_IO,
                    "cannot use folder %.60s...: its path is longer than %d bytes", cache->folder,
                    PATH_MAX);
}

/* Is it a plan of this very request, as far as a plan tells? */
static ebb_status check_request(const ebb_cache *cache, const ebb_plan *plan, int64_t budget_bytes) {
    const ebb_study *study = cache->study;
    ebb_text graph;
    ebb_text_init(&graph, study->env);
    print_graph(&graph, plan->graph);
    ebb_status status = ebb_text_status(&graph);
    bool same_graph =
        status == EBB_OK && graph.n == cache->graph.n && memcmp(graph.at, cache->graph.at, graph.n) == 0;
    ebb_text_deinit(&graph);
    if (status != EBB_OK) return status;
    if (!same_graph) return ebb_fail(study->env, EBB_VIOLATION, "it is the plan of another graph");
    if (strcmp(plan->backend, study->backend) != 0 || plan->n_threads != study->n_threads ||
        plan->alignment != study->alignment || plan->budget_bytes != budget_bytes)
        return ebb_fail(
            study->env, EBB_VIOLATION,
            "it is for %.60s, %u threads, alignment %lld and budget %lld, not for %s, %u, %lld and "
            "%lld",
            plan->backend, plan->n_threads, (long long)plan->alignment, (long long)plan->budget_bytes,
            study->backend, study->n_threads, (long long)study->alignment, (long long)budget_bytes);
    if (plan->baseline_arena_bytes != study->base_arena_bytes ||
        plan->baseline_total_bytes != study->base_total_bytes ||
        plan->baseline_time_ns != study->base_time_ns)
        return ebb_fail(study->env, EBB_VIOLATION, "its baseline is not this graph's");
    return EBB_OK;
}

ebb_status ebb_cache_find(const ebb_cache *cache, const char *which, int64_t budget_bytes, ebb_plan **out) {
    *out = NULL;
    if (!cache->folder) return EBB_OK;
    ebb_env *env = cache->study->env;
    char path[PATH_MAX];
    bool found = false;
    ebb_plan *plan = NULL;
    ebb_status status = name_file(cache, which, path);
    if (status == EBB_OK) status = ebb_file_find(env, path, &found);
    if (status != EBB_OK || !found) return status;
    status = ebb_plan_read(env, path, &plan);
    if (status == EBB_OK) status = check_request(cache, plan, budget_bytes);
    if (status == EBB_OK) status = ebb_plan_audit(env, plan);
    if (status == EBB_OK) {
        *out = plan;
        return EBB_OK;
    }
    ebb_plan_destroy(plan);
    if (status == EBB_NO_MEMORY) return status;
    ebb_log(env, EBB_LOG_WARN, "cached plan %s is not used, and planned anew: %s", path,
            ebb_env_error(env));
    return EBB_OK;
}

ebb_status ebb_cache_check_writable(const ebb_cache *cache) {
    return cache->folder ? ebb_folder_check_writable(cache->study->env, cache->folder) : EBB_OK;
}

ebb_status ebb_cache_store(const ebb_cache *cache, const char *which, const ebb_plan *plan) {
    char path[PATH_MAX];
    if (!cache->folder) return EBB_OK;
    ebb_status status = name_file(cache, which, path);
    return status == EBB_OK ? ebb_plan_write(cache->study->env, plan, path) : status;
}

/* ---- the plan of a study's options ---- */

static int64_t budget_of(const ebb_study *study) {
    return study->options->memory == EBB_MEMORY_BUDGET ? study->options->budget_bytes : -1;
}

static void name_plan(const ebb_study *study, char which[64]) {
    (void)snprintf(which, 64, "plan mode %d budget %lld", (int)study->options->memory,
                   (long long)budget_of(study));
}

ebb_status ebb_cache_find_plan(const ebb_cache *cache, ebb_plan **out) {
    char which[64];
    name_plan(cache->study, which);
    *out = NULL;
    ebb_status status = EBB_OK;
    if (!cache->study->hint.log) status = ebb_cache_find(cache, which, budget_of(cache->study), out);
    return status || *out ? status : ebb_cache_check_writable(cache);
}

ebb_status ebb_cache_store_plan(const ebb_cache *cache, const ebb_plan *plan) {
    char which[64];
    name_plan(cache->study, which);
    return cache->study->hurried ? EBB_OK : ebb_cache_store(cache, which, plan);
}
